"""The form of a belief: answers to the fields that it declares, and the belief that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, signature
from typing import Any, NamedTuple, Protocol

from problog4fairness.beliefs import Belief, Field, LabelBias, Question, known_kinds
from problog4fairness.data import Roles
from problog4fairness.errors import P4FError

# The first question: what cannot be trusted? Each answer, and the second question that it leads to.
DOUBTED = {
    "label": ("The label", "How did it get on record?"),
    "feature": ("A feature", "How did it become unfair?"),
    "group": ("Who is in which group", "What is known of it?"),
    "other": ("Something else", "Say it yourself"),
}
# The kind of a belief that no form makes.
PROGRAM = "ProgramBelief"
WRITTEN = Question(
    "other",
    "Write the program",
    "Rules, several biases at once, anything that ProbLog says.",
    (("*fair label", "group", "?your rules"), ("recorded label",)),
)
# What is answered by the table, and numbers that have a good default.
_UNASKED = ("groups", "classes", "count", "text", "mapping", "beliefs")


class Table(Protocol):
    """Knows the different values of a column."""

    def values(self, column: str) -> list[Any]:
        """The values in order, without missing ones."""
        ...


class TableAnswers(NamedTuple):
    """What a table answers of the fields of a belief: groups, classes, and the different values of a column."""

    levels: Sequence[Any]
    labels: Sequence[Any]
    values: Callable[[str], Sequence[Any]]


@cache
def questions() -> dict[str, Question]:
    """How a person finds each kind of belief, by the name of its class; the simplest first, the program last."""
    kinds = {
        name: template.kind.question for name, template in known_kinds().items() if template.kind.question is not None
    }
    first = LabelBias.__name__
    return {first: kinds.pop(first), **dict(sorted(kinds.items())), PROGRAM: WRITTEN}


def asked(kind: str) -> list[Field]:
    """The fields of a kind of belief that a person is asked for; the table answers the others."""
    fields = known_kinds()[kind].kind.fields if kind != PROGRAM else ()
    return [field for field in fields if field.kind not in _UNASKED and not _known(field)]


def _known(field: Field) -> bool:
    """Whether the data answer a field, or it is the sensitive column, or the values of features that are asked for."""
    by_data = field.kind == "flag" and field.default is None
    return by_data or (field.kind == "sensitive" and not field.optional) or field.name == "values"


@dataclass
class Form:
    """What is filled in: answers by field, and stated parameters by name, None where an audit is to find them.

    An answer is whether a bias happens, a part of the belief is wanted or only the sensitive group is affected; names
    of columns; days; or one of several choices. What is left out has the field's default.
    """

    kind: str = LabelBias.__name__
    answers: dict[str, Any] = field(default_factory=dict)
    values: dict[str, float | None] = field(default_factory=dict)

    @classmethod
    def of(cls, belief: Belief, table: Table, roles: Roles) -> Form:
        """The form that describes a belief; a belief that no form makes is a program."""
        values = {parameter.name: parameter.value for parameter in belief.parameters}
        plain = belief.field_values()
        for kind in [type(belief).__name__, *questions()]:
            if kind not in questions() or kind == PROGRAM:
                continue
            form = cls(kind, _answers(kind, plain), values)
            try:
                made = form.belief(table, roles)
            except (P4FError, KeyError):
                continue
            if type(made) is type(belief) and made.field_values() == plain:
                return form
        return cls(PROGRAM, values=values)

    def answer(self, field: Field) -> Any:
        """The answer to a field, or its default."""
        return self.answers.get(field.name, default_answer(field))

    def belief(self, table: Table, roles: Roles) -> Belief:
        """The belief that the form describes, with the numbers that were stated."""
        template, known = known_kinds()[self.kind], TableAnswers(roles.levels, roles.labels, table.values)
        plain: dict[str, Any] = {}
        for asked_for in template.kind.fields:
            if asked_for.kind == "sensitive" and not asked_for.optional:
                plain[asked_for.name] = roles.sensitive
            elif asked_for in asked(self.kind) and (answer := self.answer(asked_for)) not in ([], None):
                plain[asked_for.name] = _plain(asked_for, answer, known, roles)
            elif signature(template).parameters[asked_for.name].default is Parameter.empty:
                raise P4FError(f"nothing is chosen yet: {asked_for.words[0].lower()}{asked_for.words[1:]}")
        made = template.from_fields(plain, known)
        if len(roles.labels) > 2 and made.record.classes is None and questions()[self.kind].doubted == "label":
            raise P4FError(f"{roles.recorded} has {len(roles.labels)} values; this belief is for labels with two")
        names = {parameter.name for parameter in made.parameters}
        stated = {name: value for name, value in self.values.items() if value is not None and name in names}
        return made.bind(stated, favourable=roles.favourable)


def default_answer(field: Field) -> Any:
    """What stands in the form before somebody answers."""
    if field.kind in ("columns", "values", "depends_on"):
        return {"happens": True, "columns": [], "model": []} if field.kind == "depends_on" else []
    if field.kind in ("probability", "flag"):
        return bool(field.default)
    return {"affected": False, "belief": False, "sensitive": False, "days": ""}.get(field.kind, field.default)


def _answers(kind: str, plain: Mapping[str, Any]) -> dict[str, Any]:
    """The answers that lead to the plain values of a belief's fields, as far as they are not the defaults."""
    answers = {field.name: _answer(field, plain[field.name]) for field in asked(kind) if field.name in plain}
    defaults = {field.name: default_answer(field) for field in asked(kind)}
    return {name: answer for name, answer in answers.items() if answer != defaults[name]}


def _answer(field: Field, plain: Any) -> Any:
    if field.kind == "depends_on":
        depends = plain if isinstance(plain, Mapping) else {}
        columns, model = list(depends.get("columns") or ()), list(depends.get("model") or ())
        return {"happens": plain is not False, "columns": columns, "model": model}
    if field.kind in ("affected", "belief", "sensitive", "probability"):
        return plain not in (None, False)
    if field.kind in ("columns", "values"):
        return [plain] if isinstance(plain, str) else list(plain or ())
    return ", ".join(plain or ()) if field.kind == "days" else plain


def _plain(field: Field, answer: Any, table: TableAnswers, roles: Roles) -> Any:
    """What the belief takes for an answer."""
    if field.kind == "depends_on":
        if not answer["happens"]:
            return False
        options = {name: table.values(name) for name in answer["columns"]}
        return {"columns": options, "model": answer["model"]} if options or answer["model"] else True
    if field.kind == "affected":
        return [roles.levels[-1]] if answer and roles.binary else None
    if field.kind == "sensitive":
        return roles.sensitive if answer else None
    if field.kind == "belief":
        return LabelBias.from_fields({"sensitive": roles.sensitive}, table) if answer else None
    if field.kind == "values":
        return {name: [name] if field.suits == "labels" else table.values(name) for name in answer}
    if field.kind == "days":
        return [day.strip() for day in answer.split(",") if day.strip()] or None
    return answer
