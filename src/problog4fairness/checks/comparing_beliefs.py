"""Which of several beliefs explains the recorded rows best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from problog4fairness.beliefs import Belief
from problog4fairness.checks.case import Case
from problog4fairness.checks.finding import NEVER, Finding, NotDone
from problog4fairness.checks.reading import read_case
from problog4fairness.checks.tests.recorded_rows import ahead
from problog4fairness.data import WholeTable
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def which_test(case: Case) -> Finding:
    """Whether one of the other beliefs explains held-out recorded labels better."""
    if not case.others:
        raise NotDone("no other belief was given")
    through, gain = case.explained
    found = [case.learned(other, case.table).likelihood - through for other in case.others]
    best = int(np.argmax([own.mean() for own in found]))
    p = min(1.0, len(found) * ahead(found[best], gain))
    better = "better" if found[best].mean() > 0 else "no better"
    sentence = (
        f"{case.others[best]!r} explains held-out recorded labels {better}, by {found[best].mean():+.4f} of "
        "log-likelihood a row."
    )
    advice = "Ask which of the two is right by auditing rows on which they disagree most; these are listed."
    apart = np.sort(np.argsort(-np.abs(found[best]), kind="stable")[: max(1, case.size // 20)])
    return Finding(sentence, p, apart, advice, float(norm.isf(p)), NEVER)


@dataclass(frozen=True, eq=False)
class BeliefComparison:
    """What :func:`compare_beliefs` found.

    Attributes
    ----------
    table
        A row for each belief, the best first: ``loss``, minus the mean log-likelihood of held-out recorded labels;
        ``behind``, how much greater that is than the best one's; ``low`` and ``high``, the 95% interval of that
        difference; and ``learner``, the quick learner that explained most.
    rows
        How many recorded rows there were.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(600)
    >>> beliefs = {"poor": p4f.LabelBias("poor_area", {1: 0.4, 0: 0}, False), "none": p4f.NoBias()}
    >>> found = p4f.checks.compare_beliefs(beliefs, data.loans, recorded="granted")
    >>> found.best
    'poor'
    """

    table: pd.DataFrame
    rows: int

    @property
    def best(self) -> str:
        """The name of the belief under which the recorded labels are most likely."""
        return str(self.table.index[0])

    def __repr__(self) -> str:
        return f"BeliefComparison({len(self.table)} beliefs on {self.rows} rows: {self.best} is best)"

    def __str__(self) -> str:
        return str(self.table.to_string(float_format="{:.4f}".format))

    def _repr_html_(self) -> str:
        return str(self.table.to_html(float_format="{:.4f}".format))

    def plot(self) -> Figure:
        """How far each belief is behind the best one, with 95% intervals."""
        from problog4fairness.checks.figures import draw_beliefs

        return draw_beliefs(self)


def compare_beliefs(
    beliefs: Sequence[Belief] | Mapping[str, Belief],
    table: Any,
    *,
    recorded: str | None = None,
    sensitive_features: Any = None,
    favourable: Any = None,
    use_sensitive: bool = False,
    drop: Sequence[str] = (),
    random_state: int = 0,
) -> BeliefComparison:
    """Compare beliefs by how likely they make recorded labels that were held out. No audit is needed.

    Beliefs that allow the same recorded labels cannot be told apart in this way: with ``use_sensitive=True`` many can.
    The likelihood says which is *less wrong* about the record, not which is right.

    Parameters
    ----------
    beliefs
        Two or more, with all their parameters known; in a dictionary, by the names that they have in the result.
    table, recorded, sensitive_features, favourable, use_sensitive, drop, random_state
        As for :func:`~problog4fairness.check`.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> loans = p4f.datasets.loans(2000).loans
    >>> right = p4f.LabelBias("poor_area", {0: 0, 1: 0.4}, False)
    >>> wrong = p4f.LabelBias("poor_area", {0: 0.4, 1: 0}, False)
    >>> p4f.checks.compare_beliefs({"area": right, "elsewhere": wrong}, loans, recorded="granted").best
    'area'
    """
    named = dict(beliefs) if isinstance(beliefs, Mapping) else {_name(i, own): own for i, own in enumerate(beliefs)}
    if len(named) < 2:
        raise P4FError("compare_beliefs compares two or more beliefs")
    options = {"sensitive_features": sensitive_features, "favourable": favourable, "use_sensitive": use_sensitive}
    found = {}
    cases = {
        name: read_case(own, table, recorded=recorded, drop=drop, seed=random_state, **options)
        for name, own in named.items()
    }
    first = next(iter(cases.values()))
    if not all(np.array_equal(case.numbers, first.numbers) for case in cases.values()):
        raise P4FError("the beliefs are about different rows of the table: some lack a label or a group; drop these")
    features = set.intersection(*(set(case.rows.features) for case in cases.values()))
    for name, case in cases.items():
        read = [feature for feature in case.rows.features if feature in features]
        found[name] = case.learned(case.belief, case.table.with_features(read))
    best = max(found.values(), key=lambda own: own.mean)
    rows = []
    for own in found.values():
        behind = best.likelihood - own.likelihood
        half = float(norm.ppf(0.975) * behind.std(ddof=1) / np.sqrt(len(behind)))
        rows.append((-own.mean, behind.mean(), behind.mean() - half, behind.mean() + half, own.learner))
    frame = WholeTable(
        rows, columns=["loss", "behind", "low", "high", "learner"], index=pd.Index(list(found), name="belief")
    )
    return BeliefComparison(frame.sort_values("loss", kind="stable"), first.size)


def _name(place: int, belief: Belief) -> str:
    return f"{place + 1}: {belief!r}"
