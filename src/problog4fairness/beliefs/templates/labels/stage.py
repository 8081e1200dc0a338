"""What biases of the label have in common, alone or as stages of a chain."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import torch
from torch import Tensor

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import labelled, recorded
from problog4fairness.beliefs.describe.words import Label, Stage, joined, share
from problog4fairness.beliefs.description import LabelRecord
from problog4fairness.beliefs.likelihood.combinations import answers, every
from problog4fairness.beliefs.variables import declaration, favourable_comment, sensitive_comment
from problog4fairness.data import Codes, Floats, Rows, Sensitive, plain
from problog4fairness.errors import P4FError
from problog4fairness.program import Diagram, Node, Program, atom, comment
from problog4fairness.statistics import Cell, Parameter, percent

if TYPE_CHECKING:
    from problog4fairness.audit import Stratified


class LabelStage(Belief):
    """The recorded label is a distorted copy of the fair one.

    Attributes
    ----------
    about
        What it says of the label, in a line at the head of its program.
    names_classes
        Whether it is about three or more classes, which it names.
    last
        Whether nothing can come after it in a chain.
    tabular
        Whether P(recorded | fair, groups) says all; not where rows are there only because of what was recorded.
    affected
        The groups on which the bias acts, by position.
    classes
        The classes of the label, where there are more than two.
    suffix
        What keeps its predicates and parameters apart from those of other stages of a chain.
    """

    title: ClassVar[str] = "label bias"
    about: ClassVar[str] = (
        "Label bias: the recorded label y_ is a distorted copy of the fair label y_h that the classifier h gives."
    )
    names_classes: ClassVar[bool] = False
    last: ClassVar[bool] = False
    tabular: bool = True
    suffix: str = ""
    classes: tuple[int | str, ...] | None = None

    @property
    def record(self) -> LabelRecord:
        return replace(super().record, classes=self.classes)

    @property
    def variable(self) -> Sensitive:
        """The sensitive variable."""
        return self.variables[0]

    def require_settled(self) -> None:
        """Raise the error that says why it cannot be part of another belief yet."""

    def strata(self, rows: Rows) -> tuple[int, Codes | Floats]:
        """How many strata parameters are counted in, and that of each row as :meth:`Rows.positions` gives it."""
        return len(self.variable.levels), rows.positions(self.variable)

    def queries(self) -> str:
        """The queries for what can be recorded."""
        return label_queries(self.classes)

    @abstractmethod
    def rules(self, fair: str, recorded: str) -> list[str]:
        """The clauses that make ``recorded`` from ``fair``, in paragraphs."""

    @abstractmethod
    def parameter_name(self, cell: Cell | None) -> str:
        """The name of a parameter in the program."""

    def text(self) -> str:
        head = [self.about, *map(sensitive_comment, self.variables), *favourable_comment(self)]
        parts = [comment(*head), "\n".join([classifier(self.classes), *map(declaration, self.variables)])]
        return "\n\n".join([*parts, *self.rules("y_h", "y_"), self.queries()]) + "\n"

    def where(self, cell: Cell) -> str:
        """The rows of a cell in words."""
        return self.variable.group_text(cell.group)

    def _meaning(self, cell: Cell) -> str:
        """What the parameter of a cell is the probability of."""
        fair, recorded = ((self.classes or (0, 1))[label] for label in cell.change)
        return f"a fair {fair} is recorded as {recorded} where {self.where(cell)}"

    def _parameter(self, cell: Cell, value: float | None = None) -> Parameter:
        """The parameter of a cell, with its value where somebody states it."""
        known = None if value is None else float(value)
        return Parameter(self.parameter_name(cell), self._meaning(cell), known, cell=cell)

    def by_cell(self) -> dict[Cell, Parameter]:
        """The parameters that are about a cell."""
        return {parameter.cell: parameter for parameter in self.parameters if parameter.cell is not None}

    def label_table(self, groups: Codes | None = None) -> Tensor:
        """P(recorded label | fair label, group), ``[groups, fair, recorded]``.

        ``groups`` are combinations of groups, ``[combinations, variables]`` by position; all of them by default.
        """
        self._require_known()
        groups = every(self.variables) if groups is None else groups
        return label_table(self._bound_program(), self.variables, self._class_count, groups)

    def _check_rows(self, rows: Rows) -> None:
        """See :meth:`Belief._check_rows`; the label must have as many classes as the belief."""
        if len(rows.classes) != self._class_count:
            seen = ", ".join(repr(plain(value)) for value in rows.classes)
            raise P4FError(f"the belief is for {self._class_count} classes; the label has {len(rows.classes)}: {seen}")
        super()._check_rows(rows)

    def _estimated(self, rows: Rows, confidence: float, strata: Stratified | None = None) -> tuple[Parameter, ...]:
        from problog4fairness.audit import counted_labels

        if any(parameter.cell is None for parameter in self.parameters):
            return super()._estimated(rows, confidence, strata)
        return counted_labels(self, rows, confidence)

    def renamed(self, variables: tuple[Sensitive, ...], suffix: str) -> Self:
        """The same bias for a chain: other names of its variables, a suffix on its parameters."""
        other = copy.copy(self)
        other.variables = variables
        other.suffix = suffix
        names = {parameter.name: other.parameter_name(parameter.cell) for parameter in self.parameters}
        other.parameters = tuple(parameter.renamed(names) for parameter in self.parameters)
        return other

    def words(self, label: Label | None = None) -> list[str]:
        first = "The features are taken as they are. The recorded label is taken as a distorted copy of the fair one."
        return [first, *self.sentences(label or Label())]

    def sentences(self, label: Label, stage: Stage | None = None) -> list[str]:
        """What it says of each group, alone or as a stage of a chain."""
        words, lines, names = stage or Stage(), [], self.classes or label.values
        for level in reversed(range(len(self.variable.levels))):
            group = self.variable.group_text(level)
            cells = {cell: parameter for cell, parameter in self.by_cell().items() if cell.group == level}
            # Of many classes most changes do not happen; one word for all of these.
            told_of = {
                cell: parameter for cell, parameter in cells.items() if parameter.value != 0 or not self.names_classes
            } or cells
            parts = self._short_parts(group, label.column, words, cells) or [
                f"of the people with {group} {words.had} {label.column} = {names[cell.fair]}, "
                f"{share(parameter)} {words.became} {label.column} = {names[cell.recorded]}"
                for cell, parameter in told_of.items()
            ]
            if len(told_of) < len(cells):
                high = max(parameter.high or 0.0 for cell, parameter in cells.items() if cell not in told_of)
                parts.append(f"any other change happened to 0%{f', or {percent(high)} at most' if high else ''}")
            # The first part names the group, the others refer to it.
            long = f"the people with {group} who"
            lines.append(joined(parts, long, "those who") if parts else f"Where {group}, {words.untouched}.")
        return lines

    def _short_parts(self, group: str, column: str, words: Stage, cells: Mapping[Cell, Parameter]) -> list[str]:
        """Of many classes of which nothing is known yet, what may happen to each; and that nothing happens at all."""
        if not self.names_classes or self.classes is None or not cells:
            return []
        if all(parameter.value == 0 for parameter in cells.values()):
            high = max(parameter.high or 0.0 for parameter in cells.values())
            most = f", or {percent(high)} of a class at most," if high else ""
            return [f"of the people with {group}, 0%{most} {words.became} another {column.removeprefix('the ')}"]
        if any(parameter.value is not None for parameter in cells.values()):
            return []
        return [
            f"of the people with {group} {words.had} {column} = {self.classes[fair]}, "
            f"an unknown share {words.became} another"
            for fair in dict.fromkeys(cell.fair for cell in cells)
        ]

    def picture(self, label: Label | None = None) -> Diagram:
        words = label or Label()
        outcome = recorded(words.recorded, [words.fair, *self.columns.all], self.parameters)
        drawn = {column for variable in self.variables for column in variable.columns}
        waiting = (Node(name, observed=True) for name in self.columns.all if name not in drawn)  # for an audit
        return labelled(words.fair, self.variables, *waiting, outcome)


def classifier(classes: Sequence[int | str] | None) -> str:
    """The neural predicate of the classifier."""
    if classes is None:
        return "nn(h,X) :: y_h(X)."
    return f"nn(h,[X],Y,[{','.join(atom(c) for c in classes)}]) :: y_h(X,Y)."


def label_queries(classes: Sequence[int | str] | None) -> str:
    """The queries for the recorded label."""
    if classes is None:
        return "?- y_(x)."
    return "\n".join(f"?- y_(x,{atom(c)})." for c in classes)


def label_table(program: Program, variables: tuple[Sensitive, ...], classes: int, groups: Codes) -> Tensor:
    """The label table of a program with one classifier ``h``, for some combinations of groups."""
    circuit = program.compile()
    h = torch.arange(2).double() if classes == 2 else torch.eye(classes).double()
    labels = [i for i, query in enumerate(circuit.queries) if query.startswith("y_(")]
    recorded = answers(circuit, variables, groups, {"h": h})[..., labels]
    return torch.cat([1 - recorded, recorded], dim=-1) if len(labels) == 1 else recorded
