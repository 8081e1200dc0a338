"""How many rows an audit needs."""

from __future__ import annotations

import math

from problog4fairness.errors import P4FError

# More rows than this are no plan, and counting them would lose digits.
MOST_ROWS = 10**15


def required_samples(error: float = 0.1, confidence: float = 0.95) -> int:
    """Rows needed to know one probability within ``error`` with ``confidence``, by Hoeffding's inequality.

    n >= ln(2 / (1 - confidence)) / (2 error^2)

    These are rows *of the cell* that the parameter is about: for the negative bias against a group, rows of that group
    whose fair label is 1. :func:`rows_to_draw` tells how many rows to audit to get them.

    Parameters
    ----------
    error
        Half the width of the interval.
    confidence
        How often such an interval is to hold the probability.

    Examples
    --------
    >>> required_samples(error=0.1, confidence=0.95)
    185
    """
    if not 0 < error < 1:
        raise P4FError(f"error {error:g} is not between 0 and 1")
    if not 0 < confidence < 1:
        raise P4FError(f"confidence {confidence:g} is not between 0 and 1")
    rows = math.log(2 / (1 - confidence)) / 2 / error / error
    if rows > MOST_ROWS:
        raise P4FError(f"error {error:g} is too small: it takes more than {MOST_ROWS:g} rows; choose a larger one")
    return math.ceil(rows)


def rows_to_draw(needed: int, share: float, confidence: float = 0.95) -> int:
    """Rows to draw at random so that, with ``confidence``, at least ``needed`` fall into a cell that holds ``share``.

    Parameters
    ----------
    needed
        Rows of the cell.
    share
        The share of all rows that is in the cell.
    confidence
        How often so many rows are to be enough.

    Examples
    --------
    >>> rows_to_draw(185, share=0.25)
    819
    """
    if needed < 0:
        raise P4FError(f"needed {needed} is negative")
    if not 0 < share <= 1:
        raise P4FError(f"share {share:g} is not above 0 and at most 1")
    if not 0 < confidence < 1:
        raise P4FError(f"confidence {confidence:g} is not between 0 and 1")
    if needed == 0 or share == 1:
        return needed
    if needed / share > MOST_ROWS:
        raise P4FError(f"a cell that holds {share:g} of all rows takes more than {MOST_ROWS:g} rows to get {needed}")
    low, high = needed, math.ceil(2 * needed / share) + 10
    while _enough(high, needed, share) < confidence:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if _enough(middle, needed, share) >= confidence:
            high = middle
        else:
            low = middle + 1
    return low


def _enough(rows: int, needed: int, share: float) -> float:
    """P(at least ``needed`` of ``rows`` fall into the cell), a binomial tail as an incomplete beta function."""
    from scipy.special import betainc

    return float(betainc(needed, rows - needed + 1, share))
