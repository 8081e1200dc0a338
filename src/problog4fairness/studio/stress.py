"""The screen that asks how far the uncertainty reaches, and what would change the verdict."""

from __future__ import annotations

from nicegui import ui

from problog4fairness.studio import tasks, work
from problog4fairness.studio.known import lead
from problog4fairness.studio.parts import heading, same, soft, text, title
from problog4fairness.studio.project import MODEL
from problog4fairness.studio.running import long_work
from problog4fairness.studio.state import Go, Studio


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title("Stress", "The audit was small and the belief may be off: how far does that reach, and what would tip it?")
    if not studio.project.has(MODEL):
        lead("There is no model yet.", "To the training", "train", go)
        return
    long_work(studio, "stress", "Draw beliefs and fit them", tasks.stress, _result)
    same(
        f"p4f bands {MODEL} {studio.project.choices.table}",
        "clf.bands(X, y, sensitive_features=groups)\nclf.bounds(X, y, sensitive_features=groups)",
    )


def _result(job: work.Work) -> None:
    found = job.result
    with ui.element("div").classes("figures"):
        for name, count in found["people"].items():
            with ui.element("div").classes("figure"):
                text("b", f"{count:,}")
                text("span", f"decisions are {name}", "soft")
    heading("Bands")
    for line in found["bands"]:
        text("p", line)
    for row in found["summary"]:
        _band(row)
    heading("What would close the gap?")
    for line in found["bounds"]:
        text("p", line)


def _band(row: dict[str, object]) -> None:
    value, low, high = (float(str(row[name])) for name in ("value", "low", "high"))
    signed = row["quantity"] == "disparity"

    def place(number: float) -> float:
        return 100 * min(max((number + 1) / 2 if signed else number, 0), 1)

    where = f", {row['group']}" if row["group"] else ""
    soft(f"{row['quantity']}{where}: {value:.3f} ({low:.3f} to {high:.3f})")
    with ui.element("div").classes("interval").style("max-width: 40rem"):
        ui.element("i").style(f"left: {place(low):.1f}%; right: {100 - place(high):.1f}%")
        ui.element("b").style(f"left: {place(value):.1f}%")
