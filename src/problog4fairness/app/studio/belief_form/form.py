"""The form of a belief: what a person ticks, and the template that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from problog4fairness.app.studio.belief_form.filled import PROGRAM, filled_in, same_but_numbers
from problog4fairness.beliefs import (
    Annotators,
    Belief,
    ChangedBias,
    ClassBias,
    HistoricalBias,
    LabelBias,
    MeasurementBias,
    NumericMeasurementBias,
    PositiveUnlabelled,
    RowBias,
    SelectiveLabels,
    UnknownGroup,
    chain,
    depends_on,
)
from problog4fairness.data import Roles
from problog4fairness.errors import P4FError

# Kinds that say which way they distort.
TWO_WAYS = ("label", "row", "changed", "measurement", "historical")
# Kinds for labels with two values.
TWO_LABELS = ("row", "changed", "selective", "positive-unlabelled", "annotators")


class Table(Protocol):
    """Knows the different values of a column."""

    def values(self, column: str) -> list[Any]:
        """The values in order, without missing ones."""
        ...


@dataclass
class Form:
    """What is filled in.

    Attributes
    ----------
    kind
        One of :data:`~problog4fairness.app.studio.belief_form.kinds.KINDS`.
    lost, given
        Whether what is favourable is lost, and whether it is given without reason.
    only_group
        Whether only the sensitive group's data are distorted.
    mistakes
        Whether anybody's label may also be flipped by mistake.
    also_by
        Further columns by which the label was recorded unfairly, one bias after the other.
    row_by, model
        Columns of values and of numbers on which the bias depends besides the group.
    when, changed
        The column of each row's day, and the days of changes, as 2020-03-01 with commas between them; none where an
        audit is to find one.
    features
        The distorted features.
    joint
        Whether they are distorted together.
    numbers, stretched, moved, blurred
        The distorted columns of numbers, and how they are.
    label_too
        Whether the label was recorded unfairly, besides.
    decided_by
        The column of who decided whose label is known.
    accepted_only
        Whether people who were not accepted are missing from the table.
    by
        Columns that also decide who is on record.
    annotators, by_group
        The columns of their votes, and whether their errors depend on the group.
    proxies
        Columns that tell of the group.
    values
        Stated parameters by name; None where an audit is to find them.
    """

    kind: str = "label"
    lost: bool = True
    given: bool = True
    only_group: bool = False
    mistakes: bool = False
    also_by: list[str] = field(default_factory=list)
    row_by: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    when: str | None = None
    changed: str = ""
    features: list[str] = field(default_factory=list)
    joint: bool = False
    numbers: list[str] = field(default_factory=list)
    stretched: bool = True
    moved: bool = True
    blurred: bool = True
    label_too: bool = False
    decided_by: str | None = None
    accepted_only: bool = False
    by: list[str] = field(default_factory=list)
    annotators: list[str] = field(default_factory=list)
    by_group: bool = True
    proxies: list[str] = field(default_factory=list)
    values: dict[str, float | None] = field(default_factory=dict)

    @classmethod
    def of(cls, belief: Belief, table: Table, roles: Roles) -> Form:
        """The form that describes a belief; a belief that no form makes is a program."""
        values = {own.name: own.value for own in belief.parameters}
        found = cls(**filled_in(belief), values=values)
        if found.kind == PROGRAM:
            return found
        try:
            same = same_but_numbers(found.belief(table, roles), belief)
        except (P4FError, KeyError):
            same = False
        return found if same else cls(PROGRAM, values=values)

    def belief(self, table: Table, roles: Roles) -> Belief:
        """The template that the form describes, with the numbers that were stated."""
        if self.kind in TWO_WAYS and not (self.lost or self.given):
            raise P4FError("without any bias there is nothing to believe; tick one of the two")
        if len(roles.labels) > 2 and self.kind in TWO_LABELS:
            raise P4FError(f"{roles.recorded} has {len(roles.labels)} values; this belief is for labels with two")
        made = _MAKERS[self.kind](self, table, roles)
        stated = {own.name: value for own in made.parameters if (value := self.values.get(own.name)) is not None}
        return made.bind(stated).with_favourable(roles.favourable)

    def _label(self, table: Table, roles: Roles) -> Belief:
        said = self._strengths(roles)
        if len(roles.labels) > 2:
            return ClassBias(roles.sensitive, roles.labels, groups=roles.levels, affected=said["affected"])
        first = LabelBias(roles.sensitive, noise=None if self.mistakes else False, **said)
        said["affected"] = None
        others = [LabelBias(name, **said | {"groups": table.values(name)}) for name in self.also_by]
        return chain(first, *others) if others else first

    def _row(self, table: Table, roles: Roles) -> Belief:
        if not self.row_by and not self.model:
            raise P4FError("choose what the bias depends on besides the group")
        return RowBias(roles.sensitive, **self._strengths(roles, self._depending(table)))

    def _changed(self, table: Table, roles: Roles) -> Belief:
        if self.when is None:
            raise P4FError("choose the column with the day of each row")
        days = [day.strip() for day in self.changed.split(",") if day.strip()]
        depending = self._depending(table) if self.row_by or self.model else None
        return ChangedBias(roles.sensitive, self.when, days or None, **self._strengths(roles, depending))

    def _depending(self, table: Table) -> Any:
        return depends_on({name: table.values(name) for name in self.row_by}, model=self.model)

    def _numeric(self, table: Table, roles: Roles) -> Belief:  # noqa: ARG002
        if not self.numbers:
            raise P4FError("choose the columns of numbers that are distorted")
        ways = {"factor": self.stretched, "shift": self.moved, "noise": self.blurred}
        if not any(ways.values()):
            raise P4FError("without any bias there is nothing to believe; tick one of the three")
        said: dict[str, Any] = {name: None if happens else False for name, happens in ways.items()}
        affected = self._strengths(roles)["affected"]
        return NumericMeasurementBias(self.numbers, roles.sensitive, **said, groups=roles.levels, affected=affected)

    def _measurement(self, table: Table, roles: Roles) -> Belief:
        said = self._strengths(roles) | {"values": self._many(table), "joint": self.joint}
        measured = MeasurementBias(*self._features(roles), **said)
        label = self._label_besides(roles)
        return measured if label is None else chain(measured, label)

    def _historical(self, table: Table, roles: Roles) -> Belief:
        said = self._strengths(roles) | {"label": self._label_besides(roles), "values": self._many(table)}
        return HistoricalBias(*self._features(roles), **said)

    def _selective(self, table: Table, roles: Roles) -> Belief:
        return SelectiveLabels(
            roles.sensitive,
            decided_by={self.decided_by: table.values(self.decided_by)} if self.decided_by else None,
            kept="accepted" if self.accepted_only else "all",
            groups=roles.levels,
        )

    def _positive(self, table: Table, roles: Roles) -> Belief:
        by = {name: table.values(name) for name in self.by}
        return PositiveUnlabelled(roles.sensitive, by=by or None, groups=roles.levels)

    def _annotators(self, table: Table, roles: Roles) -> Belief:  # noqa: ARG002
        if len(self.annotators) < 2:
            raise P4FError("choose the columns of two or more people who gave the label")
        return Annotators(self.annotators, roles.sensitive if self.by_group else None, groups=roles.levels)

    def _unknown(self, table: Table, roles: Roles) -> Belief:
        if not self.proxies:
            raise P4FError("choose the columns that tell of the group")
        proxies = {name: table.values(name) for name in self.proxies}
        return UnknownGroup(roles.sensitive, proxies, belief=self._label_besides(roles), groups=roles.levels)

    def _label_besides(self, roles: Roles) -> LabelBias | ClassBias | None:
        if not self.label_too:
            return None
        if len(roles.labels) > 2:
            return ClassBias(roles.sensitive, roles.labels, groups=roles.levels)
        return LabelBias(roles.sensitive, groups=roles.levels)

    def _features(self, roles: Roles) -> tuple[list[str], str]:
        if not self.features:
            raise P4FError("choose the features that are distorted")
        return self.features, roles.sensitive

    def _strengths(self, roles: Roles, depending: Any = None) -> dict[str, Any]:
        return {
            "negative": depending if self.lost else False,
            "positive": depending if self.given else False,
            "affected": [roles.levels[-1]] if self.only_group and roles.binary else None,
            "groups": roles.levels,
        }

    def _many(self, table: Table) -> Mapping[str, Sequence[int | str]] | None:
        """The values of features that are not 0 and 1."""
        known = {name: sorted(table.values(name), key=str) for name in self.features}
        return {name: found for name, found in known.items() if set(found) != {0, 1}} or None


_MAKERS: dict[str, Callable[[Form, Table, Roles], Belief]] = {
    "label": Form._label,
    "row": Form._row,
    "changed": Form._changed,
    "selective": Form._selective,
    "positive-unlabelled": Form._positive,
    "annotators": Form._annotators,
    "measurement": Form._measurement,
    "numeric": Form._numeric,
    "historical": Form._historical,
    "unknown": Form._unknown,
}


def with_number(belief: Belief, name: str, value: float | None) -> Belief:
    """The belief with one number stated, or unknown again; the others stay as an audit found them."""
    stated = (own.stated(value) if own.name == name else own for own in belief.parameters)
    return belief.with_parameters(tuple(stated))
