"""The section of a report about what the model changes, by group."""

from __future__ import annotations

import numpy as np
import pandas as pd

from problog4fairness.app.report.changes import draw_changes
from problog4fairness.app.report.facts import Division, Facts
from problog4fairness.app.report.markup import Content, Markup, figure, join, stacked, table, tag
from problog4fairness.app.report.names import Names
from problog4fairness.app.report.svg import inline
from problog4fairness.statistics import count, percent, percent_range, points


def changed(facts: Facts, names: Names) -> Markup:
    """What the model changes, by group."""
    parts: list[Content] = []
    for number, division in enumerate(facts.divisions):
        if len(facts.divisions) > 1:
            parts.append(tag("h3", f"By {division.way.name}"))
        drawing = draw_changes(division.changes, division.audited, facts.label.good, names)
        alternative = f"Share with {facts.label.good} by group. " + " ".join(_figure_words(division))
        caption = f"Share of people with {facts.label.good}; lines are 95% intervals."
        parts.append(figure(inline(drawing, f"changes{number}", alternative), caption, "Rates by group"))
        parts.append(_change_table(division, facts.label.good))
        if division.audited is not None:
            parts.append(_audit_table(division.audited, facts))
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


def _sensitive_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Groups in the order of the figure, and everybody last; everybody alone where there is one group."""
    groups = range(len(frame) - 2, -1, -1) if len(frame) > 2 else ()
    return frame.iloc[[*groups, len(frame) - 1]]


def _change_table(division: Division, good: str) -> Markup:
    kinds = ("recorded", "decided", "raised", "lowered")
    rows: list[list[Content]] = [
        [str(group), count(row.rows), *(_cell(row, kind) for kind in kinds)]
        for group, row in _sensitive_first(division.changes).iterrows()
    ]
    gaps = division.disparities
    if len(division.way.groups) > 1:
        name = "difference, in points" if len(division.way.groups) == 2 else "largest difference, in points"
        shown = [
            stacked(points(gap.value), f"{points(gap.low)} to {points(gap.high)}" if division.way.certain else "")
            for gap in (gaps.loc["recorded"], gaps.loc["decided"])
        ]
        if len(division.way.groups) > 2:
            shown = [stacked(own, division.furthest(kind)) for own, kind in zip(shown, kinds, strict=False)]
        rows.append([name, "", *shown, "", ""])
    header = ["Group", "Rows", "On record", "Decided by the model", "Raised", "Lowered"]
    caption = (
        f"Share with {good} on record and as decided; raised and lowered are decisions that differ from the record "
        "in either direction"
    )
    if len(division.way.groups) > 2:
        caption += "; the largest difference was picked among several, which its interval does not allow for"
    return table(header, rows, caption=caption, numbers=(1, 2, 3, 4, 5))


def _audit_table(audited: pd.DataFrame, facts: Facts) -> Markup:
    kinds = {"fair": "Fair rate", "accuracy": "Model is right", "record_right": "Record is right"}
    # What the model has learned from, and what was not predicted out of fold, does not say how often it is right.
    kinds = {kind: name for kind, name in kinds.items() if kind in audited and (kind != "accuracy" or facts.judged)}
    rows = [
        [str(group), count(row.rows), *(_cell(row, kind) for kind in kinds)]
        for group, row in _sensitive_first(audited).iterrows()
    ]
    header = ["Group", "Audited rows", *kinds.values()]
    told = "Estimated from the audited rows" if facts.sample is None else f"Estimated from {facts.sample.describe()}"
    if facts.learned and facts.judged:
        told += ". Where the model has learned from a row, a model that was fitted without it decides it"
    if "record_right" in kinds:
        told += ". The record is about these very people; the model decides without it"
    return table(header, rows, caption=told, numbers=range(1, len(header)))
