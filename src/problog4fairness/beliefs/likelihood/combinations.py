"""Combinations of groups: those that occur in rows, and what a program says of each.

Several sensitive variables have as many combinations as the product of their groups: eighteen of two groups have
262,144. Rows have no more of them than there are rows, mostly far fewer, and only those are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from problog4fairness.data import Codes, Floats
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.data import Rows, Sensitive
    from problog4fairness.program import Circuit

# Combinations that are looked at where no rows say which ones occur.
MOST = 1 << 14
# Numbers that the shares of uncertain rows may take: 128 MiB.
MOST_SHARES = 1 << 24
# Numbers that a circuit computes at once.
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Combinations:
    """The combinations of groups that occur in rows.

    Attributes
    ----------
    levels
        ``[combinations, variables]``: of each sensitive variable the group, by position.
    rows
        ``[rows]``, the combination of each row; or, where a row's group is uncertain, ``[rows, combinations]``, the
        probability of each.
    """

    levels: Codes
    rows: Codes | Floats

    def mean(self, table: Floats) -> Floats:
        """For each row the entry of a table ``[combinations, ...]``; over uncertain groups, the mean."""
        return table[self.rows] if self.rows.ndim == 1 else np.tensordot(self.rows, table, axes=1)


def occurring(variables: Sequence[Sensitive], rows: Rows) -> Combinations:
    """The combinations of groups in rows; without rows, the first one."""
    groups = [rows.positions(variable) for variable in variables]
    if not len(rows):
        return Combinations(np.zeros((1, len(variables)), dtype=np.int64), np.zeros(0, dtype=np.int64))
    if all(positions.ndim == 1 for positions in groups):
        return _certain(groups, len(rows))
    return _uncertain(variables, groups, len(rows))


def _certain(groups: Sequence[Codes | Floats], rows: int) -> Combinations:
    place = np.zeros(rows, dtype=np.int64)
    for positions in groups:
        # Numbered anew after each variable, so that the product of all never has to be a number.
        place = np.unique(place * (int(positions.max()) + 1) + positions, return_inverse=True)[1].reshape(-1)
    _, first = np.unique(place, return_index=True)
    levels = np.stack([positions[first] for positions in groups], axis=1) if groups else np.zeros((1, 0))
    return Combinations(levels.astype(np.int64), place)


def _uncertain(variables: Sequence[Sensitive], groups: Sequence[Codes | Floats], rows: int) -> Combinations:
    shares, levels = np.ones((rows, 1)), np.zeros((1, 0), dtype=np.int64)
    for variable, positions in zip(variables, groups, strict=True):
        count = len(variable.levels)
        if rows * len(levels) * count > MOST_SHARES:
            raise P4FError(
                f"{rows} rows with uncertain groups have {len(levels) * count} combinations of them or more, which is "
                "too many; say for certain which group each row is in, or name fewer sensitive variables"
            )
        positions = positions if positions.ndim == 2 else np.eye(count)[positions.astype(np.int64)]
        shares = (shares[:, :, None] * positions[:, None, :]).reshape(rows, -1)
        levels = np.column_stack([levels.repeat(count, axis=0), np.tile(np.arange(count), len(levels))])
        occurs = (shares > 0).any(axis=0)
        shares, levels = shares[:, occurs], levels[occurs]
    return Combinations(levels, shares)


def every(variables: Sequence[Sensitive]) -> Codes:
    """All combinations of groups, ``[combinations, variables]``, the last variable fastest; an error if too many."""
    counts = [len(variable.levels) for variable in variables]
    total = math.prod(counts)
    if total > MOST:
        raise P4FError(
            f"{len(counts)} sensitive variables have {total:,} combinations of groups, more than {MOST:,}; "
            "believe in fewer of them, or join groups"
        )
    return np.stack(np.unravel_index(np.arange(total), counts), axis=1) if counts else np.zeros((1, 0), dtype=np.int64)


def network_values(variables: Sequence[Sensitive], levels: Codes) -> dict[str, Tensor]:
    """What the networks of the sensitive variables say for each combination."""
    values = {}
    for variable, group in zip(variables, torch.from_numpy(levels).unbind(1), strict=True):
        count = len(variable.levels)
        values[variable.name] = group.double() if count == 2 else torch.nn.functional.one_hot(group, count).double()
    return values


def answers(circuit: Circuit, variables: Sequence[Sensitive], levels: Codes, nn: Mapping[str, Tensor]) -> Tensor:
    """P(query), ``[combinations, cases, queries]``, for each combination and each case of the other networks.

    Parameters
    ----------
    circuit
        The compiled program.
    variables, levels
        The combinations of groups.
    nn
        The values of the other networks, all with as many cases.
    """
    cases = len(next(iter(nn.values())))
    width = circuit.data.edges + len(circuit.data.variables) + sum(len(variable.levels) for variable in variables)
    size = max(1, _AT_ONCE // (cases * width))
    parts = []
    for start in range(0, len(levels), size):
        some = levels[start : start + size]
        groups = {k: v.repeat_interleave(cases, dim=0) for k, v in network_values(variables, some).items()}
        others = {k: v.repeat(len(some), *[1] * (v.ndim - 1)) for k, v in nn.items()}
        parts.append(circuit.probability(nn={**others, **groups}).reshape(len(some), cases, -1))
    return torch.cat(parts)


def part_of(variables: Sequence[Sensitive], some: Sequence[Sensitive], levels: Codes | None) -> tuple[Codes, Tensor]:
    """The combinations of some of the variables, and which of them is in each combination of all."""
    levels = every(variables) if levels is None else levels
    combinations, place = np.unique(levels[:, [variables.index(v) for v in some]], axis=0, return_inverse=True)
    return combinations, torch.from_numpy(place.reshape(-1))
