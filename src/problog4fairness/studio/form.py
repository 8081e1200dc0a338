"""The form of a belief: what a person ticks, and the template that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from problog4fairness.beliefs import (
    Annotators,
    Belief,
    Chain,
    ClassBias,
    HistoricalBias,
    LabelBias,
    MeasurementBias,
    PositiveUnlabelled,
    SelectiveLabels,
    UnknownGroup,
    chain,
)
from problog4fairness.errors import P4FError
from problog4fairness.rows import Roles

PROGRAM = "program"
# Kinds for labels with two values.
TWO_LABELS = ("selective", "positive-unlabelled", "annotators")


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
        One of :data:`~problog4fairness.studio.kinds.KINDS`.
    lost, given
        Whether what is favourable is lost, and whether it is given without reason.
    only_group
        Whether only the sensitive group's data are distorted.
    mistakes
        Whether anybody's label may also be flipped by mistake.
    also_by
        Further columns by which the label was recorded unfairly, one bias after the other.
    features
        The distorted features.
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
    features: list[str] = field(default_factory=list)
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
        values = {own.name: own.value for own in belief.probabilities}
        found = cls(**_filled_in(belief), values=values)
        if found.kind == PROGRAM:
            return found
        try:
            same = found.belief(table, roles).unknown().text() == belief.unknown().text()
        except (P4FError, KeyError):
            same = False
        return found if same else cls(PROGRAM, values=values)

    def belief(self, table: Table, roles: Roles) -> Belief:
        """The template that the form describes, with the numbers that were stated."""
        if not (self.lost or self.given):
            raise P4FError("without any bias there is nothing to believe; tick one of the two")
        if len(roles.labels) > 2 and self.kind in TWO_LABELS:
            raise P4FError(f"{roles.recorded} has {len(roles.labels)} values; this belief is for labels with two")
        made = _MAKERS[self.kind](self, table, roles)
        stated = {own.name: value for own in made.probabilities if (value := self.values.get(own.name)) is not None}
        return made.bind(stated).with_favourable(roles.favourable)

    def _label(self, table: Table, roles: Roles) -> Belief:
        said = self._strengths(roles)
        if len(roles.labels) > 2:
            return ClassBias(roles.sensitive, roles.labels, levels=roles.levels, groups=said["groups"])
        first = LabelBias(roles.sensitive, noise=None if self.mistakes else False, **said)
        said["groups"] = None
        others = [LabelBias(name, **said | {"levels": table.values(name)}) for name in self.also_by]
        return chain(first, *others) if others else first

    def _measurement(self, table: Table, roles: Roles) -> Belief:
        measured = MeasurementBias(*self._features(roles), **self._strengths(roles), values=self._many(table))
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
            levels=roles.levels,
        )

    def _positive(self, table: Table, roles: Roles) -> Belief:
        by = {name: table.values(name) for name in self.by}
        return PositiveUnlabelled(roles.sensitive, by=by or None, levels=roles.levels)

    def _annotators(self, table: Table, roles: Roles) -> Belief:  # noqa: ARG002
        if len(self.annotators) < 2:
            raise P4FError("choose the columns of two or more people who gave the label")
        return Annotators(self.annotators, roles.sensitive if self.by_group else None, levels=roles.levels)

    def _unknown(self, table: Table, roles: Roles) -> Belief:
        if not self.proxies:
            raise P4FError("choose the columns that tell of the group")
        proxies = {name: table.values(name) for name in self.proxies}
        return UnknownGroup(roles.sensitive, proxies, belief=self._label_besides(roles), levels=roles.levels)

    def _label_besides(self, roles: Roles) -> LabelBias | ClassBias | None:
        if not self.label_too:
            return None
        if len(roles.labels) > 2:
            return ClassBias(roles.sensitive, roles.labels, levels=roles.levels)
        return LabelBias(roles.sensitive, levels=roles.levels)

    def _features(self, roles: Roles) -> tuple[list[str], str]:
        if not self.features:
            raise P4FError("choose the features that are distorted")
        return self.features, roles.sensitive

    def _strengths(self, roles: Roles) -> dict[str, Any]:
        return {
            "negative": None if self.lost else False,
            "positive": None if self.given else False,
            "groups": [roles.levels[-1]] if self.only_group and roles.binary else None,
            "levels": roles.levels,
        }

    def _many(self, table: Table) -> Mapping[str, Sequence[int | str]] | None:
        """The values of features that are not 0 and 1."""
        known = {name: sorted(table.values(name), key=str) for name in self.features}
        return {name: found for name, found in known.items() if set(found) != {0, 1}} or None


_MAKERS: dict[str, Callable[[Form, Table, Roles], Belief]] = {
    "label": Form._label,
    "selective": Form._selective,
    "positive-unlabelled": Form._positive,
    "annotators": Form._annotators,
    "measurement": Form._measurement,
    "historical": Form._historical,
    "unknown": Form._unknown,
}


def _filled_in(belief: Belief) -> dict[str, Any]:
    """What a person would have filled in for this belief; :meth:`Form.of` finds out whether it is the same."""
    if isinstance(belief, LabelBias):
        mistakes = any(own.cell is None for own in belief.probabilities)
        return {"kind": "label", "mistakes": mistakes, **_acting(belief, belief.groups)}
    if isinstance(belief, ClassBias):
        return {"kind": "label", "only_group": belief.groups == (1,)}
    if isinstance(belief, MeasurementBias):
        return {"kind": "measurement", "features": list(belief.features), **_acting(belief, belief.groups)}
    if isinstance(belief, HistoricalBias):
        return {**_filled_in(belief.measurement), "kind": "historical", "label_too": belief.label is not None}
    if isinstance(belief, Chain) and isinstance(belief.measurement, MeasurementBias):
        return {**_filled_in(belief.measurement), "label_too": True}
    if isinstance(belief, Chain) and isinstance(belief.stages[0], LabelBias):
        others = [stage.variable.columns[0] for stage in belief.stages[1:]]
        return {**_filled_in(belief.stages[0]), "also_by": others}
    if isinstance(belief, SelectiveLabels):
        said = {"decided_by": next(iter(belief.other_columns), None), "accepted_only": belief.kept == "accepted"}
        return {"kind": "selective", **said}
    if isinstance(belief, PositiveUnlabelled):
        return {"kind": "positive-unlabelled", "by": list(belief.other_columns)}
    if isinstance(belief, Annotators):
        columns = list(belief.recorded_columns)
        return {"kind": "annotators", "annotators": columns, "by_group": bool(belief.variables)}
    if isinstance(belief, UnknownGroup):
        proxies = [own.columns[0] for own in belief.proxies]
        return {"kind": "unknown", "proxies": proxies, "label_too": isinstance(belief.belief, LabelBias | ClassBias)}
    return {"kind": PROGRAM}


def _acting(belief: Belief, groups: tuple[int, ...]) -> dict[str, Any]:
    """Which way it distorts, and whom."""
    fair = {bool(own.cell.fair) for own in belief.probabilities if own.cell is not None}
    return {"lost": True in fair, "given": False in fair, "only_group": groups == (1,)}
