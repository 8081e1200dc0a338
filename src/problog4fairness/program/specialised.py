"""A circuit in which everything but some networks is fixed: what the affine and the folded form share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid

from problog4fairness.errors import ShapeError
from problog4fairness.program.data import Leaf


class Specialised(ABC):
    """A circuit in which everything but some networks is fixed.

    Attributes
    ----------
    free
        The network outputs that are still open.
    columns
        How many logits they take: one for a network with two outcomes, k for one with k.
    queries
        The queries, as in the circuit.
    affine
        Whether the probabilities are affine in the free outputs.
    """

    affine: bool

    def __init__(self, queries: Sequence[str], free: Sequence[Leaf], codes: Tensor | None) -> None:
        self.queries = tuple(queries)
        self.free = tuple(free)
        self.columns = sum(len(leaf.outcomes) if leaf.outcomes else 1 for leaf in free)
        self._codes = codes

    @abstractmethod
    def log_probability(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """log P of every query, ``[..., rows, queries, 2]``: last that it does not hold, and that it holds.

        Parameters
        ----------
        logits
            ``[..., rows, columns]``: the logits of the free networks.
        rows
            Which rows of the fixed values these are; all of them, in order, by default.
        """

    @abstractmethod
    def observe(self, outcome: Tensor) -> Observed:
        """The likelihood of what was recorded in each row.

        Parameters
        ----------
        outcome
            ``[rows]``. With one query: whether it holds (0 or 1). With several, of which one holds in each row: which
            one, by its position.
        """

    def _entries(self, logits: Tensor, rows: Tensor | None) -> Tensor | None:
        """For each row of ``logits``, the entry of its fixed values; None where all rows share one."""
        if logits.ndim == 0 or logits.shape[-1] != self.columns:
            raise ShapeError(
                f"the last dimension of the logits must be {self.columns} ({', '.join(map(str, self.free))}), "
                f"not {list(logits.shape)}"
            )
        if self._codes is None:
            return None
        return self._codes if rows is None else self._codes[rows]

    def _pairs(self, outcome: Tensor) -> Tensor:
        """Position of each outcome among the (query, truth) pairs."""
        outcome = outcome.detach().long()
        count = 2 if len(self.queries) == 1 else len(self.queries)
        if outcome.numel() and not (int(outcome.min()) >= 0 and int(outcome.max()) < count):
            raise ShapeError(f"an outcome must be one of 0 .. {count - 1}")
        return outcome if len(self.queries) == 1 else 2 * outcome + 1


class Observed(ABC):
    """The likelihood of recorded outcomes, as a function of the free networks' logits."""

    @abstractmethod
    def __call__(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """log P(what was recorded), ``[..., rows]``, for logits ``[..., rows, columns]``."""


class Cast:
    """A float64 table, kept in each type and on each device that it was asked for."""

    def __init__(self, table: Tensor) -> None:
        self._tables = {(table.dtype, table.device): table}
        self._exact = table

    def like(self, other: Tensor) -> Tensor:
        """The table in the type and on the device of ``other``."""
        key = (other.dtype, other.device)
        if key not in self._tables:
            self._tables[key] = self._exact.to(dtype=other.dtype, device=other.device)
        return self._tables[key]


def log_outcomes(free: Sequence[Leaf], logits: Tensor) -> Tensor:
    """Log-probabilities of all outcomes side by side: (no, yes) for a binary leaf."""
    if all(leaf.outcomes is None for leaf in free):
        return torch.stack([logsigmoid(-logits), logsigmoid(logits)], dim=-1).flatten(-2)
    parts, column = [], 0
    for leaf in free:
        width = len(leaf.outcomes) if leaf.outcomes else 1
        part = logits[..., column : column + width]
        parts.append(log_softmax(part, -1) if leaf.outcomes else torch.cat([logsigmoid(-part), logsigmoid(part)], -1))
        column += width
    return torch.cat(parts, dim=-1)


def pick(table: Tensor, entries: Tensor | None, dimension: int) -> Tensor:
    """Rows ``entries`` of a table along ``dimension``; with entries ``[models, rows]`` each model picks its own."""
    if entries is None:
        return table
    if entries.ndim == 1:
        return table.index_select(dimension, entries)
    trailing = table.shape[dimension + 1 :] if dimension != -1 else torch.Size()
    index = entries.reshape(*entries.shape, *(1 for _ in trailing)).expand(*entries.shape, *trailing)
    if table.ndim == -dimension:
        table = table.expand(entries.shape[0], *table.shape)
    return table.gather(dimension, index)
