"""The figures of tests of a belief, and of several beliefs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from problog4fairness.checks.finding import LEVEL

if TYPE_CHECKING:
    from problog4fairness.checks.comparing_beliefs import BeliefComparison
    from problog4fairness.checks.result import CheckResult

# Blue and orange of Okabe and Ito's palette, which colour-blind readers tell apart.
FINE, AGAINST, GREY = "#0072B2", "#D55E00", "#888888"
LEAST = 3e-4


def draw_doubts(found: CheckResult) -> Figure:
    """A dot for each test at its corrected p-value, on a logarithmic axis."""
    tests = list(reversed(found.tests))
    with mpl.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(6.4, 0.9 + 0.32 * len(tests)), layout="constrained")
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.set_xlim(LEAST / 1.6, 1.6)
        for place, own in enumerate(tests):
            if own.corrected is None:
                axes.text(
                    0.02, place, own.found, color=GREY, fontsize=8, va="center", transform=axes.get_yaxis_transform()
                )
                continue
            colour, marker = (AGAINST, "D") if own.contradicts else (FINE, "o")
            axes.plot([max(own.corrected, LEAST)], [place], color=colour, marker=marker, markersize=7, linestyle="")
        axes.axvline(LEVEL, color=GREY, linewidth=1, linestyle="--")
        axes.set_yticks(range(len(tests)), [own.name for own in tests])
        axes.set_ylim(-0.6, len(tests) - 0.4)
        axes.set_xticks([0.001, 0.01, LEVEL, 0.2, 1], ["≤ 0.001", "0.01", f"{LEVEL:g}", "0.2", "1"])
        axes.minorticks_off()
        axes.set_xlabel("corrected p-value; left of the line, the belief is contradicted")
        axes.grid(axis="y", alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_beliefs(found: BeliefComparison) -> Figure:
    """How far each belief is behind the best one."""
    table = found.table.iloc[::-1]
    with mpl.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(6.4, 0.9 + 0.36 * len(table)), layout="constrained")
        axes = figure.subplots()
        for place, (_, row) in enumerate(table.iterrows()):
            axes.plot([row.low, row.high], [place, place], color=FINE, linewidth=2)
            axes.plot([row.behind], [place], color=FINE, marker="o", markersize=6)
        axes.axvline(0, color=GREY, linewidth=1, linestyle="--")
        axes.set_yticks(range(len(table)), [str(name) for name in table.index])
        axes.set_ylim(-0.6, len(table) - 0.4)
        axes.set_xlabel("log-likelihood of a held-out row, behind the best belief; 95% intervals")
        axes.grid(axis="x", alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
