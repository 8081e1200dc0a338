"""The figure of the study of learners: how far each is from its own upper, and how far its probabilities are off."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.engine.report import summary_of
from studies.learner_stacks import LEARNERS, METHODS

# Okabe and Ito's colours, as in the other figures.
COLOURS = dict(zip(LEARNERS, ("#0072B2", "#009E73", "#D55E00", "#000000", "#CC79A7"), strict=True))
MARKERS = {"belief": "o", "upper": "^", "record": "v"}
WORDS = {"belief": "through the belief", "upper": "knowing the fair labels", "record": "on the record"}
ROWS = {"accuracy": "accuracy", "disparity": "statistical disparity", "calibration": "calibration error"}
# Learners side by side at each place, and methods apart within a learner.
SPREAD = 0.75


def draw(results: pd.DataFrame) -> Figure:
    """A column for each kind of data, a row for each metric: means with 95% intervals over seeds."""
    summary = summary_of(results)
    kinds = list(dict.fromkeys(results["data"]))
    places = {kind: sorted(results.loc[results["data"] == kind, "x"].unique()) for kind in kinds}
    widths = [max(1.6, len(places[kind])) for kind in kinds]
    figure = Figure(figsize=(1.0 + 0.95 * sum(widths), 6.4), layout="constrained")
    grid = figure.subplots(len(ROWS), len(kinds), sharex="col", squeeze=False, width_ratios=widths)
    for column, kind in enumerate(kinds):
        for row, (metric, words) in enumerate(ROWS.items()):
            axes: Axes = grid[row, column]
            own = summary[(summary["data"] == kind) & (summary["metric"] == metric)]
            _points(axes, own, places[kind])
            axes.grid(axis="y", alpha=0.25, linewidth=0.5)
            axes.spines[["top", "right"]].set_visible(False)
            if column == 0:
                axes.set_ylabel(words)
        grid[0, column].set_title("student data" if kind == "student" else f"{kind} bias")
        axes.set_xlim(-0.5, len(places[kind]) - 0.5)
        single = len(places[kind]) == 1
        axes.set_xticks(range(len(places[kind])), [""] if single else [f"{x:g}" for x in places[kind]])
        axes.set_xlabel("" if single else "probability of bias β")
    _legend(figure, grid[0, 0])
    return figure


def _points(axes: Axes, own: pd.DataFrame, places: list[float]) -> None:
    for number, learner in enumerate(LEARNERS):
        middle = SPREAD * ((number + 0.5) / len(LEARNERS) - 0.5)
        for method in METHODS:
            rows = own[(own["learner"] == learner) & (own["method"] == method)].sort_values("x")
            x = np.array([places.index(value) for value in rows["x"]]) + middle
            mean = rows["mean"].to_numpy(dtype=float)
            reach = np.nan_to_num(rows["high"].to_numpy(dtype=float) - mean)
            filled = COLOURS[learner] if method == "belief" else "white"
            axes.errorbar(
                x, mean, reach, linestyle="none", marker=MARKERS[method], markersize=5 if method == "belief" else 4,
                color=COLOURS[learner], markerfacecolor=filled, markeredgewidth=0.9, elinewidth=0.8,
                zorder=4 if method == "belief" else 3,
            )  # fmt: skip


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = [], []
    for learner in LEARNERS:
        handles += axes.plot([], [], linestyle="none", marker="s", color=COLOURS[learner])
        labels.append(learner)
    for method in METHODS:
        filled = "#555555" if method == "belief" else "white"
        handles += axes.plot([], [], linestyle="none", marker=MARKERS[method], color="#555555", markerfacecolor=filled)
        labels.append(WORDS[method])
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), fontsize="small", frameon=False)
