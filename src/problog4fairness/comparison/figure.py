"""The figure of a comparison: quality against fairness, a marker and an ellipse per method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from scipy.stats import t

from problog4fairness.comparison.style import styles
from problog4fairness.errors import P4FError
from problog4fairness.metrics import METRICS, confidence_ellipse

if TYPE_CHECKING:
    from problog4fairness.comparison.outcome import Comparison, Labels

LINE = "disparity of the labels"
# An exact ellipse from fewer seeds fills the figure: with three its radius is 28 standard errors, with four 7.5.
FEWEST_SEEDS = 4


def draw(comparison: Comparison, panels: Sequence[Labels], x: str, y: str) -> Figure:
    """A panel for each kind of labels; see :meth:`~problog4fairness.comparison.Comparison.plot`."""
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


def seed_means(results: pd.DataFrame, labels: str, x: str, y: str) -> pd.DataFrame:
    """For each method and seed the means of two metrics over folds, as the columns ``method``, ``seed``, x and y."""
    rows = results[(results["labels"] == labels) & results["metric"].isin([x, y])]
    means = rows.groupby(["method", "seed", "metric"], sort=False)["value"].mean().unstack("metric")
    return means.reindex(columns=[x, y]).dropna().reset_index()


def _panel(axes: Axes, comparison: Comparison, labels: Labels, x: str, y: str) -> None:
    means, looks = (
        seed_means(comparison.results, labels, x, y),
        styles(comparison.methods, comparison.kinds),
    )
    own_disparity = comparison.data_disparity[labels]
    if x == "disparity" and not math.isnan(own_disparity):
        axes.axvline(own_disparity, color="#888888", linewidth=1, label=LINE, zorder=1)
    for method in comparison.methods:
        own = means[means["method"] == method]
        if not len(own):
            continue
        colour, marker = looks[method]
        if len(own) >= FEWEST_SEEDS:
            region = confidence_ellipse(own[x], own[y])
            shape = {"width": region.width, "height": region.height, "angle": region.angle}
            axes.add_patch(Ellipse(region.centre, **shape, facecolor=colour, alpha=0.12, linewidth=0, zorder=2))
            axes.add_patch(Ellipse(region.centre, **shape, fill=False, edgecolor=colour, linewidth=0.8, zorder=2))
        elif len(own) > 1:
            for name, line in ((x, axes.hlines), (y, axes.vlines)):
                half = t.ppf(0.975, len(own) - 1) * own[name].std() / math.sqrt(len(own))
                middle, beside = own[name].mean(), own[y if name == x else x].mean()
                line(beside, middle - half, middle + half, colors=colour, linewidth=1.2, zorder=2)
        front = 4 if method == "ours" else 3
        edge: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.6}
        at = (own[x].mean(), own[y].mean())
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
