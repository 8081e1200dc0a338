"""The last screen: one page about the model, and everything to take away."""

from __future__ import annotations

import shlex
from datetime import date
from functools import partial
from typing import Any

from nicegui import events, ui

from problog4fairness.app.studio import parts, tasks
from problog4fairness.app.studio.process import Work
from problog4fairness.app.studio.project import EVIDENCE, MODEL, REPORT, SCORED, SUSPECTS, TAKEN, Project
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.data import values_of

RECORD = {
    "title": "Title",
    "author": "Author",
    "purpose": "Purpose and intended use",
    "date": "Date",
}
SIGNED = {"reviewed_by": "Reviewed by, date", "approved_by": "Approved by, date"}
TEACH = (
    "One page that needs no other file and no network: what the model believes, how sure that is, what it changes and "
    "what could be wrong. Beside it, the evidence folder, from which p4f verify makes the page again."
)
# Groups with more values than this are not named one by one.
MOST_NAMES = 6


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    parts.title("Report", "Everything on one page, with what could be wrong about it.")
    project = studio.project
    if not project.has(MODEL):
        parts.lead("There is no model yet: the report is about one.", "To the training", "train", go)
        return
    compared = {"wanted": True}

    def choose(name: str, event: events.ValueChangeEventArguments[Any]) -> None:
        project.choose(**{name: (event.value or "").strip() or None})
        command.refresh()

    def compare(event: events.ValueChangeEventArguments[Any]) -> None:
        compared["wanted"] = bool(event.value)
        command.refresh()

    if project.choices.date is None:
        project.choose(date=date.today().isoformat())
    parts.heading("For the record")
    with ui.element("div").classes("fields"):
        for name, label in {**RECORD, **SIGNED}.items():
            field = ui.input(
                label, value=getattr(project.choices, name) or "", on_change=parts.guarded(partial(choose, name))
            )
            field.props("outlined dense debounce=300")
    with ui.element("details").classes("same"):
        parts.text("summary", "What groups and labels are called on the page")
        _names(project, lambda: command.refresh())  # noqa: PLW0108 - it is defined below
    ui.checkbox("Compare with other methods on the page, too", value=True, on_change=compare)
    parts.long_work(studio, "report", "Write the report", tasks.report, _done, lambda: compared["wanted"], teach=TEACH)

    @ui.refreshable
    def taken() -> None:
        files = {name: words for name, words in TAKEN.items() if project.has(name)}
        parts.heading("Take away")
        with ui.element("div").classes("keys"):
            for name, words in files.items():
                parts.download(name, f"Download {words}")

    @ui.refreshable
    def preview() -> None:
        if project.has(REPORT):
            parts.heading("Preview")
            frame = ui.element("iframe").props('src="/page" sandbox="" title="the report" data-part="page"')
            frame.style("width: 100%; height: 75vh; border: 1px solid var(--grid); background: var(--paper)")

    taken()
    preview()
    written = _written(project)

    def look() -> None:
        now, before = _written(project), dict(written)
        written.update(now)
        if set(now) != set(before):
            taken.refresh()
        if now.get(REPORT) != before.get(REPORT):
            preview.refresh()

    ui.timer(1, look)

    @ui.refreshable
    def command() -> None:
        inputs = tasks.inputs(project, compared["wanted"])
        options = "".join(
            f", {name}={value!r}" for name, value in inputs.options.items() if name not in ("fair", "seed")
        )
        fair = f", audit=audit, fair={project.choices.fair!r}" if inputs.audit is not None else ""
        words = inputs.command(REPORT).replace(f"{project.folder}/", "")
        table = shlex.quote(project.choices.table or "")
        parts.same(
            f"{words} --bundle {EVIDENCE} --suspects {SUSPECTS}\n"
            f"p4f predict {MODEL} {table} --for-spreadsheet -o {SCORED}",
            f'p4f.report(clf, frame{fair}{options}).save("{REPORT}")',
        )

    command()


def _done(job: Work) -> None:
    for line in job.result["summary"]:
        parts.text("p", line)
    if job.result["warnings"]:
        parts.box(job.result["warnings"], "bad")


def _names(project: Project, changed: Any) -> None:
    """A field for each group and label."""
    parts.soft(
        "A group is called by words for its people, a label by words for what they get; left empty, as in the table."
    )
    known = dict(name.split(":", 1) for name in project.choices.names if ":" in name)

    def choose(key: str, event: events.ValueChangeEventArguments[Any]) -> None:
        known[key] = (event.value or "").strip()
        project.choose(names=tuple(f"{key}:{words}" for key, words in known.items() if words))
        changed()

    with ui.element("div").classes("fields"):
        for column in (project.choices.sensitive, project.choices.recorded):
            values = [] if column is None else values_of(project.frame[column].dropna())
            for value in values[:MOST_NAMES]:
                key = f"{column}={value}"
                field = ui.input(
                    key.replace("=", " = ", 1), value=known.get(key, ""), on_change=parts.guarded(partial(choose, key))
                )
                field.props("outlined dense debounce=300")


def _written(project: Project) -> dict[str, float]:
    """When each of the files that are there was written."""
    return {name: project.path(name).stat().st_mtime for name in TAKEN if project.has(name)}
