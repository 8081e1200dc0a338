"""The screen that asks whether the belief is worth it, what would tip the verdict, and whom to look at again."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from nicegui import events, ui

from problog4fairness.app.report import Markup, plain, tag
from problog4fairness.app.studio import parts, tasks
from problog4fairness.app.studio.process import Work
from problog4fairness.app.studio.project import MODEL, MOVES, PEOPLE
from problog4fairness.app.studio.screens import compare, queue
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.robustness import Answer, WhatIf
from problog4fairness.statistics import count, percent

TEACH = (
    "What if a parameter of the belief is wrong? The model is fitted again for posterior draws of the belief, and for "
    "others. Then there is a slider for each parameter that moves the disparity, the accuracy and who is affected "
    "at once, and you see which decisions are stable and what it would take to close the gap."
)
BINS = 20


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    parts.title(
        "Compare and stress", "Is the belief worth it, what would tip the verdict, and whom should one look at again?"
    )
    if not parts.belief_is_known(studio, go):
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
        parts.lead("There is no model yet: what it says is what is asked about here.", "To the training", "train", go)
        return False
    return True


def _what_if(studio: Studio) -> None:
    parts.long_work(studio, "stress", "Draw beliefs and fit them", tasks.stress, partial(_result, studio), teach=TEACH)
    table = shlex.quote(studio.project.choices.table or "")
    parts.same(
        f"p4f uncertainty {MODEL} {table} -o {PEOPLE}\np4f bounds {MODEL} {table}",
        "clf.uncertainty(X, y, sensitive_features=groups, fair=fair)\n"
        "clf.bounds(X, y, sensitive_features=groups, fair=fair)\n"
        "moves = p4f.robustness.what_if(clf, X, y, sensitive_features=groups, fair=fair)\n"
        f'moves.at({{"p1": 0.3}})\nmoves.save("{MOVES}")',
    )


def _result(studio: Studio, job: Work) -> None:
    result = job.result
    if not studio.project.has(PEOPLE) or not (result["problem"] or studio.project.has(MOVES)):
        parts.soft("The files of the last time are gone; do it again.")
        return
    if result["rows"] < result["of"]:
        parts.soft(f"Fitted on {count(result['rows'])} of {count(result['of'])} rows, drawn at random.")
    if result["problem"]:
        parts.box(f"There are no sliders: {result['problem']}")
    else:
        Sliders(studio, result).show()
    parts.heading("Stable and uncertain decisions")
    with ui.element("div").classes("figures"):
        for name, number in result["people"].items():
            parts.figure(f"decisions are {name}", f"{number:,}", name)
    people = studio.read(PEOPLE, pd.read_csv)
    parts.chart(_histogram(people), "people by their fair probability, stable and uncertain", "13rem")
    parts.heading("What would close the gap?")
    for line in result["bounds"]:
        parts.text("p", line)
    parts.heading("Uncertainty")
    with ui.element("div").classes("bands"):
        for row in result["summary"]:
            _band(row)
    for line in result["uncertainty"][len(result["summary"]) :]:
        parts.soft(line)


def _histogram(people: pd.DataFrame) -> dict[str, Any]:
    """How many people have which fair probability, and how many of their decisions are stable."""
    edges = np.linspace(0, 1, BINS + 1)
    series = []
    for name, painted in (("stable", "#0072B2"), ("uncertain", "#E69F00")):
        chances = people.loc[people["decision"] == name, "fair_probability"]
        counts = np.histogram(chances, edges)[0].tolist()
        paint = {"color": parts.colour(painted)}
        series.append(
            {"type": "bar", "stack": "all", "name": name, "data": counts, "itemStyle": paint, "barCategoryGap": "8%"}
        )
    return {
        "grid": {"left": 64, "right": 16, "top": 34, "bottom": 40},
        "legend": {"top": 0, "textStyle": {"color": parts.INK}, "selectedMode": False},
        "xAxis": parts.axis(
            "fair probability", type="category", data=[f"{edge:.0%}" for edge in edges[:-1]], nameGap=26
        ),
        "yAxis": parts.axis("people", nameGap=46),
        "series": series,
    }


def _band(row: dict[str, object]) -> None:
    value, low, high = (float(str(row[name])) for name in ("value", "low", "high"))
    signed = row["quantity"] == "disparity"

    def place(number: float) -> float:
        return min(max((number + 1) / 2 if signed else number, 0), 1)

    where = f", {row['group']}" if row["group"] else ""
    parts.text("span", f"{row['quantity']}{where}")
    parts.text("span", f"{value:.3f} ({low:.3f} to {high:.3f})", "soft")
    parts.interval(place(low), place(high), place(value))


# Seconds between two moves that are sent while a slider is dragged.
PAUSE = 0.04
STEPS = 200
# Rows that are shown of those whose decision changes.
SHOWN = 6
NOWHERE = (
    "At these values recorded labels would say almost nothing about fair ones, and nothing was fitted there: the "
    "numbers are a guess."
)


class Sliders:
    """All sliders, and what they move, from the result of :func:`.tasks.stress`."""

    def __init__(self, studio: Studio, result: dict[str, Any]) -> None:
        self._studio, self._result = studio, result
        self._moves: WhatIf = studio.read(MOVES, WhatIf.load)
        self._values: dict[str, float] = {}
        self._uncertain = _uncertain(studio)
        self._texts: dict[Any, Any] = {}

    def show(self) -> None:
        """Show them."""
        answer = self._moves.at()
        figures = {"disparity": f"disparity in points; the model: {_points(answer.disparity)}"}
        if answer.accuracy is not None:
            figures["accuracy"] = f"right on audited rows; the model: {percent(answer.accuracy)}"
        figures |= {"changed": "decisions change", "stable": "of them were stable"}
        with ui.element("div").classes("figures sticky").props("role=status aria-live=polite data-part=numbers"):
            self._texts |= {name: parts.figure(words, name=name) for name, words in figures.items()}
        self._texts["outside"] = parts.text("p", "", "soft").props("role=status")
        parts.soft(
            "Move a slider. The line above it is the disparity at each value; dashed is no gap, and shaded the 95% "
            "interval of the parameter."
        )
        with ui.element("div").classes("two"):
            with ui.element("div").classes("stack parts"):
                for number, name in enumerate(self._moves.names):
                    self._slider(number, name)
                parts.button("Back to the belief", self._reset, "outline", "data-do=reset")
            with ui.element("div").classes("stack parts"):
                parts.heading("Who is affected")
                self._groups()
                self._rows = ui.refreshable(self._affected)
                self._rows()
        parts.soft(self._moves.words()).props("data-part=origin")
        self._update(answer)

    def _slider(self, number: int, name: str) -> None:
        moves = self._moves
        low, high = moves.ranges[number]
        with ui.element("label").classes("slider"):
            with ui.element("div").classes("ends"):
                parts.text("b", name)
                self._texts[name] = parts.text("b", percent(moves.values[number]))
            parts.text("span", moves.meanings[number], "soft")
            strip = ui.html(self._strip(name), sanitize=False)
            self._texts[f"{name} strip"] = strip
            step = max((high - low) / STEPS, 1e-6)
            bar = ui.element("input").props("type=range")
            # Not its value, which would be set again with all that is drawn; and last, since it must fit the ends.
            ends = {"min": low, "max": high, "step": step, "defaultValue": moves.values[number]}
            bar.props.update({key: f"{value:.6f}" for key, value in ends.items()})
            bar.props.update({"aria-label": name, "data-slider": name})
            self._texts[f"{name} bar"] = bar
            value = "(e) => emit(Number(e.target.value))"
            bar.on("input", lambda event: self._move(name, event), js_handler=value, throttle=PAUSE)
            bar.on("change", lambda event: self._rest(name, event), js_handler=value)
            parts.text("span", self._known(number, name), "soft")

    def _known(self, number: int, name: str) -> str:
        """What is known of a parameter, and where the gap would close."""
        low, high = self._result["intervals"].get(name, (None, None))
        words = f"stated: {percent(self._moves.values[number])}"
        if low is not None and high is not None:
            words = f"by the audit {percent(low)} to {percent(high)}"
        tip = self._result["tipping"].get(name)
        return (
            f"{words}; the gap closes at {percent(tip)}"
            if tip is not None
            else f"{words}; no value of it closes the gap"
        )

    def _move(self, name: str, event: events.GenericEventArguments) -> None:
        self._values[name] = float(event.args)
        self._texts[name].set_text(percent(self._values[name]))
        self._update(self._moves.at(self._values))

    def _rest(self, name: str, event: events.GenericEventArguments) -> None:
        """A slider was let go: what takes longer than a move is brought up to date."""
        self._move(name, event)
        for other in self._moves.names:
            if other != name:
                self._texts[f"{other} strip"].set_content(self._strip(other))
        self._rows.refresh()

    def _reset(self) -> None:
        self._values.clear()
        for number, name in enumerate(self._moves.names):
            before = self._moves.values[number]
            self._texts[name].set_text(percent(before))
            ui.run_javascript(f"getHtmlElement({self._texts[f'{name} bar'].id}).value = {before:.6f}")
            self._texts[f"{name} strip"].set_content(self._strip(name))
        self._update(self._moves.at())
        self._rows.refresh()

    def _update(self, answer: Answer) -> None:
        shown = self._texts
        shown["disparity"].set_text(_points(answer.disparity))
        if "accuracy" in shown:
            shown["accuracy"].set_text(percent(answer.accuracy))
        shown["changed"].set_text(f"{answer.changed:,}")
        shown["stable"].set_text(f"{int((self._changed(answer) & ~self._uncertain).sum()):,}")
        shown["outside"].set_text(NOWHERE if answer.outside else "")
        for group, row in answer.groups.iterrows():
            for name, value in row.items():
                shown[group, name].set_text(f"{value:,.0f}")

    def _changed(self, answer: Answer) -> Any:
        return (answer.chance >= 0.5) != (self._moves.log_odds >= 0)

    def _groups(self) -> None:
        """Favourable decisions by group; the numbers are filled in by every move."""

        def row(group: str) -> None:
            parts.text("th", group).props("scope=row")
            for name in ("before", "now", "gained", "lost"):
                self._texts[group, name] = parts.text("td", "")

        rows = ([partial(row, group)] for group in self._moves.groups)
        parts.grid(("group", "favourable before", "now", "gained", "lost"), rows, "groups")

    def _affected(self) -> None:
        """Some rows whose decision changes, those that move furthest first."""
        answer, numbers = self._moves.at(self._values), self._result["numbers"]
        changed = np.flatnonzero(self._changed(answer))
        if not len(changed):
            parts.soft("Nobody: move a slider.")
            return
        before = 1 / (1 + np.exp(-self._moves.log_odds[changed]))
        order = changed[np.argsort(-np.abs(answer.chance[changed] - before), kind="stable")][:SHOWN]
        frame = self._studio.project.frame
        known = [place for place in order if numbers and numbers[place] < len(frame)]
        if not known:
            return
        rows = frame.iloc[[numbers[place] for place in known]].map(plain)
        shown = pd.DataFrame({"row": [numbers[place] + 1 for place in known]})
        shown["now"] = [f"{answer.chance[place]:.0%}" for place in known]
        shown["was"] = ["uncertain" if self._uncertain[place] else "stable" for place in known]
        parts.soft("Those that move furthest:")
        parts.table(pd.concat([shown, rows.reset_index(drop=True)], axis=1))

    def _strip(self, name: str) -> Markup:
        """The disparity over the range of a parameter, its interval shaded, and where it is 0."""
        number = self._moves.names.index(name)
        curve, (low, high) = self._moves.along(name, self._values), self._moves.ranges[number]
        least, most = min(0.0, curve["disparity"].min()), max(0.0, curve["disparity"].max())
        width, height = 300.0, 44.0

        def x(value: float) -> float:
            return float(width * (value - low) / max(high - low, 1e-9))

        def y(value: float) -> float:
            return float(3 + (height - 6) * (most - value) / max(most - least, 1e-9))

        line = " ".join(f"{x(v):.1f},{y(d):.1f}" for v, d in curve.itertuples(index=False))
        shapes = []
        start, end = self._result["intervals"].get(name, (None, None))
        if start is not None and end is not None:
            left, right = max(x(start), 0), min(x(end), width)
            shapes.append(
                tag("rect", x=f"{left:.1f}", y=0, width=f"{max(right - left, 0):.1f}", height=height, class_="known")
            )
        shapes.append(tag("line", x1=0, x2=width, y1=f"{y(0):.1f}", y2=f"{y(0):.1f}", class_="zero"))
        shapes.append(tag("polyline", points=line))
        tip = self._result["tipping"].get(name)
        if tip is not None and low <= tip <= high:
            shapes.append(tag("line", x1=f"{x(tip):.1f}", x2=f"{x(tip):.1f}", y1=0, y2=height, class_="tip"))
        first, last = (_points(curve["disparity"].iloc[place]) for place in (0, -1))
        box = {"viewBox": f"0 0 {width:.0f} {height:.0f}", "preserveAspectRatio": "none"}
        return tag("svg", *shapes, class_="strip", role="img", aria_label=f"disparity from {first} to {last}", **box)


def _uncertain(studio: Studio) -> Any:
    """Which decisions are uncertain, row by row."""
    people: pd.DataFrame = studio.read(PEOPLE, pd.read_csv)
    return (people["decision"] == "uncertain").to_numpy()


def _points(disparity: float) -> str:
    return f"{100 * disparity:+.1f}".replace("-", "−")
