"""Bias of a label with three or more classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from problog4fairness.beliefs.fields import AFFECTED, GROUPS, SENSITIVE, Field, plain_label
from problog4fairness.beliefs.templates.labels.stage import LabelStage
from problog4fairness.beliefs.variables import flip_rules
from problog4fairness.data import Level
from problog4fairness.errors import P4FError
from problog4fairness.program import atom
from problog4fairness.statistics import Cell, Parameter


class ClassBias(LabelStage):
    """The recorded class is a distorted copy of the fair one, of three or more classes.

    P(recorded = r) = sum over classes f of h_f flip(A, f, r)

    :class:`LabelBias` for labels with more than two classes: every transition from a fair class to another one that is
    recorded has a parameter for each group.

    Parameters
    ----------
    sensitive
        The column of the sensitive variable, or several columns whose values together make a group.
    classes
        The classes of the label; the last one is the favourable one, of which groups get unequal shares.
    transitions
        Probabilities by (group, fair class, recorded class), one number for all, or None to be estimated.
    groups
        The groups; with two, the second is the sensitive one. Where they are not stated they are 0 and 1; or those
        named by ``affected`` and everybody else, such as ``not female`` and ``female``.
    affected
        The groups on which the bias acts; all by default.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.ClassBias("a", ["low", "middle", "high"], 0.0, affected=[1]).bind({"flip(1,high,middle)": 0.3})
    >>> [(own.name, own.value) for own in belief.parameters if own.value]
    [('flip(1,high,middle)', 0.3)]
    >>> belief.parameters[-1].meaning
    'a fair high is recorded as middle where a = 1'
    """

    fields: ClassVar[tuple[Field, ...]] = (
        SENSITIVE,
        Field("classes", "classes", "The classes of the label, the favourable one last"),
        Field("transitions", "probability", "Any class may be recorded as any other", True),
        GROUPS,
        AFFECTED,
    )
    names_classes = True
    identified_by = "audited rows of every group and fair class; the record alone tells little."
    classes: tuple[int | str, ...]

    def __init__(
        self,
        sensitive: str | Sequence[str],
        classes: Sequence[int | str],
        transitions: float | Mapping[Any, float | None] | None = None,
        *,
        groups: Sequence[Level] | None = None,
        affected: Sequence[Level] | str | None = None,
    ) -> None:
        super().__init__(sensitive, classes, transitions, groups=groups, affected=affected)
        self.classes = tuple(classes)
        if len(set(self.classes)) < 3:
            raise P4FError("ClassBias is for labels with three or more classes; use LabelBias for a binary label")
        self.favourable = plain_label(self.classes[-1])
        cells = [
            Cell(level, f, r)
            for level in self.affected
            for f in range(len(self.classes))
            for r in range(len(self.classes))
            if f != r
        ]
        self.parameters = tuple(self._parameter(cell, transitions) for cell in cells)

    def _parameter(self, cell: Cell, transitions: float | Mapping[Any, float | None] | None) -> Parameter:
        fair, recorded = self.classes[cell.fair], self.classes[cell.recorded]
        group = self.variable.levels[cell.group]
        value = transitions.get((group, fair, recorded)) if isinstance(transitions, Mapping) else transitions
        meaning = f"a fair {fair} is recorded as {recorded} where {self.variable.group_text(cell.group)}"
        return Parameter(self.parameter_name(cell), meaning, None if value is None else float(value), cell=cell)

    def parameter_name(self, cell: Cell | None) -> str:
        """See :meth:`LabelStage.parameter_name`."""
        if cell is None:
            raise P4FError("every parameter of a ClassBias is about a group and two classes")
        group, fair, recorded = self.variable.levels[cell.group], self.classes[cell.fair], self.classes[cell.recorded]
        return f"flip{self.suffix}({atom(group)},{atom(fair)},{atom(recorded)})"

    def rules(self, fair: str, recorded: str) -> list[str]:
        """See :meth:`LabelStage.rules`."""
        chances = {(cell.group, cell.fair, cell.recorded): parameter for cell, parameter in self.by_cell().items()}
        facts, rules = flip_rules(
            self.variable, self.classes, chances, before=fair, after=recorded, name="label", suffix=self.suffix
        )
        return ["\n".join(facts), "\n".join(rules)]

    def with_favourable(self, label: Any) -> Self:
        """See :meth:`Belief.with_favourable`: it is the last class."""
        self.favourable_among(self.classes, plain_label(label))
        return self
