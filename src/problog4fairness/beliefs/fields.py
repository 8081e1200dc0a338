"""The fields that a belief declares: what its constructor takes, a file holds, and a command line or a form asks for.

Each template has ``kind = BeliefKind(fields=(...))``, one :class:`Field` for each argument of its constructor but
``favourable``, and begins its constructor with ``super().__init__(...)``, which checks the arguments as declared, keeps
them, and sets ``variables`` (the sensitive variable) and ``affected`` (positions of those on which the bias acts). From
the declaration follow ``to_json`` and ``from_json``, and with them files, saved models and equality.

- ``belief_types()``: all beliefs that a command line or a form can offer, by ``kind.command``; ``kind.question`` says
  how a person finds it.
- ``Belief.from_fields(values, table)``: a belief, its parameters unknown, from answers by field name. What is left out
  is read from the table (groups, classes, values of features) or has its default. Answers are plain data, as in JSON.
- ``belief.field_values()``: the answers that lead to a belief, so that ``from_fields(field_values())`` is the belief
  with unknown parameters.

Answers by kind: "sensitive", "columns", "days": names; "column": a name; "groups", "classes": their values;
"affected": groups, None for all; "probability": whether the bias happens; "depends_on": the same, or
``{"columns": names or {name: values}, "model": names}``; "values": ``{feature: values}``; "flag": true or false;
"choice": one of ``choices``; "count": a number; "text", "mapping": as they are; "belief": what ``to_json`` gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from problog4fairness.beliefs.variables import acting_groups
from problog4fairness.data import Sensitive
from problog4fairness.errors import P4FError, among

if TYPE_CHECKING:
    from problog4fairness.audit import AuditTable

Kind: TypeAlias = Literal[
    "sensitive", "groups", "affected", "probability", "depends_on", "column", "columns", "classes", "values", "days",
    "flag", "choice", "count", "text", "mapping", "belief", "beliefs",
]  # fmt: skip

# Parameters that a belief may have room for: one for each group, and each pair of classes or of a feature's values.
MOST_CELLS = 100_000


class FieldTable(Protocol):
    """The table that answers what nobody was asked."""

    @property
    def levels(self) -> Sequence[Any]:
        """The groups; of two, the sensitive one is the second."""
        ...

    @property
    def labels(self) -> Sequence[Any]:
        """The classes of the label, the favourable one last."""
        ...

    def values(self, column: str) -> Sequence[Any]:
        """The different values of a column in order."""
        ...


@dataclass(frozen=True)
class Field:
    """One argument of a belief's constructor.

    Attributes
    ----------
    name
        The argument, and its key in JSON.
    kind
        What it holds; see the head of this module.
    words
        What it says, for help and forms.
    default
        Its plain value where nobody says it.
    choices
        Of a ``choice``.
    low, high
        Of a ``count``.
    suits
        Which columns a person may choose: those with a ``few`` values, ``numbers``, ``days``, or ``labels`` (votes).
    optional
        Whether the belief can do without an answer, where that says something: errors that are alike in all groups.

    Examples
    --------
    >>> kept = Field("kept", "choice", "Which rows there are", "all", choices=("all", "accepted"))
    >>> kept.plain("accepted")
    'accepted'
    """

    name: str
    kind: Kind
    words: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    low: int = 1
    high: int = 1 << 16
    suits: Literal["few", "numbers", "days", "labels"] = "few"
    optional: bool = False

    def plain(self, value: Any) -> Any:
        """An argument as plain data, or the error that says why it cannot be one."""
        if value is None and self.kind not in ("probability", "depends_on", "column", "text"):
            return None
        return _PLAIN[self.kind](self, value)

    def argument(self, plain: Any) -> Any:
        """What the constructor takes for plain data."""
        if self.kind == "probability":
            return None if plain is True else plain
        read = _ARGUMENTS.get(self.kind)
        return plain if read is None or plain is None else read(plain)

    def read(self, text: str, table: FieldTable) -> Any:
        """The plain value of an answer in text, as ``p4f estimate --answer`` takes it."""
        names = [part.strip() for part in text.split(",") if part.strip()]
        if self.kind in ("flag", "probability"):
            if text not in ("yes", "no"):
                raise self.refused(text, "yes or no")
            return text == "yes"
        if self.kind == "count":
            return self.plain(int(text) if text.isdecimal() else text)
        if self.kind == "values":
            return {name: list(table.values(name)) for name in names}
        if self.kind in ("columns", "days"):
            return names
        if self.kind in ("choice", "column", "text"):
            return self.plain(text)
        raise P4FError(f"{self.name} cannot be answered in text; write the belief in Python, or as a program")

    def refused(self, value: Any, expected: str) -> P4FError:
        """The error of an argument that is something else than expected."""
        return P4FError(f"{self.name} must be {expected}, not {value!r}")


def _text(field: Field, value: Any) -> str:
    if not isinstance(value, str):
        raise field.refused(value, "text")
    return value


def _names(field: Field, value: Any) -> list[str]:
    names = [value] if isinstance(value, str) else list(value)
    if not all(isinstance(name, str) for name in names):
        raise field.refused(names, "the name of a column, or several")
    if len(set(names)) < len(names):
        raise field.refused(names, "different columns")
    return names


def plain_value(value: Any) -> Any:
    """A group, class or value of a feature as plain data."""
    if isinstance(value, tuple | list):
        return [plain_value(part) for part in value]
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, bool | int | float | str):
        raise P4FError(f"{value!r} is neither text nor a number; recode it")
    return value


def is_number(value: Any) -> bool:
    """Whether plain data are a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def plain_label(label: Any) -> bool | int | float | str | None:
    """A label as plain data, which a file can hold."""
    label = label.item() if hasattr(label, "item") else label
    if label is not None and not isinstance(label, bool | int | float | str):
        raise P4FError(f"the favourable label {label!r} is neither text nor a number nor a truth value; recode it")
    return label


