"""What a table says against learning from it: features that give the record or the group away, noise, copied votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import chi2

from problog4fairness.beliefs import coded_votes
from problog4fairness.data import MOST_ROWS, listed

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief
    from problog4fairness.data import Codes, Rows

# With fewer rows, nothing is said.
LEAST_ROWS = 200
# The share of rows whose recorded label a feature gives by itself, where it is that label under another name.
GIVEN_AWAY = 0.999
# Features are noise where none goes with the record by this chance, after correction for their number.
LEVEL = 0.01
# Values of a feature into which it is divided to be compared with the record.
BINS = 8
# Rows that two annotators share at least, how often two who copy agree, and by how many standard errors that is more
# than two who do not.
SHARED, COPIED, BEYOND = 50, 0.97, 6.0
# Of all rows, the share whose group a feature must tell to be called a stand-in for it.
TELLS = 0.99
# Values of a feature at most that is looked at as a stand-in.
MOST_VALUES = 100
# More annotators than this are not compared in pairs.
MOST_ANNOTATORS = 300


def table_concerns(rows: Rows, belief: Belief) -> list[str]:
    """What speaks against learning from these rows through a belief, a sentence each."""
    if belief.recorded_columns:
        return _copied(rows, belief)
    if rows.recorded is None:
        return []
    known = np.flatnonzero(rows.recorded >= 0)
    known = known[:: max(1, len(known) // MOST_ROWS)]
    labels = rows.recorded[known]
    if len(known) < LEAST_ROWS or len(np.unique(labels)) < 2:
        return []
    names = [name for name in rows.features if name not in belief.sensitive_columns]
    columns = {name: rows.frame[name].iloc[known] for name in names}
    sentences = []
    same = [name for name, column in columns.items() if _gives_away(column, labels)]
    if same:
        sentences.append(
            f"{'the feature' if len(same) == 1 else 'each of the features'} {listed(same)} determines the recorded "
            "label, so that the model learns the record and not the fair label; leave it out (drop, or --drop)"
        )
    if names and not same:
        chances = [_chance(column, labels) for column in columns.values()]
        if min(chances) * len(chances) > LEVEL:
            sentences.append(
                f"none of the {len(names)} features goes with the recorded label (smallest p {min(chances):.2g}): "
                "unless they act together, the model can only say how frequent the label is"
            )
    return sentences


def _gives_away(column: pd.Series, labels: Codes) -> bool:
    """Whether a column is the recorded label under another name: by its values, or by a threshold."""
    frequent = float(np.bincount(labels).max() / len(labels))
    if frequent > 0.98:
        return False
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) <= max(2, len(labels) // 50):
        table = np.zeros((len(values), int(labels.max()) + 1))
        np.add.at(table, (codes, labels), 1)
        return bool(table.max(axis=1).sum() >= GIVEN_AWAY * len(labels))
    if not pd.api.types.is_numeric_dtype(column) or len(np.unique(labels)) != 2:
        return False
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    order = np.argsort(numbers, kind="stable")
    ones = np.cumsum(labels[order] == labels.max())
    zeros = np.arange(1, len(order) + 1) - ones
    right = zeros + (ones[-1] - ones)
    ends = np.append(np.diff(numbers[order]) != 0, True)
    best = np.maximum(right, len(order) - right)[ends].max()
    return bool(best >= GIVEN_AWAY * len(labels))


def _chance(column: pd.Series, labels: Codes) -> float:
    """How likely a feature goes with the recorded label as much as this by chance, by a chi-squared test in bins."""
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > BINS:
        ranks = column.rank(method="average", pct=True, na_option="top").to_numpy()
        codes = np.minimum((ranks * BINS).astype(np.int64), BINS - 1)
    else:
        codes, _ = pd.factorize(column.astype(str), use_na_sentinel=False)
        counts = np.bincount(codes)
        # Rare values are taken together, so that chi-squared holds.
        codes = np.where(counts[codes] < 20, len(counts), codes)
    _, codes = np.unique(codes, return_inverse=True)
    _, labels = np.unique(labels, return_inverse=True)
    table = np.zeros((codes.max() + 1, labels.max() + 1))
    np.add.at(table, (codes, labels), 1)
    if len(table) < 2:
        return 1.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, (table.shape[0] - 1) * (table.shape[1] - 1)))


def _copied(rows: Rows, belief: Belief) -> list[str]:
    """Annotators who agree as two who do not copy each other would not.

    Two annotators who err independently of each other agree in a share αβ + (1 - α)(1 - β) of the rows, where α and β
    are how often they agree with what most of the others say.
    """
    columns = list(belief.recorded_columns)
    if len(columns) > MOST_ANNOTATORS:
        return []
    rows = rows.take(np.arange(len(rows))[:: max(1, len(rows) // MOST_ROWS)])
    votes = np.stack([coded_votes(rows, column) for column in columns], axis=1)
    voted = (votes >= 0).astype(np.float64)
    classes = range(len(rows.classes))
    same = np.sum([(votes == k).T.astype(np.float64) @ (votes == k) for k in classes], axis=0)
    shared = voted.T @ voted
    pairs = np.argwhere(np.triu((shared >= SHARED) & (same >= COPIED * shared), k=1))
    alike_pairs = []
    for one, two in pairs:
        both = votes[(votes[:, one] >= 0) & (votes[:, two] >= 0)]
        counts = np.stack([(np.delete(both, [one, two], axis=1) == k).sum(axis=1) for k in classes], axis=1)
        clear = counts.max(axis=1) * 2 > counts.sum(axis=1)
        if clear.sum() < SHARED:
            continue
        most, both = counts[clear].argmax(axis=1), both[clear]
        first, second = (float((both[:, place] == most).mean()) for place in (one, two))
        alike = first * second + (1 - first) * (1 - second)
        agree = float((both[:, one] == both[:, two]).mean())
        if agree - alike > BEYOND * np.sqrt(max(alike * (1 - alike), 1e-4) / len(both)):
            alike_pairs.append(f"{columns[one]!r} and {columns[two]!r}")
    if not alike_pairs:
        return []
    verb = "agree" if len(alike_pairs) == 1 else "and others agree"
    return [
        f"{listed(alike_pairs[:3])} {verb} almost always, errors included, as annotators who copy each other do; the "
        "belief takes them as independent: keep one of them"
    ]


def stand_ins(belief: Belief, rows: Rows) -> list[str]:
    """The features that determine the group of nearly everybody, as ``race`` does beside ``african_american``."""
    names: list[str] = []
    for way in belief.groupings(rows):
        # Of rows whose group is uncertain, nothing is told.
        known = np.flatnonzero(way.shares.max(axis=1) == 1)
        groups = way.shares[known].argmax(axis=1)
        if len(np.unique(groups)) < 2:
            continue
        names += [name for name in rows.features if name not in names and _tells(rows.frame[name].iloc[known], groups)]
    return names


def _tells(column: pd.Series[Any], groups: np.ndarray[Any, np.dtype[Any]]) -> bool:
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) > min(MOST_VALUES, len(codes) // 10):
        return False
    counts = np.zeros((len(values), int(groups.max()) + 1))
    np.add.at(counts, (codes, groups.astype(np.int64)), 1)
    # Beyond what always naming the largest group would get right.
    most = counts.sum(axis=0).max()
    return bool(counts.max(axis=1).sum() - most >= TELLS * (len(codes) - most))
