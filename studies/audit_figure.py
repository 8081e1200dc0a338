"""The figures of the study of audits: rows until every parameter is known; how often intervals hold."""

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


def draw_rows(rows: pd.DataFrame) -> Figure:
    """How many rows each way of drawing an audit takes, a place for each case."""
    figure, axes = _figure()
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
    return _with_legend(figure)


def draw_coverage(coverage: pd.DataFrame) -> Figure:
    """How often the intervals hold the truth, a place for each case and a mark for each parameter."""
    figure, axes = _figure()
    cases = list(dict.fromkeys(coverage["case"]))
    for number, name in enumerate(INTERVALS):
        own = coverage[coverage["metric"] == name]
        x = own["case"].map({case: place for place, case in enumerate(cases)}) + 0.12 * (number - 2.5)
        axes.plot(x, own["coverage"], linestyle="none", marker=MARKERS[number], markersize=5, color=COLOURS[number],
                  label=name, alpha=0.85)  # fmt: skip
    axes.axhline(0.95, color="#444444", linewidth=0.8, label="nominal 95%")
    axes.axhline(0.94, color="#444444", linewidth=0.8, linestyle=":", label="94%, which is claimed")
    axes.set_xticks(range(len(cases)), [_two_lines(name) for name in cases])
    axes.set_ylim(max(0.6, float(coverage["coverage"].min()) - 0.02), 1.005)
    axes.set_ylabel("share of audits whose interval holds the truth")
    axes.set_title("coverage at the end of the audit, a mark for each parameter", fontsize="medium")
    return _with_legend(figure)


def _figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _with_legend(figure: Figure) -> Figure:
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    return figure


def _two_lines(name: str) -> str:
    return name.replace(", ", ",\n")
