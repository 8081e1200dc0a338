"""How sure one test set makes us of a metric: intervals from counts.

Each needs the counts only, so 100,000 rows cost milliseconds where a bootstrap costs minutes. They speak of *this*
classifier on new rows of the same kind; what another seed or another fold would give is the matter of
:func:`problog4fairness.metrics.summarise`. Rows count as independent, so there are no sample weights here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.beliefs.proportions import Estimate, proportion
from problog4fairness.errors import P4FError
from problog4fairness.metrics.differences import difference_interval
from problog4fairness.metrics.inputs import groups, in_sensitive_group, labels
from problog4fairness.metrics.rates import Aggregate, aggregate, selected_among


def accuracy_interval(y_true: Any, y_pred: Any, *, favourable: Any = None, confidence: float = 0.95) -> Estimate:
    """:func:`~problog4fairness.metrics.accuracy` with Wilson's interval.

    Examples
    --------
    >>> right = accuracy_interval([1] * 100, [1] * 80 + [0] * 20)
    >>> f"{right.value:.2f} ({right.low:.3f} to {right.high:.3f})"
    '0.80 (0.711 to 0.867)'
    """
    true, predicted = labels(favourable, y_true=y_true, y_pred=y_pred)
    return proportion(int(np.sum(true == predicted)), len(true), confidence)


def f1_interval(y_true: Any, y_pred: Any, *, favourable: Any = None, confidence: float = 0.95) -> Estimate:
    """:func:`~problog4fairness.metrics.f1` with Wilson's interval, carried over from a share that F1 is a function of.

    F1 = 2 J / (1 + J) with J = TP / (TP + FP + FN)

    J is the share of true positives among the rows that anyone calls 1; only those rows count, and ``rows`` is their
    number. Where there are none, F1 is 0 by convention and the interval is 0 to 1.

    Examples
    --------
    >>> score = f1_interval([1] * 60 + [0] * 40, [1] * 40 + [0] * 40 + [1] * 20)
    >>> f"{score.value:.3f} ({score.low:.3f} to {score.high:.3f}), {score.rows} rows"
    '0.667 (0.564 to 0.755), 80 rows'
    """
    true, predicted = labels(favourable, y_true=y_true, y_pred=y_pred)
    share = proportion(int(np.sum(true & predicted)), int(np.sum(true | predicted)), confidence)
    low, high = (2 * end / (1 + end) for end in (share.low, share.high))
    value = 2 * share.value / (1 + share.value) if share.rows else 0.0
    return Estimate(value, low, high, share.rows)


def selection_rate_intervals(
    y_pred: Any, *, sensitive_features: Any, favourable: Any = None, confidence: float = 0.95
) -> pd.DataFrame:
    """:func:`~problog4fairness.metrics.selection_rates` with Wilson's intervals: value, low, high, rows per group.

    Examples
    --------
    >>> table = selection_rate_intervals([1, 0, 0, 0, 1, 1], sensitive_features=[1, 1, 1, 1, 0, 0])
    >>> table.round(3).loc[1].to_dict()
    {'value': 0.25, 'low': 0.046, 'high': 0.699, 'rows': 4.0}
    """
    (selected,) = labels(favourable, y_pred=y_pred)
    by = groups(sensitive_features, len(selected))
    rows = np.bincount(by.codes, minlength=len(by))
    chosen = np.bincount(by.codes[selected], minlength=len(by))
    found = [proportion(int(k), int(n), confidence) for k, n in zip(chosen, rows, strict=True)]
    return pd.DataFrame([vars(estimate) for estimate in found], index=by.names)


def disparity_interval(
    y_pred: Any,
    *,
    sensitive_features: Any,
    levels: Sequence[Any] = (0, 1),
    favourable: Any = None,
    confidence: float = 0.95,
) -> Estimate:
    """:func:`~problog4fairness.metrics.statistical_disparity` of decisions, with Newcombe's interval.

    P(decision = 1 | A = 1) - P(decision = 1 | A = 0)

    Of decisions or recorded labels, not of probabilities: those have no counts.

    Examples
    --------
    >>> granted, poor = [1] * 30 + [0] * 70 + [1] * 60 + [0] * 40, [1] * 100 + [0] * 100
    >>> gap = disparity_interval(granted, sensitive_features=poor)
    >>> f"{gap.value:.2f} ({gap.low:.3f} to {gap.high:.3f})"
    '-0.30 (-0.422 to -0.163)'
    """
    (selected,) = labels(favourable, y_pred=y_pred)
    sensitive = in_sensitive_group(sensitive_features, len(selected), levels)
    rows, chosen = int(sensitive.sum()), int(np.sum(selected & sensitive))
    return difference_interval(chosen, rows, int(selected.sum()) - chosen, len(selected) - rows, confidence)


def equalized_odds_interval(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    favourable: Any = None,
    agg: Aggregate = "worst_case",
    confidence: float = 0.95,
) -> Estimate:
    """:func:`~problog4fairness.metrics.equalized_odds_difference` with an interval from Newcombe's.

    The difference is a maximum of absolute differences d, so it lies between the largest low end and the largest high
    end of |d| whenever all intervals of the d's hold at once. True and false positive rates rest on different rows:
    each gets the confidence sqrt(confidence), which is split evenly (Bonferroni) over the pairs of groups. The interval
    errs on the wide side. Note that the value itself, a maximum, is above the truth on average where groups are small.

    Examples
    --------
    >>> true = ([1] * 100 + [0] * 100) * 2
    >>> predicted = [1] * 90 + [0] * 10 + [1] * 20 + [0] * 80 + [1] * 70 + [0] * 30 + [1] * 20 + [0] * 80
    >>> odds = equalized_odds_interval(true, predicted, sensitive_features=[0] * 200 + [1] * 200)
    >>> f"{odds.value:.2f} ({odds.low:.3f} to {odds.high:.3f})"
    '0.20 (0.074 to 0.320)'
    """
    if not 0 < confidence < 1:
        raise P4FError(f"confidence {confidence:g} is not between 0 and 1")
    true, predicted = labels(favourable, y_true=y_true, y_pred=y_pred)
    by = groups(sensitive_features, len(true))
    pairs = list(combinations(range(len(by)), 2))
    if not pairs:
        raise P4FError("sensitive_features have one group; equalized odds compares two or more")
    each = 1 - (1 - confidence**0.5) / len(pairs)
    largest = []
    for rows in (true, ~true):
        chosen, total = (counts.astype(int).tolist() for counts in selected_among(rows, predicted, by))
        found = [difference_interval(chosen[i], total[i], chosen[j], total[j], each) for i, j in pairs]
        # |d| of d in [low, high]: 0 is its low end where d may be 0.
        apart = [(abs(d.value), max(d.low, -d.high, 0.0), max(-d.low, d.high)) for d in found]
        largest.append(np.max(apart, axis=0))
    value, low, high = (aggregate(part, agg) for part in np.transpose(largest))
    return Estimate(value, low, high, len(true))
