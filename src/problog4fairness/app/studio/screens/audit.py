"""The third screen: how many rows to look at, looking at them, and what that tells so far."""

from __future__ import annotations

import asyncio
from pathlib import Path
from shutil import move

from nicegui import ui

from problog4fairness.app.studio import parts
from problog4fairness.app.studio.auditing import (
    LOOK,
    SHEET,
    Audit,
    draw,
    fair_column,
    features_in_a_sheet,
    from_sheet,
    from_table,
    plan,
    sheet,
    tells_itself,
)
from problog4fairness.app.studio.project import AUDIT, BELIEF, Project
from problog4fairness.app.studio.screens.review import Review, Reviewers, ask_name
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.audit import ROW, AuditPlan
from problog4fairness.beliefs import Belief
from problog4fairness.data import csv_text, read_table
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Parameter


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    parts.title("Audit", "Somebody looks at a few rows and says what would be fair. That is all the numbers rest on.")
    project = studio.project
    if not project.has(BELIEF):
        parts.lead("There is no belief yet, so nobody knows what to look for.", "To the belief", "belief", go)
        return
    if not project.has(AUDIT):
        _Plan(project, go).show()
        return
    audit = Audit(project)
    results = Results(audit, go)
    with parts.columns():
        with ui.element("div").classes("card"):
            _review(audit, results)
        with ui.element("div").classes("stack"):
            results.show()
    Reviewers(studio, audit).show()
    _files(audit)
    parts.same(
        project.command("estimate", AUDIT, "--fair", project.choices.fair, "-o", BELIEF),
        f'belief = belief.estimate(pd.read_csv("{AUDIT}"), recorded={audit.roles.recorded!r}, fair={audit.fair!r})',
    )


class _Plan:
    """How many rows, why, and what the paper's rule would ask."""

    def __init__(self, project: Project, go: Go) -> None:
        self.project, self.go = project, go

    def show(self) -> None:
        """Lay it out."""
        belief = self.project.belief()
        if features := features_in_a_sheet(self.project, belief):
            joint = belief.field_values().get("joint")
            self._sheet(features, None if joint else belief.kind.command)
            return
        if tells_itself(belief):
            self._without()
        parts.heading("How many rows?")
        parts.soft(
            "Rows are drawn where they are most informative, by group and recorded value, in rounds: look at some, "
            "then ask again."
        )
        parts.text("label", "How exactly must the numbers be known? Half the width of an interval:")
        slider = ui.slider(min=0.03, max=0.2, step=0.01, value=self.project.choices.error)
        slider.props('label label-always aria-label="the error allowed"').style("max-width: 26rem; margin-top: 1.4rem")
        slider.on("change", parts.guarded(lambda: self._change(slider.value)))
        self.shown = ui.element("div").classes("stack").props("data-part=plan aria-live=polite")
        with ui.element("div").classes("keys"):
            self.take = parts.button("Draw these rows", self._draw, "unelevated")
        parts.uploader("Or take the file that p4f plan --draw wrote", self._take_drawn, ".csv")
        ui.timer(0, parts.guarded(lambda: self._change(slider.value)), once=True)
        self._command()

    @ui.refreshable_method
    def _command(self) -> None:
        error = f"{self.project.choices.error:g}"
        parts.same(
            self.project.command("plan", "--data", str(self.project.choices.table), "--error", error, "--draw", AUDIT),
            f"plan = belief.plan_audit(frame, recorded={self.project.choices.recorded!r}, "
            f'error={error})\nplan.draw(random_state=0).to_csv("{AUDIT}", index=False)',
        )

    def _sheet(self, features: tuple[str, ...], command: str | None) -> None:
        """Rows for a spreadsheet, and back."""

        def rows() -> None:
            ui.download.content(csv_text(sheet(self.project)), SHEET)

        async def take(file: Path, _: str) -> None:
            self.project.keep_belief(await asyncio.to_thread(from_sheet, self.project, file))
            self.go("belief")

        fair = " and ".join(map(fair_column, features))
        parts.heading("Fill in a spreadsheet")
        parts.soft(
            f"Take rows of each group, drawn at random; write what is fair into {fair}, of as many as you can find "
            "out, and give the file back. Four times as many rows halve the intervals."
        )
        parts.button("Download rows to fill in", rows)
        parts.uploader("Take the sheet that was filled in", take, ".csv")
        fill = ", ".join(f"{name!r}: {fair_column(name)!r}" for name in features)
        pairs = [part for name in features for part in ("--feature", name, "--fair-feature", fair_column(name))]
        group = ["--group", str(self.project.choices.group)] if self.project.choices.group is not None else []
        of = ["--belief", command or "", "--sensitive", str(self.project.choices.sensitive), *group]
        arguments = [*of, *pairs, "-o", BELIEF]
        no_command = "# There is no command for this audit: it is made here, or in Python."
        parts.same(
            no_command if command is None else self.project.command("estimate", SHEET, *arguments, roles=False),
            f'audit = pd.read_csv("{SHEET}").dropna()\n'
            f"belief = belief.estimate(audit, recorded={{name: name for name in belief.features}}, fair={{{fill}}})",
        )

    def _without(self) -> None:
        """The button for beliefs whose numbers the table itself tells."""

        async def find() -> None:
            waiting = ui.notification("counting", spinner=True, timeout=None)
            try:
                self.project.keep_belief(await asyncio.to_thread(from_table, self.project))
            finally:
                waiting.dismiss()
            self.go("belief")

        parts.heading("The table is enough")
        parts.soft(
            "Where people agree, or the group is known of some, the numbers can be found without looking at rows."
        )
        parts.button("Estimate from the table", find)

    async def _change(self, error: float) -> None:
        self.project.choose(error=float(error))
        plan_made: AuditPlan | None
        try:
            plan_made = await asyncio.to_thread(plan, self.project)
        except P4FError as reason:
            plan_made, problem = None, str(reason)
        except ValueError as reason:
            plan_made, problem = None, f"an error of the library, please report it: {reason}"
        self.shown.clear()
        with self.shown:
            if plan_made is None:
                parts.box(["Rows cannot be drawn for this belief here.", problem], "bad")
            else:
                _numbers(plan_made)
        self.take.set_enabled(plan_made is not None)
        self._command.refresh()

    async def _draw(self) -> None:
        draw(self.project, await asyncio.to_thread(plan, self.project))
        self.go("audit")

    def _take_drawn(self, file: Path, name: str) -> None:
        if ROW not in read_table(file, verbatim=True):
            raise P4FError(f"{name} has no column {ROW!r}: p4f plan --draw writes it")
        move(file, self.project.path(AUDIT))
        self.go("audit")


