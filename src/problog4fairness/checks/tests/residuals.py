"""Residuals of audited fair labels, and how large they are by chance if the belief is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problog4fairness.checks.case import SIMULATED, Case
from problog4fairness.checks.finding import normals
from problog4fairness.data import Codes, Floats

# Random numbers that are held at once.
_AT_ONCE = 1 << 21
# Audited rows from which on sums of residuals are as good as normal.
NORMAL = 2_000


@dataclass(frozen=True, eq=False)
class Residuals:
    """Sums of weighted residuals of audited rows, and the same simulated from the model.

    Attributes
    ----------
    values
        ``[sums]``: sum of weight × factor × (1 if this is the fair class, otherwise 0, minus its probability).
    simulated
        ``[draws, sums]``: the same of fair labels that are drawn from these probabilities.
    variance
        ``[sums]``: their variance, by the model. That of the observed products would be 0 in a small group in which no
        audited row has the rare label.
    """

    values: Floats
    simulated: Floats
    variance: Floats


def audited_residuals(case: Case, rows: Codes, factors: Floats, rng: np.random.Generator) -> Residuals:
    """Residuals of the fair labels of audited rows, given features, group *and* recorded label.

    The probabilities are P(fair | features, group, recorded). They hold under every way of sampling by these, so that
    weights change what is estimated, a mean of the whole table, and not whether the belief is contradicted by chance.

    Parameters
    ----------
    case
        The belief and its rows.
    rows
        The audited rows, by number.
    factors
        ``[rows, classes, sums]``: how much each class of each row counts in each sum.
    rng
        For the simulations.
    """
    chance = case.posterior[rows]
    counted = factors * case.stands_for[:, None, None]
    flat = counted.reshape(-1, counted.shape[2])
    expected = np.einsum("rk,rks->s", chance, counted)
    hit = np.eye(chance.shape[1])[case.fair]
    values = np.einsum("rk,rks->s", hit, counted) - expected
    means = np.einsum("rk,rks->rs", chance, counted)
    covariance = np.einsum("rk,rks,rkt->st", chance, counted, counted) - means.T @ means
    if len(rows) > NORMAL:
        return Residuals(values, normals(covariance, SIMULATED, rng), np.diag(covariance))
    ends = np.cumsum(chance, axis=1)[:, :-1]
    step = max(1, _AT_ONCE // max(1, len(rows)))
    parts = []
    for start in range(0, SIMULATED, step):
        size = min(step, SIMULATED - start)
        label = (rng.random((size, len(rows), 1)) > ends).sum(axis=2)
        place = label + np.arange(len(rows)) * chance.shape[1]
        parts.append(_sums(flat, place))
    return Residuals(values, np.concatenate(parts) - expected, np.diag(covariance))


def _sums(flat: Floats, place: Codes) -> Floats:
    """``[draws, sums]``: the factors at these places, summed over the rows."""
    return np.stack([column[place].sum(axis=1) for column in flat.T], axis=1)
