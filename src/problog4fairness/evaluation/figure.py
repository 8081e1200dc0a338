"""The figure of a comparison: quality against fairness, a marker with its intervals per method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods import METHODS
from problog4fairness.evaluation.methods.through_belief import ThroughBelief
from problog4fairness.metrics import METRICS

if TYPE_CHECKING:
    from problog4fairness.evaluation.result import Comparison, Labels

LINE = "disparity of the labels"
# For methods without a style: colours that colour-blind readers can tell apart, markers for black and white.
FREE = tuple(
    (colour, marker) for marker, colour in product("Ph<>pd8", ("#56B4E9", "#999999", "#8C6D31", "#332288", "#BBCC33"))
)


def styles(kinds: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each method; those whose kind has none, or has given it away, get a free one in their order.

    Parameters
    ----------
    kinds
        By title, the kind of each method: its name in :data:`~problog4fairness.evaluation.METHODS`, or ``"belief"``.

    Examples
    --------
    >>> from problog4fairness.evaluation import styles
    >>> styles({"this model": "belief", "trained on recorded labels": "recorded_only"})
    {'this model': ('#D55E00', 'o'), 'trained on recorded labels': ('#0072B2', 'v')}
    """
    # Neighbours differ in both, so that a few of them are told apart by either.
    free = cycle(FREE[(6 * number) % len(FREE)] for number in range(len(FREE)))
    known = {ThroughBelief.name: ThroughBelief.style, **{name: method.style for name, method in METHODS.items()}}
    return {title: known.pop(kind, None) or next(free) for title, kind in kinds.items()}


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
    looks = styles({name: comparison.kinds.get(name, "") for name in comparison.methods})
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
        edge: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.6}
        at = (across["mean"], up["mean"])
        size = 9 if marker == "*" else 6
        axes.plot(*at, linestyle="none", color=colour, marker=marker, markersize=size, label=method, zorder=3, **edge)
    axes.autoscale_view()
    axes.margins(0.08)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(grid: Sequence[Axes]) -> tuple[list[Artist], list[str]]:
    """Every method once, also one that has no marker in the first panel; the line of the labels last."""
    artists: dict[str, Artist] = {}
    for axes in grid:
        handles, labels = axes.get_legend_handles_labels()
        artists |= dict(zip(labels, handles, strict=True))
    names = [name for name in artists if name != LINE] + [name for name in artists if name == LINE]
    return [artists[name] for name in names], names


def _columns(names: Sequence[str], width: float) -> int:
    """In how many columns, at most four, a legend in small print is no wider than the figure, in inches."""
    for count in (4, 3, 2):
        columns = [part for part in np.array_split(np.array([len(name) for name in names]), count) if len(part)]
        if sum(0.6 + 0.072 * int(part.max()) for part in columns) <= width:
            return len(columns)
    return 1
