"""The figure of the study of checks: how often each situation is contradicted, and by which test."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from studies.check_cells import CONTRADICTED, TESTS

RIGHT, WRONG, GREY = "#0072B2", "#D55E00", "#777777"


def draw(shares: pd.DataFrame, right: Mapping[str, bool]) -> Figure:
    """Left, the share of simulations that contradict the belief; right, the share of each test alone."""
    rows = shares.iloc[::-1].reset_index(drop=True)
    figure = Figure(figsize=(10.5, 1.4 + 0.36 * len(rows)), layout="constrained")
    whole, each = figure.subplots(1, 2, sharey=True, width_ratios=[1, 1.5])
    for place, row in rows.iterrows():
        colour = RIGHT if right[row["case"]] else WRONG
        whole.plot([row.low, row.high], [place, place], color=colour, linewidth=2)
        whole.plot([row[CONTRADICTED]], [place], color=colour, marker="o" if right[row["case"]] else "D")
    for share, words in ((0.05, "at most 5%"), (0.8, "at least 80%")):
        whole.axvline(share, color=GREY, linewidth=1, linestyle="--")
        look = {"ha": "left" if share < 0.5 else "center", "va": "bottom", "fontsize": "small", "color": GREY}
        whole.text(share, 1.0, words, transform=whole.get_xaxis_transform(), **look)
    whole.set_yticks(range(len(rows)), list(rows["case"]))
    whole.set_xlim(-0.02, 1.02)
    whole.set_ylim(-0.6, len(rows) - 0.1)
    whole.set_xlabel("share of simulations that contradict the belief\n(blue: it is right; orange: it is wrong)")
    names = [name for name in TESTS if name in rows]
    table = rows[names].to_numpy(dtype=float)
    each.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for place, values in enumerate(table):
        for column, value in enumerate(values):
            if value > 0:
                dark = "white" if value > 0.6 else "black"
                each.text(column, place, f"{value:.0%}", ha="center", va="center", fontsize=7, color=dark)
    each.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize="small")
    each.set_title("by each test, corrected", fontsize="medium")
    for axes in (whole, each):
        axes.spines[["top", "right"]].set_visible(False)
    return figure
