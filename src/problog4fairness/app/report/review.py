"""The rows whose record was most likely distorted, for somebody to look at, and the section of a report about them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from sklearn.neighbors import NearestNeighbors

from problog4fairness.app.report.changes import Bools, sensitive_first
from problog4fairness.app.report.markup import Markup, join, plain, table, tag
from problog4fairness.audit import Audit
from problog4fairness.beliefs import restore
from problog4fairness.data import Floats, Grouping, Rows, csv_text, write_atomically
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, distortion_of, explain, fair_proba
from problog4fairness.statistics import Estimate, count, percent, percent_interval

if TYPE_CHECKING:
    from problog4fairness.app.report.facts import Facts


LABEL = "the recorded label is not the fair one"
FEATURES = "a recorded feature is not the fair one"
DISAGREES = "the fair label is another one than the recorded label, by their features alone"
MOST_SHOWN = 20
# Neighbours are looked for of so many rows at most, the likeliest.
MOST_EXPLAINED = 10_000

NEIGHBOURS = 25
# Neighbours are looked for among so many rows at most.
MOST_NEIGHBOURS = 20_000


@dataclass(frozen=True, eq=False)
class Review:
    """Rows to look at.

    Attributes
    ----------
    table
        All rows that may be distorted, likeliest first, by their number from 1. After the columns of the data come
        ``fair_probability``, ``distorted``, the ``odds`` that it is, and the share of favourable records among the
        ``nearest_neighbours`` in other groups.
    what
        What is likely of them, in words.
    expected
        How many rows are expected to be like that, by group (and ``all``) and recorded label.
    tied
        How many rows are not shown although they are as likely as the last one that is.
    """

    table: pd.DataFrame
    what: str
    expected: pd.DataFrame
    tied: int

    @property
    def shown(self) -> pd.DataFrame:
        """The rows that a page shows."""
        return self.table.head(MOST_SHOWN)


@dataclass(frozen=True)
class QueueCheck:
    """Whether the queue was right on audited rows: those more likely distorted than not, and the others.

    How many there are of either kind, and the shares of them that were distorted, weighted.
    """

    queued: int
    right: Estimate
    others: int
    missed: Estimate


def review(model: DebiasedClassifier, rows: Rows, shown: pd.DataFrame, grouping: Grouping) -> tuple[Review, Floats]:
    """The rows to look at, and for every row the probability of each fair label, ``[rows, classes]``.

    ``shown`` are the rows with the columns to show. The expected number is counted by group, and nearest neighbours
    are looked for in other groups.
    """
    chances, chance, what = _explained(model, rows)
    fair, known = chances[:, -1], np.nan_to_num(chance)
    order = np.lexsort((np.arange(len(known)), -known))
    order = order[known[order] > 0]
    last = known[order[min(MOST_SHOWN, len(order)) - 1]] if len(order) else 0.0
    tied = int((known >= last - 1e-12).sum()) - min(MOST_SHOWN, len(order)) if len(order) else 0
    table = shown.iloc[order].set_axis(pd.Index(order + 1, name="row"))
    alike = np.full(len(order), np.nan)
    alike[:MOST_EXPLAINED] = neighbours(rows, grouping, order[:MOST_EXPLAINED])
    with np.errstate(divide="ignore"):
        odds = known / (1 - known)
    for name, values in (
        ("fair_probability", fair[order]),
        ("distorted", chance[order]),
        ("odds", odds[order]),
        ("nearest_neighbours", alike),
    ):
        while name in table.columns:
            name += "_"
        table[name] = values
    return Review(table, what, _expected(rows, grouping, known), tied), chances


def write_queue(table: pd.DataFrame, path: str | PathLike[str]) -> None:
    """Write all rows for review, likeliest first, as CSV with six digits."""
    write_atomically(Path(path), csv_text(table, 6, index=True))


def checked_queue(
    model: DebiasedClassifier, rows: Rows, chances: Floats, learned: Bools, sample: Audit
) -> QueueCheck | None:
    """Whether the queue was right on audited rows; None where it is not about their labels, or none can be judged by.

    ``chances`` are P(fair label), out of fold where the model has ``learned`` from a row.
    """
    if rows.recorded is None or rows.fair is None:
        return None
    # The list is made without the fair labels that judge it.
    _, chance, what = _explained(model, replace(rows, fair=None))
    if what == FEATURES:
        return None
    known = ~learned
    if learned.any():
        held_out = _out_of_fold(model, replace(rows, fair=None), chances, what)
        if held_out is not None:
            chance, known = np.where(learned, held_out, chance), known | ~np.isnan(chances[:, 0])
    if not known.any():
        return None
    queued, wrong = known & (np.nan_to_num(chance) > 0.5), rows.recorded != rows.fair
    others = known & ~queued
    return QueueCheck(int(queued.sum()), sample.mean(wrong, queued), int(others.sum()), sample.mean(wrong, others))


def _out_of_fold(model: DebiasedClassifier, rows: Rows, chances: Floats, what: str) -> Floats | None:
    """How likely each row's record was distorted, by predictions out of fold; None where features are distorted."""
    filled = np.where(np.isnan(chances), 1 / chances.shape[1], chances)
    if what == DISAGREES:
        return np.asarray(1 - filled[np.arange(len(rows)), np.asarray(rows.recorded)])
    observation = model.belief_.observe(rows)
    if observation.variants > 1:
        return None
    table = np.full((len(observation.table), chances.shape[1]), 1 / chances.shape[1])
    table[observation.inputs[:, 0].numpy()] = filled
    return distortion_of(observation, torch.from_numpy(np.log(np.maximum(table, 1e-300))), rows)


