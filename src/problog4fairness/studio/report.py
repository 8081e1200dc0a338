"""The last screen: one page about the model, and everything to take away."""

from __future__ import annotations

from nicegui import ui

from problog4fairness.studio import tasks, work
from problog4fairness.studio.known import lead
from problog4fairness.studio.parts import same, text, title
from problog4fairness.studio.project import AUDIT, BELIEF, MODEL, REPORT
from problog4fairness.studio.running import long_work
from problog4fairness.studio.state import Go, Studio

FILES = {REPORT: "page", MODEL: "model", BELIEF: "belief", AUDIT: "audit"}


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title("Report", "Everything on one page, with what could be wrong about it.")
    project = studio.project
    if not project.has(MODEL):
        lead("There is no model yet.", "To the training", "train", go)
        return

    def take(name: str) -> None:
        ui.download.file(project.path(name))

    def more() -> None:
        for name, words in FILES.items():
            if project.has(name):
                button = ui.button(f"Download the {words}", on_click=lambda name=name: take(name))
                button.props(f"outline no-caps data-file={name}")

    def done(job: work.Work) -> None:
        for line in job.result["summary"]:
            text("p", line)

    long_work(studio, "report", "Write the report", tasks.report, done, project.has(AUDIT), more=more)

    @ui.refreshable
    def preview() -> None:
        if project.has(REPORT):
            frame = ui.element("iframe").props('src="/page" sandbox="" title="the report" data-part="page"')
            frame.style("width: 100%; height: 75vh; border: 1px solid var(--grid); background: white")

    preview()
    seen = {"written": _age(studio)}

    def look() -> None:
        if _age(studio) != seen["written"]:
            seen["written"] = _age(studio)
            preview.refresh()

    ui.timer(1, look)
    same(
        project.command("report", MODEL, "--data", project.choices.table or "", "-o", REPORT, roles=False),
        f'p4f.report(clf, frame, audit=audit, fair="{project.choices.fair}").save("{REPORT}")',
    )


def _age(studio: Studio) -> float:
    """When the page was written; 0 before that."""
    file = studio.project.path(REPORT)
    return file.stat().st_mtime if file.exists() else 0.0
