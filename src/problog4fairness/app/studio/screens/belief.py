"""The second screen: which belief is mine? Its form, its sentence, its diagram and its program, all at once."""

from __future__ import annotations

import asyncio
import threading
import warnings
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from typing import Any

from nicegui import events, ui

from problog4fairness.app.report import inline
from problog4fairness.app.studio import parts
from problog4fairness.app.studio.belief_controls import Fields, ProgramEditor, numbers, sketch
from problog4fairness.app.studio.belief_form import DOUBTED, PROGRAM, Form, questions
from problog4fairness.app.studio.project import BELIEF, DRAFT
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.beliefs import MARK, Belief, Label, Question, belief_text, read_belief
from problog4fairness.data import Roles, write_atomically
from problog4fairness.errors import P4FError, one_line
from problog4fairness.program import Diagram

# Seconds without a keystroke after which the program is read.
PAUSE = 0.05
_DRAWING = threading.Lock()


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    parts.title(
        "Belief", "How did the data become unfair? Say it; everything after this is computed from what stands here."
    )
    try:
        roles = studio.project.roles()
    except P4FError as error:
        parts.lead(str(error), "To the data", "data", go)
        return
    waiting = ui.spinner()
    place = ui.element("div").classes("stack")

    async def begin() -> None:
        await asyncio.to_thread(studio.project.columns)
        waiting.delete()
        with place:
            await _Screen(studio, roles, go).show()

    ui.timer(0, parts.guarded(begin), once=True)


