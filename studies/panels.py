"""Figure 6 of the paper and its twin: F1 on the fair labels against unfairness, a panel per attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from matplotlib.ticker import MaxNLocator

from problog4fairness.comparison.style import STYLES
from problog4fairness.datasets.faces.protocol import ATTRIBUTES
from problog4fairness.experiments.faces.work import NO_ATTRIBUTE
from problog4fairness.metrics import confidence_ellipse

# Name in the legend, colour and marker; single attributes are shades that colour-blind readers can tell apart.
LOOKS = {
    "lower": ("lower", *STYLES["lower"]),
    "only high_cheekbones": ("ours, high cheekbones", "#CC79A7", "s"),
    "only blurry": ("ours, blurry", "#E69F00", "D"),
    "only smiling": ("ours, smiling", "#009E73", "P"),
    "ours": ("ours, all three", *STYLES["ours"]),
    "upper": ("upper", *STYLES["upper"]),
}
AXES = {"disparity": "statistical disparity", "equalized_odds": "equalized odds difference"}
# An exact ellipse from fewer seeds fills the figure: with three its radius is 28 standard errors, with four 7.5.
FEWEST_SEEDS = 4


def draw(results: pd.DataFrame, across: Literal["disparity", "equalized_odds"]) -> Figure:
    """A point per method at the mean over seeds, the seeds as faint points, and a 95% ellipse of the mean.

    Under disparity, the dashed line is that of the fair labels of the test partition.
    """
    figure = Figure(figsize=(10.2, 3.9), layout="constrained")
    panels: Sequence[Axes] = figure.subplots(1, len(ATTRIBUTES), sharey=True)
    for axes, attribute in zip(panels, ATTRIBUTES, strict=True):
        _panel(axes, _pairs(results, across, attribute))
        if across == "disparity":
            line = results[(results["metric"] == "fair_disparity") & (results["attribute"] == attribute)]["value"]
            axes.axvline(
                float(line.mean()), color="#444444", linestyle="--", linewidth=1, label="fair labels", zorder=1
            )
        axes.set_title(attribute.replace("_", " "), fontsize="medium")
        axes.set_xlabel(AXES[across])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.grid(alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("F1 on fair mouth labels")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), fontsize="small", frameon=False)
    return figure


def _pairs(results: pd.DataFrame, across: str, attribute: str) -> pd.DataFrame:
    """Columns method, seed, x and y."""
    x = results[(results["metric"] == across) & (results["attribute"] == attribute)]
    y = results[(results["metric"] == "f1") & (results["attribute"] == NO_ATTRIBUTE)]
    both = x.merge(y, on=["method", "seed"], suffixes=("_x", "_y"))
    return both.rename(columns={"value_x": "x", "value_y": "y"})[["method", "seed", "x", "y"]].dropna()


def _panel(axes: Axes, pairs: pd.DataFrame) -> None:
    for method, (label, colour, marker) in LOOKS.items():
        own = pairs[pairs["method"] == method]
        if not len(own):
            continue
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
    axes.autoscale_view()
    axes.margins(0.08)
