"""The second screen: which belief is mine? Its form, its sentence, its picture and its program, all at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from problog4fairness.beliefs import Belief, belief_text, read_belief
from problog4fairness.beliefs.audit_table import MAX_VALUES
from problog4fairness.beliefs.words import Label
from problog4fairness.errors import P4FError
from problog4fairness.rows import Roles
from problog4fairness.studio.form import KINDS, Form
from problog4fairness.studio.known import lead
from problog4fairness.studio.parts import box, columns, guarded, heading, picture, same, soft, text, title
from problog4fairness.studio.project import BELIEF
from problog4fairness.studio.state import Go, Studio

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Seconds without a keystroke after which the program is read.
PAUSE = 0.12
_DRAWING = threading.Lock()
Changed = Callable[[events.ValueChangeEventArguments[Any]], None]


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title("Belief", "How did the data become unfair? Say it; everything after this is computed from what stands here.")
    try:
        roles = studio.project.roles()
    except P4FError as error:
        lead(str(error), "To the data", "data", go)
        return
    _Editor(studio, roles, go).show()


class _Editor:
    """The form and the program, each of which changes the other."""

    def __init__(self, studio: Studio, roles: Roles, go: Go) -> None:
        self.studio, self.roles, self.go = studio, roles, go
        self.stored = studio.project.belief() if studio.project.has(BELIEF) else None
        self.form = Form() if self.stored is None else Form.of(self.stored)
        # How often somebody typed, and the text that the page itself has put there.
        self.turn, self.shown = 0, ""

    def show(self) -> None:
        """Lay the screen out."""
        heading("Which belief is mine?")
        self._kinds()
        with columns():
            with ui.element("div").classes("card"):
                self._form()
            with ui.element("div"):
                heading("The picture")
                self.drawn = ui.element("div").props("data-part=picture")
                heading("In words")
                self.said = ui.element("div").props("data-part=words")
        heading("The program")
        soft("Change it as you like: the form and the picture follow. An audit finds parameters without a number.")
        self.editor = ui.codemirror("", on_change=self._typed, theme="basicLight")
        self.editor.style("border: 1px solid var(--grid); max-height: 26rem; width: 100%")
        self.problem = ui.element("div").props("data-part=problem")
        with ui.element("div").classes("keys"):
            ui.button("Keep it and plan the audit", on_click=lambda: self.go("audit")).props("unelevated no-caps")
        same(
            self.studio.project.command("check", BELIEF, roles=False),
            f'belief = p4f.read_belief(Path("{BELIEF}"))\nprint(belief)\nbelief.picture()',
        )
        ui.timer(0, self._from_stored if self.stored is not None else self._from_form, once=True)

    @ui.refreshable_method
    def _kinds(self) -> None:
        def choose(kind: str) -> None:
            self.form.kind = kind
            self._kinds.refresh()
            self._form.refresh()
            ui.timer(0, self._from_form, once=True)

        with ui.element("div").classes("cards"):
            for kind, (name, about) in KINDS.items():
                button = ui.element("button").classes("card choice").on("click", lambda kind=kind: choose(kind))
                button.props(f"data-kind={kind} aria-pressed={str(kind == self.form.kind).lower()}")
                with button:
                    text("b", name)
                    text("span", about, "soft")

    @ui.refreshable_method
    def _form(self) -> None:
        form, label = self.form, f"{self.roles.recorded} = {self.roles.favourable}"
        if form.kind == "program":
            text(
                "p",
                "The classifier is nn(h, X) :: y(X); the sensitive column is a network of another name. Ask for the "
                "recorded label at the end: ?- y_(x).",
            )
            return
        what = (f"People who should have had {label} were recorded without it", f"Others were given {label} wrongly")
        if form.kind != "label":
            self._features()
            what = ("The feature is recorded too low", "The feature is recorded too high")
        ui.checkbox(what[0], value=form.lost, on_change=guarded(self._setter("lost")))
        ui.checkbox(what[1], value=form.given, on_change=guarded(self._setter("given")))
        if self.roles.binary:
            only = f"Only where {self.roles.sensitive} = {self.roles.levels[1]}"
            ui.checkbox(only, value=form.only_group, on_change=guarded(self._setter("only_group")))
        self._numbers()

    def _features(self) -> None:
        frame, others = self.studio.project.frame, (self.roles.recorded, self.roles.sensitive)
        few = [str(name) for name in frame.columns if name not in others and frame[name].nunique() <= MAX_VALUES]
        ui.select(
            few,
            value=[name for name in self.form.features if name in few],
            multiple=True,
            label="Which features are distorted?",
            on_change=guarded(self._setter("features")),
        ).props("outlined use-chips")

    @ui.refreshable_method
    def _numbers(self) -> None:
        try:
            belief = self.form.belief(self.studio.project, self.roles)
        except P4FError:
            return
        soft("Numbers, where you know them; an audit finds the others.")
        for own in belief.probabilities:
            number = ui.number(
                f"{own.name}: {own.meaning}",
                value=self.form.values.get(own.name),
                min=0,
                max=1,
                step=0.05,
                on_change=guarded(self._number_setter(own.name)),
            )
            number.props("outlined dense clearable").style("width: 100%")

    def _setter(self, name: str) -> Changed:
        def changed(event: events.ValueChangeEventArguments[Any]) -> None:
            setattr(self.form, name, event.value)
            self._numbers.refresh()
            ui.timer(0, self._from_form, once=True)

        return changed

    def _number_setter(self, name: str) -> Changed:
        def changed(event: events.ValueChangeEventArguments[Any]) -> None:
            self.form.values[name] = event.value
            ui.timer(0, self._from_form, once=True)

        return changed

    async def _from_stored(self) -> None:
        if self.stored is not None:
            await self._take(self.stored, write=True)

    async def _from_form(self) -> None:
        if self.form.kind == "program":
            return
        try:
            belief = self.form.belief(self.studio.project, self.roles)
        except P4FError as error:
            self._complain(error)
            return
        await self._take(belief, write=True)

    async def _typed(self, event: events.ValueChangeEventArguments[str]) -> None:
        self.turn += 1
        mine = self.turn
        await asyncio.sleep(PAUSE)
        if mine != self.turn or event.value == self.shown:
            return
        try:
            belief = await asyncio.to_thread(self._read, event.value)
        except (P4FError, OSError) as error:
            self._complain(error)
            return
        self.form = Form.of(belief)
        self._kinds.refresh()
        self._form.refresh()
        await self._take(belief, write=False)

    def _read(self, program: str) -> Belief:
        return read_belief(program, sensitive=self.roles.sensitive, levels=self.roles.levels)

    async def _take(self, belief: Belief, *, write: bool) -> None:
        try:
            figure = await asyncio.to_thread(_figure, belief)
        except P4FError as error:
            self._complain(error)
            return
        self.studio.project.keep_belief(belief)
        if write:
            self.shown = belief_text(belief)
            self.editor.set_value(self.shown)
        for place in (self.drawn, self.said, self.problem):
            place.clear()
        with self.drawn:
            picture(figure, "belief", "The causal picture of the belief")
        with self.said:
            for sentence in belief.words(Label(self.roles.recorded, self.roles.labels)):
                text("p", sentence)

    def _complain(self, error: Exception) -> None:
        self.problem.clear()
        line, why = getattr(error, "line", None), getattr(error, "message", str(error))
        with self.problem:
            box(f"Line {line}: {why}" if line else str(why), "bad")


def _figure(belief: Belief) -> Figure:
    """The picture of a belief; figures are drawn one at a time."""
    with _DRAWING:
        return belief.picture().draw()
