"""The figure of a sensitivity analysis."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from problog4fairness.robustness.sensitivity_result import ACCURACY, CHANGED, Sensitivity
from problog4fairness.statistics import called

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue and orange of Okabe and Ito's palette, which colour-blind readers tell apart.
LINE, MARK, INTERVAL = "#0072B2", "#D55E00", "#56B4E9"
LEAST_SPAN = 0.1
NAMES = {ACCURACY: "accuracy on\naudited rows", CHANGED: "decisions that\nchange"}


def draw(found: Sensitivity) -> Figure:
    """Rows are metrics, columns are parameters; all panels of a row share their axis."""
    parameters, metrics = list(found.parameters.index), found.metrics
    # A name from somebody's data is text, not a formula.
    with mpl.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(1.1 + 2.0 * len(parameters), 0.9 + 1.5 * len(metrics)), layout="constrained")
        grid = figure.subplots(len(metrics), len(parameters), sharex="col", sharey="row", squeeze=False)
        for column, parameter in enumerate(parameters):
            for row, metric in enumerate(metrics):
                _panel(grid[row, column], found, parameter, metric)
                if column == 0:
                    _common_scale(grid[row, column], found, metric)
                    grid[row, column].set_ylabel(NAMES.get(metric, textwrap.fill(metric, 16)))
            meaning = str(found.parameters.loc[parameter, "meaning"])
            named = called(parameter, meaning) == parameter
            title = textwrap.fill(meaning, 26)
            grid[0, column].set_title(f"{parameter}\n{title}" if named else title, fontsize=8)
            grid[-1, column].set_xlabel(f"assumed {parameter if named else 'probability'}")
    return figure


def _common_scale(axes: Axes, found: Sensitivity, metric: str) -> None:
    """The same axis for all parameters, and never so fine that chance looks like a trend."""
    own = found.frame.loc[found.frame["metric"] == metric]
    low, high = float(own["low"].min()), float(own["high"].max())
    if not low <= high:
        return
    middle, half = (low + high) / 2, max((high - low) * 0.6, LEAST_SPAN / 2)
    axes.set_ylim((-LEAST_SPAN / 20, 2 * half) if metric == CHANGED else (middle - half, middle + half))


def _panel(axes: Axes, found: Sensitivity, parameter: str, metric: str) -> None:
    own = found.frame[(found.frame["parameter"] == parameter) & (found.frame["metric"] == metric)]
    value, low, high = (float(found.parameters.loc[parameter, name]) for name in ("value", "low", "high"))
    axes.axvspan(low, high, color=INTERVAL, alpha=0.25, linewidth=0)
    x, mean = own["value"].to_numpy(dtype=float), own["mean"].to_numpy(dtype=float)
    axes.fill_between(x, own["low"].to_numpy(float), own["high"].to_numpy(float), color=LINE, alpha=0.2, linewidth=0)
    axes.plot(x, mean, color=LINE, marker=".", markersize=4, linewidth=1.3)
    axes.plot([value], [found.base.loc[metric, "mean"]], color=MARK, marker="o", markersize=6, zorder=4)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    if metric in (ACCURACY, CHANGED):
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
