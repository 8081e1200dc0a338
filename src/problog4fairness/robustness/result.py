"""What the results of this room share: a table, sentences and a figure, in a terminal and in a notebook."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.data import inline_figure
from problog4fairness.statistics import called

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from problog4fairness.robustness.bounds import Bounds
    from problog4fairness.robustness.parameter_sensitivity import Sensitivity
    from problog4fairness.robustness.uncertainty import Uncertainty

STABLE, UNCERTAIN = "stable", "uncertain"
DISPARITY, ACCURACY, CHANGED = "disparity", "accuracy", "changed"
# Blue, orange and light blue of Okabe and Ito's palette, which colour-blind readers tell apart.
BLUE, ORANGE, LIGHT = "#0072B2", "#D55E00", "#56B4E9"
COLOURS = {STABLE: BLUE, UNCERTAIN: ORANGE}
# More people than this cannot be told apart in a figure.
MOST = 400
LEAST_SPAN = 0.1
NAMES = {ACCURACY: "accuracy on\naudited rows", CHANGED: "decisions that\nchange"}


class Result(ABC):
    """How far something reaches that is not known; each has a ``table``."""

    table: pd.DataFrame

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is, in a few words."""

    @abstractmethod
    def words(self) -> list[str]:
        """The result in sentences."""

    @abstractmethod
    def plot(self) -> Figure:
        """The result as a figure."""

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {sentence}" for sentence in self.words())])

    def _repr_html_(self) -> str:
        figure = inline_figure(self.plot(), self.title)
        table = self.table.to_html(float_format="{:.4g}".format, na_rep="")
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.words())
        return f"<div><b>{escape(self.title)}</b>{figure}{table}{sentences}</div>"


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _names_as_text() -> AbstractContextManager[None]:
    """A name from somebody's data is text, not a formula."""
    import matplotlib as mpl

    return mpl.rc_context({"text.parse_math": False})


def _ticks(axis: Any, most: int | None = None, percent: bool = True) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    if most is not None:
        axis.set_major_locator(MaxNLocator(most))
    if percent:
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _intervals(axes: Axes, names: Sequence[str], value: Any, low: Any, high: Any) -> None:
    """A line from low to high and a dot at the value for each name, from the top down."""
    places = np.arange(len(names))[::-1]
    axes.axvline(0, color="#CCCCCC", linewidth=0.8)
    axes.hlines(places, low, high, color=BLUE, linewidth=2.5)
    axes.plot(value, places, linestyle="", marker="o", markersize=6, color=BLUE, markeredgecolor="white")
    axes.set_yticks(places, [textwrap.fill(name, 34, replace_whitespace=False) for name in names], fontsize=8)
    axes.set_ylim(-0.6, len(names) - 0.4)
    _ticks(axes.xaxis)
    axes.grid(axis="x", alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)


def draw_uncertainty(uncertainty: Uncertainty) -> Figure:
    """Quantities on the left, people on the right."""
    table = uncertainty.table
    with _names_as_text():
        figure = _figure(9.0, max(3.2, 0.9 + 0.42 * len(table)))
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.1))
        pairs = zip(table["quantity"], table["group"], strict=True)
        names = [f"{quantity}\n{group}" if group else str(quantity) for quantity, group in pairs]
        _intervals(left, names, table["value"], table["low"], table["high"])
        gap = " (disparity: in points)" if (table["quantity"] == DISPARITY).any() else ""
        left.set_title(f"{uncertainty.confidence:.0%} intervals{gap}", fontsize=9)
        _people(right, uncertainty)
    return figure


