"""What an audit tells so far: intervals that shrink, and when to stop."""

from __future__ import annotations

import asyncio

from nicegui import ui

from problog4fairness.app.studio.auditing import Audit, draw, plan
from problog4fairness.app.studio.parts import box, guarded, heading, soft, text
from problog4fairness.app.studio.state import Go
from problog4fairness.beliefs import Belief
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Parameter

# How often it looks whether somebody said something, in seconds.
LOOK = 0.5


class Results:
    """The parameters, each with its interval.

    Parameters
    ----------
    audit
        The drawn rows.
    go
        Leads to other screens.
    """

    def __init__(self, audit: Audit, go: Go) -> None:
        self.audit, self.go = audit, go
        self.error = audit.project.choices.error
        self.reviewer = ""
        self.belief: Belief | None = None
        self.seen = -1

    def show(self) -> None:
        """Lay it out, and follow what reviewers say."""
        heading("What it tells so far")
        self._intervals()
        with ui.element("div").classes("keys"):
            ui.button("Use these numbers", on_click=guarded(self._keep)).props("unelevated no-caps")
            ui.button("Enough? Draw more", on_click=guarded(self._more)).props("outline no-caps")
        self.asked = ui.element("div").props("data-part=plan aria-live=polite")
        ui.timer(LOOK, guarded(self._look))

    @ui.refreshable_method
    def _intervals(self) -> None:
        if self.belief is None:
            soft("Nothing yet. Each answer makes the intervals shorter; the page says when it is enough.")
            return
        known = [own.half_width for own in self.belief.parameters]
        enough = [half is not None and half <= self.error for half in known]
        if all(enough):
            box(f"Stop: every number is known within {self.error:.0%}. More rows would tell little.", "good")
        else:
            soft(f"{sum(enough)} of {len(enough)} numbers are known within {self.error:.0%}. Go on.")
        for own, done in zip(self.belief.parameters, enough, strict=True):
            _interval(own, done, self.error)

    async def _look(self) -> None:
        size = self.audit.reviews.size()
        if size == self.seen:
            return
        self.seen = size
        try:
            self.belief = await self._told()
        except P4FError:
            self.belief = None  # too few rows so far
        self._intervals.refresh()

    async def _told(self) -> Belief | None:
        """What the answers tell that are there now; None before the first one."""
        await asyncio.to_thread(self.audit.write)
        return await asyncio.to_thread(self.audit.estimate)

    async def _more(self) -> None:
        project = self.audit.project
        await asyncio.to_thread(self.audit.write)
        found = await asyncio.to_thread(plan, project)
        self.asked.clear()
        with self.asked:
            box(found.lines(), "good" if found.stop else "note")
        if found.to_draw and not found.open:
            draw(project, found)
            ui.notify(f"{found.to_draw} more rows were drawn")

    async def _keep(self) -> None:
        belief = await self._told()  # not what is shown: an answer may have come since
        if belief is None:
            raise P4FError("no row is answered yet")
        self.audit.project.keep_belief(belief)
        self.go("doubts")


def _interval(own: Parameter, enough: bool, error: float) -> None:
    """A parameter on a line from 0 to 1: its interval, and the one that would be enough around its value."""
    low, high = own.low or 0.0, 1.0 if own.high is None else own.high
    known = "unknown" if own.value is None else f"{own.value:.0%}, between {low:.0%} and {high:.0%}"
    with ui.element("div").classes("told enough" if enough else "told").props(f'data-told="{own.name}"'):
        with ui.element("div"):
            text("b", f"{own.name}: ")
            text("span", own.meaning, "soft")
        with ui.element("div").classes("interval").props("aria-hidden=true"):
            ui.element("i").style(f"left: {100 * low:.1f}%; right: {100 - 100 * high:.1f}%")
            if own.value is not None:
                left, right = max(own.value - error, 0), min(own.value + error, 1)
                ui.element("u").style(f"left: {100 * left:.1f}%; right: {100 - 100 * right:.1f}%")
                ui.element("b").style(f"left: {100 * own.value:.1f}%")
        text("span", f"{known}{': enough' if enough else ''}")
