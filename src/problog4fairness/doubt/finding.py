"""What one test of a belief found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from problog4fairness.rows.types import Codes, Floats

LEAST_AUDITED = 10


class NotDone(Exception):  # noqa: N818  a reason, not an error
    """Why a test cannot be done, in a few words: ``fewer than 10 audited rows``."""


@dataclass(frozen=True, eq=False)
class Finding:
    """What one test found.

    Attributes
    ----------
    sentence
        What was compared, and how it came out, in plain words.
    p
        The probability of something at least as extreme if the belief were right, before correction.
    rows
        The rows that say so, by number.
    advice
        What to do if it is a contradiction.
    """

    sentence: str
    p: float
    rows: Codes
    advice: str


def share_of_draws(drawn: Floats, seen: float) -> float:
    """The share of simulated values that are as great as what was seen, which counts as one of them; never 0."""
    return float((1 + np.count_nonzero(drawn >= seen - 1e-12)) / (1 + len(drawn)))


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for their number by Holm's way: the chance of one or more false alarms stays below 5%."""
    p = np.asarray(values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    found = np.empty(len(p))
    found[order] = np.minimum(steps, 1.0)
    return [float(own) for own in found]


def largest_of_normals(
    values: Floats, covariance: Floats, rng: np.random.Generator, count: int
) -> tuple[float, int, Floats]:
    """How often the largest of several normal numbers with mean 0 is as far from 0 as that of ``values``.

    Returns
    -------
    The p-value, which of them is the largest, and all of them in standard deviations.
    """
    spread = np.sqrt(np.diag(covariance))
    used = spread > 1e-12
    scores = np.where(used, values / np.where(used, spread, 1.0), 0.0)
    correlation = covariance[np.ix_(used, used)] / np.outer(spread[used], spread[used])
    sizes, directions = np.linalg.eigh(correlation)
    root = directions * np.sqrt(np.maximum(sizes, 0.0))
    drawn = np.abs(rng.standard_normal((count, int(used.sum()))) @ root.T).max(axis=1)
    which = int(np.abs(scores).argmax())
    return share_of_draws(drawn, float(np.abs(scores[which]))), which, scores
