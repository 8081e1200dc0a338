"""The belief beside what one would do without it: a table, and quality against fairness."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from nicegui import events, ui

from problog4fairness.app.studio import parts, tasks
from problog4fairness.app.studio.project import BELIEF, COMPARISON
from problog4fairness.app.studio.state import Studio
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.evaluation import Comparison

TEACH = (
    "Is the belief worth it? The same learner is trained with it and in other ways without it (trained on "
    "recorded labels, without the sensitive column, and more), on parts of the table, and judged on the rest."
)
Box: TypeAlias = tuple[float, float, float, float]
# The part of the chart in which markers are, and the width of a letter, in pixels: about.
MIDDLE, LETTER = (420, 190), 5.8
# The markers of the figures, as shapes of the chart.
MARKERS = {
    "o": "circle",
    "^": "triangle",
    "v": "path://M0,0L10,0L5,9Z",
    "s": "rect",
    "D": "diamond",
    "X": "path://M2,0L5,3L8,0L10,2L7,5L10,8L8,10L5,7L2,10L0,8L3,5L0,2Z",
    "*": "path://M5,0L6.2,3.6L10,3.6L7,6L8,10L5,7.6L2,10L3,6L0,3.6L3.8,3.6Z",
    "p": "path://M5,0L10,4L8,10L2,10L0,4Z",
}


def show(studio: Studio) -> None:
    """Show the part."""
    project = studio.project

    def choose(event: events.ValueChangeEventArguments[Any]) -> None:
        project.choose(seeds=int(event.value))
        command.refresh()

    often = {3: "3 times: quick", 5: "5 times", 10: "10 times: surer"}
    chosen = project.choices.seeds
    ui.select(
        {**often, chosen: often.get(chosen, f"{chosen} times")},
        value=chosen,
        label="How often to split the table",
        on_change=parts.guarded(choose),
    ).style("width: 16rem; max-width: 100%").props("outlined dense")
    parts.long_work(studio, "compare", "Compare", tasks.compare, lambda _: _comparison(studio), teach=TEACH)
    if studio.last("compare") is None and project.has(COMPARISON):
        _comparison(studio)  # p4f compare wrote it

    @ui.refreshable
    def command() -> None:
        choices = project.choices
        given = ("--belief", BELIEF, *project.learning(), "--seeds", str(choices.seeds), "-o", COMPARISON)
        fair = f", audit=audit, fair={choices.fair!r}" if project.is_audited else ""
        parts.same(
            project.command("compare", choices.table or "", *given),
            f"found = p4f.compare(table, p4f.DebiasedClassifier(belief, {choices.learner!r}), "
            f"recorded={choices.recorded!r}{fair}, seeds={choices.seeds})\nfound.table(); found.plot()",
        )

    command()


def _comparison(studio: Studio) -> None:
    from problog4fairness.app.report import read_comparison

    try:
        comparison = read_comparison(studio.project.path(COMPARISON), studio.project.belief())
    except P4FError as error:
        parts.box(str(error))
        return
    parts.text("p", comparison.verdict).props("data-part=verdict")
    shown: dict[str, Any] = {"labels": comparison.labels[0]}

    @ui.refreshable
    def judged() -> None:
        labels = shown["labels"]
        rows = comparison.audited if labels == "fair" else comparison.rows
        parts.chart(
            _scatter(comparison, labels), f"accuracy against disparity on {labels} labels; the table has the numbers"
        )
        _table(comparison, labels)
        parts.soft(f"On {rows:,} rows. {comparison.intervals(labels)}")
        if labels == "recorded":
            parts.soft("Scores on recorded labels favour methods that repeat the bias.")

    def judge(event: events.ValueChangeEventArguments[Any]) -> None:
        shown["labels"] = event.value
        judged.refresh()

    if len(comparison.labels) > 1:
        options = {"fair": "judged by fair labels", "recorded": "by recorded labels"}
        ui.toggle(options, value=shown["labels"], on_change=judge).props('no-caps unelevated aria-label="Judged by"')
    judged()
    parts.soft(f"All methods learned by the same learner: {comparison.learner}.")
    for name, why in comparison.left_out.items():
        parts.soft(f"Left out: {name}: {why}")


def _table(comparison: Comparison, labels: Any) -> None:
    from problog4fairness.evaluation import styles

    table, looks, about = comparison.table(labels), styles(comparison.kinds), comparison.about

    def row(method: str, scores: Iterable[object]) -> None:
        with ui.element("th").props("scope=row").style("white-space: nowrap"):
            ui.element("i").classes("dot").style(f"background: {parts.colour(looks[method][0])}")
            parts.text("span", method).tooltip(about.get(method, ""))
        for score in scores:
            parts.text("td", score if isinstance(score, str) else "–").style("white-space: nowrap")

    rows = ([partial(row, str(method), scores)] for method, scores in table.iterrows())
    parts.grid(["method", *map(str, table.columns)], rows, "methods", "Methods and their scores")


def _scatter(comparison: Comparison, labels: Any) -> dict[str, Any]:
    """A marker for each method at its means, with its 95% intervals."""
    from problog4fairness.metrics import METRICS

    places = _places(
        {name: where for name in comparison.methods if (where := _means(comparison, labels, name)) is not None}
    )
    series = [one for name, place in places.items() for one in _marked(comparison, labels, name, place)]
    of_labels = comparison.data_disparity.get(labels)
    if series and of_labels is not None and not math.isnan(of_labels):
        label = {"formatter": "the labels themselves", "color": parts.SOFT, "fontSize": 11}
        line = {"symbol": "none", "silent": True, "lineStyle": {"color": parts.SOFT, "type": "dashed"}}
        series[0]["markLine"] = {**line, "label": label, "data": [{"xAxis": of_labels}]}
    groups = len(comparison.levels)
    return {
        "grid": {"left": 64, "right": 24, "top": 28, "bottom": 44},
        # Drawn, not as HTML: methods are named after columns.
        "tooltip": {
            "renderMode": "richText",
            "backgroundColor": "var(--panel)",
            "borderColor": parts.GRID,
            "textStyle": {"color": parts.INK},
        },
        # Room for the names of what lies at an edge.
        "xAxis": parts.axis(METRICS["disparity"].axis(groups), nameGap=28, boundaryGap=["15%", "15%"]),
        "yAxis": parts.axis(METRICS["accuracy"].axis(groups), nameGap=46, boundaryGap=["5%", "10%"]),
        "series": series,
    }


def _rows(comparison: Comparison, labels: str, name: str) -> Any:
    """What is known of a method, by metric."""
    return comparison.summary[
        (comparison.summary["labels"] == labels) & (comparison.summary["method"] == name)
    ].set_index("metric")


def _means(comparison: Comparison, labels: str, name: str) -> tuple[float, float] | None:
    """Where the marker of a method is."""
    rows = _rows(comparison, labels, name)
    if not {"disparity", "accuracy"} <= set(rows.index):
        return None
    return float(rows.loc["disparity", "mean"]), float(rows.loc["accuracy", "mean"])


def _places(markers: dict[str, tuple[float, float]]) -> dict[str, str]:
    """On which side of its marker each name stands, so that it covers as little as can be."""
    if not markers:
        return {}
    low, high = (tuple(end(marker[axis] for marker in markers.values()) for axis in (0, 1)) for end in (min, max))
    scale = [size / max(top - bottom, 1e-9) for size, bottom, top in zip(MIDDLE, low, high, strict=True)]
    at = {name: (x * scale[0], y * scale[1]) for name, (x, y) in markers.items()}
    taken = [(x, y, 8.0, 8.0) for x, y in at.values()]  # middles and half widths and heights, in pixels
    sides_chosen = {}
    for name, (x, y) in at.items():
        half = LETTER * len(name) / 2
        sides = {
            "top": (x, y + 16, half, 7.0),
            "bottom": (x, y - 16, half, 7.0),
            "right": (x + half + 10, y, half, 7.0),
            "left": (x - half - 10, y, half, 7.0),
        }
        sides_chosen[name] = min(sides, key=lambda side: sum(_covered(sides[side], other) for other in taken))
        taken.append(sides[sides_chosen[name]])
    return sides_chosen


def _covered(one: Box, other: Box) -> float:
    """The area that two boxes share."""
    wide, high = (one[axis + 2] + other[axis + 2] - abs(one[axis] - other[axis]) for axis in (0, 1))
    return max(wide, 0) * max(high, 0)


def _marked(comparison: Comparison, labels: str, name: str, place: str) -> list[dict[str, Any]]:
    """The intervals of a method as two lines, and its marker in front of them."""
    from problog4fairness.evaluation import styles

    rows = _rows(comparison, labels, name)
    (x, left, right), (y, low, high) = (
        rows.loc[metric, ["mean", "low", "high"]].astype(float) for metric in ("disparity", "accuracy")
    )
    hue, marker = styles(comparison.kinds)[name]
    painted = parts.colour(hue)
    line = {"color": painted, "width": 1.5, "opacity": 0.7}
    whiskers = [] if math.isnan(left + low) else [[[left, y], [right, y]], [[x, low], [x, high]]]
    series: list[dict[str, Any]] = [
        {"type": "line", "name": name, "data": ends, "symbol": "none", "silent": True, "lineStyle": line, "z": 2}
        for ends in whiskers
    ]
    return [
        *series,
        {
            "type": "scatter",
            "name": name,
            "data": [[x, y]],
            "symbol": MARKERS.get(marker, "circle"),
            "symbolSize": 13,
            "z": 3,
            "label": {"show": True, "formatter": "{a}", "position": place, "color": parts.SOFT, "fontSize": 11},
            "labelLayout": {"hideOverlap": True},
            "itemStyle": {"color": painted, "borderColor": "var(--paper)", "borderWidth": 1, "opacity": 1},
            "emphasis": {"disabled": True},
            "tooltip": {"formatter": f"{{a}}: accuracy {y:.3f}, disparity {x:+.3f}"},
        },
    ]