def _expected(rows: Rows, grouping: Grouping, chance: Floats) -> pd.DataFrame:
    favourable = np.asarray(rows.recorded) == rows.favourable
    everybody = grouping.with_all()
    kinds = {"favourable": favourable, "other": ~favourable}
    columns = {name: (chance * mask) @ everybody.shares for name, mask in kinds.items()}
    return pd.DataFrame(columns, index=pd.Index(everybody.groups, name="group"))


def _explained(model: DebiasedClassifier, rows: Rows) -> tuple[Floats, Floats, str]:
    """P(fair label), ``[rows, classes]``, the probability that each row's record was distorted, and what that means.

    Where the belief says that labels are distorted, it is that of the label; where only features are, that at least one
    of them is. Programs that do not say which label is fair get the model's probability of the other label.
    """
    try:
        result = explain(model, rows)
    except P4FError:
        fair = fair_proba(model, rows)
        return fair, 1 - fair[np.arange(len(rows)), np.asarray(rows.recorded)], DISAGREES
    fair, label = result.fair, np.asarray(result.distorted)
    features = restore(model.belief_, rows).feature_distortion()
    if features and np.nan_to_num(label).max() < 1e-9:
        return fair, 1 - np.prod([1 - chance for chance in features.values()], axis=0), FEATURES
    return fair, label, LABEL


def neighbours(rows: Rows, grouping: Grouping, chosen: np.ndarray[Any, np.dtype[np.int64]]) -> Floats:
    """For each chosen row the share of favourable records among the 25 people of other groups who are most alike.

    Alike by the features: numbers by how far they are apart in standard deviations, texts by whether they are the same.
    With one group, among everybody. NaN where there is nobody else; of an uncertain group
    the likeliest counts.
    """
    result = np.full(len(chosen), np.nan)
    names = [name for name in rows.features if name not in grouping.name.split(", ")]
    if not names or not len(chosen):
        return result
    places, recorded = _placed(rows.frame[names]), np.asarray(rows.recorded) == rows.favourable
    group = grouping.shares.argmax(axis=1)
    everybody = np.random.default_rng(0).permutation(len(rows))[:MOST_NEIGHBOURS]
    for number in np.unique(group[chosen]):
        others = everybody[group[everybody] != number] if len(grouping.groups) > 1 else everybody
        if not len(others):
            continue
        mine = group[chosen] == number
        nearest = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(others))).fit(places[others])
        result[mine] = recorded[others[nearest.kneighbors(places[chosen[mine]], return_distance=False)]].mean(axis=1)
    return result


