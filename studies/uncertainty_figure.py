"""The figure of the study of uncertainty: how often they hold the truth, and how wide they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, PercentFormatter

from studies.uncertainty_stacks import AUDITS, QUANTITIES

COLOURS = dict(zip(AUDITS, ("#0072B2", "#D55E00"), strict=True))
NOMINAL, ASKED = 0.95, 0.93


def draw(summary: pd.DataFrame) -> Figure:
    """On the left the share of audits whose interval holds the truth, on the right the mean width of the intervals.

    Parameters
    ----------
    summary
        As in the study's ``summary.csv``.
    """
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(QUANTITIES))[::-1]
    for shift, carried in zip((0.14, -0.14), AUDITS, strict=True):
        own = summary[summary["carried"] == carried].set_index("metric")
        count, mean = own["n"], own["mean"]
        share = np.array([mean.get(f"{quantity} covered", np.nan) for quantity in QUANTITIES])
        rows = max(1, int(count.min())) if len(count) else 1
        error = 1.96 * np.sqrt(share * (1 - share) / rows)
        style = {"marker": "o", "linestyle": "", "color": COLOURS[carried], "markersize": 5}
        left.errorbar(share, places + shift, xerr=error, **style)
        width = [mean.get(f"{quantity} width", np.nan) for quantity in QUANTITIES]
        right.plot(width, places + shift, label=f"parameters: {carried}", **style)
    left.axvline(NOMINAL, color="0.4", linewidth=0.8, label="95%, what an interval says")
    left.axvline(ASKED, color="0.4", linewidth=0.8, linestyle=":", label="93%, what is asked of it")
    left.set_yticks(places, QUANTITIES)
    left.set_xlabel("audits whose 95% interval holds the truth")
    right.set_xlabel("mean width of the intervals")
    right.xaxis.set_major_locator(MultipleLocator(0.05))
    handles = [*right.get_legend_handles_labels()[0], *left.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    for axes in (left, right):
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.grid(axis="x", alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