def _numbers(plan_made: AuditPlan) -> None:
    """How many rows the plan asks for, and what the paper's rule would."""
    figures = {"rows in this round": plan_made.to_draw, "rows in all, about": plan_made.in_all}
    if plan_made.hoeffding is not None:
        figures["rows by the paper's rule"] = plan_made.hoeffding.asked
    with ui.element("div").classes("figures"):
        for name, number in figures.items():
            parts.figure(name, f"{number:,}")
    for line in plan_made.lines():
        parts.soft(line)
    with ui.element("details").classes("same"):
        parts.text("summary", "Where they are drawn")
        parts.table(plan_made.strata)


def _review(audit: Audit, results: Results) -> None:
    """The review of who sits here, after their name."""

    @ui.refreshable
    def part(reviewer: str) -> None:
        results.reviewer = reviewer
        if not reviewer:
            ask_name(begin, audit.project.choices.reviewer)
            return
        with ui.element("div").classes("keys"):
            parts.heading(f"Review by {reviewer}")
            parts.button("Somebody else", lambda: part.refresh(""), "flat dense")
        Review(audit, reviewer).show()

    def begin(name: str) -> None:
        audit.project.choose(reviewer=name)
        part.refresh(name)

    part("")


def _files(audit: Audit) -> None:
    def take(file: Path, name: str) -> None:
        ui.notify(f"{audit.take(file, Path(name).stem)} answers were added")

    def answers() -> None:
        ui.download.content(csv_text(audit.answers()), "answers.csv")

    def agreed() -> None:
        audit.write()
        ui.download.file(audit.project.path(AUDIT))

    parts.heading("Files")
    parts.soft(f"{AUDIT} has what reviewers agree on; p4f estimate reads it, and spreadsheets do.")
    with ui.element("div").classes("keys"):
        parts.button(f"Download {AUDIT}", agreed)
        parts.button("Download every answer", answers)
    parts.uploader("Take answers from a CSV; its name is the reviewer's", take, ".csv")


class Results:
    """The parameters, each with its interval."""

    def __init__(self, audit: Audit, go: Go) -> None:
        self.audit, self.go = audit, go
        self.error = audit.project.choices.error
        self.reviewer = ""
        self.belief: Belief | None = None
        self.size = -1

    def show(self) -> None:
        """Lay it out, and follow what reviewers say."""
        parts.heading("Estimates so far")
        self._intervals()
        with ui.element("div").classes("keys"):
            parts.button("Use these numbers", self._keep, "unelevated")
            parts.button("Enough? Draw more", self._more)
        self.asked = ui.element("div").props("data-part=plan aria-live=polite")
        ui.timer(LOOK, parts.guarded(self._look))

    @ui.refreshable_method
    def _intervals(self) -> None:
        if self.belief is None:
            parts.soft("Nothing yet. Each answer makes the intervals shorter; the page says when it is enough.")
            return
        known = [parameter.half_width for parameter in self.belief.parameters]
        enough = [half is not None and half <= self.error for half in known]
        if all(enough):
            parts.box(f"Stop: every number is known within {self.error:.0%}. More rows would add little.", "good")
        else:
            parts.soft(f"{sum(enough)} of {len(enough)} numbers are known within {self.error:.0%}. Go on.")
        for parameter, done in zip(self.belief.parameters, enough, strict=True):
            _interval(parameter, done, self.error)

    async def _look(self) -> None:
        size = self.audit.reviews.size()
        if size == self.size:
            return
        self.size = size
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
        plan_made = await asyncio.to_thread(plan, project)
        self.asked.clear()
        with self.asked:
            parts.box(plan_made.lines(), "good" if plan_made.stop else "note")
        if plan_made.to_draw and not plan_made.open:
            draw(project, plan_made)
            ui.notify(f"{plan_made.to_draw} more rows were drawn")

    async def _keep(self) -> None:
        belief = await self._told()  # not what is shown: an answer may have come since
        if belief is None:
            raise P4FError("no row is answered yet")
        self.audit.project.keep_belief(belief)
        self.go("check")


def _interval(parameter: Parameter, enough: bool, error: float) -> None:
    """A parameter on a line from 0 to 1: its interval, and the one that would be enough around its value."""
    low, high = parameter.low or 0.0, 1.0 if parameter.high is None else parameter.high
    known = "unknown" if parameter.value is None else f"{parameter.value:.0%}, between {low:.0%} and {high:.0%}"
    with ui.element("div").classes("told enough" if enough else "told").props(f'data-told="{parameter.name}"'):
        with ui.element("div"):
            parts.text("b", f"{parameter.name}: ")
            parts.text("span", parameter.meaning, "soft")
        value = parameter.value
        parts.interval(low, high, value, None if value is None else (max(value - error, 0), min(value + error, 1)))
        parts.text("span", f"{known}{': enough' if enough else ''}")
