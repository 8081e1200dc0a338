"""The figure of the study of further beliefs: accuracy and disparity by the strength of the bias."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.engine.report import summary_of
from studies.more_beliefs import CASES

# Colours and markers as in the other figures; what is last is drawn above the others.
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "record": {"color": "#0072B2", "marker": "v", "label": "the record as it is"},
    "belief": {"color": "#D55E00", "marker": "o", "label": "this model", "linewidth": 2.5},
    "upper": {"color": "#000000", "marker": "^", "label": "knowing the fair labels", "markerfacecolor": "none"},
}
# The first and the second of the nearest tools of a case.
TOOLS: Sequence[Mapping[str, Any]] = (
    {"color": "#009E73", "marker": "s", "label": "the nearest tool"},
    {"color": "#CC79A7", "marker": "D", "label": "another tool"},
)
METRICS = {"accuracy": "accuracy", "disparity": "statistical disparity"}
COLUMNS = 4


def draw(results: pd.DataFrame) -> Figure:
    """A column for each case, four beside each other, a row for each metric: means with 95% intervals over seeds."""
    summary = summary_of(results)
    cases = list(dict.fromkeys(results["case"]))
    columns, blocks = min(COLUMNS, len(cases)), math.ceil(len(cases) / COLUMNS)
    figure = Figure(figsize=(1.0 + 2.6 * columns, 0.5 + 4.4 * blocks), layout="constrained")
    grid = figure.subplots(len(METRICS) * blocks, columns, sharex=True, sharey="row", squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    for place, case in enumerate(cases):
        block, column = divmod(place, columns)
        own = grid[len(METRICS) * block :, column]
        for axes, (metric, words) in zip(own, METRICS.items(), strict=False):
            axes.set_visible(True)
            _lines(axes, case, summary[(summary["case"] == case) & (summary["metric"] == metric)])
            if column == 0:
                axes.set_ylabel(words)
        own[0].set_title(case, fontsize="medium")
        own[len(METRICS) - 1].set_xlabel("strength of the bias")
        own[len(METRICS) - 1].tick_params(labelbottom=True)
    found = {
        label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        list(found.values()), list(found), loc="outside lower center", ncols=len(found), fontsize="small", frameon=False
    )
    return figure


def _lines(axes: Axes, case: str, summary: pd.DataFrame) -> None:
    for method, look in {**dict(zip(CASES[case].tools, TOOLS, strict=False)), **LOOKS}.items():
        line = summary[summary["method"] == method].sort_values("x")
        reach = (line["high"] - line["mean"]).fillna(0)
        axes.errorbar(line["x"], line["mean"], reach, **{"markersize": 4, "linewidth": 1, **look})
    axes.grid(axis="y", alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
