"""A probability estimated from counts or known beforehand, with its interval, and how many rows an estimate needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from problog4fairness.errors import P4FError

# More rows than this are no plan, and counting them would lose digits.
MOST_ROWS = 10**15


@dataclass(frozen=True)
class Estimate:
    """A probability, its confidence interval, and the number of rows that it rests on.

    Attributes
    ----------
    value
        The estimate, NaN where there was no row to estimate it from.
    low, high
        Ends of the interval; 0 and 1 where there was no row.
    rows
        Rows used.
    """

    value: float
    low: float
    high: float
    rows: int

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low


def check_confidence(confidence: float) -> None:
    """Raise the error that says why no interval has this confidence."""
    if not 0 < confidence < 1:
        raise P4FError(f"confidence {confidence:g} is not between 0 and 1")


def interval(value: float, rows: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a proportion ``value`` seen in ``rows`` rows; rows need not be whole.

    It keeps its coverage for few rows and for proportions near 0 and 1, where the textbook interval does not.
    """
    check_confidence(confidence)
    if rows <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    spread = z * z / rows
    centre = (value + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(value * (1 - value) / rows + spread / (4 * rows))
    # At 0 and 1 the ends are exact; rounding must not move them inside.
    low = 0.0 if value <= 0 else max(0.0, centre - half)
    high = 1.0 if value >= 1 else min(1.0, centre + half)
    return low, high


def equal_rows(value: float, low: float, high: float, confidence: float = 0.95) -> float:
    """The rows of a random sample in which Wilson's interval around ``value`` is as wide as from ``low`` to ``high``.

    An interval that knows how rows were sampled becomes a number of rows, for methods that take counts.

    Examples
    --------
    >>> f"{equal_rows(0.3, *interval(0.3, 100)):.1f}"
    '100.0'
    """
    width = high - low
    if width >= 1:
        return 0.0
    fewest, most = 1e-3, 1e12
    for _ in range(100):
        middle = math.sqrt(fewest * most)
        ends = interval(value, middle, confidence)
        fewest, most = (middle, most) if ends[1] - ends[0] > width else (fewest, middle)
    return math.sqrt(fewest * most)


def proportion(successes: float, rows: float, confidence: float = 0.95) -> Estimate:
    """The share of ``successes`` among ``rows``, with Wilson's interval; neither need be whole.

    Examples
    --------
    >>> estimate = proportion(105, 346)
    >>> f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
    '0.303 (0.257 to 0.354)'
    """
    if not 0 <= successes <= rows * (1 + 1e-12):
        raise P4FError(f"{successes} of {rows} is not a proportion")
    value = min(successes / rows, 1.0) if rows else math.nan
    return Estimate(value, *interval(value, rows, confidence), round(rows))


def required_samples(error: float = 0.1, confidence: float = 0.95) -> int:
    """Rows needed to know one probability within ``error``, half the width of its interval, by Hoeffding's inequality.

    n >= ln(2 / (1 - confidence)) / (2 error^2)

    These are rows *of the cell* that the parameter is about: for the negative bias against a group, rows of that group
    whose fair label is 1. :func:`rows_to_draw` tells how many rows to audit to get them.

    Examples
    --------
    >>> required_samples(error=0.1, confidence=0.95)
    185
    """
    if not 0 < error < 1:
        raise P4FError(f"error {error:g} is not between 0 and 1")
    check_confidence(confidence)
    rows = math.log(2 / (1 - confidence)) / 2 / error / error
    if rows > MOST_ROWS:
        raise P4FError(f"error {error:g} is too small: it takes more than {MOST_ROWS:g} rows; choose a larger one")
    return math.ceil(rows)


def rows_to_draw(needed: int, share: float, confidence: float = 0.95) -> int:
    """Rows to draw at random so that, with ``confidence``, ``needed`` of them fall into a cell with this share of all.

    Examples
    --------
    >>> rows_to_draw(185, share=0.25)
    819
    """
    from scipy.stats import nbinom

    if needed < 0:
        raise P4FError(f"needed {needed} is negative")
    if not 0 < share <= 1:
        raise P4FError(f"share {share:g} is not above 0 and at most 1")
    check_confidence(confidence)
    if needed == 0 or share == 1:
        return needed
    if needed / share > MOST_ROWS:
        raise P4FError(f"a cell that holds {share:g} of all rows takes more than {MOST_ROWS:g} rows to get {needed}")
    # The failures before so many successes follow a negative binomial distribution.
    return needed + int(nbinom.ppf(confidence, needed, share))


@dataclass(frozen=True)
class Beta:
    """What is known of a probability before any row is looked at: as if ``a`` rows had shown it, and ``b`` had not.

    Parameters
    ----------
    a, b
        Above 0. Their sum says how many rows the prior is worth, ``a / (a + b)`` is its mean.

    Examples
    --------
    >>> low, high = Beta(2, 8).interval()
    >>> f"{Beta(2, 8).mean:.2f} ({low:.2f} to {high:.2f})"
    '0.20 (0.03 to 0.48)'
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for number in (self.a, self.b):
            if type(number) not in (int, float) or not 0 < number < math.inf:
                raise P4FError(f"Beta({self.a!r}, {self.b!r}): both must be numbers above 0, such as Beta(2, 8)")

    @property
    def mean(self) -> float:
        """The expected probability."""
        return self.a / (self.a + self.b)

    @property
    def information(self) -> float:
        """The Fisher information of the rows that it is worth."""
        return (self.a + self.b) / (self.mean * (1 - self.mean))

    def after(self, successes: float, rows: float) -> Beta:
        """What is known once ``successes`` were seen among ``rows``."""
        return Beta(self.a + successes, self.b + rows - successes)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The range that holds the probability with this confidence, as much of the rest below as above."""
        from scipy.special import betaincinv

        rest = (1 - confidence) / 2
        return float(betaincinv(self.a, self.b, rest)), float(betaincinv(self.a, self.b, 1 - rest))

    def __str__(self) -> str:
        return f"Beta({self.a:g}, {self.b:g})"
