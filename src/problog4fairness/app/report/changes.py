"""What a model changes, group by group: numbers with intervals, their figure, and the section of a report."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from problog4fairness.app.report.markup import (
    Content,
    Markup,
    figure,
    inline,
    join,
    page_style,
    printable,
    stacked,
    table,
    tag,
)
from problog4fairness.app.report.names import Names
from problog4fairness.audit import Audit
from problog4fairness.data import Codes, Floats, Grouping, Rows
from problog4fairness.metrics import difference_interval
from problog4fairness.statistics import Estimate, count, percent, percent_range, points, proportion

if TYPE_CHECKING:
    from problog4fairness.app.report.facts import Audited, Division, Facts


Bools = np.ndarray[Any, np.dtype[np.bool_]]
# Name, colour, marker, and how far from the middle of its group.
MARKS = {
    "recorded": ("on record", "#0072B2", "v", 0.2),
    "decided": ("decided by the model", "#D55E00", "o", 0.0),
    "fair": ("fair, by the audit", "#000000", "^", -0.2),
}


def changes(grouping: Grouping, rows: Rows, decisions: Codes) -> pd.DataFrame:
    """A row for each group, and one for all; ``decisions`` are labels by their position.

    ``recorded`` and ``decided`` are shares of favourable labels, ``raised`` and ``lowered`` the shares of decisions
    that differ from the record in either direction; each with ``_low`` and ``_high``, Wilson's 95% interval. Rows of
    uncertain group count for each group by their share.
    """
    recorded, decided = _favourable(rows, rows.recorded), _favourable(rows, decisions)
    measures = {
        "recorded": recorded,
        "decided": decided,
        "raised": decided & ~recorded,
        "lowered": recorded & ~decided,
    }
    return _by_group(grouping, {name: (values, None) for name, values in measures.items()})


def audited_quality(grouping: Grouping, rows: Rows, decisions: Codes, sample: Audit) -> pd.DataFrame:
    """A row for each group, and one for all: shares of favourable labels, and of decisions and records that are right.

    All are estimates for the people that the audited rows were sampled from, weighted by the design. ``rows`` counts
    the audited rows and ``judged`` those with a decision: -1 among the decisions is none, of a row that the model has
    learned from and that was not predicted out of fold. Of many classes those are right that are the fair one; errors
    are about the favourable one against the others.
    """
    fair, decided, judged = _favourable(rows, rows.fair), _favourable(rows, decisions), decisions >= 0
    measures: dict[str, tuple[Bools, Bools | None]] = {
        "fair": (fair, None),
        "accuracy": (decisions == rows.fair, judged),
        "wrongly_refused": (~decided, fair & judged),
        "wrongly_granted": (decided, ~fair & judged),
    }
    if rows.recorded is not None:
        measures["record_right"] = (rows.recorded == rows.fair, None)
    table = _by_group(grouping, measures, sample)
    table.insert(1, "judged", grouping.with_all().shares[judged].sum(axis=0))
    return table


def disparities(grouping: Grouping, rows: Rows, decisions: Codes) -> pd.DataFrame:
    """The difference of shares of favourable labels on record and as decided, with Newcombe's interval.

    Of two groups that of the sensitive one minus that of the other, of more the largest.
    """
    differences = [_difference(grouping, _favourable(rows, codes)) for codes in (rows.recorded, decisions)]
    return pd.DataFrame(differences, columns=["value", "low", "high"], index=["recorded", "decided"])


def _difference(grouping: Grouping, values: Bools) -> tuple[float, float, float]:
    means = grouping.means(values.astype(np.float64))
    if np.isnan(means).any():
        return np.nan, np.nan, np.nan
    low, high = (0, 1) if len(means) == 2 else (int(means.argmin()), int(means.argmax()))
    if not grouping.certain:
        return float(means[high] - means[low]), np.nan, np.nan
    total = grouping.shares.sum(axis=0).round().astype(int)
    chosen = (values @ grouping.shares).round().astype(int)
    interval = difference_interval(int(chosen[high]), int(total[high]), int(chosen[low]), int(total[low]))
    return interval.value, interval.low, interval.high


def _favourable(rows: Rows, codes: Codes | None) -> Bools:
    favourable: Bools = np.asarray(codes) == rows.favourable
    return favourable


def _by_group(
    grouping: Grouping, measures: dict[str, tuple[Bools, Bools | None]], sample: Audit | None = None
) -> pd.DataFrame:
    everybody = grouping.with_all()
    shares = everybody.shares
    frame = pd.DataFrame({"rows": shares.sum(axis=0)}, index=pd.Index(everybody.groups, name="group"))
    for name, (values, among) in measures.items():
        weights = shares if among is None else shares * among[:, None]
        if sample is not None and grouping.certain:
            estimates = [sample.mean(values, weights[:, column] > 0) for column in range(shares.shape[1])]
        else:
            weights = weights if sample is None else weights * sample.weights[:, None]
            estimates = [_share(values, weights[:, column]) for column in range(shares.shape[1])]
        frame[name] = [estimate.value for estimate in estimates]
        frame[f"{name}_low"] = [estimate.low for estimate in estimates]
        frame[f"{name}_high"] = [estimate.high for estimate in estimates]
    return frame


def _share(values: Bools, weights: Floats) -> Estimate:
    """The share of weighted rows; those that count differently tell as much as so many that count alike (Kish)."""
    total = float(weights.sum())
    rows = min(total, total**2 / float((weights**2).sum())) if (weights > 1).any() else total
    return proportion(float(values @ weights) * rows / total if total else 0.0, rows)


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
            group_rows = rows.loc[groups]
            value = group_rows[kind].to_numpy(dtype=float)
            low, high = (
                group_rows[f"{kind}_low"].to_numpy(dtype=float),
                group_rows[f"{kind}_high"].to_numpy(dtype=float),
            )
            places = [number + offset for number in range(len(groups))]
            axes.hlines(places, low, high, colors=colour, linewidth=2)
            axes.plot(value, places, color=colour, marker=marker, linestyle="none", markersize=7, label=name)
        # Whatever a group is called, its label must fit beside the figure and into an SVG file.
        axes.set_yticks(range(len(groups)), [_tick(names.translated(group)) for group in groups])
        axes.set_ylim(-0.6, len(groups) - 0.4)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_xlabel(f"share with {names.translated(good)}")
        axes.grid(axis="x", alpha=0.4, linewidth=0.6)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize="small")
    return figure


def _tick(name: str) -> str:
    """A name that fits beside the axis, on two lines at most."""
    lines = textwrap.wrap(printable(name), 22) or [""]
    return "\n".join([*lines[:1], textwrap.shorten(" ".join(lines[1:]), 22)]) if len(lines) > 1 else lines[0]


def changes_section(facts: Facts, names: Names) -> Markup:
    """What the model changes, by group."""
    parts: list[Content] = []
    for number, division in enumerate(facts.divisions):
        if len(facts.divisions) > 1:
            parts.append(tag("h3", f"By {division.grouping.name}"))
        plot = draw_changes(division.changes, division.audited, facts.label.good, names)
        alternative = f"Share with {facts.label.good} by group. " + " ".join(_figure_words(division))
        caption = f"Share of people with {facts.label.good}; lines are 95% intervals."
        parts.append(figure(inline(plot, f"changes{number}", alternative), caption, "Rates by group"))
        parts.append(_change_table(division, facts.label.good))
        if division.audited is not None and facts.audit is not None:
            parts.append(_audit_table(division.audited, facts.audit))
    return join(parts, "\n")


def _figure_words(division: Division) -> list[str]:
    words = []
    for group, row in division.changes.drop(index="all").iterrows():
        fair = "" if division.audited is None else f", fair by the audit {percent(division.audited.loc[group, 'fair'])}"
        words.append(f"{group}: on record {percent(row.recorded)}, decided {percent(row.decided)}{fair}.")
    return words


def _cell(row: pd.Series, name: str) -> Markup:
    """A share with its interval below it."""
    value = row[name]
    return stacked(percent(value), "" if np.isnan(value) else percent_range(row[f"{name}_low"], row[f"{name}_high"]))


def sensitive_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Groups in the order of the figure, and everybody last; everybody alone where there is one group."""
    groups = range(len(frame) - 2, -1, -1) if len(frame) > 2 else ()
    return frame.iloc[[*groups, len(frame) - 1]]


