"""The figure of bands."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from problog4fairness.robustness.bands_result import DISPARITY, FIRM, OPEN, Bands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue and orange of Okabe and Ito's palette, which colour-blind readers tell apart.
COLOURS = {FIRM: "#0072B2", OPEN: "#D55E00"}
# More people than this cannot be told apart in a figure.
MOST = 400


def draw(bands: Bands) -> Figure:
    """Quantities on the left, people on the right."""
    # A name from somebody's data is text, not a formula.
    with mpl.rc_context({"text.parse_math": False}):
        height = max(3.2, 0.9 + 0.42 * len(bands.summary))
        figure = Figure(figsize=(9.0, height), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.1))
        _quantities(left, bands)
        _people(right, bands)
    return figure


def _quantities(axes: Axes, bands: Bands) -> None:
    own = bands.summary
    places = np.arange(len(own))[::-1]
    value, low, high = (own[name].to_numpy(float) for name in ("value", "low", "high"))
    axes.axvline(0, color="#CCCCCC", linewidth=0.8)
    axes.hlines(places, low, high, color=COLOURS[FIRM], linewidth=2.5)
    axes.plot(value, places, linestyle="", marker="o", markersize=6, color=COLOURS[FIRM], markeredgecolor="white")
    pairs = zip(own["quantity"], own["group"], strict=True)
    names = [f"{quantity}\n{group}" if group else str(quantity) for quantity, group in pairs]
    axes.set_yticks(places, [textwrap.fill(name, 34, replace_whitespace=False) for name in names], fontsize=8)
    axes.set_ylim(-0.6, len(own) - 0.4)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    gap = " (disparity: in points)" if (own["quantity"] == DISPARITY).any() else ""
    axes.set_title(f"{bands.confidence:.0%} bands{gap}", fontsize=9)
    axes.grid(axis="x", alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _people(axes: Axes, bands: Bands) -> None:
    people = bands.people.sort_values("fair_probability", kind="stable").reset_index(drop=True)
    total = len(people)
    if total > MOST:
        people = people.iloc[np.linspace(0, total - 1, MOST).round().astype(int)].reset_index(drop=True)
    for decision, colour in COLOURS.items():
        own = people[people["decision"] == decision]
        axes.vlines(own.index, own["low"], own["high"], color=colour, alpha=0.35, linewidth=1.2)
        count = int((bands.people["decision"] == decision).sum())
        axes.plot(own.index, own["fair_probability"], ".", color=colour, markersize=3, label=f"{decision}: {count:,}")
    axes.axhline(bands.threshold, color="#4D4D4D", linewidth=0.8, linestyle="--")
    axes.set_ylim(-0.02, 1.02)
    axes.set_xticks([])
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    shown = f"{len(people):,} of {total:,} people" if len(people) < total else f"{total:,} people"
    axes.set_xlabel(f"{shown}, by their fair probability", fontsize=8)
    axes.set_title("fair probability of each person", fontsize=9)
    axes.legend(frameon=False, fontsize=8, loc="upper left", markerscale=3)
    axes.spines[["top", "right"]].set_visible(False)
