"""Which parameters, or which combinations of them, the audit and the recorded rows can tell."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from problog4fairness.beliefs import Belief, every
from problog4fairness.checks.learned_parameters import LEARNED, STEP, Profile, neighbours
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, rows_to_fit
from problog4fairness.statistics import HALF, Parameter, called, check_known, probabilities

# A direction in which the parameters may move by more than this (a standard deviation) is not identified.
LARGEST_DEVIATION = 0.25
# Parameters are in a direction whose share of them is above this, as a square.
INVOLVED = 0.02
MOST_KINDS = 4096


@dataclass(frozen=True, eq=False)
class Identifiability:
    """What can be told of the parameters of a belief.

    Attributes
    ----------
    table
        For each parameter its ``value``, whether it is ``identified``, and ``within``: half of its 95% interval, given
        what is known of all of them; NaN where it is not. What it is the probability of is its ``meaning``.
    groups
        Parameters that cannot be told apart, and within how much their combined effect on a recorded label is known
        (a probability; NaN where nothing is known of it).
    sources
        Where the information comes from, in words.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
    >>> belief = belief.with_priors({"p1": p4f.statistics.Beta(40, 60)})
    >>> p4f.checks.identifiability(belief).table["identified"].to_dict()
    {'p1': True}
    """

    table: pd.DataFrame
    groups: tuple[tuple[tuple[str, ...], float], ...]
    sources: tuple[str, ...]

    def words(self) -> list[str]:
        """In sentences."""
        called_as = {str(name): called(str(name), meaning) for name, meaning in self.table["meaning"].items()}
        sentences = []
        for members, within in self.groups:
            *others, last = [called_as[name] for name in members]
            effect = "" if np.isnan(within) else f"; their combined effect is known to ±{_short(within)}"
            alone = f"{last} cannot be told: nothing here depends on it enough."
            sentences.append(f"{', '.join(others)} and {last} cannot be told apart{effect}." if others else alone)
        identified = self.table.loc[self.table["identified"], "within"]
        if len(identified):
            known = [f"{called_as[str(name)]} to ±{_short(within)}" for name, within in identified.items()]
            sentences.append(f"Known: {', '.join(known)}.")
        sentences = [f"H{sentence[1:]}" if sentence.startswith("how often") else sentence for sentence in sentences]
        return [*sentences, f"By {' and '.join(self.sources)}."]

    def __repr__(self) -> str:
        return f"Identifiability({' '.join(self.words())})"

    def __str__(self) -> str:
        return "\n".join(self.words())

    def _repr_html_(self) -> str:
        return "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.words())


def identifiability(
    belief: Belief,
    X: Any = None,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    favourable: Any = None,
    use_sensitive: bool = False,
) -> Identifiability:
    """Which parameters, or which combinations, can be told, by the information matrix.

    That of the audit (and of priors) is in the estimated belief: rows of a cell tell its own parameter, and parameters
    that were estimated together through the circuit carry their matrix. Recorded rows add theirs where they are passed,
    with a linear learner fitted to them.

    Parameters
    ----------
    belief
        With a value for each parameter. Those that were stated are looked at where recorded rows are passed, or where
        they were given a prior; otherwise they are fixed.
    X, y, sensitive_features
        Recorded rows; None for the audit alone.
    favourable, use_sensitive
        As for :class:`DebiasedClassifier`.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
    >>> belief = belief.with_priors({"p1": p4f.statistics.Beta(40, 60)})
    >>> print(p4f.checks.identifiability(belief))
    Known: p1 to ±.10.
    By the audit.
    """
    check_known(belief.parameters)
    sources, rows = [], None
    free = [
        probability for probability in probabilities(belief.parameters) if probability.rows is not None or y is not None
    ]
    if not free:
        raise P4FError("nothing was estimated: estimate the belief from an audit, or pass recorded rows X and y")
    # What was learned from recorded rows is not counted again beside them.
    information = _audit_information(free, learned=y is None)
    if information.any():
        learned = y is None and any(LEARNED in str(parameter.source) for parameter in free)
        sources.append("what was estimated" if learned else "the audit")
    if y is not None:
        model = DebiasedClassifier(belief, "linear", use_sensitive=use_sensitive, favourable=favourable)
        rows = rows_to_fit(model, X, y, sensitive_features, None, None)
        names = [parameter.name for parameter in free]
        point = np.clip([parameter.value or 0.0 for parameter in free], 0.01, 0.99)
        information = information + Profile(belief, names, rows).information(point)
        sources.append(f"{len(rows):,} recorded rows")
    return _identified(belief, free, information, rows, tuple(sources))


def _audit_information(free: Sequence[Parameter], learned: bool) -> Floats:
    """What estimated parameters carry: a matrix, or the rows of a cell and of a prior."""
    matrix = np.zeros((len(free), len(free)))
    for place, parameter in enumerate(free):
        if LEARNED in str(parameter.source) and not learned:
            continue
        if parameter.information is not None:
            entries = dict(parameter.information)
            matrix[place] = [entries.get(other.name, 0.0) for other in free]
        elif parameter.rows is not None:
            rows = parameter.rows + (0.0 if parameter.prior is None else parameter.prior.a + parameter.prior.b)
            # Half a row inside, as for draws: at 0 and 1 the information has no limit.
            value = ((parameter.value or 0.0) * rows + HALF) / (rows + 1)
            matrix[place, place] = rows / (value * (1 - value))
    return np.asarray((matrix + matrix.T) / 2)


def _identified(
    belief: Belief, free: Sequence[Parameter], information: Floats, rows: Rows | None, sources: tuple[str, ...]
) -> Identifiability:
    """The directions that the information tells, the parameters in the others, and how these hang together."""
    sizes, directions = np.linalg.eigh(information)
    known = sizes > 1 / LARGEST_DEVIATION**2
    unknown = directions[:, ~known] @ directions[:, ~known].T
    covariance = (directions[:, known] / sizes[known]) @ directions[:, known].T
    unsure = np.diag(unknown) > INVOLVED
    z = NormalDist().inv_cdf(0.975)
    within = np.where(unsure, np.nan, z * np.sqrt(np.diag(covariance)))
    table = pd.DataFrame(
        {
            "value": [float(parameter.value or 0.0) for parameter in free],
            "identified": ~unsure,
            "within": within,
            "meaning": [parameter.meaning for parameter in free],
        },
        index=pd.Index([parameter.name for parameter in free], name="parameter"),
    )
    groups = []
    # Parameters that share a direction that is not identified.
    places = np.flatnonzero(unsure)
    count, component = connected_components(np.abs(unknown[np.ix_(places, places)]) > INVOLVED, directed=False)
    for number in range(count):
        members = places[component == number].tolist()
        names = tuple(free[place].name for place in members)
        groups.append((names, z * _effect(belief, free, members, covariance, rows)))
    return Identifiability(table, tuple(groups), sources)


def _effect(
    belief: Belief, free: Sequence[Parameter], members: Sequence[int], covariance: Floats, rows: Rows | None
) -> float:
    """The largest standard deviation of a P(recorded | fair, groups) that these parameters change together."""
    kinds = _every_kind(belief) if rows is None else belief.columns.distinct(rows)
    if kinds is None or len(members) < 2:
        return float("nan")
    unrecorded = kinds.without_record()

    def given(name: str, value: float) -> Floats:
        return np.asarray(belief.bind({name: value}).observe(unrecorded).recorded_given().numpy().reshape(-1))

    point = np.array([float(parameter.value or 0.0) for parameter in free])
    jacobian = np.array(
        [
            (given(free[place].name, high[place]) - given(free[place].name, low[place])) / (high[place] - low[place])
            for low, high, place in neighbours(point, STEP, 0.0)
        ]
    )
    changed = (np.abs(jacobian[list(members)]) > 1e-6).all(axis=0)
    variances = np.einsum("ic,ij,jc->c", jacobian, covariance, jacobian)[changed]
    return float(np.sqrt(variances.max())) if len(variances) else float("nan")


def _every_kind(belief: Belief) -> Rows | None:
    """A row for each combination of groups; None where that is not all that the belief reads."""
    if belief.features or not belief.variables or len(every(belief.variables)) > MOST_KINDS:
        return None
    columns: dict[str, list[Any]] = {}
    for variable, places in zip(belief.variables, every(belief.variables).T, strict=True):
        levels = [variable.levels[place] for place in places]
        for number, column in enumerate(variable.columns):
            columns[column] = [level[number] if isinstance(level, tuple) else level for level in levels]
    return Rows(pd.DataFrame(columns), (), belief.record.classes or (0, 1))


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value >= 0.01 else f"{value:.1g}"
