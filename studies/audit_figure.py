"""The figure of the study of audits: rows until every parameter is known, and how often intervals hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.audit_cells import INTERVALS

# Okabe and Ito's colours, as in the other figures.
BARS = {"hoeffding": ("#999999", "random, by Hoeffding"), "normal": ("#56B4E9", "random, normal intervals"),
        "normal_by_group": ("#0072B2", "random in each group, normal intervals"),
        "rows": ("#D55E00", "planned: by group and recorded label")}  # fmt: skip
COLOURS = ("#D55E00", "#E69F00", "#009E73", "#56B4E9", "#0072B2", "#000000")
MARKERS = ("o", "s", "^", "v", "D", "*")


def draw(rows: pd.DataFrame, coverage: pd.DataFrame) -> Figure:
    """Rows on the left, coverage on the right, a place for each case."""
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    _rows(left, rows)
    _coverage(right, coverage, list(rows["case"]))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize="x-small", frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return figure


def _rows(axes: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(rows))
    for number, (name, (colour, words)) in enumerate(BARS.items()):
        x = places + 0.2 * (number - 1.5)
        values = rows[name].to_numpy(dtype=float)
        axes.bar(x, values, 0.19, color=colour, label=words)
        for place, value in zip(x, values, strict=True):
            axes.annotate(f"{value:,.0f}", (place, value), ha="center", va="bottom", fontsize=6, rotation=90,
                          xytext=(0, 2), textcoords="offset points")  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(top=float(rows["hoeffding"].max()) * 4)
    axes.set_xticks(places, [_two_lines(name) for name in rows["case"]])
    axes.set_ylabel("audited rows (log scale)")
    axes.set_title("rows until every parameter is known within ±.1", fontsize="medium")


def _coverage(axes: Axes, coverage: pd.DataFrame, cases: list[str]) -> None:
    for number, name in enumerate(INTERVALS):
        own = coverage[coverage["metric"] == name]
        x = own["case"].map({case: place for place, case in enumerate(cases)}) + 0.12 * (number - 2.5)
        axes.plot(x, own["coverage"], linestyle="none", marker=MARKERS[number], markersize=5, color=COLOURS[number],
                  label=name, alpha=0.85)  # fmt: skip
    axes.axhline(0.95, color="#444444", linewidth=0.8)
    axes.axhline(0.94, color="#444444", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(cases)), [_two_lines(name) for name in cases])
    axes.set_ylim(max(0.6, float(coverage["coverage"].min()) - 0.02), 1.005)
    axes.set_ylabel("share of audits whose interval holds the truth")
    axes.set_title("coverage at the end of the audit, a mark for each parameter", fontsize="medium")


def _two_lines(name: str) -> str:
    return name.replace(", ", ",\n")
