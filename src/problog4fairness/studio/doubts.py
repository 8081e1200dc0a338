"""The screen that asks whether the data contradict the belief."""

from __future__ import annotations

import pandas as pd
from nicegui import ui

from problog4fairness.studio import tasks, work
from problog4fairness.studio.known import belief_is_known
from problog4fairness.studio.parts import box, same, soft, table, text, title
from problog4fairness.studio.project import BELIEF
from problog4fairness.studio.running import long_work
from problog4fairness.studio.state import Go, Studio


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title("Doubts", "Do the data contradict the belief? They can refute it; nothing but an audit can speak for it.")
    project = studio.project
    if not belief_is_known(studio, go):
        return
    long_work(studio, "doubt", "Test the belief", tasks.doubt, _cards)
    same(
        project.command("doubt", project.choices.table or "", "--belief", BELIEF),
        f'belief.check(frame, recorded="{project.choices.recorded}", audit=audit, fair="{project.choices.fair}")',
    )


def _cards(job: work.Work) -> None:
    found = job.result
    box(found["verdict"], "bad" if found["contradicted"] else "good")
    for note in found["notes"]:
        soft(note)
    with ui.element("div").classes("two"):
        for own in found["tests"]:
            _card(own)


def _card(own: dict[str, object]) -> None:
    kind = "bad" if own["contradicts"] else "good" if own["done"] else "note"
    with ui.element("div").classes(f"card {kind}").props(f'data-test="{own["name"]}"'):
        text("b", str(own["question"]))
        text("p", str(own["found"]))
        text("span", f"p, corrected for the number of tests: {own['p']}" if own["done"] else "not done", "soft")
        if own["contradicts"] and own["advice"]:
            text("p", f"What to do: {own['advice']}")
        rows = own["rows"]
        if own["contradicts"] and isinstance(rows, list) and rows:
            with ui.element("details").classes("same"):
                text("summary", "The rows behind it")
                table(pd.DataFrame(rows, columns=pd.Index(own["columns"])))
