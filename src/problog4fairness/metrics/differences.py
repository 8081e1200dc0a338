"""The difference of two shares, with the interval that the counts allow."""

from __future__ import annotations

import math

from problog4fairness.errors import P4FError
from problog4fairness.statistics import Estimate, proportion


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
