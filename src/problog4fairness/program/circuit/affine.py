"""Probabilities that are affine in the free networks' outputs: a few coefficients, evaluated in log space."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from problog4fairness.program.circuit.compiled import Leaf
from problog4fairness.program.circuit.observed import AffineObserved, Cast, log_outcomes, pick
from problog4fairness.program.circuit.specialised import Specialised


class Affine(Specialised):
    """log P = log(base + sum_k c_k w_k), with base and all c_k non-negative.

    Attributes
    ----------
    base
        ``[..., entries, pairs]`` in float64, a pair being (query, truth value).
    coefficients
        ``[..., entries, pairs, outcomes]``: two outcomes (no, yes) for each binary leaf, k for one with k.
    """

    affine = True

    def __init__(
        self, queries: Sequence[str], free: Sequence[Leaf], codes: Tensor | None, base: Tensor, coefficients: Tensor
    ) -> None:
        super().__init__(queries, free, codes)
        self.base = base
        self.coefficients = coefficients
        self._logs = Cast(torch.cat([base.unsqueeze(-1), coefficients], dim=-1).log())

    def log_probability(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """See :meth:`Specialised.log_probability`."""
        logs = pick(self._logs.like(logits), self._entries(logits, rows), -3)
        weights = log_outcomes(self.widths, logits).unsqueeze(-2)
        terms = logs + torch.cat([weights.new_zeros(*weights.shape[:-1], 1), weights], dim=-1)
        impossible = (logs == -torch.inf).all(-1)
        sums = terms.masked_fill(impossible.unsqueeze(-1), 0.0).logsumexp(-1)
        return sums.masked_fill(impossible, -torch.inf).reshape(*sums.shape[:-1], len(self.queries), 2)

    def observed(self, outcome: Tensor) -> AffineObserved:
        """See :meth:`Specialised.observed`."""
        pairs = self._pairs(outcome)
        entries = torch.zeros_like(pairs) if self.codes is None else self.codes
        used, codes = torch.unique(entries * self.base.shape[-1] + pairs, return_inverse=True)
        base = self.base.flatten(-2)[..., used]
        return AffineObserved(self.widths, base, self.coefficients.flatten(-3, -2)[..., used, :], codes)

    def without_idle(self) -> tuple[Affine, Tensor]:
        """The same without the leaves that do not matter, entry by entry, where all leaves have the same outcomes.

        Returns
        -------
        tuple of Affine and Tensor
            With as many slots in place of the leaves as any entry needs, and which leaf each slot of an entry stands
            for, ``[entries, slots]``. Slots beyond those that an entry needs have coefficient 0, and stand for its
            leaves once more.
        """
        by_leaf = self.coefficients.unflatten(-1, (len(self.free), -1))
        matters = (by_leaf != 0).any(-1).any(-2)
        needed = matters.sum(-1).clamp(min=1)
        slots = int(needed.max())
        order = (~matters).to(torch.uint8).argsort(dim=-1, stable=True)
        leaves = order.gather(-1, torch.arange(slots) % needed.unsqueeze(-1))
        spare = torch.arange(slots) >= needed.unsqueeze(-1)
        picked = leaves[:, None, :, None].expand(-1, by_leaf.shape[1], -1, by_leaf.shape[-1])
        kept = by_leaf.gather(-2, picked).masked_fill(spare[:, None, :, None], 0.0)
        return Affine(self.queries, self.free[:slots], self.codes, self.base, kept.flatten(-2)), leaves
