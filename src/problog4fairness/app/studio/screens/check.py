"""The screen that asks whether the data contradict the belief."""

from __future__ import annotations

import pandas as pd
from nicegui import ui

from problog4fairness.app.studio.parts import belief_is_known, box, same, soft, table, text, title
from problog4fairness.app.studio.project import BELIEF
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.app.studio.work import process as work
from problog4fairness.app.studio.work import tasks
from problog4fairness.app.studio.work.running import long_work

QUESTIONS = (
    "Are recorded rates within what the belief allows, everywhere?",
    "Do the groups' recorded curves come from one fair curve?",
    "Are recorded labels explained as well through the belief as without it?",
    "Are the parameters those of the audit?",
)


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title("Check", "Do the data contradict the belief? They can refute it; nothing but an audit can speak for it.")
    project = studio.project
    if not belief_is_known(studio, go):
        return
    with ui.element("div").classes("stack") as taught:
        _teach()
    taught.set_visibility("check" not in studio.work)
    ui.timer(0.4, lambda: taught.set_visibility("check" not in studio.work))
    long_work(studio, "check", "Test the belief", tasks.check, _cards)
    same(
        project.command("check", project.choices.table or "", "--belief", BELIEF),
        f"belief.check(frame, recorded={project.choices.recorded!r}, audit=audit, fair={project.choices.fair!r})",
    )


def _teach() -> None:
    """What will be tested, before anything was."""
    soft("Each test asks for something that the belief forbids. Ten of them are known, among them:")
    with ui.element("ul").classes("soft"):
        for question in QUESTIONS:
            text("li", question)
    soft("It takes seconds to minutes. Green says that nothing speaks against the belief, not that it is true.")


def _cards(job: work.Work) -> None:
    found = job.result
    box(found["verdict"], "bad" if found["contradicted"] else "good")
    for note in found["notes"]:
        soft(note)
    order = sorted(found["tests"], key=lambda own: (not own["contradicts"], not own["done"]))
    with ui.element("div").classes("flow"):
        for own in order:
            _card(own)


def _card(own: dict[str, object]) -> None:
    kind, verdict = ("bad", "Contradicts the belief") if own["contradicts"] else ("good", "Nothing against it")
    if not own["done"]:
        kind, verdict = "note", "Not done"
    with ui.element("section").classes(f"card {kind}").props(f'data-test="{own["name"]}"'):
        text("span", verdict, "verdict")
        text("b", str(own["question"]))
        said = str(own["found"]).removeprefix("not done: ")
        text("p", said[:1].upper() + said[1:])
        if own["done"]:
            text("span", f"p, corrected for the number of tests: {own['p']}", "soft")
        if own["contradicts"] and own["advice"]:
            text("p", f"What to do: {own['advice']}")
        rows = own["rows"]
        if own["done"] and isinstance(rows, list) and rows:
            with ui.element("details").classes("same"):
                text("summary", f"The rows behind it ({own['count']:,})")
                table(pd.DataFrame(rows, columns=pd.Index(own["columns"])))
                if len(rows) < int(str(own["count"])):
                    soft(f"The first {len(rows)} of them.")
