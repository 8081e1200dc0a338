"""The figure of a report: rates on record, as decided, and as audited, group by group."""

from __future__ import annotations

import textwrap

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from problog4fairness.app.report.html.markup import printable
from problog4fairness.app.report.html.names import Names
from problog4fairness.app.report.html.svg import page_style

# Name, colour, marker, and how far from the middle of its group.
MARKS = {
    "recorded": ("on record", "#0072B2", "v", 0.2),
    "decided": ("decided by the model", "#D55E00", "o", 0.0),
    "fair": ("fair, by the audit", "#000000", "^", -0.2),
}


def draw_changes(changes: pd.DataFrame, audited: pd.DataFrame | None, good: str, names: Names) -> Figure:
    """Shares of favourable labels with their intervals; the sensitive group on top."""
    groups = [str(group) for group in changes.index if group != "all"]
    with page_style():
        figure = Figure(figsize=(6.4, 1.5 + 0.62 * len(groups)), layout="constrained")
        axes = figure.subplots()
        for kind, (name, colour, marker, offset) in MARKS.items():
            rows = audited if kind == "fair" else changes
            if rows is None:
                continue
            own = rows.loc[groups]
            value = own[kind].to_numpy(dtype=float)
            low, high = own[f"{kind}_low"].to_numpy(dtype=float), own[f"{kind}_high"].to_numpy(dtype=float)
            places = [number + offset for number in range(len(groups))]
            axes.hlines(places, low, high, colors=colour, linewidth=2)
            axes.plot(value, places, color=colour, marker=marker, linestyle="none", markersize=7, label=name)
        # Whatever a group is called, its label must fit beside the figure and into an SVG file.
        axes.set_yticks(range(len(groups)), [_tick(names.said(group)) for group in groups])
        axes.set_ylim(-0.6, len(groups) - 0.4)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_xlabel(f"share with {names.said(good)}")
        axes.grid(axis="x", alpha=0.4, linewidth=0.6)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize="small")
    return figure


def _tick(name: str) -> str:
    """A name that fits beside the axis, on two lines at most."""
    lines = textwrap.wrap(printable(name), 22) or [""]
    return "\n".join([*lines[:1], textwrap.shorten(" ".join(lines[1:]), 22)]) if len(lines) > 1 else lines[0]
