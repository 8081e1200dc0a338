"""The metrics, each a function of :class:`~problog4fairness.metrics.predictions.Judged`, and their intervals.

Intervals need counts only, so 100,000 rows cost milliseconds where a bootstrap costs minutes. They speak of *this*
classifier on new rows of the same kind; what another seed or another fold would give is the matter of
:func:`problog4fairness.metrics.summarise`. Rows count as independent, unless they are audited rows with a sampling
design: then shares are weighted and intervals know the strata (:class:`problog4fairness.Audit`).
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from problog4fairness.data import Floats
from problog4fairness.errors import P4FError
from problog4fairness.metrics.predictions import Judged
from problog4fairness.statistics import Estimate, check_confidence, proportion


def accuracy(j: Judged) -> float:
    """Share of rows whose decision is the true label, of all classes."""
    return j.mean(_right(j))


def accuracy_interval(j: Judged, confidence: float) -> Estimate:
    """Wilson's."""
    return j.estimate(_right(j), None, confidence)


def _right(j: Judged) -> Floats:
    return j.label * j.decision + (1 - j.label) * (1 - j.decision) if j.right is None else j.right


def f1(j: Judged) -> float:
    """2 TP / (2 TP + FP + FN), of expected counts where decisions are drawn; 0, as in scikit-learn, of no such rows."""
    either = float(j.weights @ (j.label + j.decision))
    return 2 * float(j.weights @ (j.label * j.decision)) / either if either else 0.0


def f1_interval(j: Judged, confidence: float) -> Estimate:
    """Wilson's, carried over from a share that F1 is a function of.

    F1 = 2 J / (1 + J) with J = TP / (TP + FP + FN)

    J is the share of true positives among the rows that anyone calls 1; only those rows count, and ``rows`` is their
    number. Where there are none, F1 is 0 by convention and the interval is 0 to 1.
    """
    share = j.estimate(j.label * j.decision, np.maximum(j.label, j.decision) > 0, confidence)
    low, high = (2 * end / (1 + end) for end in (share.low, share.high))
    return Estimate(f1(j), min(low, f1(j)), max(high, f1(j)), share.rows)


def positive_rate(j: Judged) -> float:
    """Share of rows with a favourable decision."""
    return j.mean(j.decision)


def positive_rate_interval(j: Judged, confidence: float) -> Estimate:
    """Wilson's."""
    return j.estimate(j.decision, None, confidence)


def disparity(j: Judged) -> float:
    """The selection rate where A = 1 minus that where A = 0; of more than two groups the largest difference."""
    means = j.group_means(j.decision)
    return float(means[1] - means[0]) if len(means) == 2 else float(np.ptp(means))


def disparity_interval(j: Judged, confidence: float) -> Estimate:
    """Newcombe's; of more than two groups it does not allow for the choice of the two that are furthest apart."""
    means = j.group_means(j.decision)
    other, one = (0, 1) if len(means) == 2 else (int(means.argmin()), int(means.argmax()))
    return difference_of(*(j.estimate(j.decision, j.groups == group, confidence) for group in (one, other)))


def odds(j: Judged) -> Floats:
    """``[2, groups]``: true and false positive rate of each group, NaN where it has no such row."""
    return np.stack([j.group_means(j.decision, j.label == value) for value in (1, 0)])


def equalized_odds(j: Judged) -> float:
    """max(largest TPR - smallest TPR, largest FPR - smallest FPR) between groups, as fairlearn defines it."""
    return float(np.ptp(odds(j), axis=1).max())


def equalized_odds_interval(j: Judged, confidence: float) -> Estimate:
    """From Newcombe's.

    The difference is a maximum of absolute differences d, so it lies between the largest low end and the largest high
    end of |d| whenever all intervals of the d's hold at once. True and false positive rates rest on different rows:
    each gets the confidence sqrt(confidence), which is split evenly (Bonferroni) over the pairs of groups. The interval
    errs on the wide side. Note that the value itself, a maximum, is above the truth on average where groups are small.
    """
    check_confidence(confidence)
    pairs = list(combinations(range(j.count), 2))
    each = 1 - (1 - confidence**0.5) / len(pairs)
    apart = []
    for value in (1, 0):
        rates = [j.estimate(j.decision, (j.label == value) & (j.groups == group), each) for group in range(j.count)]
        differences = [difference_of(rates[a], rates[b]) for a, b in pairs]
        # |d| of d in [low, high]: 0 is its low end where d may be 0.
        apart += [(abs(d.value), max(d.low, -d.high, 0.0), max(-d.low, d.high)) for d in differences]
    value, low, high = np.max(apart, axis=0).tolist()
    return Estimate(value, low, high, len(j))


def difference_interval(
    successes: int, rows: int, other_successes: int, other_rows: int, confidence: float = 0.95
) -> Estimate:
    """The share of ``successes`` minus that of another, independent sample, with Newcombe's interval.

    low  = d - sqrt((p - l)^2 + (u' - p')^2)
    high = d + sqrt((u - p)^2 + (p' - l')^2)

    where d = p - p' and (l, u), (l', u') are Wilson's intervals of the two shares (Newcombe 1998, method 10). It stays
    within -1 and 1 and keeps its coverage where shares are near 0 and 1 or a group is small.

    Parameters
    ----------
    successes, rows
        Counts of the first sample: of the sensitive group.
    other_successes, other_rows
        Counts of the second.
    confidence
        Probability with which such an interval holds the true difference.

    Examples
    --------
    Newcombe's own example, 56 of 70 against 48 of 80:

    >>> d = difference_interval(56, 70, 48, 80)
    >>> f"{d.value:.2f} ({d.low:.4f} to {d.high:.4f}), {d.rows} rows"
    '0.20 (0.0524 to 0.3339), 150 rows'
    """
    if rows < 1 or other_rows < 1:
        raise P4FError("a difference needs rows in both samples; one has none")
    return difference_of(proportion(successes, rows, confidence), proportion(other_successes, other_rows, confidence))


def difference_of(one: Estimate, other: Estimate) -> Estimate:
    """The difference of two shares that were estimated from independent samples, from their intervals (Newcombe)."""
    value = one.value - other.value
    low = value - math.hypot(one.value - one.low, other.high - other.value)
    high = value + math.hypot(one.high - one.value, other.value - other.low)
    return Estimate(value, max(-1.0, low), min(1.0, high), one.rows + other.rows)
