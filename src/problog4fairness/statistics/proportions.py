"""Proportions: estimated from counts or known beforehand, with intervals, and how many rows an estimate needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from problog4fairness.data import Codes, Floats
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


# Halvings of the interval that holds a root: 2^-32 is far below what a table shows.
STEPS = 32
# A stratum that was audited whole is known; as a number of rows it is this many times as large.
WHOLE = 1e6


def effective_rows(rows: Floats, sizes: Floats) -> Floats:
    """How many rows of an endless table tell as much as ``rows`` that were drawn from one of ``sizes``, each once."""
    left = np.maximum(sizes - rows, rows / WHOLE)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(rows > 0, rows * np.maximum(sizes - 1, 1) / left, 0.0))


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio of sums of the shares q of strata: sum_s top_s q_s / (constant + sum_s bottom_s q_s).

    Rows that were drawn by their recorded label say how many of each stratum have a fair label. With the known sizes of
    the strata, the probability that a fair label was recorded as r is such a ratio. It is t where
    sum_s (top_s - t bottom_s) q_s = t constant, so each t is tested as a linear hypothesis about independent
    proportions, at the proportions that are most likely under it. Those t that are not refused are the interval:
    Wilson's for one stratum, Koopman's for the ratio of two, each with a correction for counts being whole. Which
    intervals hold was decided by simulation (``docs/results/audit-design``): audits that end as soon as an interval is
    short enough cover the truth too rarely without the correction.

    Attributes
    ----------
    top, bottom, constant
        ``[strata]``, ``[strata]`` and a number.
    """

    top: Floats
    bottom: Floats
    constant: float

    @property
    def used(self) -> Codes:
        """The strata that matter."""
        return np.flatnonzero((self.top != 0) | (self.bottom != 0))

    def value(self, shares: Floats) -> Floats:
        """The ratio at shares ``[..., strata]``; NaN where nothing is below the line."""
        below = self.constant + shares @ self.bottom
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(below > 0, shares @ self.top / below, np.nan))

    def score_interval(
        self, hits: Floats, rows: Floats, sizes: Floats, confidence: float, corrected: bool = True
    ) -> tuple[Floats, Floats]:
        """The values that a score test, corrected by half a row of the stratum where a row weighs most, accepts.

        Parameters
        ----------
        hits, rows
            ``[..., strata]``: audited rows of each stratum with the fair label in question, and all of them.
        sizes
            ``[strata]``: rows of each stratum in the whole table.
        confidence
            Of the interval.
        corrected
            Whether it is; without, the interval is too short where counts are small.
        """
        check_confidence(confidence)
        used = self.used
        part = Ratio(self.top[used], self.bottom[used], self.constant)
        return part._accepted(hits[..., used], rows[..., used], sizes[used], confidence, corrected)

    def _accepted(
        self, hits: Floats, rows: Floats, sizes: Floats, confidence: float, corrected: bool
    ) -> tuple[Floats, Floats]:
        """Where the test changes its mind below and above the estimate, by halving; all strata matter."""
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        many = np.maximum(effective_rows(rows, sizes), 1e-9)
        share = hits / np.maximum(rows, 1)
        # As far as the share of a stratum may move while the count stays the same; less where few rows are left.
        half = 0.5 * corrected / np.sqrt(np.maximum(rows, 1) * many)

        def refused(value: Floats) -> Any:
            factors, wanted = self.top - value[..., None] * self.bottom, value * self.constant
            likely = most_likely_shares(share * many, many, factors, wanted)
            spread = (factors**2 * likely * (1 - likely) / many).sum(-1)
            distance = np.abs((factors * share).sum(-1) - wanted) - (np.abs(factors) * half).max(-1)
            return np.maximum(distance, 0) ** 2 > z * z * spread

        centre = self.value(share)
        observed = (rows > 0).all(-1) & ~np.isnan(centre)
        inside = np.stack([np.where(observed, centre, 0.5)] * 2)
        outside = last = np.stack([np.zeros_like(centre), np.ones_like(centre)])
        at_end = ~refused(last)
        for _ in range(STEPS):
            middle = (inside + outside) / 2
            out = refused(middle)
            inside, outside = np.where(out, inside, middle), np.where(out, middle, outside)
        ends = np.where(at_end, last, inside)
        # No value is possible beyond what the rows that were not audited could make of it.
        least, most = hits / np.maximum(sizes, 1), (np.maximum(sizes - rows, 0) + hits) / np.maximum(sizes, 1)
        up = self.top > 0
        low, high = (self.value(np.clip(np.where(up, *pair), 0, 1)) for pair in ((least, most), (most, least)))
        low, high = np.maximum(ends[0], np.nan_to_num(low, nan=0.0)), np.minimum(ends[1], np.nan_to_num(high, nan=1.0))
        return np.where(observed, low, 0.0), np.where(observed, high, 1.0)


