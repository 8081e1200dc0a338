"""Selective labels: the outcome is known only of those who were accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

from problog4fairness.beliefs.describe.diagrams import labelled, recorded
from problog4fairness.beliefs.describe.words import Label, Stage, share
from problog4fairness.beliefs.description import BeliefKind, Columns, LabelRecord, Question
from problog4fairness.beliefs.fields import GROUPS, SENSITIVE, Field
from problog4fairness.beliefs.templates.records.selection import BY_FEATURES, Chance, Selection
from problog4fairness.data import Codes, Level, Rows
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Cell, Parameter

if TYPE_CHECKING:
    from torch import Tensor

    from problog4fairness.audit import AuditTable, Stratified
    from problog4fairness.program import Diagram

Kept = Literal["all", "accepted"]


class SelectiveLabels(Selection):
    r"""The label is known only of those who were accepted; of the others it is missing.

    P(recorded = f) = h_f s_f,A, and P(nothing recorded) = 1 - h_0 s_0,A - h_1 s_1,A, with
    s_f,A = P(accepted | fair = f, A)

    Use it where a decision came before the outcome: only loans that were granted are repaid or not, only people who
    were released offend again or not. Whoever decided knew something, so that those who were accepted are not like the
    others. The rows of people who were not accepted are in the table, with a missing label, and count.

    What identifies it: audited rows of both kinds of people; or, with ``features=``, the record itself. Whatever x is,
    P(recorded 1 | x) / s_1 + P(recorded 0 | x) / s_0 = 1, which different x tell; that acceptance depends on x only by
    the fair label is then assumed, not shown. Deciders of different leniency (``decided_by``), to whom people come by
    chance, tell the same without a word about x: they see the same people. Where only accepted people were kept, only
    s_1 / s_0 matters, and the record tells nothing of it: audit people who were turned down, or state it. To
    :meth:`estimate` such people are needed in any case, with a missing label.

    Parameters
    ----------
    sensitive, groups, favourable
        As for :class:`LabelBias`.
    good, bad
        Probability that somebody with the fair label 1 (good) or 0 (bad) was accepted: one number for all, one per
        group, None to be estimated. With ``decided_by``, one for each ``(group, decider)``.
    decided_by
        The column of who decided, with its values: ``{"officer": ("ann", "bob")}``. Learners do not read it.
    kept
        ``"all"``, or ``"accepted"`` where people who were not accepted are not in the table.

    Examples
    --------
    >>> print(SelectiveLabels("poor_area", good={1: 0.5, 0: 0.8}, bad=0.2))
    % Selective labels: the fair label y_h is recorded as y_ where the person was accepted, otherwise it is missing.
    % a is the sensitive variable: poor_area = 1.
    <BLANKLINE>
    nn(h,X) :: y_h(X).
    nn(a,X) :: a(X).
    <BLANKLINE>
    0.5 :: label_accepted(X) :- y_h(X), a(X).  % s(1,1), somebody with a fair 1 is accepted where poor_area = 1: stated
    0.8 :: label_accepted(X) :- y_h(X), \+a(X).  % s(1,0), somebody with a fair 1 is accepted where poor_area = 0: stated
    0.2 :: label_accepted(X) :- \+y_h(X), a(X).  % s(0,1), somebody with a fair 0 is accepted where poor_area = 1: stated
    0.2 :: label_accepted(X) :- \+y_h(X), \+a(X).  % s(0,0), somebody with a fair 0 is accepted where poor_area = 0: stated
    <BLANKLINE>
    y_(X,0) :- \+y_h(X), label_accepted(X).
    y_(X,1) :- y_h(X), label_accepted(X).
    y_(X,missing) :- \+label_accepted(X).
    <BLANKLINE>
    ?- y_(x,0).
    ?- y_(x,1).
    ?- y_(x,missing).
    <BLANKLINE>
    """  # noqa: E501 - the program's own lines

    title = "selective labels"
    kind = BeliefKind(
        fields=(
            SENSITIVE,
            Field("decided_by", "values", "Who decided: a column, and its values"),
            Field("kept", "choice", "Which people the table has", "all", choices=("all", "accepted")),
            GROUPS,
        ),
        command="selective",
        identified_by=(
            "audited rows, deciders of different leniency, or, where acceptance depends on features only by the fair "
            "label, the record itself; where only accepted rows were kept, audited rows alone."
        ),
        question=Question(
            "label",
            "It is known of some only",
            "Only of loans that were granted it is known whether they were repaid.",
            (("*fair label", "group"), ("label, if accepted",)),
        ),
    )
    last = True
    about = (
        "Selective labels: the fair label y_h is recorded as y_ where the person was accepted, otherwise it is missing."
    )
    kept: Kept = "all"

    def __init__(
        self,
        sensitive: str | Sequence[str],
        good: Chance = None,
        bad: Chance = None,
        *,
        decided_by: Mapping[str, Sequence[Level]] | None = None,
        kept: Kept = "all",
        groups: Sequence[Level] = (0, 1),
        favourable: Any = None,
    ) -> None:
        super().__init__(sensitive, decided_by=decided_by or None, kept=kept, groups=groups, favourable=favourable)
        self._set_strata(decided_by or {})
        self._take(kept)
        self.parameters = (*self._parameters(good, 1, "good"), *self._parameters(bad, 0, "bad"))
        self._check_values()

    def _take(self, kept: Kept) -> None:
        self.kept = kept
        self.tabular = kept == "all"

    def _meaning(self, cell: Cell) -> str:
        return f"somebody with a fair {cell.fair} is accepted where {self.where(cell)}"

    def parameter_name(self, cell: Cell | None) -> str:
        place = cell or Cell(0, 1, 1)
        return f"s{self.suffix}({place.fair},{self.cells.arguments(place.group)})"

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`; no learner reads who decided."""
        known = super().columns
        return replace(known, withheld=known.others)

    @property
    def record(self) -> LabelRecord:
        """See :meth:`Belief.record`: that nothing was recorded is the last outcome."""
        return replace(super().record, gaps=self.kept == "all")

    def rules(self, fair: str, recorded: str) -> list[str]:
        accepted = f"label_accepted{self.suffix}(X)"
        facts = [
            parameter.fact(accepted, f"{'' if cell.fair else chr(92) + '+'}{fair}(X), {self.cells.goals(cell.group)}")
            for cell, parameter in self.by_cell().items()
        ]
        if self.kept == "accepted":
            return ["\n".join(facts), f"{recorded}(X) :- {fair}(X)."]
        bodies = [
            f"{recorded}(X,0) :- \\+{fair}(X), {accepted}.",
            f"{recorded}(X,1) :- {fair}(X), {accepted}.",
            f"{recorded}(X,missing) :- \\+{accepted}.",
        ]
        return ["\n".join(facts), "\n".join(bodies)]

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`: who was accepted is on record, and the label of those people only."""
        words, accepted = label or Label(), "accepted"
        decided = recorded(accepted, [words.fair, *self.columns.sensitive, *self.columns.others], self.parameters)
        known = recorded(f"{words.recorded}, if accepted", [words.fair, accepted], ())
        return labelled(words.fair, self.variables, decided, known)

    def queries(self) -> str:
        if self.kept == "accepted":
            return f"evidence(label_accepted{self.suffix}(x)).\n?- y_(x)."
        return "?- y_(x,0).\n?- y_(x,1).\n?- y_(x,missing)."

    def label_table(self, groups: Codes | None = None) -> Tensor:
        """See :meth:`LabelStage.label_table`; the last column is that nothing is recorded."""
        if self.kept == "accepted":
            raise P4FError("where only accepted people were kept, there is no table of what is recorded of everybody")
        return super().label_table(groups)

    def _of_everybody(self) -> Self:
        """See :meth:`Selection._of_everybody`: people who were not accepted are in the audit, if not in the table."""
        return self._keeping("all")

    def _keeping(self, kept: Kept) -> Self:
        """The same belief about a table of all people, or of those who were accepted."""
        other = self._with_parameters(self.parameters)
        other._take(kept)
        return other

    def _estimated(self, rows: Rows, confidence: float, strata: Stratified | None = None) -> tuple[Parameter, ...]:
        if rows.recorded is not None and (rows.recorded >= 0).all():
            raise P4FError("every audited row has a recorded label; audit people who were not accepted, too")
        return super()._estimated(rows, confidence, strata)

    def _estimate_table(self, table: AuditTable) -> Self:
        """See :meth:`Belief._estimate_table`; rows without a recorded label count."""
        rows, roles = table.labelled_with_gaps
        fair = roles.fair or ""
        audit = table.sampled(rows, fair)
        return self.estimate(audit, recorded=roles.recorded, fair=fair, favourable=roles.favourable)

    def words(self, label: Label | None = None) -> list[str]:
        first = "The label is known only of people who were accepted, and is taken as right for them."
        if self.kept == "accepted":
            first += " The others are not in the table."
        return [first, *self.sentences(label or Label())]

    def sentences(self, label: Label, stage: Stage | None = None) -> list[str]:
        if all(parameter.source == BY_FEATURES for parameter in self.parameters):
            return ["Who was accepted is taken to follow the features: alike people are accepted whatever their label."]
        had, accepted = (stage or Stage()).had, self.by_cell()
        return [
            f"Of the people with {self.where(cell)} {had} {label.good}, {share(parameter)} were accepted; of those "
            f"{had} {label.bad}, {share(accepted[Cell(cell.group, 0, 0)])}."
            for cell, parameter in accepted.items()
            if cell.fair == 1
        ]

    def limitations(self) -> list[str]:
        if all(parameter.source == BY_FEATURES for parameter in self.parameters):
            return ["Whoever decided is taken to have known nothing of the fair label beyond the features."]
        return [
            "Whoever decided is taken to have known of the fair label what the belief says, and nothing else of it."
        ]
