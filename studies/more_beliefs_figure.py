"""The figure of the study of further beliefs: accuracy and disparity by the strength of the bias."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.belief_cases import CASES
from studies.engine.report import summary_of

# Colours and markers as in the other figures.
LOOKS = {
    "belief": ("#D55E00", "o", "this model"),
    "upper": ("#000000", "^", "knowing the fair labels"),
    "record": ("#0072B2", "v", "the record as it is"),
}
# The first and the second of the nearest tools of a case.
TOOLS = (("#009E73", "s", "the nearest tool"), ("#CC79A7", "D", "Dawid-Skene"))
ROWS = {"accuracy": "accuracy", "disparity": "statistical disparity"}


def draw(results: pd.DataFrame) -> Figure:
    """A column for each case, a row for each metric: means with 95% intervals over seeds."""
    summary = summary_of(results)
    cases = list(dict.fromkeys(results["case"]))
    figure = Figure(figsize=(1.0 + 2.5 * len(cases), 5.2), layout="constrained")
    grid = figure.subplots(len(ROWS), len(cases), sharex=True, sharey="row", squeeze=False)
    for column, case in enumerate(cases):
        for row, (metric, words) in enumerate(ROWS.items()):
            axes: Axes = grid[row, column]
            own = summary[(summary["case"] == case) & (summary["metric"] == metric)]
            looks = LOOKS | dict(zip(CASES[case].tools, TOOLS, strict=False))
            for method, (colour, marker, label) in looks.items():
                line = own[own["method"] == method].sort_values("x")
                reach = (line["high"] - line["mean"]).fillna(0)
                axes.errorbar(
                    line["x"], line["mean"], reach, color=colour, marker=marker, markersize=4, linewidth=1, label=label
                )
            axes.grid(axis="y", alpha=0.25, linewidth=0.5)
            axes.spines[["top", "right"]].set_visible(False)
            if column == 0:
                axes.set_ylabel(words)
        grid[0, column].set_title(case)
        grid[-1, column].set_xlabel("strength of the bias")
    found = {label: handle for axes in grid[0] for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    handles, labels = list(found.values()), list(found)
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize="small", frameon=False)
    return figure
