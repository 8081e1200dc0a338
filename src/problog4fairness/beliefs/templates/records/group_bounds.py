"""The difference between groups that are not known for certain, with the bounds that this ignorance leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problog4fairness.data import Codes, Floats
from problog4fairness.errors import P4FError


@dataclass(frozen=True)
class Disparity:
    """A disparity between groups that are not known for certain.

    Attributes
    ----------
    value
        Where decisions have nothing to do with the group beyond the proxies.
    low, high
        Between which it lies whatever else they have to do with it: the bounds that ignorance leaves.
    """

    value: float
    low: float
    high: float


def bounded_disparity(values: Floats, shares: Floats, places: Codes) -> Disparity:
    """The mean of a group minus that of everybody else (Kallus, Mao and Zhou 2022).

    Parameters
    ----------
    values
        ``[rows]``: what was decided.
    shares
        ``[rows]``: the probability of the group.
    places
        ``[rows]``: the combination of proxies; -1 where the group is known.
    """
    inside = [places == place for place in np.unique(places[places >= 0])]
    sums = np.array([_extremes(values[own], shares[own]) for own in inside])
    known = places < 0
    certain = float(values[known] @ shares[known])
    low, high = sums.sum(axis=0) + certain if len(sums) else (certain, certain)
    return Disparity(*(_difference(total, shares, values) for total in (float(shares @ values), low, high)))


def _extremes(values: Floats, shares: Floats) -> tuple[float, float]:
    """The least and the most that decisions about a share of these rows can sum to."""
    ordered, count = np.sort(values), float(shares.sum())
    sums = np.concatenate([[0.0], ordered.cumsum()])
    at = np.arange(len(sums))
    least = float(np.interp(count, at, sums))
    return least, float(sums[-1] - np.interp(len(values) - count, at, sums))


def _difference(total: float, shares: Floats, values: Floats) -> float:
    """The mean of the group minus that of the others, where decisions about the first sum to ``total``."""
    inside, outside = float(shares.sum()), float((1 - shares).sum())
    if min(inside, outside) == 0:
        raise P4FError("all rows are of one group; there is nothing to compare")
    return float(total / inside - (values.sum() - total) / outside)
