"""The fields of the form of a belief."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from problog4fairness.app.studio.belief_form.filled import PROGRAM
from problog4fairness.app.studio.belief_form.form import Form
from problog4fairness.app.studio.parts import guarded, soft, text
from problog4fairness.app.studio.project import Project
from problog4fairness.audit import MAX_VALUES
from problog4fairness.data import MAX_GROUPS, Roles, days_of
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Parameter

if TYPE_CHECKING:
    import pandas as pd

Change = Callable[[str, Any], Any]
FEW = f"it has 2 to {MAX_GROUPS} values"
# Values of a column by which it is seen whether they are days.
LOOKED_AT = 50


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
        self.others = {own.name: own.values for own in self.project.columns() if own.name not in others}
        self.few = {name: count for name, count in self.others.items() if 1 < count <= MAX_GROUPS}

    def show(self) -> None:
        """Show those of the form's kind."""
        kinds = {
            "label": self._label,
            "row": self._row,
            "changed": self._changed,
            "selective": self._selective,
            "positive-unlabelled": self._positive,
            "annotators": self._annotators,
            "measurement": self._measurement,
            "numeric": self._numeric,
            "historical": self._feature,
            "unknown": self._unknown,
            PROGRAM: self._program,
        }
        kinds[self.form.kind]()

    def _label(self) -> None:
        if len(self.roles.labels) > 2:
            self._only_group()
            return
        self._ways()
        self._tick("mistakes", "Anybody's label may also be wrong by mistake")
        self._pick("also_by", "Also by other columns, one bias after the other", list(self.few))

    def _row(self) -> None:
        self._depending()
        self._ways()

    def _changed(self) -> None:
        dated = [name for name in self.others if _has_days(self.project.frame[name])]
        self._pick("when", "Which column has the day of each row?", dated, "its days are written as 2020-03-01")
        day = ui.input(
            "The first day after the change, if you know it",
            value=self.form.changed,
            placeholder="2020-03-01",
            on_change=self._changed_to("changed"),
        )
        day.props("outlined dense clearable debounce=300 data-field=changed").style("width: 100%")
        soft("Several changes stand with commas between them. Left empty, an audit finds the day.")
        self._depending()
        self._ways()

    def _depending(self) -> None:
        """What else the bias depends on."""
        self._pick("row_by", "Who decided, or what else counted?", list(self.few))
        numeric = [name for name in self.others if self._is_number(name)]
        self._pick("model", "Which numbers may have counted?", numeric, "it has numbers")

    def _ways(self) -> None:
        label = f"{self.roles.recorded} = {self.roles.favourable}"
        self._tick("lost", f"People who should have had {label} were recorded without it")
        self._tick("given", f"Others were given {label} wrongly")
        self._only_group()

    def _numeric(self) -> None:
        numeric = [name for name in self.others if self._is_number(name)]
        self._pick("numbers", "Which numbers are distorted?", numeric, "it has numbers")
        soft("What is on record is the fair number,")
        self._tick("stretched", "times a factor")
        self._tick("moved", "plus a shift")
        self._tick("blurred", "plus chance")
        self._only_group()

    def _measurement(self) -> None:
        features = self._features()
        joint = self._tick("joint", "Who is recorded wrongly in one of them is so more often in the others")
        joint.bind_visibility_from(features, "value", backward=lambda chosen: len(chosen or ()) > 1)
        self._which_way()

    def _feature(self) -> None:
        self._features()
        self._which_way()

    def _features(self) -> ui.select:
        usable = [name for name, count in self.few.items() if count <= MAX_VALUES]
        return self._pick("features", "Which features are distorted?", usable)

    def _which_way(self) -> None:
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

    def _tick(self, name: str, words: str) -> ui.checkbox:
        return ui.checkbox(words, value=getattr(self.form, name), on_change=self._changed_to(name))

    def _is_number(self, name: str) -> bool:
        return bool(self.project.frame[name].dtype.kind in "iuf") and self.others[name] > 2

    def _pick(self, name: str, words: str, among: list[str], suiting: str = FEW) -> ui.select:
        said = getattr(self.form, name)
        several = isinstance(said, list)
        known = [one for one in said if one in among] if several else said if said in among else None
        field = ui.select(among, value=known, multiple=several, label=words, on_change=self._changed_to(name))
        field.props(f"outlined dense data-field={name} {'use-chips' if several else 'clearable'}").style("width: 100%")
        if not among:
            soft(f"No column suits: {suiting}.")
        return field

    def _changed_to(self, name: str) -> Callable[..., Any]:
        def changed(event: events.ValueChangeEventArguments[Any]) -> Any:
            return self.change(name, event.value)

        return guarded(changed)


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
    soft(f"Numbers{' between 0 and 1' if shares else ''}, where you know them; an audit finds the others.")
    for own in parameters:
        with ui.element("div").classes("number"):
            with ui.element("span"):
                text("b", own.name)
                text("span", f" {own.meaning}")
            said = ui.number(
                value=form.values.get(own.name),
                min=0 if shares else None,
                max=1 if shares else None,
                step=0.05 if shares else None,
                placeholder="unknown",
                on_change=guarded(lambda event, name=own.name: change(name, event.value)),
            )
        said.props("outlined dense clearable")
        said.props["aria-label"] = f"{own.name}: {own.meaning}"
        said.props["data-parameter"] = own.name
