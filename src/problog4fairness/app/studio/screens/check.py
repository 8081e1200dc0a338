"""The screen that asks whether the data contradict the belief."""

from __future__ import annotations

import pandas as pd
from nicegui import ui

from problog4fairness.app.studio import parts, tasks
from problog4fairness.app.studio.process import Work
from problog4fairness.app.studio.project import BELIEF
from problog4fairness.app.studio.state import Go, Studio

QUESTIONS = (
    "Are recorded rates within what the belief allows, everywhere?",
    "Do the groups' recorded curves come from one fair curve?",
    "Are recorded labels explained as well through the belief as without it?",
    "Are the parameters those of the audit?",
)


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    parts.title(
        "Check", "Do the data contradict the belief? They can refute it; nothing but an audit can speak for it."
    )
    project = studio.project
    if not parts.belief_is_known(studio, go):
        return
    with ui.element("div").classes("stack") as taught:
        _teach()
    taught.set_visibility("check" not in studio.work)
    ui.timer(0.4, lambda: taught.set_visibility("check" not in studio.work))
    parts.long_work(studio, "check", "Test the belief", tasks.check, _cards)
    parts.same(
        project.command("check", project.choices.table or "", "--belief", BELIEF),
        f"belief.check(frame, recorded={project.choices.recorded!r}, audit=audit, fair={project.choices.fair!r})",
    )


def _teach() -> None:
    """What will be tested, before anything was."""
    parts.soft("Each test asks for something that the belief forbids. Ten of them are known, among them:")
    with ui.element("ul").classes("soft"):
        for question in QUESTIONS:
            parts.text("li", question)
    parts.soft("It takes seconds to minutes. Green means that no test contradicts the belief, not that it is true.")


def _cards(job: Work) -> None:
    result = job.result
    parts.box(result["verdict"], "bad" if result["contradicted"] else "good")
    for note in result["notes"]:
        parts.soft(note)
    order = sorted(result["tests"], key=lambda test: (not test["contradicts"], not test["done"]))
    with ui.element("div").classes("flow"):
        for test in order:
            _card(test)


def _card(test: dict[str, object]) -> None:
    kind, verdict = ("bad", "Contradicts the belief") if test["contradicts"] else ("good", "No contradiction")
    if not test["done"]:
        kind, verdict = "note", "Not done"
    with ui.element("section").classes(f"card {kind}").props(f'data-test="{test["name"]}"'):
        parts.text("span", verdict, "verdict")
        parts.text("b", str(test["question"]))
        words = str(test["finding"]).removeprefix("not done: ")
        parts.text("p", words[:1].upper() + words[1:])
        if test["done"]:
            parts.text("span", f"p, corrected for the number of tests: {test['p']}", "soft")
        if test["contradicts"] and test["advice"]:
            parts.text("p", f"What to do: {test['advice']}")
        rows = test["rows"]
        if test["done"] and isinstance(rows, list) and rows:
            with ui.element("details").classes("same"):
                parts.text("summary", f"The rows behind it ({test['count']:,})")
                parts.table(pd.DataFrame(rows, columns=pd.Index(test["columns"])))
                if len(rows) < int(str(test["count"])):
                    parts.soft(f"The first {len(rows)} of them.")
