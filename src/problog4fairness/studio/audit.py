"""The third screen: how many rows to look at, and looking at them, one at a time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from nicegui import events, ui

from problog4fairness.beliefs import Belief
from problog4fairness.beliefs.plan import AuditPlan
from problog4fairness.errors import P4FError
from problog4fairness.studio.auditing import Audit, draw, plan
from problog4fairness.studio.parts import box, columns, guarded, heading, same, soft, text, title
from problog4fairness.studio.project import AUDIT, BELIEF
from problog4fairness.studio.reviews import checked_name
from problog4fairness.studio.state import Go, Studio


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title("Audit", "Somebody looks at a few rows and says what the fair label is. That is all the numbers rest on.")
    project = studio.project
    if not project.has(BELIEF):
        box("There is no belief yet: the second screen asks for it.", "bad")
        ui.button("To the belief", on_click=lambda: go("belief")).props("unelevated no-caps").classes("self-start")
        return
    if not project.has(AUDIT):
        _plan(studio, go)
        return
    audit = Audit(project)
    with columns():
        with ui.element("div").classes("card"):
            _Review(audit).show()
        with ui.element("div"):
            _so_far(audit, go)
    same(
        project.command("estimate", AUDIT, "--fair", project.choices.fair, "-o", BELIEF),
        f'belief = belief.estimate(pd.read_csv("{AUDIT}"), recorded="{audit.roles.recorded}", fair="{audit.fair}")',
    )


def _plan(studio: Studio, go: Go) -> None:
    project = studio.project
    wanted = {"error": 0.1}
    soft("Rows are drawn where they tell most, by group and recorded label, and in rounds.")
    text("span", "How exactly must the numbers be known?", "soft")
    slider = ui.slider(min=0.03, max=0.2, step=0.01, value=wanted["error"]).style("max-width: 26rem")
    slider.props('label aria-label="the error allowed"')
    shown = ui.element("div")

    async def change() -> None:
        wanted["error"] = slider.value
        found = await asyncio.to_thread(plan, project, slider.value)
        shown.clear()
        with shown:
            _numbers(found)

    async def take() -> None:
        draw(project, await asyncio.to_thread(plan, project, wanted["error"]))
        go("audit")

    slider.on("change", guarded(change))
    ui.timer(0, guarded(change), once=True)
    ui.button("Draw these rows", on_click=guarded(take)).props("unelevated no-caps").classes("self-start")


def _numbers(found: AuditPlan) -> None:
    """How many rows the plan asks for, and what the paper's rule would."""
    figures = {"rows in this round": found.to_draw, "rows in all, about": found.in_all,
               "rows by the paper's rule": found.hoeffding.asked}  # fmt: skip
    with ui.element("div").classes("figures"):
        for name, number in figures.items():
            with ui.element("div").classes("figure"):
                text("b", f"{number:,}")
                text("span", name, "soft")
    for line in found.lines():
        soft(line)


class _Review:
    """One row at a time, for one reviewer."""

    def __init__(self, audit: Audit) -> None:
        self.audit, self.reviewer = audit, ""

    def show(self) -> None:
        """Ask for the name, then for one row after the other."""
        heading("Review")
        name = ui.input("Your name", on_change=lambda: None).props("outlined dense").style("max-width: 18rem")

        def begin() -> None:
            self.reviewer = checked_name(name.value or "")
            name.run_method("blur")  # from here on, keys are answers
            self.card.refresh()

        name.on("keydown.enter", guarded(begin))
        ui.button("Begin", on_click=guarded(begin)).props("outline no-caps").classes("self-start")
        self.card()
        ui.keyboard(on_key=guarded(self._key), repeating=False, ignore=["input", "select", "textarea"])

    @ui.refreshable_method
    def card(self) -> None:
        """The row to look at."""
        if not self.reviewer:
            soft("What was recorded stays hidden, and so does what others say.")
            return
        number = self.audit.next_for(self.reviewer)
        done = len(self.audit.reviews.of(self.reviewer))
        ui.linear_progress(done / max(len(self.audit.numbers), 1), show_value=False).props('aria-label="rows answered"')
        soft(f"{done} of {len(self.audit.numbers)} rows")
        if number is None:
            box("All rows are answered.", "good")
        else:
            with ui.element("div").classes("row-card"), ui.element("dl"):
                for name, value in self.audit.shown(number).items():
                    text("dt", name)
                    text("dd", value)
            self.note = ui.input("Note").props("outlined dense").style("width: 100%")
        good, bad = self.audit.labels
        with ui.element("div").classes("keys"):
            if number is not None:
                self._button(f"{self.audit.roles.recorded} should be {good}", "1", "unelevated")
                self._button(f"should be {bad}", "0", "outline")
                self._button("Skip", "s", "flat")
            self._button("Undo", "u", "flat")

    def _button(self, name: str, key: str, look: str) -> None:
        with ui.button(name, on_click=guarded(lambda: self.act(key))).props(f"{look} no-caps data-key={key}"):
            text("kbd", key)

    async def _key(self, event: events.KeyEventArguments) -> None:
        if event.action.keydown and self.reviewer and event.key.name in ("1", "0", "s", "u"):
            await self.act(event.key.name)

    async def act(self, key: str) -> None:
        """Answer, skip or take back; on the disk before the next row is shown."""
        reviews = self.audit.reviews
        if key == "u":
            reviews.undo(self.reviewer)
        else:
            number = self.audit.next_for(self.reviewer)
            if number is None:
                return
            label = {"1": self.audit.labels[0], "0": self.audit.labels[1], "s": None}[key]
            reviews.answer(number, self.reviewer, label, self.note.value or "")
        self.card.refresh()


