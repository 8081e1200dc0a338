"""Quality against fairness, as in the paper's figures: a panel for each question, a marker for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from matplotlib.ticker import MaxNLocator

from problog4fairness.metrics import confidence_ellipse
from studies.looks import LOOKS

AXES = {"disparity": "statistical disparity", "equalized_odds": "equalized odds difference"}
# An exact ellipse from fewer seeds fills the figure: with three its radius is 28 standard errors, with four 7.5.
FEWEST_SEEDS = 4


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel.

    Attributes
    ----------
    title
        Above it.
    x, y
        Results with the columns method, seed and value: fairness and quality.
    line
        What fairness the labels themselves have, where that is to be shown.
    level
        What quality can be had without a classifier, where that is to be shown.
    """

    title: str
    x: pd.DataFrame
    y: pd.DataFrame
    line: float | None = None
    level: float | None = None

    def pairs(self) -> pd.DataFrame:
        """Columns method, seed, x and y, the means over folds."""
        x, y = (own.groupby(["method", "seed"], sort=False)["value"].mean() for own in (self.x, self.y))
        return pd.concat({"x": x, "y": y}, axis=1).dropna().reset_index()


def draw(
    panels: Sequence[Panel],
    across: str,
    quality: str,
    *,
    line: str,
    level: str = "",
    title: str = "",
    names: Mapping[str, str] | None = None,
) -> Figure:
    """A marker per method at the mean over seeds, the seeds as faint points, and a 95% ellipse of the mean.

    Parameters
    ----------
    panels
        What to draw, from left to right, on one scale of quality.
    across
        The measure of fairness, one of :data:`AXES`.
    quality
        What the upright axis means.
    line, level
        What the panels' upright and level lines mean.
    title
        Above all panels.
    names
        What methods are called in the legend, where that is not their name, in its order.
    """
    figure = Figure(figsize=(0.6 + 3.2 * len(panels), 3.9), layout="constrained")
    grid: Sequence[Axes] = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, panel in zip(grid, panels, strict=True):
        pairs = panel.pairs()
        for method in names or dict.fromkeys(pairs["method"]):
            _method(axes, pairs[pairs["method"] == method], method, (names or {}).get(method, method))
        if panel.line is not None:
            axes.axvline(panel.line, color="#444444", linestyle="--", linewidth=1, label=line, zorder=1)
        if panel.level is not None:
            axes.axhline(panel.level, color="#444444", linestyle=":", linewidth=1.2, label=level, zorder=1)
        axes.autoscale_view()
        axes.margins(0.08)
        axes.set_title(panel.title, fontsize="medium")
        axes.set_xlabel(AXES[across])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.grid(alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    grid[0].set_ylabel(quality)
    if title:
        figure.suptitle(title, fontsize="medium", fontweight="bold")
    found = {label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    columns = min(len(found), 3 * len(panels) - 2)
    figure.legend([*found.values()], [*found], loc="outside lower center", ncols=columns, fontsize="small",
                  frameon=False)  # fmt: skip
    return figure


def _method(axes: Axes, own: pd.DataFrame, method: str, label: str) -> None:
    if not len(own):
        return
    colour, marker = LOOKS[method]
    if len(own) >= FEWEST_SEEDS:
        region = confidence_ellipse(own["x"], own["y"])
        shape = {"width": region.width, "height": region.height, "angle": region.angle}
        axes.add_patch(Ellipse(region.centre, **shape, facecolor=colour, alpha=0.15, linewidth=0, zorder=2))
        axes.add_patch(Ellipse(region.centre, **shape, fill=False, edgecolor=colour, linewidth=0.8, zorder=2))
    axes.scatter(own["x"], own["y"], s=6, color=colour, alpha=0.5, linewidths=0, zorder=3)
    axes.plot(
        own["x"].mean(), own["y"].mean(), linestyle="none", color=colour, marker=marker, markersize=7,
        markeredgecolor="white", markeredgewidth=0.6, label=label, zorder=5 if method == "ours" else 4,
    )  # fmt: skip