def _change_table(division: Division, good: str) -> Markup:
    kinds = ("recorded", "decided", "raised", "lowered")
    rows: list[list[Content]] = [
        [str(group), count(row.rows), *(_cell(row, kind) for kind in kinds)]
        for group, row in sensitive_first(division.changes).iterrows()
    ]
    gaps = division.disparities
    if len(division.grouping.groups) > 1:
        name = "difference, in points" if len(division.grouping.groups) == 2 else "largest difference, in points"
        shown = [
            stacked(points(gap.value), f"{points(gap.low)} to {points(gap.high)}" if division.grouping.certain else "")
            for gap in (gaps.loc["recorded"], gaps.loc["decided"])
        ]
        if len(division.grouping.groups) > 2:
            shown = [
                stacked(group_rows, division.furthest(kind)) for group_rows, kind in zip(shown, kinds, strict=False)
            ]
        rows.append([name, "", *shown, "", ""])
    header = ["Group", "Rows", "On record", "Decided by the model", "Raised", "Lowered"]
    caption = (
        f"Share with {good} on record and as decided; raised and lowered are decisions that differ from the record "
        "in either direction"
    )
    if len(division.grouping.groups) > 2:
        caption += "; the largest difference was picked among several, which its interval does not allow for"
    return table(header, rows, caption=caption, numbers=(1, 2, 3, 4, 5))


def _audit_table(quality: pd.DataFrame, audit: Audited) -> Markup:
    kinds = {"fair": "Fair rate", "accuracy": "Model is right", "record_right": "Record is right"}
    # What the model has learned from, and what was not predicted out of fold, does not say how often it is right.
    kinds = {kind: name for kind, name in kinds.items() if kind in quality and (kind != "accuracy" or audit.judged)}
    rows = [
        [str(group), count(row.rows), *(_cell(row, kind) for kind in kinds)]
        for group, row in sensitive_first(quality).iterrows()
    ]
    header = ["Group", "Audited rows", *kinds.values()]
    text = f"Estimated from {audit.sample.describe()}"
    if audit.learned and audit.judged:
        text += ". Where the model has learned from a row, a model that was fitted without it decides it"
    if "record_right" in kinds:
        text += ". The record is about these very people; the model decides without it"
    return table(header, rows, caption=text, numbers=range(1, len(header)))
