"""The section of a report about audited rows by group: the confusion matrix and calibration, out of sample."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from problog4fairness.app.report.facts import Facts, groupings
from problog4fairness.app.report.markup import Markup, figure, join, printable, stacked, table, tag
from problog4fairness.app.report.names import Names
from problog4fairness.app.report.svg import inline, page_style
from problog4fairness.audit import Audit
from problog4fairness.beliefs import Label
from problog4fairness.data import Codes, Floats, Grouping, Rows
from problog4fairness.metrics import decide
from problog4fairness.statistics import count, percent

BINS = 5
# A point of the calibration figure rests on so many rows at least.
FEWEST_IN_BIN = 8
COLOURS = (("#0072B2", "v"), ("#D55E00", "o"), ("#009E73", "s"), ("#CC79A7", "D"), ("#E69F00", "X"), ("#56B4E9", "P"))


def by_group(facts: Facts, names: Names) -> Markup | None:
    """Confusion counts and a calibration figure for each sensitive variable; None without an audit."""
    rows, chances, sample = facts.audit_rows, facts.audit_chances, facts.sample
    if rows is None or chances is None or rows.fair is None or sample is None:
        return None
    parts: list[Markup] = [tag("p", about_quality(facts))]
    known = np.flatnonzero(~np.isnan(chances[:, 0]))
    if not len(known):
        return parts[0]
    # What was not predicted out of sample is not shown.
    rows, chances, sample = rows.take(known), chances[known], sample.take(known)
    ways = groupings(facts.model, rows)
    for number, way in enumerate(ways):
        if len(ways) > 1:
            parts.append(tag("h3", f"By {way.name}"))
        counts = confusion(way, rows, decide(chances), sample)
        parts.append(_confusion_table(counts, facts.label))
        text = calibration(way, rows, chances[:, -1], sample)
        words = [
            f"{row.group}: said {percent(row.said)}, found {percent(row.found)} of {count(row.rows, 'row')}."
            for row in text.itertuples()
        ]
        if len(text):
            with page_style():
                drawing = draw_calibration(text, way.groups, names)
            caption = (
                f"Calibration: audited rows in fifths by their out-of-sample probability of {facts.label.good}, and "
                "the share that should have it, weighted, with 95% intervals. On the grey line both are the same."
            )
            alternative = "Calibration on audited rows. " + " ".join(words)
            parts.append(figure(inline(drawing, f"calibration{number}", alternative), caption, "Calibration by group"))
    return join(parts, "\n")


def about_quality(facts: Facts) -> str:
    """What accuracies, rates and probabilities on audited rows rest on."""
    assert facts.sample is not None
    text = f"The audited rows: {facts.sample.describe()}."
    if facts.learned:
        text += f" The model has learned from {count(facts.learned)} of them; "
        left_out = len(facts.sample) - facts.judged
        if left_out < facts.learned:
            text += "each is decided here by a model that was fitted without it"
        if left_out:
            text += f"{', ' if left_out < facts.learned else ''}{count(left_out)} of them, too few to be predicted "
            text += "out of fold, are left out of accuracies, error rates and calibration"
        text += "."
    return text


def confusion(way: Grouping, rows: Rows, decisions: Codes, sample: Audit) -> pd.DataFrame:
    """By group, and for all: how many audited rows should have the favourable label or not, and get it or not.

    Rows count by what they stand for in the audit, their mean being 1.
    """
    fair, given = np.asarray(rows.fair) == rows.favourable, decisions == rows.favourable
    shares = np.column_stack([way.shares, np.ones(len(given))])
    kinds = {
        "rightly_given": fair & given,
        "wrongly_refused": fair & ~given,
        "wrongly_given": ~fair & given,
        "rightly_refused": ~fair & ~given,
    }
    weighted = shares * sample.weights[:, None]
    frame = pd.DataFrame({name: values @ weighted for name, values in kinds.items()})
    return frame.set_axis(pd.Index([*way.groups, "all"], name="group"))


def _confusion_table(counts: pd.DataFrame, label: Label) -> Markup:
    last = f"Should have {label.bad}, and gets {'that' if len(label.values) == 2 else 'one'}"
    header = ["Group", f"Should have {label.good}, and gets it", "Should have it, but does not get it",
              "Should not have it, but gets it", last]  # fmt: skip
    order = [*range(len(counts) - 2, -1, -1), len(counts) - 1] if len(counts) > 2 else [len(counts) - 1]
    rows = []
    for group, row in counts.iloc[order].iterrows():
        given, refused, wrong, right = (float(value) for value in row)
        errors = (_of(refused, given + refused), _of(wrong, wrong + right))
        rows.append([str(group), count(given), *errors, count(right)])
    return table(
        header,
        rows,
        caption="Confusion matrix by group: audited rows, weighted, by fair label and decision",
        numbers=range(1, 5),
    )


def _of(part: float, whole: float) -> Markup:
    """A number of errors, and of how many it is which share."""
    return stacked(count(part), f"{percent(part / whole)} of {count(whole)}" if whole else "")


def calibration(way: Grouping, rows: Rows, chance: Floats, sample: Audit) -> pd.DataFrame:
    """By group and fifth of probabilities: the mean probability, and the share that the audit found, both weighted."""
    fair, text = np.asarray(rows.fair) == rows.favourable, []
    edges = np.quantile(chance, np.linspace(0, 1, BINS + 1)[1:-1])
    place, member = np.searchsorted(edges, chance, side="right"), way.shares.argmax(axis=1)
    for group, name in enumerate(way.groups):
        for number in range(BINS):
            inside = (place == number) & (member == group)
            if inside.sum() >= FEWEST_IN_BIN:
                share, said = sample.mean(fair, inside), sample.mean(chance, inside)
                text.append((name, said.value, share.value, share.low, share.high, int(inside.sum())))
    return pd.DataFrame(text, columns=["group", "said", "found", "low", "high", "rows"])


def draw_calibration(text: pd.DataFrame, groups: tuple[str, ...], names: Names) -> Figure:
    """What the model says against what the audit found."""
    drawing = Figure(figsize=(5.2, 4.0), layout="constrained")
    axes = drawing.subplots()
    axes.plot([0, 1], [0, 1], color="#B0B0B0", linewidth=1)
    for number, group in enumerate(groups):
        inside = text[text["group"] == group]
        colour, marker = COLOURS[number % len(COLOURS)]
        axes.vlines(inside["said"], inside["low"], inside["high"], colors=colour, linewidth=1.6)
        label = textwrap.shorten(printable(names.said(str(group))), 40)
        axes.plot(
            inside["said"], inside["found"], color=colour, marker=marker, linestyle="none", markersize=6.5, label=label
        )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("the model's probability, on average")
    axes.set_ylabel("share found by the audit")
    axes.grid(alpha=0.4, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    drawing.legend(loc="outside upper left", ncols=2, frameon=False, fontsize="small")
    return drawing
