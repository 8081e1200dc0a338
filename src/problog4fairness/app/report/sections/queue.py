"""The section of a report about rows for review: how many, which, why, and whether such a list was right before."""

from __future__ import annotations

import math

import pandas as pd

from problog4fairness.app.report.facts import Facts
from problog4fairness.app.report.markup import Markup, join, plain, table, tag
from problog4fairness.app.report.review import DISAGREES, NEIGHBOURS
from problog4fairness.statistics import Estimate, count, percent, percent_interval

# More columns than this make a table of rows hard to read.
MOST_COLUMNS = 8


def suspects(facts: Facts) -> Markup:
    """The rows most likely distorted."""
    review = facts.review
    if not len(review.table):
        return tag("p", "Under this belief no row is likely to be distorted.")
    total = float(review.expected.loc["all"].sum())
    opening = (
        f"Rows for which it is most likely that {review.what}, under the belief. In all {count(len(facts.data))} rows, "
        f"about {count(total)} are expected to be of that kind."
    )
    return join([tag("p", opening), _expected(facts), *_was_right(facts), _rows(facts)], "\n")


def _expected(facts: Facts) -> Markup:
    label, frame = facts.label, facts.review.expected
    rows = [
        [str(group), *(count(row[kind]) for kind in ("favourable", "other"))]
        for group, row in frame.iloc[[*range(len(frame) - 2, -1, -1), len(frame) - 1]].iterrows()
    ]
    header = ["Group", f"Recorded with {label.good}", f"Recorded with {label.bad}"]
    return table(header, rows, caption="How many are expected, by group and recorded label", numbers=(1, 2))


def _was_right(facts: Facts) -> list[Markup]:
    queue = facts.queue
    if queue is None or not queue.queued + queue.others:
        return []
    if not queue.queued:
        return [
            tag("p", "No audited row is more likely distorted than not: nothing tells how often the list is right.")
        ]
    missed = f"; of the other {count(queue.others)}, an estimated {_share(queue.missed)} were" if queue.others else ""
    return [
        tag(
            "p",
            f"Would this list have been right? Of {count(queue.queued, 'audited row')} more likely distorted than not "
            f"(out of sample), an estimated {_share(queue.right)} were{missed}.",
        )
    ]


def _share(own: Estimate) -> str:
    return percent_interval(own.value, own.low, own.high)


def _rows(facts: Facts) -> Markup:
    review = facts.review
    found = review.shown
    *others, _, distorted, odds, alike = found.columns
    shown = others[:MOST_COLUMNS]
    rows = [
        [
            count(row),
            _likely(found.loc[row, distorted]),
            _odds(found.loc[row, odds]),
            percent(found.loc[row, alike]),
            *(plain(found.loc[row, name]) for name in shown),
        ]
        for row in found.index
    ]
    amounts = [i for i, name in enumerate(shown, start=4) if pd.api.types.is_numeric_dtype(found[name])]
    chance = "P(other label)" if review.what == DISAGREES else "P(distorted)"
    elsewhere = "in other groups" if len(facts.divisions[0].way.groups) > 1 else "anywhere"
    header = ["Row", chance, "Odds", "Favourable rate among nearest neighbours", *shown]
    told = (
        f"Row 1 is the first row of the data. Odds tell apart what is nearly certain: 300 means 300 to 1. The "
        f"fourth column says why a row is listed: of its {NEIGHBOURS} nearest neighbours {elsewhere}, by their "
        f"features, so many are on record with {facts.label.good}."
    )
    if review.tied:
        told += f" {count(review.tied, 'more row is', 'more rows are')} as likely as the last one shown."
    numbers = (0, 1, 2, 3, *amounts)
    parts = [tag("p", told), table(header, rows, caption=f"Likely mislabelled: the first {len(rows)}", numbers=numbers)]
    if len(others) > len(shown):
        parts.append(tag("p", f"Columns not shown: {', '.join(others[MOST_COLUMNS:])}."))
    return join(parts, "\n")


def _likely(chance: float) -> str:
    """A probability near 1, which is never quite certain."""
    shown = f"{100 * chance:.1f}%"
    return "> 99.9%" if shown == "100.0%" and chance < 1 else shown


def _odds(odds: float) -> str:
    """Odds to 1: ``0.4``, ``12``, ``2,300``."""
    if math.isinf(odds):
        return "certain"
    return f"{odds:.2g}" if odds < 10 else f"{float(f'{odds:.2g}'):,.0f}"
