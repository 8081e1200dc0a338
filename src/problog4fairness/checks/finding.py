"""What one check of a belief found, and the statistics that checks share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from problog4fairness.data import Codes, Floats

LEAST_AUDITED = 10
# The share of a statistic that must stay when the learners are better, for it not to be their error: of one that is
# 0 if one of two models is right. One that takes the model of the fair label for granted is not decided then.
STAYS, NEVER = 2 / 3, float("inf")
# All tests together are wrong in at most this share of tables; so many of them are usual; and the power that is stated.
LEVEL, USUAL, POWER = 0.05, 7, 0.8


class NotDone(Exception):  # noqa: N818  a reason, not an error
    """Why a test cannot be done, in a few words: ``fewer than 10 audited rows``."""


@dataclass(frozen=True, eq=False)
class Finding:
    """What one test found: what was compared and how it came out, and what to do if it is a contradiction.

    Where a test relies on the quick learners, ``score`` says how many standard deviations it is from what the belief
    says. Where larger trees predict clearly better than small ones, the share ``stays`` of it must stay when they
    learn: the rest was learner error, and what stays may be, too.
    """

    sentence: str
    p: float  # of something at least as extreme if the belief were right, before correction
    rows: Codes  # those that say so, by number
    advice: str
    score: float | None = None
    stays: float = STAYS
    least: str = ""  # the least difference that such data show in four of five tables, in words, where it is known


def share_of_draws(drawn: Floats, observed: float) -> float:
    """The share of simulated values that are as great as what was observed, which counts as one of them; never 0."""
    return float((1 + np.count_nonzero(drawn >= observed - 1e-12)) / (1 + len(drawn)))


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for their number by Holm's way: the chance of one or more false alarms stays below 5%."""
    p = np.asarray(values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(steps, 1.0)
    return [float(value) for value in corrected]


def least_shown(spread: Floats, names: Sequence[str], compared: int) -> str:
    """The difference that the worst of several comparisons shows with 80% power, after all corrections, in points.

    ``spread`` is the standard error of each difference, and ``compared`` how many are corrected for.
    """
    worst = int(np.argmax(spread))
    least = float(spread[worst]) * (norm.isf(LEVEL / USUAL / compared / 2) + norm.isf(1 - POWER))
    if least >= 1:
        return f"no difference{names[worst]}"
    return f"{100 * least:.2g} points{names[worst]}"


def normals(covariance: Floats, count: int, rng: np.random.Generator) -> Floats:
    """``[count, numbers]``: normal numbers with mean 0 and this covariance."""
    sizes, directions = np.linalg.eigh(covariance)
    root = directions * np.sqrt(np.maximum(sizes, 0.0))
    return np.asarray(rng.standard_normal((count, len(covariance))) @ root.T)


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
    drawn = np.abs(normals(correlation, count, rng)).max(axis=1)
    which = int(np.abs(scores).argmax())
    return share_of_draws(drawn, float(np.abs(scores[which]))), which, scores
