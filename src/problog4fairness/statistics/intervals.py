"""Intervals for a ratio of sums of proportions, each counted in a stratum of its own.

Rows that were drawn by their recorded label say how many of each stratum have a fair label. With the known sizes N of
the strata, the probability that a fair label was recorded as r is a ratio of sums over strata s:

    value = sum_s top_s q_s / (constant + sum_s bottom_s q_s)

The value is t where sum_s (top_s - t bottom_s) q_s = t constant, so each t is tested as a linear hypothesis about
independent proportions, at the proportions that are most likely under it. Those t that are not refused are the
interval: Wilson's for one stratum, Koopman's for the ratio of two, each with a correction for counts being whole.
Which intervals hold was decided by simulation (``docs/results/audit-design``): audits that end as soon as an interval
is short enough cover the truth too rarely without the correction.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from problog4fairness.data import Codes, Floats
from problog4fairness.statistics.proportions import check_confidence

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
