"""The fields of the form of a belief."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nicegui import events, ui

from problog4fairness.beliefs.audit_table import MAX_VALUES
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.rows import Roles
from problog4fairness.rows.roles import MAX_GROUPS
from problog4fairness.studio.form import PROGRAM, Form
from problog4fairness.studio.parts import guarded, soft, text
from problog4fairness.studio.project import Project

Change = Callable[[str, Any], Any]


def fields(form: Form, project: Project, roles: Roles, change: Change) -> None:
    """Show what is to be filled in for the form's kind of belief.

    Parameters
    ----------
    form
        What is filled in so far.
    project, roles
        The table, and which column is what.
    change
        Called with the name of an attribute of the form, and what was filled in.
    """
    _Fields(form, project, roles, change).show()


@dataclass
class _Fields:
    """The fields of each kind of belief."""

    form: Form
    project: Project
    roles: Roles
    change: Change

    def __post_init__(self) -> None:
        others = (self.roles.recorded, self.roles.sensitive)
        known = {own.name: own.values for own in self.project.columns() if own.name not in others}
        self.few = {name: count for name, count in known.items() if 1 < count <= MAX_GROUPS}

    def show(self) -> None:
        """Show those of the form's kind."""
        kinds = {
            "label": self._label,
            "selective": self._selective,
            "positive-unlabelled": self._positive,
            "annotators": self._annotators,
            "measurement": self._feature,
            "historical": self._feature,
            "unknown": self._unknown,
            PROGRAM: self._program,
        }
        kinds[self.form.kind]()

    def _label(self) -> None:
        if len(self.roles.labels) > 2:
            self._only_group()
            return
        label = f"{self.roles.recorded} = {self.roles.favourable}"
        self._tick("lost", f"People who should have had {label} were recorded without it")
        self._tick("given", f"Others were given {label} wrongly")
        self._only_group()
        self._tick("mistakes", "Anybody's label may also be wrong by mistake")
        self._pick("also_by", "Also by other columns, one bias after the other", list(self.few))

    def _feature(self) -> None:
        usable = [name for name, count in self.few.items() if count <= MAX_VALUES]
        self._pick("features", "Which features are distorted?", usable)
        self._tick("lost", "What is on record is too low")
        self._tick("given", "What is on record is too high")
        self._only_group()
        self._label_too()

    def _selective(self) -> None:
        self._pick("decided_by", "Who decided? A column, if there is one", list(self.few))
        self._tick("accepted_only", "People who were turned down are not in the table")

    def _positive(self) -> None:
        self._pick("by", "What else decides who is on record?", list(self.few))

    def _annotators(self) -> None:
        labels = set(self.roles.labels)
        votes = [name for name, count in self.few.items() if count == 2 and set(self.project.values(name)) == labels]
        columns = [self.roles.recorded, *votes]
        self._pick("annotators", f"Columns with what each person said of {self.roles.recorded}", columns)
        self._tick("by_group", f"They err more often in one group of {self.roles.sensitive} than in another")

    def _unknown(self) -> None:
        self._pick("proxies", f"Which columns tell of {self.roles.sensitive}?", list(self.few))
        self._label_too()

    def _program(self) -> None:
        text("p", "The classifier is nn(h, X) :: y(X); the sensitive column is a network of another name.")
        text("p", "Ask for the recorded label at the end: ?- y_(x).")

    def _only_group(self) -> None:
        if self.roles.binary:
            self._tick("only_group", f"Only where {self.roles.sensitive} = {self.roles.group}")

    def _label_too(self) -> None:
        self._tick("label_too", f"{self.roles.recorded} was recorded unfairly, too")

    def _tick(self, name: str, words: str) -> None:
        ui.checkbox(words, value=getattr(self.form, name), on_change=self._changed(name))

    def _pick(self, name: str, words: str, among: list[str]) -> None:
        said = getattr(self.form, name)
        several = isinstance(said, list)
        known = [one for one in said if one in among] if several else said if said in among else None
        field = ui.select(among, value=known, multiple=several, label=words, on_change=self._changed(name))
        field.props(f"outlined dense data-field={name} {'use-chips' if several else 'clearable'}").style("width: 100%")
        if not among:
            soft(f"No column suits: it has 2 to {MAX_GROUPS} values.")

    def _changed(self, name: str) -> Callable[..., Any]:
        def changed(event: events.ValueChangeEventArguments[Any]) -> Any:
            return self.change(name, event.value)

        return guarded(changed)


def numbers(form: Form, parameters: tuple[Parameter, ...], change: Callable[[str, float | None], Any]) -> None:
    """Fields for the parameters, as far as somebody knows them."""
    if not parameters:
        return
    soft("Numbers between 0 and 1, where you know them; an audit finds the others.")
    for own in parameters:
        with ui.element("div").classes("number"):
            with ui.element("span"):
                text("b", own.name)
                text("span", f" {own.meaning}")
            said = ui.number(
                value=form.values.get(own.name),
                min=0,
                max=1,
                step=0.05,
                placeholder="unknown",
                on_change=guarded(lambda event, name=own.name: change(name, event.value)),
            )
        said.props("outlined dense clearable")
        said.props["aria-label"] = f"{own.name}: {own.meaning}"
        said.props["data-parameter"] = own.name