def most_likely_shares(hits: Floats, rows: Floats, factors: Floats, wanted: Floats) -> Floats:
    """The proportions under which the counts are most likely, of those with sum_s factors_s q_s = ``wanted``.

    They solve (hits - rows q) / (q (1 - q)) = multiplier * factor, a quadratic equation for each stratum; the sum falls
    with the multiplier, which is found by halving. One stratum, or two of which nothing is wanted, as in binary labels,
    have a formula.
    """
    factors = np.asarray(factors)
    if factors.shape[-1] == 1:
        with np.errstate(invalid="ignore", divide="ignore"):
            only = np.where(factors == 0, hits / np.maximum(rows, 1e-300), wanted[..., None] / factors)
        return np.asarray(np.clip(only, 0, 1))
    if factors.shape[-1] == 2 and not np.any(wanted) and not (factors.prod(-1) > 0).any():
        return _two_shares(hits, rows, factors)
    return _many_shares(hits, rows, factors, wanted)


def _two_shares(hits: Floats, rows: Floats, factors: Floats) -> Floats:
    """Shares in the ratio of the other one's factors: a quadratic equation for what both are multiples of."""
    largest = np.abs(factors).max(-1, keepdims=True)
    ratio = np.abs(factors[..., ::-1]) / np.where(largest > 0, largest, 1.0)
    all_hits, all_rows = hits.sum(-1), rows.sum(-1)
    middle = all_hits * ratio.sum(-1) + ((rows - hits) * ratio).sum(-1)
    root = np.sqrt(np.maximum(middle**2 - 4 * ratio.prod(-1) * all_rows * all_hits, 0))
    scale = 2 * all_hits / np.maximum(middle + root, 1e-300)
    return np.asarray(np.clip(ratio * scale[..., None], 0, 1))


def _many_shares(hits: Floats, rows: Floats, factors: Floats, wanted: Floats) -> Floats:
    """Any number of shares, by halving."""
    largest = np.abs(factors).max(-1)
    scale = (rows.sum(-1) / np.where(largest > 0, largest, 1.0))[..., None]
    low = np.full((*factors.shape[:-1], 1), -np.pi / 2)
    high = -low
    for _ in range(STEPS):
        middle = (low + high) / 2
        shares = _shares(hits, rows, np.tan(middle) * scale * factors)
        above = ((factors * shares).sum(-1) > wanted)[..., None]
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return _shares(hits, rows, np.tan((low + high) / 2) * scale * factors)


def _shares(hits: Floats, rows: Floats, pull: Floats) -> Floats:
    """The root of pull q (1 - q) + rows q = hits between 0 and 1, written so that no digits are lost."""
    sum_ = pull + rows
    root = np.sqrt(np.maximum(sum_ * sum_ - 4 * pull * hits, 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(sum_ >= 0, 2 * hits / (sum_ + root), (sum_ - root) / (2 * pull))
    return np.asarray(np.clip(np.nan_to_num(shares, nan=0.5), 0, 1))