def _so_far(audit: Audit, go: Go) -> None:
    heading("What it tells so far")
    found: dict[str, Belief | None] = {"belief": None}

    @ui.refreshable
    def numbers() -> None:
        belief = found["belief"]
        if belief is None:
            soft("Nothing yet. Each answer makes the intervals shorter.")
            return
        for own in belief.probabilities:
            text("span", f"{own.name}: {own.meaning}", "soft")
            low, high = own.low or 0.0, 1.0 if own.high is None else own.high
            with ui.element("div").classes("interval"):
                ui.element("i").style(f"left: {100 * low:.1f}%; right: {100 - 100 * high:.1f}%")
                if own.value is not None:
                    ui.element("b").style(f"left: {100 * own.value:.1f}%")
            known = "unknown" if own.value is None else f"{own.value:.0%} ({low:.0%} to {high:.0%})"
            text("span", known)

    @ui.refreshable
    def people() -> None:
        reviewers = audit.reviews.reviewers()
        if len(reviewers) > 1:
            both = audit.reviews.agreement()
            kappa = "" if both.kappa is None else f", kappa {both.kappa:.2f}"
            text("p", f"{', '.join(reviewers)}: the same on {both.same} of {both.rows} common rows{kappa}")
        for number, answers in audit.reviews.conflicts().items():
            box(f"row {number}: " + ", ".join(f"{said.reviewer} says {said.label}" for said in answers), "note")

    state = {"size": -1}

    async def look() -> None:
        size = audit.reviews.size()
        if size == state["size"]:
            return
        state["size"] = size
        await asyncio.to_thread(audit.write)
        try:
            found["belief"] = await asyncio.to_thread(audit.estimate)
        except P4FError:
            found["belief"] = None
        numbers.refresh()
        people.refresh()

    numbers()
    people()
    ui.timer(0.5, guarded(look))
    asked = ui.element("div").props("data-part=plan")

    async def ask() -> None:
        project = audit.project
        await asyncio.to_thread(audit.write)
        next_round = await asyncio.to_thread(plan, project, 0.1)
        asked.clear()
        with asked:
            box(next_round.lines(), "good" if next_round.stop else "note")
        if next_round.to_draw and not next_round.open:
            draw(project, next_round)
            go("audit")

    def keep() -> None:
        if found["belief"] is None:
            raise P4FError("no row is answered yet")
        audit.project.keep_belief(found["belief"])
        go("train")

    async def took(event: events.UploadEventArguments) -> None:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "audit.csv"
            await event.file.save(file)
            new = audit.take(file, Path(event.file.name).stem)
        ui.notify(f"{new} answers were added")

    with ui.element("div").classes("keys"):
        ui.button("Use these numbers", on_click=guarded(keep)).props("unelevated no-caps")
        ui.button("Enough? Draw more", on_click=guarded(ask)).props("outline no-caps")
        ui.button("Download as CSV", on_click=lambda: ui.download.file(audit.project.path(AUDIT))).props("flat no-caps")
    ui.upload(label="Take answers from a CSV", on_upload=guarded(took), auto_upload=True).props(
        'accept=".csv" flat bordered'
    ).style("width: min(22rem, 100%)")
