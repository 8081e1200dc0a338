"""Probabilities that are affine in the free networks' outputs: a few coefficients, evaluated in log space."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from problog4fairness.errors import InconsistentEvidenceError
from problog4fairness.program.data import Leaf
from problog4fairness.program.specialised import Cast, Observed, Specialised, log_outcomes, pick

# Above this, adding to a base in float32 is as exact as adding in log space.
SAFE_BASE = 1e-30


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
        weights = log_outcomes(self.free, logits).unsqueeze(-2)
        terms = logs + torch.cat([weights.new_zeros(*weights.shape[:-1], 1), weights], dim=-1)
        impossible = (logs == -torch.inf).all(-1)
        sums = terms.masked_fill(impossible.unsqueeze(-1), 0.0).logsumexp(-1)
        return sums.masked_fill(impossible, -torch.inf).reshape(*sums.shape[:-1], len(self.queries), 2)

    def observe(self, outcome: Tensor) -> Observed:
        """See :meth:`Specialised.observe`."""
        pairs = self._pairs(outcome)
        entries = torch.zeros_like(pairs) if self._codes is None else self._codes
        used, codes = torch.unique(entries * self.base.shape[-1] + pairs, return_inverse=True)
        base = self.base.flatten(-2)[..., used]
        coefficients = self.coefficients.flatten(-3, -2)[..., used, :]
        impossible = (base <= 0) & (coefficients <= 0).all(-1)
        if bool(impossible.any()):
            count = int(impossible.reshape(-1, len(used)).any(0)[codes].sum())
            raise InconsistentEvidenceError(
                f"{count} of {len(codes)} recorded outcomes have probability 0 whatever the networks say"
            )
        if all(leaf.outcomes is None for leaf in self.free):
            return _BinaryObserved(base, coefficients, codes)
        return _AffineObserved(self.free, base, coefficients, codes)


class _AffineObserved(Observed):
    def __init__(self, free: Sequence[Leaf], base: Tensor, coefficients: Tensor, codes: Tensor) -> None:
        self._free, self._codes = tuple(free), codes
        self._logs = Cast(torch.cat([base.unsqueeze(-1), coefficients], dim=-1).log())

    def __call__(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        logs = pick(self._logs.like(logits), self._codes if rows is None else self._codes[rows], -2)
        weights = log_outcomes(self._free, logits)
        return (logs + torch.cat([weights.new_zeros(*weights.shape[:-1], 1), weights], dim=-1)).logsumexp(-1)


class _BinaryObserved(Observed):
    """All free networks binary: one of the two coefficients of each is 0, so log P = log(base + sum c sigmoid(s z)).

    This runs in every training step, so it is written for few and cheap operations. Where every base is well above 0
    the sum cannot vanish, and its logarithm is taken last; otherwise all of it happens in log space.
    """

    def __init__(self, base: Tensor, coefficients: Tensor, codes: Tensor) -> None:
        self._codes = codes
        no, yes = coefficients[..., 0::2], coefficients[..., 1::2]
        sign = torch.where(yes >= no, 1.0, -1.0).to(base.dtype)
        size = torch.maximum(yes, no)
        self._columns = sign.shape[-1]
        self._linear = bool((base > SAFE_BASE).all())
        self._has_base = bool((base > 0).any())
        parts = [sign, size, base.unsqueeze(-1)]
        self._table = Cast(torch.cat(parts if self._linear else [sign, *(part.log() for part in parts[1:])], dim=-1))

    def __call__(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        codes = self._codes
        if rows is not None:
            codes = codes.index_select(0, rows) if rows.ndim == 1 else codes[rows]
        table = pick(self._table.like(logits), codes, -2)
        if self._columns == 1:
            sign, size, base = table.unbind(-1)
            return self._alone(sign * logits.squeeze(-1), size, base)
        n = self._columns
        sign, size, base = table[..., :n], table[..., n : 2 * n], table[..., 2 * n :]
        signed = sign * logits
        if self._linear:
            return ((size * signed.sigmoid()).sum(-1) + base.squeeze(-1)).log()
        terms = size + logsigmoid(signed)
        if self._has_base:
            terms = torch.cat([terms, base.expand(*terms.shape[:-1], 1)], dim=-1)
        return terms.logsumexp(-1)

    def _alone(self, signed: Tensor, size: Tensor, base: Tensor) -> Tensor:
        if self._linear:
            return torch.addcmul(base, size, signed.sigmoid()).log()
        terms = size + logsigmoid(signed)
        return torch.logaddexp(terms, base) if self._has_base else terms
