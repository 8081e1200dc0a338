"""What the screen of a belief is made of: a control for each field, sketches beside answers, and an editor."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from problog4fairness.app.studio import parts
from problog4fairness.app.studio.belief_form import PROGRAM, Form, asked
from problog4fairness.app.studio.project import Project
from problog4fairness.beliefs import Field
from problog4fairness.data import MAX_GROUPS, Roles, days_of
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Parameter

if TYPE_CHECKING:
    import pandas as pd

Change = Callable[[str, Any], Any]
SUITING = {
    "few": f"it has 2 to {MAX_GROUPS} values",
    "numbers": "it has numbers",
    "days": "its days are written as 2020-03-01",
    "labels": "it has the values of the label",
}
# Values of a column by which it is seen whether they are days.
LOOKED_AT = 50
# What the first letter of a box says: the classifier gives it, or nobody has seen it. All others are on record.
CLASSIFIER, UNSEEN = "*", "?"
LETTER, HIGH, ACROSS, DOWN = 6.6, 24, 34, 10


@dataclass
class Fields:
    """The controls of a form; ``change`` is called with the name of a field and its answer."""

    form: Form
    project: Project
    roles: Roles
    change: Change

    def __post_init__(self) -> None:
        others = (self.roles.recorded, self.roles.sensitive)
        self.others = {column.name: column.values for column in self.project.columns() if column.name not in others}

    def show(self) -> None:
        """Show a control for each field of the form's kind of belief."""
        if self.form.kind == PROGRAM:
            parts.text("p", "The classifier is nn(h, X) :: y(X); the sensitive column is a network of another name.")
            parts.text("p", "Ask for the recorded label at the end: ?- y_(x).")
            return
        fields = asked(self.form.kind)
        for field in fields:
            self._control(field)
        if any(field.kind == "depends_on" for field in fields):
            self._depends_on([field for field in fields if field.kind == "depends_on"])

    def _control(self, field: Field) -> None:
        answer = self.form.answer(field)
        if field.kind == "depends_on":
            self._tick(
                field.name, field.words, answer["happens"], lambda value: {**self.form.answer(field), "happens": value}
            )
        elif field.kind == "affected":
            if self.roles.binary:
                self._tick(field.name, f"Only where {self.roles.sensitive} = {self.roles.group}", answer)
        elif field.kind in ("probability", "flag", "sensitive", "belief"):
            self._tick(field.name, field.words, answer)
        elif field.kind == "choice":
            self._select(field.name, field.words, list(field.choices), answer)
        elif field.kind == "days":
            days = ui.input(field.words, value=answer, placeholder="2020-03-01", on_change=self._changed_to(field.name))
            days.props(f"outlined dense clearable debounce=300 data-field={field.name}").style("width: 100%")
            parts.soft("Several stand with commas between them.")
        else:
            self._select(field.name, field.words, self._suitable(field.suits), answer, SUITING[field.suits])

    def _depends_on(self, fields: Sequence[Field]) -> None:
        """What all these biases depend on besides the group."""
        answer = self.form.answer(fields[0])

        def both(key: str) -> Callable[..., Any]:
            async def changed(event: events.ValueChangeEventArguments[Any]) -> None:
                for field in fields:
                    await self.change(field.name, {**self.form.answer(field), key: list(event.value or ())})

            return parts.guarded(changed)

        few, numbers = self._suitable("few"), self._suitable("numbers")
        self._select("columns", "Who decided, or what else counted?", few, answer["columns"], change=both("columns"))
        self._select("model", "Which numbers may have counted?", numbers, answer["model"], change=both("model"))

    def _suitable(self, suits: str) -> list[str]:
        """The columns that a person may choose."""
        few = {name: count for name, count in self.others.items() if 1 < count <= MAX_GROUPS}
        frame = self.project.frame
        if suits == "labels":
            labels = set(self.roles.labels)
            votes = [
                name for name, count in few.items() if count == len(labels) and set(self.project.values(name)) == labels
            ]
            return [self.roles.recorded, *votes]
        if suits == "numbers":
            return [name for name, count in self.others.items() if frame[name].dtype.kind in "iuf" and count > 2]
        return list(few) if suits == "few" else [name for name in self.others if _has_days(frame[name])]

    def _tick(self, name: str, words: str, value: bool, answer: Callable[[bool], Any] = bool) -> None:
        ui.checkbox(words, value=value, on_change=self._changed_to(name, answer)).props(f"data-field={name}")

    def _select(
        self,
        name: str,
        words: str,
        among: list[str],
        answer: Any,
        suiting: str = "",
        change: Callable[..., Any] | None = None,
    ) -> None:
        several = isinstance(answer, list)
        known = [name for name in answer if name in among] if several else answer if answer in among else None
        field = ui.select(among, value=known, multiple=several, label=words, on_change=change or self._changed_to(name))
        field.props(f"outlined dense data-field={name} {'use-chips' if several else 'clearable'}").style("width: 100%")
        if not among and suiting:
            parts.soft(f"No column suits: {suiting}.")

    def _changed_to(self, name: str, answer: Callable[[Any], Any] = lambda value: value) -> Callable[..., Any]:
        def changed(event: events.ValueChangeEventArguments[Any]) -> Any:
            return self.change(name, answer(event.value))

        return parts.guarded(changed)


