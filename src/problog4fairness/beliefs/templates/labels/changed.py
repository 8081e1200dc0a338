"""Bias of the label that changed over time, from a day on that is stated or searched for in audited rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, cast

import numpy as np
import pandas as pd
from scipy.special import xlogy

from problog4fairness.audit import AuditRules, AuditWarning, Stratified, warn_audit
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.words import Label, Stage
from problog4fairness.beliefs.description import BeliefKind, Question
from problog4fairness.beliefs.fields import AFFECTED, GROUPS, SENSITIVE, Field, FieldTable
from problog4fairness.beliefs.templates.labels.dependence import By
from problog4fairness.beliefs.templates.labels.row import DEPENDS, RowBias
from problog4fairness.data import Codes, Floats, Level, Period, Rows, days_of
from problog4fairness.errors import MissingValueError, P4FError
from problog4fairness.statistics import Parameter, equal_rows

# A chance above this does not show that anything changed.
LEVEL = 0.05
# Days that an interval is made for, at most, of those that may be the one of the change.
DAYS = 15


class ChangedBias(RowBias):
    """The recorded label is a distorted copy of the fair one, more often in some periods than in others.

    P(recorded = 1) = h (1 - neg_c) + (1 - h) pos_c, in the cell c of the row: its group and its period

    Use it where rules, people or forms changed on some day: before a reform applications from poor areas were turned
    down, after it hardly any. It is :class:`RowBias` with the period as one more column.

    What identifies it: audited rows from before and after the change. Where the day is not stated, :meth:`estimate`
    searches it among the days of the audited rows, tests whether there was a change, and says so where there is no
    sign of one (:attr:`change_point`). :meth:`plan_audit` draws rows of all days alike then, enough for two periods.

    Parameters
    ----------
    sensitive, groups, affected, favourable
        As for :class:`LabelBias`.
    when
        The column with the day of each row, written as 2020-03-01. No learner reads it.
    changed
        The first day after the change, or those of several changes; None to search for one.
    negative, positive
        None to be estimated for each group and period, False for "does not happen"; or :func:`by`, what it depends on
        besides.

    Attributes
    ----------
    change_point
        What the search found: the ``day``, ``low`` and ``high`` around it, and ``p``, the chance of as clear a change
        where there was none. None where the day was stated.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.ChangedBias("poor_area", "day", changed="2020-03-01", positive=False, affected=[1])
    >>> belief.parameter_table()["meaning"].tolist()[1]
    'a fair 1 is recorded as 0 where poor_area = 1 and day since 2020-03-01'
    >>> belief.bind({"neg(1,0)": 0.5, "neg(1,1)": 0.1}).words()[1]
    'The bias is taken to have changed on 2020-03-01.'
    """

    title = "bias that changed over time"
    kind = BeliefKind(
        fields=(
            SENSITIVE,
            Field("when", "column", "Column with the day of each row, as 2020-03-01", suits="days"),
            Field(
                "changed", "days", "The first day after each change, as 2020-03-01; searched for where it is not stated"
            ),
            *DEPENDS,
            GROUPS,
            AFFECTED,
        ),
        command="changed",
        identified_by="audited rows from before and after the change.",
        question=Question(
            "label",
            "Unfairly, until something changed",
            "Before a reform many were turned down, after it hardly any.",
            (("*fair label", "group", "day"), ("recorded label",)),
        ),
    )
    about = "Bias that changed over time: the recorded label y_ is a copy of the fair label y_h, distorted by period."
    change_point: ChangePoint | None = None

    def __init__(
        self,
        sensitive: str | Sequence[str],
        when: str,
        changed: Any = None,
        negative: By | Literal[False] | None = None,
        positive: By | Literal[False] | None = None,
        *,
        groups: Sequence[Level] | None = None,
        affected: Sequence[Level] | str | None = None,
        favourable: Any = None,
    ) -> None:
        period = _period(when, changed)
        parts = [_in_periods(bias, period, name) for bias, name in ((negative, "negative"), (positive, "positive"))]
        days = list(period.changes) or None
        Belief.__init__(
            self, sensitive, when, days, negative, positive, groups=groups, affected=affected, favourable=favourable
        )
        self._depend(*parts)

    @property
    def period(self) -> Period:
        """The periods."""
        return next(variable for variable in self.variables if isinstance(variable, Period))

    def require_settled(self) -> None:
        if not self.period.changes:
            raise MissingValueError(
                "the day of the change is not known; search it in audited rows with .estimate(...), alone, or state "
                "changed='2020-03-01'"
            )
        super().require_settled()

    @property
    def audit_rules(self) -> AuditRules:
        """See :attr:`Belief.audit_rules`: no periods where the day between them is searched for, or was."""
        if self._stated:
            return super().audit_rules
        variables = tuple(variable for variable in self.variables if not isinstance(variable, Period))
        return replace(super().audit_rules, variables=variables, parts=2)

    @property
    def _stated(self) -> bool:
        """Whether somebody said the day; one that was found may turn out another one with more audited rows."""
        return bool(self.period.changes) and self.change_point is None

    def _fitted_to(self, rows: Rows) -> Self:
        """See :meth:`Belief._fitted_to`: also the day of the change."""
        if self.period.changes:
            return super()._fitted_to(rows)
        change = search_change(*self._errors(rows))
        if change.p > LEVEL:
            warn_audit(
                f"the audit does not show that the bias changed (p = {change.p:.2f}); the likeliest day, {change.day}, "
                "is taken, or believe in LabelBias"
            )
        fitted = RowBias._fitted_to(self._remade(changed=[change.day]), rows)
        fitted.change_point = change
        return fitted

    def _estimated(self, rows: Rows, confidence: float, strata: Stratified | None = None) -> tuple[Parameter, ...]:
        """See :meth:`Belief._estimated`: where the day was searched, intervals hold whichever of the likely days it is.

        Half of the chance to be wrong is for the day, half for the parameters from each of these days on; an interval
        is all that those of the days hold.
        """
        best = super()._estimated(rows, confidence, strata)
        if self.change_point is None:
            return best
        days = np.unique(days_of(rows.column(self.period.columns[0], "when=...")).astype(str))
        days = days[(days >= self.change_point.low) & (days <= self.change_point.high)]
        chosen = {str(days[place]) for place in np.linspace(0, len(days) - 1, min(DAYS, len(days))).astype(int)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AuditWarning)
            every = [
                super(ChangedBias, self._remade(changed=[day]))._estimated(rows, (1 + confidence) / 2, strata)
                for day in sorted({*chosen, self.change_point.day})
            ]
        return tuple(_with_all(parameter, others, confidence) for parameter, *others in zip(best, *every, strict=True))

    def _errors(self, rows: Rows) -> tuple[Any, Codes, Floats]:
        """Of the audited rows on which the bias acts the days, the cells, and whether they were distorted."""
        acting, fair = self._at_risk(rows, *self.reads), np.asarray(rows.fair)
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        # Equal rows that are counted count as so many; rows that were drawn by their label are each one.
        repeated = np.repeat(np.arange(len(rows)), weights.astype(int) if (weights == weights.round()).all() else 1)
        chosen = repeated[acting[repeated]]
        if not len(chosen):
            raise P4FError("no audited row is of a group and a fair label on which the bias acts; audit some")
        days = days_of(rows.column(self.period.columns[0], "when=..."))
        cells = 2 * rows.shares(self.variable).argmax(axis=1) + fair
        return days[chosen], cells[chosen], (fair != rows.recorded)[chosen].astype(np.float64)

    def sentences(self, label: Label, stage: Stage | None = None) -> list[str]:
        days = " and ".join(self.period.changes) or "some day, which audited rows will tell"
        first = f"The bias is taken to have changed on {days}"
        if self.change_point is not None:
            low, high, p = self.change_point.low, self.change_point.high, self.change_point.p
            first += (
                f", which was searched in audited rows: it is between {low} and {high} with 95% confidence, and the "
                f"chance of such a change where there was none is {f'below {p:.3f}' if p < 0.0015 else f'{p:.3f}'}"
            )
        return [f"{first}.", *super().sentences(label, stage)]

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | ({} if self.change_point is None else {"change_point": asdict(self.change_point)})

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Self:
        belief = cast("Self", super()._from_json(value))
        if "change_point" in value:
            belief.change_point = ChangePoint(**value["change_point"])
            if not 0 < belief.change_point.p <= 1:
                raise ValueError("its chance is no probability")
        return belief

    def field_values(self) -> dict[str, Any]:
        """See :meth:`Belief.field_values`; a day that was searched for is no answer."""
        return super().field_values() | ({} if self.change_point is None else {"changed": None})

    @classmethod
    def from_fields(cls, values: Mapping[str, Any], table: FieldTable | None = None) -> Belief:
        if values.get("when") is None:
            raise P4FError("name the column with the day of each row: when=...")
        return super().from_fields(values, table)


def _with_all(parameter: Parameter, others: Sequence[Parameter], confidence: float) -> Parameter:
    """A parameter whose interval has those of others in it, and rests on as few rows as such an interval does."""
    if parameter.value is None or parameter.low is None or parameter.high is None:
        return parameter
    low = min([parameter.low, *(other.low for other in others if other.low is not None)])
    high = max([parameter.high, *(other.high for other in others if other.high is not None)])
    rows = min(parameter.rows or 0, max(1, round(equal_rows(parameter.value, low, high, confidence))))
    return replace(parameter, low=low, high=high, rows=rows, prior=None)


def _period(when: str, changed: Any) -> Period:
    """The periods between the days that somebody stated; two, with an unknown day between them, where nobody did."""
    if changed is None:
        return Period((when,), (0, 1), "after")
    given = [changed] if isinstance(changed, str) or not np.iterable(changed) else list(changed)
    if not given:
        raise P4FError("changed=[] names no day; write 2020-03-01, or leave it out to have the day searched for")
    try:
        days = sorted({str(day) for day in days_of(pd.Series(given))})
    except P4FError:
        raise P4FError(f"changed={changed!r} is no day; write 2020-03-01, or several in a list") from None
    return Period((when,), tuple(range(len(days) + 1)), "after" if len(days) == 1 else "period", changes=tuple(days))


def _in_periods(bias: By | Literal[False] | None, period: Period, name: str) -> By | Literal[False]:
    if bias is False:
        return False
    if bias is not None and not isinstance(bias, By):
        raise P4FError(f"{name} is None, False or depends_on(...); state numbers by .bind({{...}}), one for each cell")
    return replace(bias or By(), period=period)


# Of the audited rows, those that a period has at least: this part, and this many.
LEAST_PART, LEAST_ROWS = 0.1, 10
# Days that are tried, and orders of the rows that the best one is compared with.
MOST_DAYS, SHUFFLED = 200, 999
# By how much log-likelihood the day of the change is behind the best one, at most, in 95% of audits: on either side of
# it, the log-likelihood is a random walk that falls, whose highest point is above c with probability exp(-c).
NEAR = -float(np.log1p(-np.sqrt(0.95)))


@dataclass(frozen=True)
class ChangePoint:
    """The day that divides audited rows best.

    Attributes
    ----------
    day
        The first day of the later period.
    low, high
        The first and the last day that may have been the first of the later period, with 95% confidence.
    p
        The chance that some day divides rows as well where nothing changed.
    """

    day: str
    low: str
    high: str
    p: float


def search_change(days: Any, cells: Codes, hit: Floats, seed: int = 0) -> ChangePoint:
    """Find the day from which on labels were distorted more often, or less often.

    Every day that leaves enough rows on both sides is tried: the log-likelihood of one probability before and another
    one after it, in each cell, against one for both. The largest is compared with that of the same rows in which who
    was distorted is shuffled within cells, so that the number of days that were tried is counted in.

    Parameters
    ----------
    days
        ``[rows]``, numpy's days.
    cells
        ``[rows]``: rows that are distorted equally often, if nothing changed.
    hit
        ``[rows]``: 1 where a label was distorted.
    seed
        Of the shuffling.
    """
    order = np.argsort(days, kind="stable")
    days, cells, hit = days[order], cells[order], hit[order]
    first = _candidates(days)
    rng = np.random.default_rng(seed)
    seen, shuffled = np.zeros(len(first)), np.zeros((SHUFFLED, len(first)))
    for cell in np.unique(cells):
        members = np.flatnonzero(cells == cell)
        before, hits = np.searchsorted(members, first), hit[members].astype(np.int64)
        until = np.concatenate([[0], hits.cumsum()])[before]
        seen += _gain(until[None], before, hits.sum(), len(members))[0]
        # Who was distorted, shuffled: how many of them then are between one day and the next.
        between = np.diff(before, prepend=0, append=len(members))
        drawn = rng.multivariate_hypergeometric(between, hits.sum(), SHUFFLED, method="marginals")
        shuffled += _gain(drawn[:, :-1].cumsum(axis=1), before, hits.sum(), len(members))
    best = int(seen.argmax())
    near = np.flatnonzero(seen >= seen[best] - NEAR)
    above = int((shuffled.max(axis=1) >= seen[best] - 1e-9).sum())
    day, high = (str(days[first[place]]) for place in (best, near[-1]))
    # Any day after the last audited one of the earlier period divides the rows in the same way.
    low = str(days[first[near[0]] - 1] + np.timedelta64(1, "D"))
    return ChangePoint(day, low, high, (1 + above) / (SHUFFLED + 1))


def _candidates(days: Any) -> Codes:
    """The numbers of the rows with which a later period may begin, of rows in the order of their days."""
    least = max(LEAST_ROWS, int(np.ceil(LEAST_PART * len(days))))
    starts = np.flatnonzero(days[1:] != days[:-1]) + 1
    starts = starts[(starts >= least) & (starts <= len(days) - least)]
    if not len(starts):
        raise P4FError(
            f"no day divides the {len(days)} audited rows into two periods of {least} or more; audit rows of other days"
        )
    if len(starts) > MOST_DAYS:
        starts = starts[np.unique(np.linspace(0, len(starts) - 1, MOST_DAYS).astype(int))]
    return np.asarray(starts)


def _gain(hits: Codes, before: Codes, total: int, rows: int) -> Floats:
    """``[draws, days]``: log-likelihood that two probabilities add, with hits ``[draws, days]`` before each day."""
    return _likelihood(hits, before) + _likelihood(total - hits, rows - before) - _likelihood(total, rows)


def _likelihood(hits: Any, rows: Any) -> Floats:
    share = hits / np.maximum(rows, 1)
    return np.asarray(xlogy(hits, share) + xlogy(rows - hits, 1 - share))
