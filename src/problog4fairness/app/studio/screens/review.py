"""Review: one row at a time for one reviewer, here or on a page of their own; and how far reviewers agree."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import events, ui

from problog4fairness.app.studio import parts
from problog4fairness.app.studio.auditing import LOOK, Audit
from problog4fairness.app.studio.project import AUDIT
from problog4fairness.app.studio.reviews import Agreement, Answer, checked_name
from problog4fairness.app.studio.state import Studio
from problog4fairness.errors import P4FError

# Seconds after which a reviewer's page asks whether there are new rows.
NEW_ROWS = 2.0


def show(studio: Studio, name: str) -> None:
    """The page of a reviewer: their rows, and nothing else."""
    with ui.element("header").classes("top"):
        parts.text("h1", "p4f studio")
        parts.text("span", f"for {name}", "folder")
    with ui.element("main").classes("screen"):
        parts.title("Review", "You see one row at a time. What was recorded stays hidden, and so does what others say.")
        place = ui.element("div").classes("stack")
        begun = {"review": False}

        def begin() -> None:
            if begun["review"] or not studio.project.has(AUDIT):
                return
            begun["review"] = True
            place.clear()
            with place, ui.element("div").classes("card alone"):
                Review(Audit(studio.project), checked_name(name)).show()

        with place:
            parts.soft("No rows are drawn yet. They appear here as soon as they are.")
        try:
            begin()
        except P4FError as error:
            parts.box(str(error), "bad")
        ui.timer(NEW_ROWS, parts.guarded(begin))
    parts.ended("Ask who sent you the link for a new one. What you have answered is kept.")


class Review:
    """The rows of one reviewer."""

    def __init__(self, audit: Audit, reviewer: str) -> None:
        self.audit, self.reviewer = audit, reviewer
        self.count, self.taken_back = len(audit.numbers), ""

    def show(self) -> None:
        """Show the first row without an answer."""
        self.card()
        ui.keyboard(on_key=parts.guarded(self._key), repeating=False, ignore=["input", "select", "textarea"])
        ui.timer(NEW_ROWS, self._look)

    @ui.refreshable_method
    def card(self) -> None:
        """The row to look at."""
        numbers, asked = self.audit.numbers, self.audit.asked
        number = self.audit.next_for(self.reviewer)
        done = len(set(self.audit.reviews.of(self.reviewer)) & set(numbers))
        ui.linear_progress(done / max(len(numbers), 1), show_value=False).props('aria-label="rows answered"')
        with ui.element("div").props("aria-live=polite"):
            parts.soft(f"{done} of {len(numbers)} rows")
        if number is None:
            parts.box("All rows are answered. If more are needed, they appear here.", "good")
        else:
            with ui.element("div").classes("row-card"):
                parts.text("b", f"Row {number}")
                cells(self.audit, number)
            self.note = ui.input("Note, if there is something to say", value=self.taken_back)
            self.note.props("outlined dense").style("width: 100%").on("keydown.enter", self.note_done)
        with ui.element("div").classes("keys"):
            if number is not None:
                for place, (key, label) in enumerate(asked.keys.items()):
                    words = f"should be {label}" if place else f"{asked.column} should be {label}"
                    self._button(words, key, "outline" if place else "unelevated")
                self._button("Skip", "s", "flat")
                self._button("Note", "n", "flat")
            self._button("Undo", "u", "flat")
        parts.soft("Every answer is on the disk before the next row is shown.")

    def _button(self, name: str, key: str, look: str) -> None:
        with parts.button(name, lambda: self.act(key), look, f"data-key={key}"):
            parts.text("kbd", key).props("aria-hidden=true")

    def note_done(self) -> None:
        """From here on, keys are answers again."""
        self.note.run_method("blur")

    async def _key(self, event: events.KeyEventArguments) -> None:
        plain = not (event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta)
        if event.action.keydown and plain and event.key.name in ("s", "u", "n", *self.audit.asked.keys):
            self.act(event.key.name)

    def _look(self) -> None:
        if len(self.audit.numbers) != self.count:
            self.count = len(self.audit.numbers)
            self.card.refresh()

    def act(self, key: str) -> None:
        """Answer, skip, take back or go to the note; what is answered is on the disk before the next row is shown."""
        number = self.audit.next_for(self.reviewer)
        if key == "n":
            if number is not None:
                self.note.run_method("focus")
            return
        if key == "u":
            back = self.audit.reviews.undo(self.reviewer)
            self.taken_back = "" if back is None else back.note
        elif number is None:
            return
        else:
            label = self.audit.asked.keys.get(key)  # none where it is skipped
            self.audit.reviews.answer(number, self.reviewer, label, self.note.value or "")
            self.taken_back = ""
        self.card.refresh()


def ask_name(begin: Callable[[str], None], suggested: str = "") -> None:
    """Ask who reviews."""
    parts.heading("Who reviews?")
    parts.soft("What was recorded stays hidden, and so does what others say.")
    name = ui.input("Your name", value=suggested).props("outlined dense").style("max-width: 18rem")

    def given() -> None:
        name.run_method("blur")  # from here on, keys are answers
        begin(checked_name(name.value or ""))

    name.on("keydown.enter", parts.guarded(given))
    parts.button("Begin", given, "unelevated")


def cells(audit: Audit, number: int) -> None:
    """What may be seen of a row."""
    with ui.element("dl"):
        for name, value in audit.shown(number).items():
            parts.text("dt", name)
            parts.text("dd", value)


class Reviewers:
    """All reviewers of an audit, for who answers for it."""

    def __init__(self, studio: Studio, audit: Audit) -> None:
        self.studio, self.audit, self.size = studio, audit, -1

    def show(self) -> None:
        """Lay it out, and follow what reviewers say."""
        parts.heading("Reviewers")
        parts.soft(
            "Let somebody else look at the same rows: two people who do not know each other's answers show how far "
            "such judgements can be trusted. A link opens the rows and nothing else; it is good until p4f studio ends."
        )
        with ui.element("div").classes("keys"):
            name = ui.input("Name of a reviewer").props("outlined dense").style("width: 18rem")
            name.on("keydown.enter", parts.guarded(lambda: self._invite(name)))
            parts.button("Make a link", lambda: self._invite(name))
        self._links()
        self._people()
        self._conflicts()
        ui.timer(LOOK, self._look)

    def _invite(self, field: ui.input) -> None:
        name = checked_name(field.value or "")
        if name not in self.studio.invited:
            self.studio.invited.append(name)
        field.set_value("")
        self._links.refresh()

    @ui.refreshable_method
    def _links(self) -> None:
        """Apart from what changes with each answer: a button that is replaced while it is pressed does nothing."""
        for name in self.studio.invited:
            link = self.studio.link(name)
            with ui.element("div").classes("person"):
                parts.text("b", name)
                field = ui.input(value=link).props("outlined dense readonly").classes("link")
                field.props["aria-label"] = f"link for {name}"
                copy = parts.button("Copy", lambda link=link: ui.clipboard.write(link), "flat")
                copy.props["aria-label"] = f"copy the link for {name}"

    @ui.refreshable_method
    def _people(self) -> None:
        reviews = self.audit.reviews
        counts = [f"{name} {len(reviews.of(name))}" for name in reviews.reviewers()]
        if counts:
            parts.text("p", f"Answers so far: {', '.join(counts)}.")
        for both in reviews.agreements():
            parts.text("p", _agreement(both)).props("data-part=agreement")

    @ui.refreshable_method
    def _conflicts(self) -> None:
        conflicts = self.audit.reviews.conflicts()
        if not conflicts:
            return
        settled = self.audit.reviews.settled()
        parts.heading("Conflicts")
        mine = self.audit.reviews.of(self.audit.project.choices.reviewer)
        hidden = [row for row in conflicts if mine and row not in mine]
        done = sum(row in settled for row in conflicts)
        parts.soft(f"{len(conflicts)} rows, {done} of them settled. Rows that are open count for nothing.")
        if hidden:
            parts.soft(f"{len(hidden)} of them are shown once you have answered them yourself.")
        with ui.element("div").classes("cards wide"):
            for row, answers in conflicts.items():
                if row not in hidden:
                    self._conflict(row, answers, settled.get(row))

    def _conflict(self, row: int, answers: list[Answer], settled: str | None) -> None:
        with ui.element("div").classes("card row-card").props(f"data-conflict={row}"):
            parts.text("b", f"Row {row}")
            cells(self.audit, row)
            for answer in answers:
                parts.text("span", f"{answer.reviewer} says {answer.label}{f': {answer.note}' if answer.note else ''}")
            with ui.element("div").classes("keys"):
                for label in self.audit.labels:
                    look = "unelevated" if label == settled else "outline"
                    pressed = f"aria-pressed={str(label == settled).lower()}"
                    parts.button(f"It is {label}", lambda label=label: self._settle(row, label), look, pressed)
                if settled is not None:
                    parts.button("Open again", lambda: self._settle(row, None), "flat dense")

    def _settle(self, row: int, label: str | None) -> None:
        self.audit.reviews.settle(row, label, self.audit.project.choices.reviewer or "owner")

    def _look(self) -> None:
        size = self.audit.reviews.size()
        if size != self.size:
            self.size = size
            self._people.refresh()
            self._conflicts.refresh()


def _agreement(both: Agreement) -> str:
    """How far two reviewers agree, in words."""
    kappa = "" if both.kappa is None else f"; beyond chance {both.kappa:.2f} (Cohen's kappa, 1 is all, 0 is chance)"
    share = f"{both.same} of {both.rows} common rows ({both.same / both.rows:.0%})"
    return f"{both.first} and {both.second} say the same of {share}{kappa}."
