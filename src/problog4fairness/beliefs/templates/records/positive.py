"""Positive and unlabelled data: some of the fair 1s are on record, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from problog4fairness.audit import Audit, frame_of, read_labels
from problog4fairness.beliefs.describe.words import Label, Stage, share
from problog4fairness.beliefs.description import BeliefKind, Question
from problog4fairness.beliefs.fields import GROUPS, SENSITIVE, Field
from problog4fairness.beliefs.templates.records.selection import Chance, Selection
from problog4fairness.data import Level, Rows
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Cell, Parameter, percent, proportion

if TYPE_CHECKING:
    import pandas as pd


class PositiveUnlabelled(Selection):
    r"""Some of the fair 1s are recorded as 1; everybody else is unlabelled, which does not mean 0.

    P(recorded = 1) = h e_A, with the *propensity* e_A = P(recorded = 1 | fair = 1, A)

    Use it where only one label is ever written down: an illness that was diagnosed, a fraud that was found out. A row
    is recorded as 1 if it is positive *and* was selected, as in PU ProbLog (Verreet, De Raedt and Bekker 2024); the
    propensity may differ between groups and by stated columns ("selected at random", Bekker and Davis 2019).

    What identifies it: the record alone does not. A propensity half as large with twice as many fair 1s explains it as
    well. There are three ways out, all in :meth:`estimate`: audited rows; the stated share of fair 1s in each group
    (``positives=``); or a model of the fair label that reaches certainty somewhere (``features=``), so that the rows
    that are surely positive show the propensity. The last one rests on the form of that model, and says so where it
    does not tell.

    Parameters
    ----------
    sensitive, groups, favourable
        As for :class:`LabelBias`; the favourable label is the one that is recorded.
    propensity
        P(recorded = 1 | fair = 1): one number for all, one per group (``{1: 0.3, 0: 0.6}``), None to be estimated. With
        ``by``, one for each ``(group, value, ...)``.
    by
        Further columns that the propensity depends on, with their values: ``{"hospital": ("north", "south")}``. A
        learner reads them, too.

    Examples
    --------
    >>> print(PositiveUnlabelled("poor_area", {1: 0.3, 0: 0.6}))
    % Positive and unlabelled: the recorded label y_ holds where the fair label y_h does and the row was selected.
    % a is the sensitive variable: poor_area = 1.
    <BLANKLINE>
    nn(h,X) :: y_h(X).
    nn(a,X) :: a(X).
    <BLANKLINE>
    0.3 :: label_selected(X) :- a(X).  % e(1), a fair 1 is recorded where poor_area = 1: stated
    0.6 :: label_selected(X) :- \+a(X).  % e(0), a fair 1 is recorded where poor_area = 0: stated
    <BLANKLINE>
    y_(X) :- y_h(X), label_selected(X).
    <BLANKLINE>
    ?- y_(x).
    <BLANKLINE>
    """

    title = "positive and unlabelled"
    kind = BeliefKind(
        fields=(
            SENSITIVE,
            Field("by", "values", "Further columns that the propensity depends on, with their values"),
            GROUPS,
        ),
        command="positive-unlabelled",
        identified_by=(
            "audited rows, the share of fair 1s, or, by what it assumes, features that make some rows certain; "
            "the record alone does not."
        ),
        question=Question(
            "label",
            "Only one label is written down",
            "Who was diagnosed is ill; who was not may be ill, too.",
            (("*fair label", "group"), ("yes, or nothing",)),
        ),
    )
    about = (
        "Positive and unlabelled: the recorded label y_ holds where the fair label y_h does and the row was selected."
    )

    def __init__(
        self,
        sensitive: str | Sequence[str],
        propensity: Chance = None,
        *,
        by: Mapping[str, Sequence[Level]] | None = None,
        groups: Sequence[Level] = (0, 1),
        favourable: Any = None,
    ) -> None:
        super().__init__(sensitive, by=by or None, groups=groups, favourable=favourable)
        self._set_strata(by or {})
        self.parameters = tuple(self._parameters(propensity, 1, "propensity"))
        self._check_values()

    def _meaning(self, cell: Cell) -> str:
        return f"a fair {cell.fair} is recorded where {self.where(cell)}"

    def parameter_name(self, cell: Cell | None) -> str:
        return f"e{self.suffix}({self.cells.arguments(0 if cell is None else cell.group)})"

    def rules(self, fair: str, recorded: str) -> list[str]:
        selected = f"label_selected{self.suffix}(X)"
        facts = [parameter.fact(selected, self.cells.goals(cell.group)) for cell, parameter in self.by_cell().items()]
        return ["\n".join(facts), f"{recorded}(X) :- {fair}(X), {selected}."]

    def estimate(
        self,
        audit: pd.DataFrame | Audit,
        *,
        recorded: str,
        positives: Chance = None,
        favourable: Any = None,
        confidence: float = 0.95,
        **others: Any,
    ) -> Self:
        """Estimate the propensities; see :meth:`Selection.estimate`.

        Parameters
        ----------
        audit, recorded, favourable, confidence, others
            As for :meth:`Selection.estimate`.
        positives
            The share of fair 1s, where it is known from elsewhere: one number, or one for each group as ``propensity``
            has it. Then no row needs to be audited: e = P(recorded = 1 | A) / P(fair = 1 | A).
        """
        if positives is None:
            return super().estimate(audit, recorded=recorded, favourable=favourable, confidence=confidence, **others)
        if others.get("prior"):
            raise P4FError("prior=... is for parameters that are counted in audited rows; leave out positives=...")
        rows = read_labels(self, frame_of(audit), recorded, None, favourable)
        stated = {parameter.cell: parameter.value for parameter in self._parameters(positives, 1, "positives")}
        parameters = [
            self._by_share(parameter, stated[parameter.cell], rows, confidence)
            for parameter in self._prepared(None, confidence).parameters
        ]
        return self._with_parameters(tuple(parameters))._with_counted_label(favourable)

    def _by_share(self, parameter: Parameter, positive: float | None, rows: Rows, confidence: float) -> Parameter:
        """A propensity from the share of recorded 1s in its stratum and the stated share of fair ones."""
        stratum = 0 if parameter.cell is None else parameter.cell.group
        shares, where = self.stratum_shares(rows)[:, stratum], self.cells.words(stratum)
        total = float(shares.sum())
        if positive is None or positive == 0:
            raise P4FError(f"positives does not say how many have a fair 1 where {where}; name a share")
        if total == 0 or rows.recorded is None:
            raise P4FError(f"no row has {where}; leave that group out of the belief's groups")
        seen = proportion(float(shares @ rows.recorded), total, confidence)
        if seen.value > positive:
            raise P4FError(
                f"{percent(seen.value)} of the rows with {where} are recorded as 1, more than the "
                f"{percent(positive)} that positives says have a fair 1; correct it"
            )
        low, high = seen.low / positive, min(1.0, seen.high / positive)
        source = f"given that {percent(positive)} have a fair 1"
        return replace(parameter, value=seen.value / positive, low=low, high=high, rows=seen.rows, source=source)

    def _ways(self) -> str:
        return super()._ways() + ", or the share of fair 1s by positives=..."

    def words(self, label: Label | None = None) -> list[str]:
        label = label or Label()
        first = f"{label.good[0].upper() + label.good[1:]} on record is taken as right; everybody else is unlabelled, "
        return [first + f"which does not mean {label.bad}.", *self.sentences(label)]

    def sentences(self, label: Label, stage: Stage | None = None) -> list[str]:
        words = stage or Stage()
        return [
            f"Of the people with {self.where(cell)} {words.had} {label.good}, {share(parameter)} {words.became} it."
            for cell, parameter in self.by_cell().items()
        ]