def _placed(frame: pd.DataFrame) -> Floats:
    """Rows as points: numbers in standard deviations, texts as 0 and 1 for each value; what is missing is average."""
    columns = []
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            known = values[np.isfinite(values)]
            mean, spread = (known.mean(), known.std()) if len(known) else (0.0, 0.0)
            columns.append(np.where(np.isfinite(values), (values - mean) / (spread or 1.0), 0.0))
        else:
            common = column.astype(str).value_counts().index[:20]
            columns += [(column.astype(str) == value).to_numpy(dtype=np.float64) for value in common]
    return np.column_stack(columns)


# More columns than this make a table of rows hard to read.
MOST_COLUMNS = 8


def review_section(facts: Facts) -> Markup:
    """The rows most likely distorted."""
    review = facts.review
    if not len(review.table):
        return tag("p", "Under this belief no row is likely to be distorted.")
    total = float(review.expected.loc["all"].sum())
    opening = (
        f"Rows for which it is most likely that {review.what}, under the belief. In all {count(len(facts.data))} rows, "
        f"about {count(total)} are expected to be of that kind."
    )
    return join([tag("p", opening), _expected_table(facts), *_was_right(facts), _rows(facts)], "\n")


def _expected_table(facts: Facts) -> Markup:
    label, frame = facts.label, facts.review.expected
    rows = [
        [str(group), *(count(row[kind]) for kind in ("favourable", "other"))]
        for group, row in sensitive_first(frame).iterrows()
    ]
    header = ["Group", f"Recorded with {label.good}", f"Recorded with {label.bad}"]
    return table(header, rows, caption="How many are expected, by group and recorded label", numbers=(1, 2))


def _was_right(facts: Facts) -> list[Markup]:
    queue = None if facts.audit is None else facts.audit.queue
    if queue is None or not queue.queued + queue.others:
        return []
    if not queue.queued:
        return [tag("p", "No audited row is more likely distorted than not: how often the list is right is not known.")]
    missed = f"; of the other {count(queue.others)}, an estimated {_share(queue.missed)} were" if queue.others else ""
    return [
        tag(
            "p",
            f"Would this list have been right? Of {count(queue.queued, 'audited row')} more likely distorted than not "
            f"(out of sample), an estimated {_share(queue.right)} were{missed}.",
        )
    ]


def _share(estimate: Estimate) -> str:
    return percent_interval(estimate.value, estimate.low, estimate.high)


def _rows(facts: Facts) -> Markup:
    review = facts.review
    result = review.shown
    *others, _, distorted, odds, alike = result.columns
    shown = others[:MOST_COLUMNS]
    rows = [
        [
            count(row),
            _likely(result.loc[row, distorted]),
            _odds(result.loc[row, odds]),
            percent(result.loc[row, alike]),
            *(plain(result.loc[row, name]) for name in shown),
        ]
        for row in result.index
    ]
    amounts = [i for i, name in enumerate(shown, start=4) if pd.api.types.is_numeric_dtype(result[name])]
    chance = "P(other label)" if review.what == DISAGREES else "P(distorted)"
    elsewhere = "in other groups" if len(facts.divisions[0].grouping.groups) > 1 else "anywhere"
    header = ["Row", chance, "Odds", "Favourable rate among nearest neighbours", *shown]
    text = (
        f"Row 1 is the first row of the data. Odds distinguish what is nearly certain: 300 means 300 to 1. The "
        f"fourth column says why a row is listed: of its {NEIGHBOURS} nearest neighbours {elsewhere}, by their "
        f"features, so many are on record with {facts.label.good}."
    )
    if review.tied:
        text += f" {count(review.tied, 'more row is', 'more rows are')} as likely as the last one shown."
    numbers = (0, 1, 2, 3, *amounts)
    parts = [tag("p", text), table(header, rows, caption=f"Likely mislabelled: the first {len(rows)}", numbers=numbers)]
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
