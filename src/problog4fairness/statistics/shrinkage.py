"""Shares of many cells, each shrunk towards the others as far as they are alike.

Cells j with k_j of n_j rows have probabilities p_j ~ Beta(m v, (1 - m) v) around a common mean m; v says how alike they
are. Neither is known: what is told of a cell is averaged over both (1 / (1 + v), the correlation of two rows of a cell,
is uniform up to one half beforehand, m is Jeffreys'), so that intervals do not pretend that the spread of the cells is
known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betainc, betaincinv, betaln

from problog4fairness.data import Floats
from problog4fairness.errors import P4FError
from problog4fairness.statistics.parameter import Parameter
from problog4fairness.statistics.proportions import Beta, Estimate, equal_rows

# How a parameter says that other ones tell of it.
POOLED = "pooled from the other cells"

# How much two rows of a cell have in common, from almost nothing to as much as officers ever have; means that are tried
# for each; and how many of both are kept.
ALIKE = np.geomspace(1e-4, 0.5, 36)
MEANS, KEPT = 32, 96
# Halvings of the interval that holds an end.
STEPS = 30


@dataclass(frozen=True)
class Shrunk:
    """What is known of a cell.

    Attributes
    ----------
    value, low, high
        Its probability, and the interval.
    prior
        What the other cells say of it, as the Beta that with its own rows has the same mean and spread.
    """

    value: float
    low: float
    high: float
    prior: Beta


def shrunk(hits: Floats, rows: Floats, confidence: float) -> list[Shrunk]:
    """For each cell its probability; one without rows is as the others let expect.

    Parameters
    ----------
    hits, rows
        ``[cells]``; they need not be whole.
    confidence
        Of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> [f"{own.value:.2f}" for own in shrunk(np.array([6.0, 22, 18, 0]), np.array([10.0, 100, 100, 0]), 0.95)]
    ['0.50', '0.22', '0.19', '0.34']
    """
    a, b = _likely_priors(hits, rows)
    upper, lower = a + hits[:, None], b + (rows - hits)[:, None]  # [cells, kept]
    total = upper + lower
    means = upper / total
    value = means.mean(axis=1)
    spread = (means * (1 - means) / (total + 1)).mean(axis=1) + means.var(axis=1)
    rest = (1 - confidence) / 2
    # Where nothing was seen, or nothing else, it may be that nothing else ever happens; of a cell without rows, that
    # there is no bias.
    low = np.where(hits > 0, _quantile(upper, lower, rest), 0.0)
    high = np.where((hits < rows) | (rows == 0), _quantile(upper, lower, 1 - rest), 1.0)
    worth = np.maximum(value * (1 - value) / np.maximum(spread, 1e-300) - 1, rows + 0.02)
    before = np.clip(value * worth - hits, 0.01, None), np.clip((1 - value) * worth - (rows - hits), 0.01, None)
    return [
        Shrunk(float(value[i]), float(low[i]), float(high[i]), Beta(float(before[0][i]), float(before[1][i])))
        for i in range(len(rows))
    ]


def _likely_priors(hits: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """``[kept]``: a and b of Beta distributions that the cells may come from, each as often as it is likely."""
    observed = rows > 0
    k, n = hits[observed], rows[observed]
    share = (k.sum() + 0.5) / (n.sum() + 1)
    chances = (np.arange(MEANS) + 0.5) / MEANS
    priors, logs = [], []
    for alike in ALIKE:
        # Means are tried where the rows, of which those of a cell repeat each other, put them; wider, to miss none.
        known = 0.5 * float((n / (1 + np.maximum(n - 1, 0) * alike)).sum())
        first, second = share * known + 0.5, (1 - share) * known + 0.5
        mean = np.clip(betaincinv(first, second, chances), 1e-6, 1 - 1e-6)
        worth = 1 / alike - 1
        a, b = mean * worth, (1 - mean) * worth
        likely = (betaln(a[:, None] + k, b[:, None] + n - k) - betaln(a, b)[:, None]).sum(axis=1)
        tried = first * np.log(mean) + second * np.log1p(-mean) - betaln(first, second)
        priors.append((a, b))
        # Jeffreys' prior of the mean, the uniform one of how alike cells are on its geometric grid; each grid point
        # stands for as much as it was likely to be tried.
        logs.append(likely + 0.5 * np.log(mean) + 0.5 * np.log1p(-mean) - tried + np.log(alike))
    weights = np.exp(np.concatenate(logs) - np.max(logs))
    edges = np.cumsum(weights) / weights.sum()
    chosen = np.searchsorted(edges, (np.arange(KEPT) + 0.5) / KEPT).clip(max=len(edges) - 1)
    return np.concatenate([a for a, _ in priors])[chosen], np.concatenate([b for _, b in priors])[chosen]


def _quantile(upper: Floats, lower: Floats, chance: float) -> Floats:
    """``[cells]``: where the mean of the Beta distributions of a cell has this chance below it."""
    low, high = np.zeros(len(upper)), np.ones(len(upper))
    for _ in range(STEPS):
        middle = (low + high) / 2
        below = betainc(upper, lower, middle[:, None]).mean(axis=1) < chance
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


def pooled(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """The parameters; those that rest on no row are as the others of their kind let expect, with wide intervals.

    Of one kind are the parameters of all groups about the same change of the label or of a feature.
    """
    return tuple(_pooled(parameter, parameters) if parameter.without_rows else parameter for parameter in parameters)


def _pooled(parameter: Parameter, parameters: Sequence[Parameter]) -> Parameter:
    cell = parameter.cell
    values, rows = [0.0], [0.0]
    for other in parameters:
        if not other.rows or other.value is None or other.low is None or other.high is None:
            continue
        if other.cell and cell and other.cell._replace(group=cell.group) == cell:
            values.append(other.value)
            rows.append(min(equal_rows(other.value, other.low, other.high, other.confidence), 1e6))
    if len(rows) == 1:
        raise P4FError(
            f"no audited row tells about {parameter.description} in any group, so nothing can be pooled; audit some"
        )
    pooled_cell = shrunk(np.array(rows) * np.array(values), np.array(rows), parameter.confidence)[0]
    estimate = Estimate(pooled_cell.value, pooled_cell.low, pooled_cell.high, 0)
    return replace(parameter, prior=pooled_cell.prior).estimated(estimate, POOLED)
