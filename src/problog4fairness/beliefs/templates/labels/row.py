"""Bias of the label that depends on the row: on who decided, on other columns, on a small model of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np
import torch
from torch import Tensor

from problog4fairness.audit import AuditRules, Stratified, counted_cells, warn_audit
from problog4fairness.beliefs.describe.words import Label, Stage, row_sentences
from problog4fairness.beliefs.description import BeliefKind, Columns, Question
from problog4fairness.beliefs.fields import AFFECTED, GROUPS, SENSITIVE, Field, FieldTable
from problog4fairness.beliefs.likelihood.combinations import every, occurring
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.likelihood.tables import observe_tables
from problog4fairness.beliefs.templates.labels.dependence import By
from problog4fairness.beliefs.templates.labels.label import NEGATIVE, POSITIVE
from problog4fairness.beliefs.templates.labels.stage import LabelStage
from problog4fairness.beliefs.variables import Cells, Strength, goal, strengths
from problog4fairness.data import Category, Codes, Level, Period, Rows, Score
from problog4fairness.errors import MissingValueError, P4FError
from problog4fairness.program import atom, predicates
from problog4fairness.statistics import Cell, Parameter

if TYPE_CHECKING:
    from problog4fairness.beliefs.belief import Belief

# A fair and a recorded class, and what a user and the program call the change from the one to the other.
Change: TypeAlias = tuple[int, int]
NAMES: Mapping[Change, str] = {NEGATIVE: "negative", POSITIVE: "positive"}
# Cells of one kind of bias; an audit could not tell more apart.
MOST_CELLS = 10_000
DEPENDS = (
    Field("negative", "depends_on", "A fair 1 may be recorded as 0", True),
    Field("positive", "depends_on", "A fair 0 may be recorded as 1", True),
)


class RowBias(LabelStage):
    r"""The recorded label is a distorted copy of the fair one, more often in some rows than in others.

    P(recorded = 1) = h (1 - neg_c) + (1 - h) pos_c, in the cell c of the row

    Use it where not only the group counts but who decided, or what the case was like: officers of whom some turn down
    most applicants from poor areas and others none. A cell is a group with a value of each column of ``depends_on(...)``.

    What identifies it: audited rows. In a cell with few of them, the estimate is shrunk towards the mean of the cells of
    its group, as far as these are alike; rows of values that nobody audited get that mean, in the cell ``other``. Without
    any audit the cells cannot be told from differences between the people who come to different officers.

    Parameters
    ----------
    sensitive, groups, affected, favourable
        As for :class:`LabelBias`.
    negative, positive
        What the probability that a fair 1 is recorded as 0, and a fair 0 as 1, depends on besides the group:
        :func:`by` says the columns. Or, as for :class:`LabelBias`, one number, one per group, None, or False.

    Notes
    -----
    Columns of ``depends_on(...)`` say how the record came about; a learner does not read them. Those of ``model=`` it does.
    The program has each cell as a ground fact; a score enters as a network that says its band.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.RowBias("poor_area", p4f.depends_on({"officer": ("ann", "bob")}), False, affected=[1])
    >>> print(belief.bind({"neg(1,ann)": 0.1, "neg(1,bob)": 0.6, "neg(1,other)": 0.3}))
    % Bias that depends on the row: the recorded label y_ is a copy of the fair label y_h, distorted by cell.
    % a is the sensitive variable: poor_area = 1.
    % officer is something else that the bias depends on: officer.
    <BLANKLINE>
    nn(h,X) :: y_h(X).
    nn(a,X) :: a(X).
    nn(officer,[X],G,[ann,bob,other]) :: officer(X,G).
    <BLANKLINE>
    label_in_a(X,1) :- a(X).
    label_in_a(X,0) :- \+a(X).
    <BLANKLINE>
    0.1 :: label_neg_bias(X,1,ann).  % neg(1,ann), a fair 1 is recorded as 0 where poor_area = 1 and officer = ann: stated
    0.6 :: label_neg_bias(X,1,bob).  % neg(1,bob), a fair 1 is recorded as 0 where poor_area = 1 and officer = bob: stated
    0.3 :: label_neg_bias(X,1,other).  % neg(1,other), a fair 1 is recorded as 0 where poor_area = 1 and officer is none of these: stated
    <BLANKLINE>
    y_(X) :- y_h(X), label_in_a(X,V1), officer(X,V2), \+label_neg_bias(X,V1,V2).
    <BLANKLINE>
    ?- y_(x).
    <BLANKLINE>
    """  # noqa: E501

    title = "bias that depends on the row"
    kind = BeliefKind(
        fields=(SENSITIVE, *DEPENDS, GROUPS, AFFECTED),
        command="row",
        identified_by="audited rows of every group; cells with few of them are shrunk towards the others.",
        question=Question(
            "label",
            "Some decided more unfairly than others",
            "One officer turned down most applicants from poor areas, another one none.",
            (("*fair label", "group", "officer"), ("recorded label",)),
        ),
    )
    about = "Bias that depends on the row: the recorded label y_ is a copy of the fair label y_h, distorted by cell."

    def __init__(
        self,
        sensitive: str | Sequence[str],
        negative: By | Strength = None,
        positive: By | Strength = None,
        *,
        groups: Sequence[Level] | None = None,
        affected: Sequence[Level] | str | None = None,
        favourable: Any = None,
    ) -> None:
        super().__init__(sensitive, negative, positive, groups=groups, affected=affected, favourable=favourable)
        self._depend(negative, positive)

    def _depend(self, negative: By | Strength, positive: By | Strength) -> None:
        """Take what each kind of bias depends on besides the group, or how strong it is in each group."""
        variable = self.variables[0]
        biases = {change: bias for change, bias in ((NEGATIVE, negative), (POSITIVE, positive)) if bias is not False}
        if not biases:
            raise P4FError("with negative=False and positive=False there is no bias; believe in NoBias()")
        depends = {change: bias.without(variable.columns) for change, bias in biases.items() if isinstance(bias, By)}
        self.open = {change: bias.waiting for change, bias in depends.items() if bias.waiting is not None}
        reads = {change: depends[change].variables() if change in depends else [] for change in biases}
        others = list(dict.fromkeys(other for variables in reads.values() for other in variables))
        names = predicates((other.name for other in others), "b", {"a", "x"})
        self.variables = (variable, *(replace(other, name=name) for other, name in zip(others, names, strict=True)))
        self.reads = {change: (0, *(1 + others.index(other) for other in reads[change])) for change in reads}
        stated = {
            Cell(level, *change): value
            for change, bias in biases.items()
            if not isinstance(bias, By)
            for level, value in strengths(bias, variable, self.affected, NAMES[change]).items()
        }
        self.parameters = tuple(self._parameter(cell, stated.get(cell)) for cell in self._all_cells())

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`; also those of which audited rows must first say something.

        No learner reads columns that say how the record came about.
        """
        known = super().columns
        waiting = [name for dependence in self.open.values() for name in dependence.names]
        recording = [v.columns for v in self.variables[1:] if not isinstance(v, Score)]
        recording += [(name,) for dependence in self.open.values() for name, _ in dependence.columns]
        return replace(
            known,
            others=tuple(dict.fromkeys([*known.others, *waiting])),
            withheld=tuple(dict.fromkeys(name for names in recording for name in names)),
            date=next((v.columns[0] for v in self.variables if isinstance(v, Period)), None),
        )

    def cells(self, change: Change) -> Cells:
        """The cells of a kind of bias; the sensitive variable is the first that they depend on."""
        return Cells(tuple(self.variables[place] for place in self.reads[change]))

    def _all_cells(self) -> list[Cell]:
        """The cells of all kinds of bias; of two groups, those of the sensitive one come first."""
        every = []
        for change in self.reads:
            cells = self.cells(change)
            if cells.count > MOST_CELLS:
                raise P4FError(
                    f"there are {cells.count:,} cells, more than {MOST_CELLS:,}; name fewer columns in depends_on(...)"
                )
            others = cells.count // cells.shape[0]
            for group in sorted(self.affected, reverse=self.variable.binary):
                every += [Cell(group * others + place, *change) for place in range(others)]
        return every

    def group_of(self, cell: Cell) -> int:
        """The group of a cell, by position."""
        return self.cells(cell.change).place(cell.group)[0]

    def where(self, cell: Cell, first: int = 0) -> str:
        """See :meth:`LabelStage.where`; from the ``first`` of its variables on."""
        return self.cells(cell.change).words(cell.group, first)

    def parameter_name(self, cell: Cell | None) -> str:
        if cell is None:
            raise P4FError("every parameter of a RowBias is about a cell")
        return f"{NAMES[cell.change][:3]}{self.suffix}({self.cells(cell.change).arguments(cell.group)})"

    def rules(self, fair: str, recorded: str) -> list[str]:
        used = {variable: None for change in self.reads for variable in self.cells(change).variables}
        names = {v: f"label_in_{v.name}{self.suffix}" if v.binary else v.name for v in used}
        goals = [
            f"{names[variable]}(X,{atom(variable.levels[level])}) :- {goal(variable, level)}."
            for variable in used
            if variable.binary
            for level in (1, 0)
        ]
        facts = [
            parameter.fact(f"{self._predicate(cell.change)}(X,{self.cells(cell.change).arguments(cell.group)})")
            for cell, parameter in self.by_cell().items()
        ]
        bodies = [] if NEGATIVE in self.reads else [f"{recorded}(X) :- {fair}(X)."]
        for change in self.reads:
            places = {f"V{i}": variable for i, variable in enumerate(self.cells(change).variables, start=1)}
            holds = "".join(f", {names[variable]}(X,{place})" for place, variable in places.items())
            start = f"{fair}(X){holds}, \\+" if change == NEGATIVE else f"\\+{fair}(X){holds}, "
            bodies.append(f"{recorded}(X) :- {start}{self._predicate(change)}(X,{','.join(places)}).")
        return ["\n".join(part) for part in (goals, facts, bodies) if part]

    def _predicate(self, change: Change) -> str:
        return f"label_{NAMES[change][:3]}_bias{self.suffix}"

    def label_table(self, groups: Codes | None = None) -> Tensor:
        """See :meth:`LabelStage.label_table`; looked up, which for many cells is quicker than asking the program."""
        self._require_known()
        groups = every(self.variables) if groups is None else groups
        table = np.broadcast_to(np.eye(2), (len(groups), 2, 2)).copy()
        for change, read in self.reads.items():
            cells = self.cells(change)
            chance = np.zeros(cells.count)
            for cell, parameter in self.by_cell().items():
                if cell.change == change:
                    chance[cell.group] = parameter.used
            chances = chance[np.ravel_multi_index(groups[:, list(read)].T, cells.shape)]
            table[:, change[0], change[1]], table[:, change[0], change[0]] = chances, 1 - chances
        return torch.from_numpy(table)

    def _observation(self, rows: Rows) -> Observation:
        """Through its table."""
        if len(rows.classes) != 2:
            raise P4FError(f"RowBias is for a label of two classes, not of {len(rows.classes)}; take ClassBias")
        groups = occurring(self.variables, rows)
        return observe_tables(rows, groups, self.label_table(groups.levels), {}, (), self.record.outcomes(rows).codes)

    def _require_known(self) -> None:
        self.require_settled()
        super()._require_known()

    def require_settled(self) -> None:
        if self.open:
            name = next(iter(self.open.values())).names[0]
            raise MissingValueError(
                f"how the bias depends on {name} is not known; estimate it from audited rows with .estimate(...), alone"
            )

    def _check_rows(self, rows: Rows) -> None:
        """See :meth:`Belief._check_rows`; other values need not occur, but it is told where none of them does."""
        groups = copy.copy(self)
        groups.variables = self.variables[:1]
        self.columns.require(rows)
        LabelStage._check_rows(groups, rows)
        for variable in self.variables[1:]:
            if isinstance(variable, Category) and len(rows):
                known = variable.levels[:-1]
                if (rows.positions(variable) == len(known)).all():
                    column, few = variable.columns[0], ", ".join(map(repr, known[:3]))
                    warn_audit(
                        f"no row has a value of {column!r} that the belief knows ({few}{', ...' * (len(known) > 3)}): "
                        "all are taken as none of these; is it written otherwise?"
                    )

    @property
    def audit_rules(self) -> AuditRules:
        """See :attr:`Belief.audit_rules`: cells are shrunk towards their mean, not counted one by one."""
        cells = {change: self.cells(change) for change in self.reads}
        return replace(super().audit_rules, counted=False, cells=cells, affected=self.affected)

    def _fitted_to(self, rows: Rows) -> Self:
        """See :meth:`Belief._fitted_to`: the values of columns, and scores."""
        changed: dict[str, Any] = {}
        for change in self.open:
            part = rows.take(np.flatnonzero(self._at_risk(rows, change)))
            hit = (np.asarray(part.recorded) == change[1]).astype(np.float64)
            dependence = By.from_json(self._field_values[NAMES[change]]).without(self.variable.columns)
            changed[NAMES[change]] = dependence.found_in(part, hit, part.shares(self.variable)).to_json()
        return self._remade(**changed) if changed else self

    def _at_risk(self, rows: Rows, *changes: Change) -> Any:
        """Which audited rows are of groups on which the bias acts, with a fair label that these changes distort."""
        if rows.fair is None or rows.recorded is None:
            raise P4FError("audited rows have a recorded and a fair label")
        acting = np.isin(rows.shares(self.variable).argmax(axis=1), self.affected)
        return acting & np.isin(rows.fair, [fair for fair, _ in changes])

    def _remade(self, **values: Any) -> Self:
        """The same belief with other values of some fields; parameters of the same name stay."""
        kept = {parameter.name: parameter for parameter in self.parameters}
        made = type(self).from_fields({**self._field_values, **values})
        other = cast("Self", made)._with_favourable(self.favourable)
        renewed = (
            replace(kept.get(parameter.name, parameter), meaning=parameter.meaning) for parameter in other.parameters
        )
        return other._with_parameters(tuple(renewed))

    def _estimated(self, rows: Rows, confidence: float, strata: Stratified | None = None) -> tuple[Parameter, ...]:
        return counted_cells(self, rows, confidence, strata)

    def sentences(self, label: Label, stage: Stage | None = None) -> list[str]:
        return row_sentences(self, label, stage or Stage())

    def field_values(self) -> dict[str, Any]:
        """See :meth:`Belief.field_values`; scores that an audit made are named by the columns that they read."""
        values = super().field_values()
        for name in NAMES.values():
            depends = values[name]
            if isinstance(depends, Mapping) and "found" in depends:
                scores = [part for part in depends["found"] if part["as"] == "score"]
                # The last value of a column stands for all others.
                known = {part["columns"][0]: part["levels"][:-1] for part in depends["found"] if part not in scores}
                model = [column for part in scores for column in part["columns"]]
                values[name] = {"columns": depends["columns"] | known, "model": model}
        return values

    @classmethod
    def from_fields(cls, values: Mapping[str, Any], table: FieldTable | None = None) -> Belief:
        """See :meth:`Belief.from_fields`; whoever is asked names a column that the bias depends on."""
        if table is not None and "when" not in values and True in (values.get(name, True) for name in NAMES.values()):
            raise P4FError("name a column that the bias depends on: by=... for its values, model=... for numbers")
        return super().from_fields(values, table)