def _people(axes: Axes, uncertainty: Uncertainty) -> None:
    people = uncertainty.people.sort_values("fair_probability", kind="stable").reset_index(drop=True)
    total = len(people)
    if total > MOST:
        people = people.iloc[np.linspace(0, total - 1, MOST).round().astype(int)].reset_index(drop=True)
    for decision, colour in COLOURS.items():
        shown = people[people["decision"] == decision]
        axes.vlines(shown.index, shown["low"], shown["high"], color=colour, alpha=0.35, linewidth=1.2)
        number = int((uncertainty.people["decision"] == decision).sum())
        label = f"{decision}: {number:,}"
        axes.plot(shown.index, shown["fair_probability"], ".", color=colour, markersize=3, label=label)
    axes.axhline(uncertainty.threshold, color="#4D4D4D", linewidth=0.8, linestyle="--")
    axes.set_ylim(-0.02, 1.02)
    axes.set_xticks([])
    _ticks(axes.yaxis, 5)
    which = f"{len(people):,} of {total:,} people" if len(people) < total else f"{total:,} people"
    axes.set_xlabel(f"{which}, by their fair probability", fontsize=8)
    axes.set_title("fair probability of each person", fontsize=9)
    axes.legend(frameon=False, fontsize=8, loc="upper left", markerscale=3)
    axes.spines[["top", "right"]].set_visible(False)


def draw_bounds(bounds: Bounds) -> Figure:
    """The disparity over the set, then each parameter's interval; a diamond marks where the gap closes."""
    table = bounds.table
    with _names_as_text():
        figure = _figure(6.4, 1.3 + 0.36 * len(table))
        axes = figure.subplots()
        names = ["disparity", *map(str, table.index)]
        ends = [(bounds.value, bounds.low, bounds.high), *table[["value", "low", "high"]].itertuples(index=False)]
        _intervals(axes, names, *zip(*ends, strict=True))
        places = np.arange(len(table))[::-1]
        axes.plot(table["tipping"], places, linestyle="", marker="D", markersize=6, color=ORANGE)
        axes.set_title("over the set; diamonds: the value at which the gap closes", fontsize=9)
    return figure


def draw_sensitivity(sensitivity: Sensitivity) -> Figure:
    """Rows are metrics, columns are parameters; all panels of a row share their axis."""
    parameters, metrics = list(sensitivity.parameters.index), sensitivity.metrics
    with _names_as_text():
        figure = _figure(1.1 + 2.0 * len(parameters), 0.9 + 1.5 * len(metrics))
        grid = figure.subplots(len(metrics), len(parameters), sharex="col", sharey="row", squeeze=False)
        for column, parameter in enumerate(parameters):
            for row, metric in enumerate(metrics):
                _panel(grid[row, column], sensitivity, parameter, metric)
                if column == 0:
                    _common_scale(grid[row, column], sensitivity, metric)
                    grid[row, column].set_ylabel(NAMES.get(metric, textwrap.fill(metric, 16)))
            meaning = str(sensitivity.parameters.loc[parameter, "meaning"])
            named = called(parameter, meaning) == parameter
            title = textwrap.fill(meaning, 26)
            grid[0, column].set_title(f"{parameter}\n{title}" if named else title, fontsize=8)
            grid[-1, column].set_xlabel(f"assumed {parameter if named else 'probability'}")
    return figure


def _common_scale(axes: Axes, sensitivity: Sensitivity, metric: str) -> None:
    """The same axis for all parameters, and never so fine that chance looks like a trend."""
    rows = sensitivity.frame.loc[sensitivity.frame["metric"] == metric]
    low, high = float(rows["low"].min()), float(rows["high"].max())
    if not low <= high:
        return
    middle, half = (low + high) / 2, max((high - low) * 0.6, LEAST_SPAN / 2)
    axes.set_ylim((-LEAST_SPAN / 20, 2 * half) if metric == CHANGED else (middle - half, middle + half))


def _panel(axes: Axes, sensitivity: Sensitivity, parameter: str, metric: str) -> None:
    frame = sensitivity.frame
    rows = frame[(frame["parameter"] == parameter) & (frame["metric"] == metric)]
    value, low, high = (float(sensitivity.parameters.loc[parameter, name]) for name in ("value", "low", "high"))
    axes.axvspan(low, high, color=LIGHT, alpha=0.25, linewidth=0)
    axes.fill_between(rows["value"], rows["low"], rows["high"], color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(rows["value"], rows["estimate"], color=BLUE, marker=".", markersize=4, linewidth=1.3)
    axes.plot([value], [sensitivity.base.loc[metric, "estimate"]], color=ORANGE, marker="o", markersize=6, zorder=4)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    _ticks(axes.xaxis, 4, percent=False)
    _ticks(axes.yaxis, 4, percent=metric in (ACCURACY, CHANGED))
