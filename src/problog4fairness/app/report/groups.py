"""The section of a report about audited rows by group: the confusion matrix and calibration, out of sample."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from problog4fairness.app.report.changes import sensitive_first
from problog4fairness.app.report.facts import Audited, Facts, groupings_of
from problog4fairness.app.report.markup import Markup, figure, inline, join, page_style, printable, stacked, table, tag
from problog4fairness.app.report.names import Names
from problog4fairness.audit import Audit
from problog4fairness.beliefs import Label
from problog4fairness.data import Codes, Floats, Grouping, Rows
from problog4fairness.metrics import decide
from problog4fairness.statistics import count, percent

BINS = 5
# A point of the calibration figure rests on so many rows at least.
FEWEST_IN_BIN = 8
COLOURS = (("#0072B2", "v"), ("#D55E00", "o"), ("#009E73", "s"), ("#CC79A7", "D"), ("#E69F00", "X"), ("#56B4E9", "P"))


def groups_section(facts: Facts, names: Names) -> Markup | None:
    """Confusion counts and a calibration figure for each sensitive variable; None without an audit."""
    audit = facts.audit
    if audit is None:
        return None
    parts: list[Markup] = [tag("p", about_quality(audit))]
    if not audit.judged:
        return parts[0]
    # What was not predicted out of sample is not shown.
    known = audit.known
    rows, proba, sample = audit.rows.take(known), audit.proba[known], audit.sample.take(known)
    groupings = groupings_of(facts.model, rows)
    for number, grouping in enumerate(groupings):
        if len(groupings) > 1:
            parts.append(tag("h3", f"By {grouping.name}"))
        counts = confusion(grouping, rows, decide(proba), sample)
        parts.append(_confusion_table(counts, facts.label))
        points = calibration(grouping, rows, proba[:, -1], sample)
        words = [
            f"{row.group}: predicted {percent(row.predicted)}, observed {percent(row.observed)} of "
            f"{count(row.rows, 'row')}."
            for row in points.itertuples()
        ]
        if len(points):
            with page_style():
                plot = draw_calibration(points, grouping.groups, names)
            caption = (
                f"Calibration: audited rows in fifths by their out-of-sample probability of {facts.label.good}, and "
                "the share that should have it, weighted, with 95% intervals. On the grey line both are the same."
            )
            alternative = "Calibration on audited rows. " + " ".join(words)
            parts.append(figure(inline(plot, f"calibration{number}", alternative), caption, "Calibration by group"))
    return join(parts, "\n")


def about_quality(audit: Audited) -> str:
    """What accuracies, rates and probabilities on audited rows rest on."""
    text = f"The audited rows: {audit.sample.describe()}."
    if audit.learned:
        text += f" The model has learned from {count(audit.learned)} of them; "
        left_out = len(audit.sample) - audit.judged
        if left_out < audit.learned:
            text += "each is decided here by a model that was fitted without it"
        if left_out:
            text += f"{', ' if left_out < audit.learned else ''}{count(left_out)} of them, too few to be predicted "
            text += "out of fold, are left out of accuracies, error rates and calibration"
        text += "."
    return text


def confusion(grouping: Grouping, rows: Rows, decisions: Codes, sample: Audit) -> pd.DataFrame:
    """By group, and for all: how many audited rows should have the favourable label or not, and get it or not.

    Rows count by what they stand for in the audit, their mean being 1.
    """
    fair, given = np.asarray(rows.fair) == rows.favourable, decisions == rows.favourable
    everybody = grouping.with_all()
    kinds = {
        "rightly_given": fair & given,
        "wrongly_refused": fair & ~given,
        "wrongly_given": ~fair & given,
        "rightly_refused": ~fair & ~given,
    }
    weighted = everybody.shares * sample.weights[:, None]
    frame = pd.DataFrame({name: values @ weighted for name, values in kinds.items()})
    return frame.set_axis(pd.Index(everybody.groups, name="group"))


def _confusion_table(counts: pd.DataFrame, label: Label) -> Markup:
    last = f"Should have {label.bad}, and gets {'that' if len(label.values) == 2 else 'one'}"
    header = ["Group", f"Should have {label.good}, and gets it", "Should have it, but does not get it",
              "Should not have it, but gets it", last]  # fmt: skip
    rows = []
    for group, row in sensitive_first(counts).iterrows():
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


def calibration(grouping: Grouping, rows: Rows, chance: Floats, sample: Audit) -> pd.DataFrame:
    """By group and fifth of probabilities: the mean probability, and the share that the audit found, both weighted."""
    fair, points = np.asarray(rows.fair) == rows.favourable, []
    edges = np.quantile(chance, np.linspace(0, 1, BINS + 1)[1:-1])
    place, member = np.searchsorted(edges, chance, side="right"), grouping.shares.argmax(axis=1)
    for group, name in enumerate(grouping.groups):
        for number in range(BINS):
            inside = (place == number) & (member == group)
            if inside.sum() >= FEWEST_IN_BIN:
                observed, predicted = sample.mean(fair, inside), sample.mean(chance, inside)
                ends = (observed.value, observed.low, observed.high)
                points.append((name, predicted.value, *ends, int(inside.sum())))
    return pd.DataFrame(points, columns=["group", "predicted", "observed", "low", "high", "rows"])


def draw_calibration(points: pd.DataFrame, groups: tuple[str, ...], names: Names) -> Figure:
    """What the model says against what the audit found."""
    plot = Figure(figsize=(5.2, 4.0), layout="constrained")
    axes = plot.subplots()
    axes.plot([0, 1], [0, 1], color="#B0B0B0", linewidth=1)
    for number, group in enumerate(groups):
        inside = points[points["group"] == group]
        colour, marker = COLOURS[number % len(COLOURS)]
        axes.vlines(inside["predicted"], inside["low"], inside["high"], colors=colour, linewidth=1.6)
        label = textwrap.shorten(printable(names.translated(str(group))), 40)
        axes.plot(inside["predicted"], inside["observed"], marker, color=colour, markersize=6.5, label=label)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("the model's probability, on average")
    axes.set_ylabel("share found by the audit")
    axes.grid(alpha=0.4, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    plot.legend(loc="outside upper left", ncols=2, frameon=False, fontsize="small")
    return plot
