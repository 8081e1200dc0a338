"""The day on which a bias changed: searched for in audited rows, and tested whether there was one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from problog4fairness.data import Codes, Floats
from problog4fairness.errors import P4FError

# Of the audited rows, those that a period has at least: this part, and this many.
LEAST_PART, LEAST_ROWS = 0.1, 10
# Days that are tried, and orders of the rows that the best one is compared with.
MOST_DAYS, SHUFFLED = 200, 999
# By how much log-likelihood the day of the change is behind the best one, at most, in 95% of audits: on either side of
# it, the log-likelihood is a random walk that falls, whose highest point is above c with probability exp(-c).
NEAR = -float(np.log1p(-np.sqrt(0.95)))


@dataclass(frozen=True)
class ChangeFound:
    """The day that divides audited rows best.

    Attributes
    ----------
    day
        The first day of the later period.
    low, high
        The first and the last day that may have been the first of the later period, with 95% confidence.
    p
        The chance that some day divides rows as well where nothing changed.
    """

    day: str
    low: str
    high: str
    p: float


def search_change(days: Any, cells: Codes, hit: Floats, seed: int = 0) -> ChangeFound:
    """Find the day from which on labels were distorted more often, or less often.

    Every day that leaves enough rows on both sides is tried: the log-likelihood of one probability before and another
    one after it, in each cell, against one for both. The largest is compared with that of the same rows in which who
    was distorted is shuffled within cells, so that the number of days that were tried is counted in.

    Parameters
    ----------
    days
        ``[rows]``, numpy's days.
    cells
        ``[rows]``: rows that are distorted equally often, if nothing changed.
    hit
        ``[rows]``: 1 where a label was distorted.
    seed
        Of the shuffling.
    """
    order = np.argsort(days, kind="stable")
    days, cells, hit = days[order], cells[order], hit[order]
    first = _candidates(days)
    rng = np.random.default_rng(seed)
    seen, shuffled = np.zeros(len(first)), np.zeros((SHUFFLED, len(first)))
    for cell in np.unique(cells):
        members = np.flatnonzero(cells == cell)
        before, hits = np.searchsorted(members, first), hit[members].astype(np.int64)
        until = np.concatenate([[0], hits.cumsum()])[before]
        seen += _gain(until[None], before, hits.sum(), len(members))[0]
        # Who was distorted, shuffled: how many of them then are between one day and the next.
        between = np.diff(before, prepend=0, append=len(members))
        drawn = rng.multivariate_hypergeometric(between, hits.sum(), SHUFFLED, method="marginals")
        shuffled += _gain(drawn[:, :-1].cumsum(axis=1), before, hits.sum(), len(members))
    best = int(seen.argmax())
    near = np.flatnonzero(seen >= seen[best] - NEAR)
    above = int((shuffled.max(axis=1) >= seen[best] - 1e-9).sum())
    day, high = (str(days[first[place]]) for place in (best, near[-1]))
    # Any day after the last audited one of the earlier period divides the rows in the same way.
    low = str(days[first[near[0]] - 1] + np.timedelta64(1, "D"))
    return ChangeFound(day, low, high, (1 + above) / (SHUFFLED + 1))


def _candidates(days: Any) -> Codes:
    """The numbers of the rows with which a later period may begin, of rows in the order of their days."""
    least = max(LEAST_ROWS, int(np.ceil(LEAST_PART * len(days))))
    starts = np.flatnonzero(days[1:] != days[:-1]) + 1
    starts = starts[(starts >= least) & (starts <= len(days) - least)]
    if not len(starts):
        raise P4FError(
            f"no day divides the {len(days)} audited rows into two periods of {least} or more; audit rows of other days"
        )
    if len(starts) > MOST_DAYS:
        starts = starts[np.unique(np.linspace(0, len(starts) - 1, MOST_DAYS).astype(int))]
    return np.asarray(starts)


def _gain(hits: Codes, before: Codes, total: int, rows: int) -> Floats:
    """``[draws, days]``: log-likelihood that two probabilities add, with hits ``[draws, days]`` before each day."""
    return _likelihood(hits, before) + _likelihood(total - hits, rows - before) - _likelihood(total, rows)


def _likelihood(hits: Any, rows: Any) -> Floats:
    share = hits / np.maximum(rows, 1)
    return np.asarray(xlogy(hits, share) + xlogy(rows - hits, 1 - share))
