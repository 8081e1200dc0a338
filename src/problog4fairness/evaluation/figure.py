"""The figure of a comparison: quality against fairness, a marker with its intervals per method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from problog4fairness.errors import P4FError
from problog4fairness.evaluation.style import styles
from problog4fairness.metrics import METRICS

if TYPE_CHECKING:
    from problog4fairness.evaluation.result import Comparison, Labels

LINE = "disparity of the labels"


def draw(comparison: Comparison, panels: Sequence[Labels], x: str, y: str) -> Figure:
    """A panel for each kind of labels; see :meth:`~problog4fairness.evaluation.Comparison.plot`."""
    for axis, metric, better in (("x", x, "nearer 0"), ("y", y, "higher")):
        allowed = [name for name, own in METRICS.items() if own.better == better]
        if metric not in allowed:
            raise P4FError(f"{axis}={metric!r} is not one of {', '.join(allowed)}")
    width = 0.6 + 3.9 * len(panels)
    figure = Figure(figsize=(width, 3.4), layout="constrained")
    grid = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, labels in zip(grid, panels, strict=True):
        _panel(axes, comparison, labels, x, y)
        axes.set_title(f"tested on {labels} labels", fontsize="medium")
        axes.set_xlabel(METRICS[x].axis(len(comparison.levels)))
        axes.set_ylabel(METRICS[y].axis(len(comparison.levels)))
    handles, names = _legend(grid)
    columns = _columns(names, width)
    figure.set_figheight(3.4 + 0.19 * math.ceil(len(names) / columns))
    figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize="small", frameon=False)
    return figure


def _panel(axes: Axes, comparison: Comparison, labels: Labels, x: str, y: str) -> None:
    looks = styles(comparison.methods, comparison.kinds)
    scores = comparison.summary[comparison.summary["labels"] == labels].set_index(["method", "metric"])
    own_disparity = comparison.data_disparity[labels]
    if x == "disparity" and not math.isnan(own_disparity):
        axes.axvline(own_disparity, color="#888888", linewidth=1, label=LINE, zorder=1)
    for method in comparison.methods:
        if (method, x) not in scores.index or (method, y) not in scores.index:
            continue
        across, up = scores.loc[(method, x)], scores.loc[(method, y)]
        colour, marker = looks[method]
        # The intervals of the table; NaN, where it has none, draws nothing.
        axes.hlines(up["mean"], across["low"], across["high"], colors=colour, linewidth=1.2, zorder=2)
        axes.vlines(across["mean"], up["low"], up["high"], colors=colour, linewidth=1.2, zorder=2)
        front = 4 if method == "ours" else 3
        edge: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.6}
        at = (across["mean"], up["mean"])
        size = 9 if marker == "*" else 6
        axes.plot(
            *at, linestyle="none", color=colour, marker=marker, markersize=size, label=method, zorder=front, **edge
        )
    axes.autoscale_view()
    axes.margins(0.08)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(grid: Sequence[Axes]) -> tuple[list[Artist], list[str]]:
    """Every method once, also one that has no marker in the first panel; the line of the labels last."""
    found: dict[str, Artist] = {}
    for axes in grid:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    names = [name for name in found if name != LINE] + [name for name in found if name == LINE]
    return [found[name] for name in names], names


def _columns(names: Sequence[str], width: float) -> int:
    """In how many columns, at most four, a legend in small print is no wider than the figure, in inches."""
    for count in (4, 3, 2):
        columns = [part for part in np.array_split(np.array([len(name) for name in names]), count) if len(part)]
        if sum(0.6 + 0.072 * int(part.max()) for part in columns) <= width:
            return len(columns)
    return 1
