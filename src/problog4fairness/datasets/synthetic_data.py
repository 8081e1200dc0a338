"""The paper's synthetic people: binary or categorical features, a linear score, three kinds of bias of known strength.

Everything is known about them: the fair and the recorded features and labels of the same people, the exact parameters
of the belief that distorted them, and what the best possible classifier reaches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from problog4fairness.datasets.enumeration import cumulative
from problog4fairness.datasets.equations import SyntheticSettings, whole_number
from problog4fairness.errors import P4FError, among

if TYPE_CHECKING:
    import pandas as pd

Codes: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
Uniform: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"


@dataclass(frozen=True)
class SyntheticData:
    """The same people twice: as they should have been seen, and as they are on file.

    Attributes
    ----------
    fair_features, recorded_features
        Columns r, q1, q2, ...
    fair_label, recorded_label
        1 is favourable.
    sensitive
        A, in a column a; 1 is the sensitive group.
    settings
        What they were drawn from.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.synthetic(label_bias=0.3, rows=1000)
    >>> bool((data.recorded_label <= data.fair_label).all())  # nobody gets a label without reason
    True
    """

    fair_features: pd.DataFrame
    recorded_features: pd.DataFrame
    fair_label: pd.Series[int]
    recorded_label: pd.Series[int]
    sensitive: pd.Series[int]
    settings: SyntheticSettings

    def __repr__(self) -> str:
        return f"SyntheticData({len(self.sensitive)} people)"


def synthetic(
    settings: SyntheticSettings | None = None, *, rows: int = 10_000, seed: int = 0, **parameters: Any
) -> SyntheticData:
    """Draw people.

    With the same ``rows`` and ``seed``, other strengths of bias and noise give the same fair people.

    Parameters
    ----------
    settings
        The equations' numbers; the paper's shared settings by default.
    rows
        Number of people.
    seed
        Seed of the random numbers.
    **parameters
        Changes to the settings, by name: those of :class:`SyntheticSettings`.

    Examples
    --------
    >>> data = synthetic(label_bias=0.3, label_noise=0.1, rows=500)
    >>> data.recorded_features.columns.tolist()
    ['r', 'q1', 'q2', 'q3']
    """
    import pandas as pd

    settings = SyntheticSettings() if settings is None else settings
    unknown = [name for name in parameters if name not in vars(settings)]
    if unknown:
        raise P4FError(f"there is no setting {unknown[0]!r}; {among(unknown[0], vars(settings))}")
    settings = replace(settings, **parameters)
    rows = whole_number("rows", rows, least=1)
    # Everything is drawn in the same order whatever the settings, so that a sweep over biases keeps its people.
    rng = np.random.default_rng(whole_number("seed", seed, least=0))
    count = len(settings.features)
    sensitive = (rng.random(rows) < settings.p_a).astype(np.int64)
    score_noise = rng.normal(0.0, 1.0, rows)
    value, lost, missed, wrong, other = (rng.random((rows, count)) for _ in range(5))
    denied, mistaken = rng.random(rows), rng.random(rows)

    fair = _features(settings, value)
    hit = (lost < np.array(settings.each("historical_bias"))) & (sensitive == 1)[:, None]
    lived = _features(settings, value, hit)
    noise_group = (np.ones_like(sensitive) if settings.noise_on == "all" else sensitive) == 1
    unseen = (missed < np.array(settings.each("measurement_bias"))) & (sensitive == 1)[:, None]
    recorded = np.where(unseen, 0, lived)
    slip = (wrong < np.array(settings.each("feature_noise"))) & noise_group[:, None]
    steps = 1 + (other * (settings.n_values - 1)).astype(np.int64)
    recorded = np.where(slip, (recorded + steps) % settings.n_values, recorded)

    fair_label, label = (_labels(settings, sensitive, x, score_noise) for x in (fair, lived))
    label = np.where((denied < settings.label_bias) & (sensitive == 1), 0, label)
    label = np.where((mistaken < settings.label_noise) & noise_group, 1 - label, label)
    return SyntheticData(
        fair_features=pd.DataFrame(fair, columns=list(settings.features)),
        recorded_features=pd.DataFrame(recorded, columns=list(settings.features)),
        fair_label=pd.Series(fair_label, name="fair"),
        recorded_label=pd.Series(label, name="recorded"),
        sensitive=pd.Series(sensitive, name="a"),
        settings=settings,
    )


def _features(
    settings: SyntheticSettings, value: Uniform, hit: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] | None = None
) -> Codes:
    """R and then Q from uniform random numbers; those that are hit are 0, and Q follows from R after that."""
    columns: list[Codes] = []
    for j, chances in enumerate(settings.chances):
        bounds = np.array([cumulative(p, settings.n_values)[:-1] for p in chances])
        row_bounds = bounds[columns[0]] if columns else bounds[[0]]
        drawn = (value[:, [j]] >= row_bounds).sum(axis=1, dtype=np.int64)
        columns.append(drawn if hit is None else np.where(hit[:, j], 0, drawn))
    return np.column_stack(columns)


def _labels(settings: SyntheticSettings, sensitive: Codes, features: Codes, noise: Uniform) -> Codes:
    score = settings.alpha_a * (1 - sensitive) + features @ np.array(settings.alphas) / (settings.n_values - 1)
    return np.asarray(score + settings.sigma_y * noise > settings.label_threshold, dtype=np.int64)
