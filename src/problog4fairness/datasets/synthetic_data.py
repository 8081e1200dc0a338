"""The equations behind the synthetic people, and what follows from them exactly: see :mod:`.synthetic` to draw some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from problog4fairness.datasets import enumeration
from problog4fairness.datasets.enumeration import Limits, cumulative
from problog4fairness.errors import P4FError, among

if TYPE_CHECKING:
    import pandas as pd


Numbers: TypeAlias = float | Sequence[float]
Bias: TypeAlias = Literal["label", "measurement", "historical"]


@dataclass(frozen=True)
class SyntheticSettings:
    """The equations of the paper's appendix, every number named; the defaults are its shared settings, without bias.

    ::

        A   = B(p_a)
        R   = B(p_r)                     and not B(historical_bias A)
        Q_i = B(p_q,i + alpha_rq,i R)    and not B(historical_bias A)
        Y   = alpha_a (1 - A) + alpha_r R + sum alpha_q,i Q_i + N(0, sigma_y^2) > threshold
        recorded R, Q_i = (R, Q_i        and not B(measurement_bias A)) xor B(feature_noise)
        recorded Y      = (Y             and not B(label_bias A))       xor B(label_noise)

    The *fair* features and labels of a person are those without historical bias: the same draws, without the "and not",
    and the same normal noise. In the world as it was, Q_i follows from R as it was, as the equations say: somebody who
    lost R is also less likely to have Q_i. In the fair world Q_i follows from the fair R.

    Parameters
    ----------
    n_q
        Number of features that depend on R.
    n_values
        Values of each feature, 0 to n_values - 1. Beyond two, B(p) becomes a binomial count of n_values - 1 trials,
        R and Q_i enter the other equations divided by n_values - 1, bias lowers a value to 0, and noise changes it to
        any other.
    p_a, p_r, p_q
        Probability of A = 1, R = 1, and Q_i = 1 where R = 0; for Q one number, or one for each.
    alpha_a, alpha_r, alpha_q, alpha_rq
        Weight of A = 0, R and Q_i in the score, and of R in Q_i (i / 10 where None).
    sigma_y
        Standard deviation of the score's noise.
    threshold
        Of the score; where None 1.5 if alpha_a is 0 and else 2.5, as in the paper.
    label_bias, measurement_bias, historical_bias
        The paper's betas: the share of favourable labels or feature values that is lost where A = 1. Those of features
        are one number, or one for each of R, Q_1, Q_2, ...
    label_noise, feature_noise
        Share of recorded values that are wrong by accident. The paper has 0.1 wherever it studies label or measurement
        bias; see :meth:`of_paper`.
    noise_on
        Whose values are noisy: "all" as in the paper's equations, or "sensitive" (A = 1) as in its text.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> biased = p4f.datasets.SyntheticSettings(label_bias=0.3, alpha_a=1.0)
    >>> biased.label_threshold, biased.alphas
    (2.5, (1.0, 1.0, 1.0, 1.0))
    """

    n_q: int = 3
    n_values: int = 2
    p_a: float = 0.5
    p_r: float = 0.5
    p_q: Numbers = 0.5
    alpha_a: float = 0.0
    alpha_r: float = 1.0
    alpha_q: Numbers = 1.0
    alpha_rq: Numbers | None = None
    sigma_y: float = 2.0
    threshold: float | None = None
    label_bias: float = 0.0
    measurement_bias: Numbers = 0.0
    historical_bias: Numbers = 0.0
    label_noise: float = 0.0
    feature_noise: Numbers = 0.0
    noise_on: Literal["all", "sensitive"] = "all"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_q", whole_number("n_q", self.n_q, least=0))
        object.__setattr__(self, "n_values", whole_number("n_values", self.n_values, least=2))
        if self.noise_on not in ("all", "sensitive"):
            raise P4FError(f"noise_on must be 'all' or 'sensitive', not {self.noise_on!r}")
        for field in fields(self):
            if field.name not in ("n_q", "n_values", "noise_on"):
                object.__setattr__(self, field.name, self._checked(field.name))
        if self.sigma_y <= 0:
            raise P4FError(f"sigma_y {self.sigma_y:g} is not above 0")
        for name, p, alpha in zip(self.features[1:], self._each_q("p_q"), self._each_q("alpha_rq"), strict=True):
            if not -1e-9 <= p + alpha <= 1 + 1e-9:
                raise P4FError(
                    f"p_q + alpha_rq of {name} is {p:g} + {alpha:g}, which is not between 0 and 1; change one of them"
                )

    def _checked(self, name: str) -> float | tuple[float, ...] | None:
        value = getattr(self, name)
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if value is None and name in ("alpha_rq", "threshold"):
            return None
        count = self.n_q if name.endswith("q") else 1 + self.n_q
        many = name in ("p_q", "alpha_q", "alpha_rq", "measurement_bias", "historical_bias", "feature_noise")
        if many and isinstance(value, list | tuple):
            if len(value) != count:
                raise P4FError(f"{name} has {len(value)} numbers; give one for all, or {count}: one for each feature")
            return tuple(_number(name, number) for number in value)
        return _number(name, value)

    @classmethod
    def of_paper(cls, bias: Bias, strength: float, *, dependent: bool = False) -> SyntheticSettings:
        """The settings of the paper's studies: one kind of bias with its noise; ``dependent`` is its A not ⊥ Y.

        >>> SyntheticSettings.of_paper("label", 0.3).label_noise
        0.1
        """
        if bias not in get_args(Bias):
            raise P4FError(f"bias must be one of {', '.join(get_args(Bias))}, not {bias!r}")
        noise = {"label": {"label_noise": 0.1}, "measurement": {"feature_noise": 0.1}}.get(bias, {})
        changes: dict[str, Any] = {f"{bias}_bias": strength, **noise}
        return cls(alpha_a=1.0 if dependent else 0.0, **changes)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features: r, q1, q2, ..."""
        return ("r", *(f"q{i}" for i in range(1, self.n_q + 1)))

    @property
    def label_threshold(self) -> float:
        """The threshold of the score, also where it is left to the paper."""
        if self.threshold is not None:
            return self.threshold
        return 1.5 if self.alpha_a == 0 else 2.5

    @property
    def chances(self) -> list[tuple[float, ...]]:
        """For each feature the probability p of its draws, for each value of R; for R itself there is one."""
        steps = [r / (self.n_values - 1) for r in range(self.n_values)]
        pairs = zip(self._each_q("p_q"), self._each_q("alpha_rq"), strict=True)
        return [(self.p_r,), *(tuple(min(max(p + alpha * r, 0.0), 1.0) for r in steps) for p, alpha in pairs)]

    @property
    def alphas(self) -> tuple[float, ...]:
        """The weight of each feature in the score."""
        return (self.alpha_r, *self._each_q("alpha_q"))

    def each(self, name: str) -> tuple[float, ...]:
        """A bias or a noise of features, such as ``"historical_bias"``, for each feature."""
        return _each(getattr(self, name), 1 + self.n_q)

    def _each_q(self, name: str) -> tuple[float, ...]:
        value = getattr(self, name)
        return tuple(i / 10 for i in range(1, self.n_q + 1)) if value is None else _each(value, self.n_q)

    def noisy_group(self, a: int) -> int:
        """1 where people with A = a have noise, else 0."""
        return 1 if self.noise_on == "all" else a

    def label_rates(self) -> dict[str, float]:
        """The exact parameters p1 to p4 of :class:`LabelBias`: P(recorded label is not the fair one | fair label, A).

        p1 and p2 are for a fair 1 where A = 1 and A = 0, p3 and p4 for a fair 0. Under historical bias they count the
        labels that the fair world would have changed, too.

        >>> rates = SyntheticSettings(label_bias=0.3, label_noise=0.1).label_rates()
        >>> {name: round(rate, 3) for name, rate in rates.items()}
        {'p1': 0.34, 'p2': 0.1, 'p3': 0.1, 'p4': 0.1}
        """
        return enumeration.label_rates(self)

    def measurement_rates(self) -> dict[str, float]:
        """The exact parameters of :class:`MeasurementBias` and :class:`HistoricalBias`: P(fair | recorded, A).

        p1(f) and p2(f) are the probability that feature f is fairly 1 where it is recorded as 0 and A = 1 or A = 0,
        p3(f) and p4(f) that it is fairly 0 where it is recorded as 1; with more values, p(f,A,recorded,fair). Each
        feature by itself, as in the paper's program: R and the other features are summed out. The rate of a recorded
        value that cannot occur is 0.

        >>> rates = SyntheticSettings(measurement_bias=0.5, n_q=0).measurement_rates()
        >>> {name: round(rate, 3) for name, rate in rates.items()}
        {'p1(r)': 0.333, 'p2(r)': 0.0, 'p3(r)': 0.0, 'p4(r)': 0.0}
        """
        return enumeration.measurement_rates(self)

    def limits(self, *, recorded: bool = False) -> Limits:
        """What the best possible classifier of fair labels reaches, by enumeration of the feature vectors.

        It sees A and the fair features or, with ``recorded``, the recorded ones, as in the paper's study of historical
        bias.

        >>> print(f"{SyntheticSettings().limits().accuracy:.3f}")
        0.710
        """
        return enumeration.limits(self, recorded)


def _each(value: Numbers, count: int) -> tuple[float, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,) * count


def whole_number(name: str, value: Any, *, least: int) -> int:
    """The value, if it is a whole number of ``least`` or more."""
    if type(value) is bool or not isinstance(value, Integral) or int(value) < least:
        raise P4FError(f"{name} must be a whole number of {least} or more, not {value!r}")
    return int(value)


def _number(name: str, value: Any) -> float:
    if type(value) is bool or not isinstance(value, Real) or not isfinite(value):
        raise P4FError(f"{name} must be a finite number, not {value!r}")
    number = float(value)
    a_share = name.startswith("p_") or name.endswith(("_bias", "_noise"))
    if a_share and not 0 <= number <= 1:
        raise P4FError(f"{name} {number:g} is not between 0 and 1")
    return number


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