def _values(field: Field, value: Any) -> list[Any]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence) and not hasattr(value, "__iter__"):
        raise field.refused(value, "a list of values")
    return [plain_value(part) for part in value]


def _options(field: Field, value: Any) -> dict[str, list[Any]]:
    if not isinstance(value, Mapping):
        raise field.refused(value, "the values of each column, {name: values}")
    return {_text(field, name): _values(field, options) for name, options in value.items()}


def _flag(field: Field, value: Any) -> bool:
    if not isinstance(value, bool):
        raise field.refused(value, "true or false")
    return value


def _choice(field: Field, value: Any) -> Any:
    if value not in field.choices:
        raise field.refused(value, " or ".join(map(repr, field.choices)))
    return value


def _count(field: Field, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not field.low <= value <= field.high:
        raise field.refused(value, f"a whole number from {field.low} to {field.high}")
    return value


def _mapping(field: Field, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise field.refused(value, "a mapping of names")
    return {
        _text(field, name): _mapping(field, part) if isinstance(part, Mapping) else _text(field, part)
        for name, part in value.items()
    }


def _depends_on(field: Field, value: Any) -> Any:  # noqa: ARG001
    from problog4fairness.beliefs.templates.labels.dependence import By

    return value.to_json() if isinstance(value, By) else value is not False


def _as_depends_on(plain: Any) -> Any:
    from problog4fairness.beliefs.templates.labels.dependence import By

    return By.from_json(plain) if isinstance(plain, Mapping) else None if plain is True else plain


def _belief(field: Field, value: Any) -> dict[str, Any]:
    from problog4fairness.beliefs.belief import Belief

    if not isinstance(value, Belief):
        raise field.refused(value, "a belief")
    plain = value.bind(None).to_json()
    return {name: part for name, part in plain.items() if name not in ("parameters", "favourable", "design")}


def _as_belief(plain: Any) -> Any:
    from problog4fairness.beliefs.belief import Belief

    return plain if isinstance(plain, Belief) else Belief.from_json(plain)


def _tupled(plain: Any) -> Any:
    """Groups of several columns are tuples."""
    return tuple(tuple(level) if isinstance(level, list) else level for level in plain)


_PLAIN: Mapping[Kind, Callable[[Field, Any], Any]] = {
    "sensitive": _names,
    "groups": _values,
    "affected": _values,
    "probability": lambda field, value: value is not False,  # noqa: ARG005
    "depends_on": _depends_on,
    "column": _text,
    "columns": _names,
    "classes": _values,
    "values": _options,
    "days": _names,
    "flag": _flag,
    "choice": _choice,
    "count": _count,
    "text": _text,
    "mapping": _mapping,
    "belief": _belief,
    "beliefs": lambda field, value: [_belief(field, belief) for belief in value],
}
_ARGUMENTS: Mapping[Kind, Callable[[Any], Any]] = {
    "groups": _tupled,
    "affected": _tupled,
    "classes": tuple,
    "depends_on": _as_depends_on,
    "belief": _as_belief,
    "beliefs": lambda plain: tuple(map(_as_belief, plain)),
}

SENSITIVE = Field("sensitive", "sensitive", "Column of the sensitive variable, or several that make a group together")
GROUPS = Field("groups", "groups", "Which groups there are; of two, the sensitive one is the second")
AFFECTED = Field("affected", "affected", "The groups on which the bias acts; all by default")
LOST = Field("negative", "probability", "A fair 1 may be recorded as 0", True)
GIVEN = Field("positive", "probability", "A fair 0 may be recorded as 1", True)


def constructed(
    fields: Sequence[Field], positional: Sequence[Any], named: Mapping[str, Any]
) -> tuple[dict[str, Any], Sensitive | None, tuple[int, ...]]:
    """Of what a constructor was given the plain values, the sensitive variable, and the groups that are affected."""
    given = dict(zip((field.name for field in fields), positional, strict=False))
    names = {field.name for field in fields} - set(given)
    unknown = [name for name in named if name not in names]
    if unknown or len(positional) > len(fields):
        raise TypeError(f"no field takes the argument {unknown[0] if unknown else positional[-1]!r}")
    given |= named
    values = {f.name: f.plain(given[f.name]) if f.name in given else f.default for f in fields}
    places = {field.kind: field.name for field in fields}
    columns = values[places["sensitive"]] if "sensitive" in places else None
    if columns is None:
        return values, None, ()
    acting = given.get(places.get("affected", ""))
    variable = Sensitive.of(columns, given.get(places.get("groups", "")), name="a", affected=acting)
    _check_room(fields, values, len(variable.levels))
    affected = acting_groups(variable, acting)
    plain = [list(level) if isinstance(level, tuple) else level for level in variable.levels]
    if "groups" in places:
        values[places["groups"]] = plain
    if "affected" in places:
        values[places["affected"]] = None if len(affected) == len(plain) else [plain[place] for place in affected]
    return values, variable, affected


def _check_room(fields: Sequence[Field], values: Mapping[str, Any], groups: int) -> None:
    """Raise the error of a belief with room for too many parameters, before they are made."""
    options = [values[field.name] or [] for field in fields if field.kind == "classes"]
    for field in fields:
        if field.name == "values":
            options += [(values[field.name] or {}).get(name, (0, 1)) for name in values.get("features") or ()]
    cells = groups * max(1, sum(len(option) ** 2 for option in options))
    if cells > MOST_CELLS:
        raise P4FError(f"the belief has room for {cells} parameters, more than {MOST_CELLS}; name fewer groups")


def answered(fields: Sequence[Field], values: Mapping[str, Any], table: FieldTable | None) -> dict[str, Any]:
    """The arguments of the constructor from plain values; what is left out is answered by the table."""
    names = [field.name for field in fields]
    for name in values:
        if name not in names:
            raise P4FError(f"there is no field {name!r}; {among(name, names)}")
    happens = [values.get(f.name, f.default) for f in fields if f.kind in ("probability", "depends_on")]
    if table is not None and happens and all(value is False for value in happens):
        raise P4FError("without any bias there is nothing to estimate; leave one of them in")
    arguments = {field.name: field.argument(values[field.name]) for field in fields if field.name in values}
    for field in fields if table is not None else ():
        if field.name not in arguments and field.kind in ("groups", "classes", "values"):
            arguments[field.name] = _from_table(field, arguments, table)  # type: ignore[arg-type]
    return arguments


def _from_table(field: Field, arguments: Mapping[str, Any], table: FieldTable) -> Any:
    if field.kind != "values":
        return table.levels if field.kind == "groups" else table.labels
    features = arguments.get("features") or ()
    return {name: table.values(name) for name in ([features] if isinstance(features, str) else features)}


def table_answers(fields: Sequence[Field], table: AuditTable) -> dict[str, Any]:
    """What an audited table and its options on the command line answer to fields."""
    columns, numbers = list(table.answer("by", ())), list(table.answer("model", ()))
    answers: dict[str, Any] = {"when": table.answer("when"), "changed": list(table.answer("changed", ())) or None}
    answers |= {name: table.answer(name, True) for name in ("negative", "positive")}
    answers["noise"] = table.answer("noise", False)
    depends = {"columns": columns, "model": numbers} if columns or numbers else True
    for field in fields:
        if field.kind == "sensitive":
            answers[field.name] = table.sensitive
        elif field.kind == "affected":
            answers[field.name] = table.acting
        elif field.kind == "depends_on":
            answers[field.name] = depends if answers[field.name] else False
        elif field.name == "features":
            answers[field.name] = [recorded for recorded, _ in table.feature_pairs]
    for name, text in table.answer("fields", {}).items():
        known = {field.name: field for field in fields if field.kind not in ("sensitive", "groups", "classes")}
        if name not in known:
            raise P4FError(f"there is no field {name!r} of this belief; {among(name, known)}")
        answers[name] = known[name].read(text, table)
    return {field.name: answers[field.name] for field in fields if field.name in answers}