class _Screen:
    """The form and the program, each of which changes the other."""

    def __init__(self, studio: Studio, roles: Roles, go: Go) -> None:
        self.project, self.roles, self.go = studio.project, roles, go
        self.label = Label(roles.recorded, roles.labels)
        if self.project.has(BELIEF):
            self.belief = self.project.belief()
            self.form = Form.of(self.belief, self.project, roles)
        else:
            self.form = Form()
            self.belief = self.form.belief(self.project, roles)
        self.doubted = questions()[self.form.kind].doubted
        # How often somebody typed, the program that counts now, and whether the editor has the keyboard.
        self.turn, self.shown, self.editing = 0, "", False
        self.complete = True  # the form, so that it makes a belief
        # For each program that the page put there the lines that describe its belief, which are for the machine.
        self.described: dict[str, str] = {}
        self._describe(self.belief)
        # Forms and programs before each choice, the last one last.
        self.past: list[tuple[Form, str]] = []

    async def show(self) -> None:
        """Lay the screen out."""
        self._questions()
        with parts.columns():
            with ui.element("div").classes("card"):
                self._fields()
                self.missing = ui.element("div").props("data-part=missing")
                self._numbers()
            with ui.element("div").classes("stack"):
                parts.heading("The diagram")
                self.drawn = ui.html(sanitize=False).classes("scroll").props("data-part=picture")
                parts.heading("In words")
                self.words = ui.element("div").classes("stack").props("data-part=words aria-live=polite")
        parts.heading("The program")
        parts.soft("Change it as you like: the form and the diagram follow. Esc and then Tab leaves the field.")
        self.editor = ProgramEditor(self.shown, self._typed)
        self.editor.field.on("focusin", lambda: setattr(self, "editing", True), args=[])
        self.editor.field.on("focusout", lambda: setattr(self, "editing", False), args=[])
        self.problem = ui.element("div").props("data-part=problem")
        with ui.element("div").classes("keys"):
            parts.button("Keep it and plan the audit", lambda: self.go("audit"), "unelevated")
            self.back = parts.button("Undo the last choice", self.undo, "flat")
            self.back.set_enabled(False)
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])
        parts.same(
            self.project.command("lint", BELIEF, roles=False),
            f'belief = p4f.beliefs.read_belief(Path("{BELIEF}"))\nprint(belief)\nbelief.picture()',
        )
        await self._begin()

    async def _begin(self) -> None:
        draft = self.project.path(DRAFT).read_text(encoding="utf-8") if self.project.has(DRAFT) else None
        await self._take(self.belief)
        if draft is not None:
            self.editor.write(draft)
            await self._read(draft)

    @ui.refreshable_method
    def _questions(self) -> None:
        parts.heading("What cannot be trusted?")
        with ui.element("div").classes("answers"):
            for key, (answer, _) in DOUBTED.items():
                button = ui.element("button").classes("choice answer").on("click", lambda key=key: self._doubt(key))
                button.props(f"data-doubted={key} aria-pressed={str(key == self.doubted).lower()}")
                with button:
                    parts.text("b", answer)
        parts.heading(DOUBTED[self.doubted][1])
        with ui.element("div").classes("cards wide"):
            for kind, question in questions().items():
                if question.doubted == self.doubted:
                    self._answer(kind, question)

    def _answer(self, kind: str, question: Question) -> None:
        """A template to choose, with its sketch."""
        chosen = str(kind == self.form.kind).lower()
        button = ui.element("button").classes("card choice").on("click", parts.guarded(lambda: self.choose_kind(kind)))
        with button.props(f"data-kind={kind} aria-pressed={chosen}"):
            parts.text("b", question.answer)
            parts.text("span", question.example, "soft")
            ui.html(sketch(question.boxes), sanitize=False).classes("small")

    def _doubt(self, key: str) -> None:
        if key != self.doubted:  # a press on what is replaced just then would be lost
            self.doubted = key
            self._questions.refresh()

    @ui.refreshable_method
    def _fields(self) -> None:
        Fields(self.form, self.project, self.roles, self.choose).show()

    @ui.refreshable_method
    def _numbers(self, shown: bool = True) -> None:
        if shown:
            numbers(self.form, self.belief.parameters, self._state)

    async def choose_kind(self, kind: str) -> None:
        """Take another template; the program follows."""
        if kind != self.form.kind:
            self._remember()
            self.form = Form(kind, values=self.form.values)
            self._questions.refresh()
            self._fields.refresh()
            await self._from_form()

    async def choose(self, name: str, answer: Any) -> None:
        """Answer a field of the form; the program follows."""
        if self.form.answers.get(name) != answer:
            self._remember()
            self.form.answers[name] = answer
            await self._from_form()

    def _remember(self) -> None:
        """Keep the form and the program as they are, to go back to them."""
        self.past.append((deepcopy(self.form), self.editor.text))
        self.back.set_enabled(True)

    async def _state(self, name: str, value: float | None) -> None:
        """State a number, or take it back; the others stay as an audit found them."""
        if self.form.values.get(name) == value:
            return
        self.form.values[name] = value
        try:
            belief = self.belief.bind({name: value})
        except P4FError as error:
            self._complain(error)
            return
        self._show_program(belief)
        await self._take(belief)

    async def undo(self) -> None:
        """Take the last choice back."""
        if not self.past:
            return
        form, program = self.past.pop()
        self.back.set_enabled(bool(self.past))
        self._follow(form)
        self.missing.clear()
        self.editor.write(program)
        await self._read(program)

    async def _key(self, event: events.KeyEventArguments) -> None:
        control = event.modifiers.ctrl or event.modifiers.meta
        if event.action.keydown and event.key.name == "z" and control and not self.editing:
            await self.undo()

    def _follow(self, form: Form) -> None:
        """Show another form, as far as it is another one."""
        before, self.form = self.form, form
        if replace(form, values={}) != replace(before, values={}):
            self.doubted = questions()[form.kind].doubted
            self._questions.refresh()
            self._fields.refresh()
        if form.values != before.values:
            self._numbers.refresh(True)

    async def _from_form(self) -> None:
        if self.form.kind == PROGRAM:
            return
        self.missing.clear()
        try:
            belief = self.form.belief(self.project, self.roles)
        except P4FError as error:
            with self.missing:
                parts.box([f"{str(error).capitalize()}.", "Until then, the belief stays as it was."])
            self._numbers.refresh(False)
            self.complete = False
            return
        self._show_program(belief)
        known = _names(self.belief)
        if await self._take(belief) and (_names(belief) != known or not self.complete):
            self._numbers.refresh(True)
        self.complete = True

    async def _typed(self, event: events.ValueChangeEventArguments[str]) -> None:
        self.turn += 1
        mine = self.turn
        await asyncio.sleep(PAUSE)
        if mine != self.turn:
            return
        if event.value == self.shown:
            self._at_peace()
        else:
            await self._read(event.value)

    async def _read(self, program: str) -> None:
        """Take the program that somebody wrote, and let the form follow; not if it was changed again meanwhile."""
        turn = self.turn
        try:
            belief = await asyncio.to_thread(self._belief_of, program)
        except (P4FError, OSError) as error:
            if turn != self.turn:
                return
            write_atomically(self.project.path(DRAFT), program)
            self._complain(error)
            return
        if turn != self.turn:
            return
        self.shown = program
        if await self._take(belief):
            self._follow(Form.of(belief, self.project, self.roles))

    def _belief_of(self, program: str) -> Belief:
        described = self.described.get(program, next(reversed(self.described.values())))
        whole = program if MARK in program else f"{program}\n{described}"
        with warnings.catch_warnings(action="ignore"):  # that the rules count, and not the line that the page keeps
            return read_belief(whole, sensitive=self.roles.sensitive, groups=self.roles.levels)

    async def _take(self, belief: Belief) -> bool:
        """Keep a belief, and show its diagram first of all; whether it has one."""
        try:
            drawn = await asyncio.to_thread(_drawing, belief, self.label)
        except P4FError as error:
            self._complain(error)
            return False
        self.drawn.set_content(drawn)
        self.belief = belief
        self.project.keep_belief(belief)
        self._at_peace()
        self.words.clear()
        with self.words:
            for sentence in belief.words(self.label):
                parts.text("p", sentence)
        return True

    def _at_peace(self) -> None:
        """Nothing is wrong with the program."""
        self.project.path(DRAFT).unlink(missing_ok=True)
        self.problem.clear()
        self.editor.clear()

    def _show_program(self, belief: Belief) -> None:
        self._describe(belief)
        self.editor.write(self.shown)

    def _describe(self, belief: Belief) -> None:
        """Take the program apart from the lines that are for the machine."""
        lines = belief_text(belief).rstrip("\n").split("\n")
        self.shown = "\n".join(lines[:-2]).rstrip("\n") + "\n"
        self.described.pop(self.shown, None)
        self.described[self.shown] = "\n".join(lines[-2:])

    def _complain(self, error: Exception) -> None:
        self.problem.clear()
        line, why = getattr(error, "line", None), one_line(getattr(error, "message", str(error)))
        if line:
            self.editor.complain(line, getattr(error, "column", None), why)
        else:
            self.editor.clear()
        with self.problem, ui.element("div").classes("unseen" if line else ""):
            parts.box(f"Line {line}: {why}" if line else why, "bad")


def _names(belief: Belief) -> list[str]:
    return [f"{parameter.name}: {parameter.meaning}" for parameter in belief.parameters]


def _drawing(belief: Belief, label: Label) -> str:
    """The diagram of a belief in the page's colours; figures are drawn one at a time."""
    with _DRAWING:
        return _drawn(belief.picture(label))


@lru_cache(maxsize=64)
def _drawn(diagram: Diagram) -> str:
    return str(inline(diagram.draw(), "belief", "The causal diagram of the belief"))
