"""The fair vectors that a row may stand for, where they are too many: the likeliest ones, and draws of the others.

Feature by feature the vectors found so far are continued by every value, and where they become too many they are
thinned out: those with a weight above a threshold c stay as they are, of the others some are drawn, with a chance in
proportion to their weight, and get the weight c. So the weights sum to 1, each vector has its own weight on average,
and no other way of thinning out has less variance (Fearnhead and Clifford, 2003). Nothing is drawn while all fit in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.data import Codes, Floats

# Rows times vectors that are thinned out together.
_AT_ONCE = 1 << 20
_MIX = tuple(np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))

Seeds: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]


class Likely(NamedTuple):
    """For each row and group some fair vectors.

    Attributes
    ----------
    positions
        ``[rows, groups, vectors, features]``: the fair value of each feature, by position.
    weights
        ``[rows, groups, vectors]``: their probabilities, which sum to 1.
    drawn
        ``[rows, groups]``: how much of the weight rests on vectors that were drawn for others; 0 where all are there.
    """

    positions: Tensor
    weights: Tensor
    drawn: Tensor


def likely_vectors(factors: Sequence[Tensor], most: int, seeds: Codes) -> Likely:
    """The likeliest vectors of features that are independent of each other, and draws of the others.

    Parameters
    ----------
    factors
        For each feature ``[rows, groups, values]``: P(fair value | what was recorded, group).
    most
        How many vectors a row has in each group, at most.
    seeds
        ``[rows]``, from :func:`row_seeds`: what is drawn for a row depends on it and on nothing else.
    """
    rows, groups = factors[0].shape[:2]
    parts = [
        _some([factor[some].flatten(0, 1) for factor in factors], most, seeds[some.numpy()].repeat(groups))
        for some in torch.arange(rows).split(max(1, _AT_ONCE // (most * groups)))
    ]
    whole = (torch.cat(part) for part in zip(*parts, strict=True))
    return Likely(*(own.unflatten(0, (rows, groups)) for own in whole))


def _some(factors: Sequence[Tensor], most: int, seeds: Codes) -> Likely:
    """The same for rows in one group each."""
    rows = len(seeds)
    weights = torch.ones(rows, 1, dtype=torch.float64)
    exact = torch.ones(rows, 1, dtype=torch.bool)
    positions = torch.zeros(rows, 1, 0, dtype=torch.uint8)
    for step, factor in enumerate(factors):
        count = factor.shape[1]
        longer = (weights.unsqueeze(2) * factor.unsqueeze(1)).flatten(1)
        value = torch.arange(count, dtype=torch.uint8).repeat(weights.shape[1])
        before = torch.arange(weights.shape[1]).repeat_interleave(count)
        if longer.shape[1] <= most:
            kept, weights, exact = before.expand(rows, -1), longer, exact[:, before]
            chosen_values = value.expand(rows, -1)
        else:
            chosen, weights, certain = _thinned(longer, most, torch.from_numpy(_uniform(seeds, step)))
            kept, chosen_values = before[chosen], value[chosen]
            exact = certain & exact.gather(1, kept)
        past = positions.gather(1, kept.unsqueeze(2).expand(-1, -1, positions.shape[2]))
        positions = torch.cat([past, chosen_values.unsqueeze(2)], dim=2)
    return Likely(positions, weights, (weights * ~exact).sum(1))


def _thinned(weights: Tensor, most: int, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which of the weights ``[rows, vectors]`` stay, what they count, and which of them were not drawn."""
    sizes, order = weights.sort(dim=1, descending=True)
    rest = sizes.flip(1).cumsum(1).flip(1)
    slots = torch.arange(most)
    # The first number of certain ones after which the next is not above the threshold.
    certain = (sizes[:, :most] * (most - slots) <= rest[:, :most] * (1 + 1e-12)).double().argmax(1, keepdim=True)
    left = rest.gather(1, certain)
    threshold = left / (most - certain)
    behind = torch.arange(sizes.shape[1]) >= certain
    steps = (sizes * behind).cumsum(1) / threshold.clamp(min=1e-300)
    drawn = torch.searchsorted(steps, (slots - certain).clamp(min=0) + start.unsqueeze(1), right=True)
    sure = slots < certain
    place = torch.where(sure, slots, drawn.clamp(max=sizes.shape[1] - 1))
    counted = torch.where(sure, sizes[:, :most], threshold)
    return order.gather(1, place), counted, sure | (counted == 0)


def row_seeds(columns: Sequence[Codes], different: bool) -> Codes:
    """A number for each row that depends on what was recorded in it.

    Parameters
    ----------
    columns
        What was recorded, ``[rows]`` each.
    different
        Whether equal rows get different numbers, so that together they see more than one of them does.
    """
    seeds: Seeds = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        seeds = _mixed(seeds + column.astype(np.uint64))
    if different:
        seeds = _mixed(seeds + pd.Series(seeds).groupby(seeds).cumcount().to_numpy().astype(np.uint64))
    return seeds.view(np.int64)


def _uniform(seeds: Codes, step: int) -> Floats:
    """Numbers between 0 and 1."""
    return ((_mixed(seeds.view(np.uint64) + np.uint64(step)) >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53


def _mixed(seeds: Seeds) -> Seeds:
    """Splitmix64: equal numbers become equal ones, and nothing else can be told of them."""
    seeds = seeds + _MIX[0]
    seeds = (seeds ^ (seeds >> np.uint64(30))) * _MIX[1]
    seeds = (seeds ^ (seeds >> np.uint64(27))) * _MIX[2]
    return seeds ^ (seeds >> np.uint64(31))