def _has_days(column: pd.Series[Any]) -> bool:
    """Whether a column seems to be written as days, by its first values."""
    known = column.dropna().head(LOOKED_AT)
    if known.dtype.kind in "iufb" or not len(known):
        return False
    try:
        days_of(known)
    except P4FError:
        return False
    return True


def numbers(form: Form, parameters: Sequence[Parameter], change: Callable[[str, float | None], Any]) -> None:
    """Fields for the parameters, as far as somebody knows them."""
    if not parameters:
        return
    shares = parameters[0].is_probability
    parts.soft(f"Numbers{' between 0 and 1' if shares else ''}, where you know them; an audit finds the others.")
    for parameter in parameters:
        with ui.element("div").classes("number"):
            with ui.element("span"):
                parts.text("b", parameter.name)
                parts.text("span", f" {parameter.meaning}")
            field = ui.number(
                value=form.values.get(parameter.name),
                min=0 if shares else None,
                max=1 if shares else None,
                step=0.05 if shares else None,
                placeholder="unknown",
                on_change=parts.guarded(lambda event, name=parameter.name: change(name, event.value)),
            )
        field.props("outlined dense clearable")
        field.props["aria-label"] = f"{parameter.name}: {parameter.meaning}"
        field.props["data-parameter"] = parameter.name


def sketch(columns: Sequence[Sequence[str]]) -> str:
    """An ``<svg>`` element in the page's colours, of the boxes of each column, from causes to effects.

    ``*`` before a name fills its box, ``?`` dashes it.
    """
    widths = [max(len(name.lstrip("*?")) for name in names) * LETTER + 16 for names in columns]
    height = max(len(names) for names in columns) * (HIGH + DOWN) - DOWN
    boxes: list[str] = []
    arrows: list[str] = []
    left, before = 1.0, list[float]()
    for width, names in zip(widths, columns, strict=True):
        top = (height - len(names) * (HIGH + DOWN) + DOWN) / 2
        middles = [top + HIGH / 2 + row * (HIGH + DOWN) for row in range(len(names))]
        boxes += [_box(name, left, middle, width) for name, middle in zip(names, middles, strict=True)]
        arrows += [_arrow(left - ACROSS, start, left, end) for start in before for end in middles]
        left, before = left + width + ACROSS, middles
    wide = left - ACROSS + 1
    size = f'viewBox="0 0 {wide:.0f} {height + 2}" width="{wide:.0f}" height="{height + 2}"'
    drawn = "".join(arrows + boxes)
    return f'<svg class="sketch" {size} aria-hidden="true"><g transform="translate(0 1)">{drawn}</g></svg>'


def _box(name: str, left: float, middle: float, width: float) -> str:
    kind = {CLASSIFIER: "given", UNSEEN: "unseen-box"}.get(name[0], "")
    shape = f'x="{left:.1f}" y="{middle - HIGH / 2:.1f}" width="{width:.1f}" height="{HIGH}" rx="4"'
    words = f'<text x="{left + width / 2:.1f}" y="{middle + 4:.1f}">{escape(name.lstrip("*?"))}</text>'
    return f'<rect class="{kind}" {shape}/>{words}'


def _arrow(left: float, start: float, right: float, end: float) -> str:
    bend = (left + right) / 2
    line = f"M{left:.1f} {start:.1f}C{bend:.1f} {start:.1f} {bend:.1f} {end:.1f} {right - 6:.1f} {end:.1f}"
    head = f"M{right:.1f} {end:.1f}l-7 -3.5v7z"
    return f'<path d="{line}"/><path class="head" d="{head}"/>'


class ProgramEditor:
    """A field for a program; ``typed`` is what is done after a keystroke."""

    def __init__(self, program: str, typed: Callable[[events.ValueChangeEventArguments[str]], Any]) -> None:
        self.field = ui.codemirror(program, on_change=typed).classes("program").props("data-part=program")
        self._do("dress")

    @property
    def text(self) -> str:
        """What stands there."""
        return self.field.value or ""

    def write(self, text: str) -> None:
        """Put another program there; the editor's own undo takes that back, too."""
        self.field.set_value(text)

    def complain(self, line: int, column: int | None, why: str) -> None:
        """Show an error under its line."""
        self._do("tell", line, column, why)

    def clear(self) -> None:
        """Take the errors away."""
        self._do("tell", None)

    def _do(self, what: str, *arguments: Any) -> None:
        given = "".join(f", {json.dumps(argument)}" for argument in arguments)
        call = f"import({json.dumps(parts.EDITOR)}).then((editor) => editor.{what}(component{given}))"
        self.field.client.run_javascript(f"const component = getElement({self.field.id}); if (component) {call};")
