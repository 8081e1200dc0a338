"""Features that are distorted together: what an audit says of P(fair vector | recorded vector, group).

There are many pairs of vectors and few audited rows, so the table is shrunk: counts of a recorded vector are combined
with a prior, Beta(s t, s (1 - t)) for each fair vector. Its mean t is what would hold if each recorded value
depended on its own fair value and the group alone, while the fair values may go together in any way:

    t(fair | recorded) ~ P(fair) * product over features of P(recorded_i | fair_i)

Its worth s, in rows, is the one by which each audited row is predicted best from all others in its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.audit.reading import warn_audit
from problog4fairness.data import Floats
from problog4fairness.statistics import HALF, Beta, Estimate, Parameter

if TYPE_CHECKING:
    from problog4fairness.beliefs import Distorted

# What the prior may be worth, in rows.
WORTH = 2.0 ** np.arange(-1, 6)
_LEAST = 1e-6


def joint_parameters(
    part: Distorted, parameters: Sequence[Parameter], counts: Floats, confidence: float
) -> dict[str, Parameter]:
    """The parameters of features that are distorted together, by name.

    Parameters
    ----------
    part
        The features.
    parameters
        Theirs. A change that has none does not happen.
    counts
        Of audited rows, ``[groups, recorded, fair]``.
    confidence
        Of the intervals.
    """
    of_part = [(own, own.cell) for own in parameters if own.cell is not None and own.cell.feature == part.title]
    allowed = np.zeros(counts.shape, dtype=bool) | np.eye(counts.shape[1], dtype=bool)
    for _, cell in of_part:
        allowed[cell.group, cell.recorded, cell.fair] = True
    means = [_independent(part, table, may) for table, may in zip(counts, allowed, strict=True)]
    worth = [_worth(table * may, mean) for table, may, mean in zip(counts, allowed, means, strict=True)]
    estimated = {}
    for own, cell in of_part:
        mean = float(np.clip(means[cell.group][cell.recorded, cell.fair], _LEAST, 1 - _LEAST))
        prior = own.prior or Beta(worth[cell.group] * mean, worth[cell.group] * (1 - mean))
        row = counts[cell.group, cell.recorded]
        hits, rows = float(row[cell.fair]), float(row.sum())
        share = Estimate(hits / rows if rows else 0.0, 0.0, 1.0, round(rows))
        known = replace(own, prior=prior).estimated(share, confidence=confidence)
        # The mean of the prior is uncertain, too: half a row more either way. What nobody has seen may never happen.
        low, high = Beta(prior.a + HALF, prior.b + HALF).after(hits, rows).interval(confidence)
        estimated[own.name] = replace(known, low=low if hits else 0.0, high=high)
    return estimated


def _independent(part: Distorted, counts: Floats, allowed: Floats) -> Floats:
    """``[recorded, fair]``: P(fair | recorded) if each recorded value comes from its own fair value alone."""
    sizes = tuple(map(len, part.options))
    places = np.unravel_index(np.arange(len(part.values)), sizes)
    fair, single, errors = counts.sum(axis=0), np.ones(len(part.values)), np.ones(counts.shape)
    total = fair.sum()
    for size, values in zip(sizes, places, strict=True):
        hot = np.eye(size)[values]
        share = (hot.T @ fair + HALF) / (total + size * HALF)
        single = single * share[values]
        pairs = hot.T @ counts @ hot + HALF * np.eye(size)
        errors = errors * (pairs / pairs.sum(axis=0))[values[:, None], values]
    # Fair vectors that were not seen get a little, by how frequent their values are.
    joint = (fair + np.sqrt(total + 1) * single) * errors * allowed
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _worth(counts: Floats, mean: Floats) -> float:
    """The worth of the prior by which every row is predicted best from the others."""
    others = np.maximum(counts - 1, 0.0)
    whole = np.maximum(counts.sum(axis=1, keepdims=True) - 1, 0.0)
    scores = [float((counts * np.log((others + worth * mean + _LEAST) / (whole + worth))).sum()) for worth in WORTH]
    return float(WORTH[int(np.argmax(scores))])


def warn_unseen(part: Distorted, counts: Floats, groups: Sequence[int], words: Sequence[str]) -> None:
    """Warn of recorded vectors that no audited row has."""
    for group in groups:
        unseen = int((counts[group].sum(axis=1) == 0).sum())
        if unseen:
            warn_audit(
                f"where {words[group]}, no audited row has {unseen} of the {len(part.values)} combinations of "
                f"{part.title}: they are taken as if each of these was distorted by itself"
            )
