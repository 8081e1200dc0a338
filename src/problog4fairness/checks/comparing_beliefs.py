"""Which of several beliefs explains the recorded rows best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from problog4fairness.beliefs import Belief
from problog4fairness.checks.reading import read_case
from problog4fairness.checks.result import BLUE, GREY
from problog4fairness.data import WholeTable
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    >>> p4f.checks.compare_beliefs(beliefs, data.loans, recorded="granted").best
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
        import matplotlib as mpl
        from matplotlib.figure import Figure

        table = self.table.iloc[::-1]
        # A name from somebody's data is text, not a formula.
        with mpl.rc_context({"text.parse_math": False}):
            figure = Figure(figsize=(6.4, 0.9 + 0.36 * len(table)), layout="constrained")
            axes = figure.subplots()
            axes.hlines(range(len(table)), table["low"], table["high"], color=BLUE, linewidth=2)
            axes.plot(table["behind"], range(len(table)), color=BLUE, marker="o", markersize=6, linestyle="")
            axes.axvline(0, color=GREY, linewidth=1, linestyle="--")
            axes.set_yticks(range(len(table)), [str(name) for name in table.index])
            axes.set_ylim(-0.6, len(table) - 0.4)
            axes.set_xlabel("log-likelihood of a held-out row, behind the best belief; 95% intervals")
            axes.grid(axis="x", alpha=0.25, linewidth=0.5)
            axes.spines[["top", "right"]].set_visible(False)
        return figure


def compare_beliefs(
    beliefs: Sequence[Belief] | Mapping[str, Belief],
    table: Any,
    *,
    recorded: str | None = None,
    favourable: Any = None,
    use_sensitive: bool = False,
    random_state: int = 0,
) -> BeliefComparison:
    """Compare beliefs by how likely they make recorded labels that were held out. No audit is needed.

    Beliefs that allow the same recorded labels cannot be told apart in this way: with ``use_sensitive=True`` many can.
    The likelihood says which is *less wrong* about the record, not which is right.

    Parameters
    ----------
    beliefs
        Two or more, with all their parameters known; in a dictionary, by the names that they have in the result.
    table, recorded, favourable, use_sensitive, random_state
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
    named = (
        dict(beliefs) if isinstance(beliefs, Mapping) else {f"{i}: {one!r}": one for i, one in enumerate(beliefs, 1)}
    )
    if len(named) < 2:
        raise P4FError("compare_beliefs compares two or more beliefs")
    options = {"recorded": recorded, "favourable": favourable, "use_sensitive": use_sensitive, "seed": random_state}
    cases = {name: read_case(belief, table, **options) for name, belief in named.items()}
    first = next(iter(cases.values()))
    if not all(np.array_equal(case.numbers, first.numbers) for case in cases.values()):
        raise P4FError("the beliefs are about different rows of the table: some lack a label or a group; drop these")
    features = set.intersection(*(set(case.rows.features) for case in cases.values()))
    fits = []
    for case in cases.values():
        read = [feature for feature in case.rows.features if feature in features]
        fits.append(case.learned(case.belief, case.table.with_features(read)))
    best = max(fits, key=lambda fit: fit.mean)
    rows = []
    for fit in fits:
        behind = best.likelihood - fit.likelihood
        half = float(norm.ppf(0.975) * behind.std(ddof=1) / np.sqrt(len(behind)))
        rows.append((-fit.mean, behind.mean(), behind.mean() - half, behind.mean() + half, fit.learner))
    columns = ["loss", "behind", "low", "high", "learner"]
    frame = WholeTable(rows, columns=columns, index=pd.Index(list(cases), name="belief"))
    return BeliefComparison(frame.sort_values("loss", kind="stable"), first.size)
