"""The figure of a study on made-up people: accuracy above disparity, a column per kind of bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.looks import LOOKS
from studies.methods import INFORMED

if TYPE_CHECKING:
    from studies.synthetic import SyntheticStudy

# Upper mostly lies where ours does: thin, hollow and on top of a thick line, so that both are seen.
SPECIAL: dict[str, dict[str, Any]] = {
    "ours": {"linewidth": 2.6, "markersize": 5, "zorder": 3},
    "upper": {"linewidth": 1, "linestyle": "--", "markersize": 7, "markerfacecolor": "none", "markeredgewidth": 0.8,
              "zorder": 3.5},
    INFORMED: {"linewidth": 1, "linestyle": "-.", "markersize": 7, "markerfacecolor": "none", "markeredgewidth": 0.8,
               "zorder": 3.4},
}  # fmt: skip
ROWS = (("accuracy", "accuracy"), ("disparity", "statistical disparity"))


def draw(study: SyntheticStudy, summary: pd.DataFrame) -> Figure:
    """Lines of means with bands of one standard error; limits as thin lines.

    Parameters
    ----------
    study
        What was computed.
    summary
        As in its ``summary.csv``.
    """
    biases = study.biases
    figure = Figure(figsize=(max(5.0, 1.2 + 3.0 * len(biases)), 5.2), layout="constrained")
    grid = figure.subplots(2, len(biases), sharex="col", sharey="row", squeeze=False)
    for column, bias in enumerate(biases):
        for row, (metric, name) in enumerate(ROWS):
            axes: Axes = grid[row, column]
            _lines(axes, study, summary[(summary["bias"] == bias) & (summary["metric"] == metric)])
            _limits(axes, study, bias, metric)
            if study.truth is not None:
                axes.axvline(study.truth, color="#777777", linewidth=0.8, zorder=1, label="the true β")
            axes.grid(alpha=0.25, linewidth=0.5)
            axes.spines[["top", "right"]].set_visible(False)
            if column == 0:
                axes.set_ylabel(name)
        grid[0, column].set_title(f"{bias} bias")
        grid[1, column].set_xlabel(study.axis)
    # Not every method is in every panel.
    shown = {label: handle for axes in grid[0] for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center", ncols=1 + len(biases), fontsize="small", frameon=False
    )
    return figure


def _lines(axes: Axes, study: SyntheticStudy, rows: pd.DataFrame) -> None:
    for method in study.methods:
        colour, marker = LOOKS[method]
        own = rows[rows["method"] == method].sort_values("x")
        if not len(own):
            continue
        x, mean = own["x"].to_numpy(dtype=float), own["mean"].to_numpy(dtype=float)
        error = own["standard_error"].fillna(0.0).to_numpy(dtype=float)
        axes.fill_between(x, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
        look = {"color": colour, "marker": marker, "markersize": 4, "zorder": 2, **SPECIAL.get(method, {})}
        axes.plot(x, mean, label=method, **look)


def _limits(axes: Axes, study: SyntheticStudy, bias: str, metric: str) -> None:
    """What the best possible classifier reaches that sees what classifiers are tested on."""
    points = sorted((point for point in study.points if point.bias == bias), key=lambda point: point.x)
    found = [point.settings.limits(recorded=point.tested_on == "recorded") for point in points]
    values = [limit.accuracy if metric == "accuracy" else limit.disparity for limit in found]
    # On top, for methods that reach the limit would hide it.
    label = "limit: the best that any classifier can reach"
    look: dict[str, Any] = {"color": "#333333", "linewidth": 0.8, "linestyle": ":", "label": label}
    axes.plot([point.x for point in points], values, zorder=4, **look)
