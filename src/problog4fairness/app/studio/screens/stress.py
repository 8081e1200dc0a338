"""The screen that asks whether the belief is worth it, what would tip the verdict, and whom to look at again."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from nicegui import ui

from problog4fairness.app.studio.charts import INK, axis, chart, colour
from problog4fairness.app.studio.known import belief_is_known, lead
from problog4fairness.app.studio.parts import box, heading, same, soft, text, title
from problog4fairness.app.studio.project import MODEL, MOVES, PEOPLE
from problog4fairness.app.studio.screens import compare, queue
from problog4fairness.app.studio.screens.sliders import Sliders
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.app.studio.work import process as work
from problog4fairness.app.studio.work import tasks
from problog4fairness.app.studio.work.running import long_work
from problog4fairness.statistics import count

TEACH = (
    "What if a parameter of the belief is wrong? The model is fitted again for beliefs that the audit leaves open, and "
    "for others. Then there is a slider for each parameter that moves the disparity, the accuracy and who is affected "
    "at once, and you see which decisions are stable and what it would take to close the gap."
)
BINS = 20


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title(
        "Compare and stress", "Is the belief worth it, what would tip the verdict, and whom should one look at again?"
    )
    if not belief_is_known(studio, go):
        return
    with ui.tabs().props('no-caps align=left dense aria-label="Parts of this screen"') as tabs:
        names = {"compare": "Compare", "whatif": "What if?", "queue": "Rows for review"}
        made = {key: ui.tab(key, label=words).props(f"data-tab={key}") for key, words in names.items()}
    with ui.tab_panels(tabs, value=made["compare"]).classes("tabs").props("animated=false"):
        with ui.tab_panel(made["compare"]).classes("stack parts"):
            compare.show(studio)
        with ui.tab_panel(made["whatif"]).classes("stack parts"):
            if _has_model(studio, go):
                _what_if(studio)
        with ui.tab_panel(made["queue"]).classes("stack parts"):
            if _has_model(studio, go):
                queue.show(studio)


def _has_model(studio: Studio, go: Go) -> bool:
    if not studio.project.has(MODEL):
        lead("There is no model yet: what it says is what is asked about here.", "To the training", "train", go)
        return False
    return True


def _what_if(studio: Studio) -> None:
    long_work(studio, "stress", "Draw beliefs and fit them", tasks.stress, partial(_result, studio), teach=TEACH)
    table = shlex.quote(studio.project.choices.table or "")
    same(
        f"p4f bands {MODEL} {table} -o {PEOPLE}\np4f bounds {MODEL} {table}",
        "clf.bands(X, y, sensitive_features=groups, fair=fair)\n"
        "clf.bounds(X, y, sensitive_features=groups, fair=fair)\n"
        "moves = p4f.robustness.what_if(clf, X, y, sensitive_features=groups, fair=fair)\n"
        f'moves.at({{"p1": 0.3}})\nmoves.save("{MOVES}")',
    )


def _result(studio: Studio, job: work.Work) -> None:
    found = job.result
    if not studio.project.has(PEOPLE) or not (found["problem"] or studio.project.has(MOVES)):
        soft("The files of the last time are gone; do it again.")
        return
    if found["rows"] < found["of"]:
        soft(f"Fitted on {count(found['rows'])} of {count(found['of'])} rows, drawn at random.")
    if found["problem"]:
        box(f"There are no sliders: {found['problem']}")
    else:
        Sliders(studio, found).show()
    heading("Stable and uncertain decisions")
    with ui.element("div").classes("figures"):
        for name, number in found["people"].items():
            with ui.element("div").classes("figure"):
                text("b", f"{number:,}").props(f"data-number={name}")
                text("span", f"decisions are {name}", "soft")
    people = studio.read(PEOPLE, pd.read_csv)
    chart(_histogram(people), "people by their fair probability, stable and uncertain", "13rem")
    heading("What would close the gap?")
    for line in found["bounds"]:
        text("p", line)
    heading("Uncertainty")
    with ui.element("div").classes("bands"):
        for row in found["summary"]:
            _band(row)
    for line in found["bands"][len(found["summary"]) :]:
        soft(line)


def _histogram(people: pd.DataFrame) -> dict[str, Any]:
    """How many people have which fair probability, and how many of their decisions are stable."""
    edges = np.linspace(0, 1, BINS + 1)
    series = []
    for name, painted in (("stable", "#0072B2"), ("uncertain", "#E69F00")):
        own = people.loc[people["decision"] == name, "fair_probability"]
        counts = np.histogram(own, edges)[0].tolist()
        paint = {"color": colour(painted)}
        series.append(
            {"type": "bar", "stack": "all", "name": name, "data": counts, "itemStyle": paint, "barCategoryGap": "8%"}
        )
    return {
        "grid": {"left": 64, "right": 16, "top": 34, "bottom": 40},
        "legend": {"top": 0, "textStyle": {"color": INK}, "selectedMode": False},
        "xAxis": axis("fair probability", type="category", data=[f"{edge:.0%}" for edge in edges[:-1]], nameGap=26),
        "yAxis": axis("people", nameGap=46),
        "series": series,
    }


def _band(row: dict[str, object]) -> None:
    value, low, high = (float(str(row[name])) for name in ("value", "low", "high"))
    signed = row["quantity"] == "disparity"

    def place(number: float) -> float:
        return 100 * min(max((number + 1) / 2 if signed else number, 0), 1)

    where = f", {row['group']}" if row["group"] else ""
    text("span", f"{row['quantity']}{where}")
    text("span", f"{value:.3f} ({low:.3f} to {high:.3f})", "soft")
    with ui.element("div").classes("interval"):
        ui.element("i").style(f"left: {place(low):.1f}%; right: {100 - place(high):.1f}%")
        ui.element("b").style(f"left: {place(value):.1f}%")
