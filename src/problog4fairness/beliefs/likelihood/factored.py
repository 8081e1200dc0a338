"""Groups, fair features and fair labels that cannot be seen, summed over without listing their combinations.

P(recorded_i) = sum_g s_ig sum_v w_gv(i) sum_f T_g[f, recorded_i] h_f(x_v)

over groups g with share s, fair feature vectors v with weight w (a product over features), and fair labels f with the
transition probabilities T: all of it in log space, and for each distinct kind of row instead of for each row. Where the
combinations are few they are listed after all, and training runs through the same kernel as for programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs.likelihood.observation import View
from problog4fairness.data import Codes, Floats
from problog4fairness.program import (
    KNOWN_RULED_OUT,
    SAFE_SUM,
    UNKNOWN,
    AffineObserved,
    Cast,
    Observed,
    log_outcomes,
    split_by,
)

# Coefficients that are listed, at most: 8 MiB in float64.
LISTED = 1 << 20


@dataclass(frozen=True, eq=False)
class Kinds:
    """The distinct kinds of rows: the parts of the formula above that do not depend on the classifier, as logarithms.

    Attributes
    ----------
    shares
        ``[kinds, groups]``. A row whose group is certain keeps that group alone.
    labels
        ``[kinds, groups, fair, recorded]``: log T.
    factors
        For each feature ``[kinds, groups, values]``: log P(fair value | recorded value, group).
    """

    shares: Tensor
    labels: Tensor
    factors: tuple[Tensor, ...]

    @property
    def variants(self) -> int:
        """How many fair vectors there are."""
        return int(np.prod([factor.shape[-1] for factor in self.factors], dtype=np.int64))


def row_kinds(
    groups: Codes | Floats, labels: Tensor, features: Sequence[tuple[Codes, Tensor]] = ()
) -> tuple[Kinds, Tensor]:
    """The distinct kinds of rows, and the kind of each row.

    Parameters
    ----------
    groups
        ``[rows]``, the group of each row; or ``[rows, groups]``, the probability of each.
    labels
        ``[groups, fair, recorded]``: P(recorded label | fair label, group).
    features
        For each distorted feature the recorded value of each row, by position, and its table
        ``[groups, recorded, fair]``.
    """
    hard = groups.ndim == 1
    examples, kinds = _distinct([*([groups] if hard else groups.T), *(codes for codes, _ in features)])
    shares, chosen = row_groups(groups[examples])
    factors = tuple(table[chosen, torch.from_numpy(codes[examples])[:, None]].log() for codes, table in features)
    return Kinds(shares, labels[chosen].log(), factors), torch.from_numpy(kinds)


def row_groups(groups: Codes | Floats) -> tuple[Tensor, Tensor]:
    """The groups that each row may be in: the logarithm of their share, and which they are, both ``[rows, groups]``.

    There are as many as the row that may be in most of them needs; others name groups of theirs again, with share 0.
    """
    shares = torch.from_numpy(groups)
    if groups.ndim == 1:
        return torch.zeros(len(shares), 1, dtype=torch.float64), shares.unsqueeze(1)
    may = shares > 0
    count = may.sum(1, keepdim=True).clamp(min=1)
    places = torch.arange(int(count.max()) if len(shares) else 1)
    chosen = (~may).to(torch.uint8).argsort(dim=1, stable=True).gather(1, places % count)
    return shares.gather(1, chosen).log().masked_fill(places >= count, -torch.inf), chosen


def _distinct(columns: Sequence[Codes | Floats]) -> tuple[Codes, Codes]:
    """A row of each distinct combination of values, and the combination of each row; column by column is quickest."""
    place = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        _, place = np.unique(place * len(values) + codes.reshape(-1), return_inverse=True)
    place = place.reshape(-1).astype(np.int64)
    return np.unique(place, return_index=True)[1], place


class FactoredView(View):
    """What groups, features and labels that factor say of rows.

    Parameters
    ----------
    kinds, codes
        From :func:`row_kinds`.
    outputs
        Logits for an input: 1 for two classes.
    """

    def __init__(self, kinds: Kinds, codes: Tensor, outputs: int) -> None:
        self.kinds, self.codes, self.outputs = kinds, codes, outputs

    def log_fair(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`View.log_fair`."""
        codes = self.codes[rows]
        by_group = self._by_group(logits, codes) + self.kinds.shares[codes].unsqueeze(-1)
        return by_group.logsumexp(-2)

    def log_recorded(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`View.log_recorded`."""
        codes = self.codes[rows]
        fair = self._by_group(logits, codes) + self.kinds.shares[codes].unsqueeze(-1)
        recorded = fair.unsqueeze(-1) + self.kinds.labels[codes]
        return recorded.flatten(1, 2).logsumexp(1)

    def observe(self, recorded: Tensor, fair: Tensor | None) -> Observed:
        """See :meth:`View.observe`."""
        kinds, classes = self.kinds, self.kinds.labels.shape[-1]
        keys, codes = torch.unique(self.codes * classes + recorded, return_inverse=True)
        kind, label = keys // classes, keys % classes
        factors = tuple(factor[kind] for factor in kinds.factors)
        entries = Entries(kinds.shares[kind], kinds.labels[kind, :, :, label], factors)
        if len(keys) * kinds.variants * classes <= LISTED:
            observed: Observed = entries.listed(codes, self.outputs)
        else:
            observed = FactoredObserved(entries, codes, self.outputs)
        return observed if fair is None else observed.known(fair)

    def corners(self, variants: int, classes: int) -> Tensor:
        """See :meth:`View.corners`: labels are distorted in the same way whatever the fair features are."""
        return torch.arange(classes).unsqueeze(1).expand(-1, variants)

    def _by_group(self, logits: Tensor, codes: Tensor) -> Tensor:
        """log P(fair class | group), ``[rows, groups, classes]``."""
        logs = _outcomes(logits, self.outputs, self.kinds.variants).unsqueeze(1)
        if not self.kinds.factors:
            return logs.squeeze(2)
        terms = logs + _outer([f[codes] for f in self.kinds.factors], torch.add).unsqueeze(-1)
        return terms.logsumexp(-2)


@dataclass(frozen=True, eq=False)
class Entries:
    """Kinds of rows with what was recorded in them: as :class:`Kinds`, but with ``labels [entries, groups, fair]``."""

    shares: Tensor
    labels: Tensor
    factors: tuple[Tensor, ...]

    def to(self, dtype: torch.dtype) -> Entries:
        """The same in another floating-point type."""
        return Entries(self.shares.to(dtype), self.labels.to(dtype), tuple(f.to(dtype) for f in self.factors))

    def weights(self) -> Tensor:
        """log w, ``[entries, groups, variants]``; 0 where no feature is distorted."""
        return _outer(self.factors, torch.add) if self.factors else torch.zeros_like(self.shares).unsqueeze(-1)

    def listed(self, codes: Tensor, outputs: int) -> AffineObserved:
        """The same with a number for every fair vector and fair label."""
        weights = self.weights()
        terms = self.shares[:, :, None, None] + self.labels.unsqueeze(2) + weights.unsqueeze(3)
        base = torch.zeros(len(terms), dtype=torch.float64)
        return AffineObserved((outputs,) * weights.shape[-1], base, terms.exp().sum(1).flatten(1), codes)


class FactoredObserved(Observed):
    """The likelihood of recorded labels, with weights that are multiplied out for each batch."""

    def __init__(self, entries: Entries, codes: Tensor, outputs: int) -> None:
        self.entries, self.codes, self._outputs = entries, codes, outputs
        self.variants = int(np.prod([factor.shape[-1] for factor in entries.factors], dtype=np.int64))
        self.widths = (outputs,) * self.variants
        self._logs = {torch.float64: entries, torch.float32: entries.to(torch.float32)}
        self._binary = _Binary(entries) if outputs == 1 else None

    def __call__(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """See :meth:`Observed.__call__`."""
        codes = self.to_entries(rows)
        if self._binary is not None:
            logs = self._binary(logits, codes)
            if logs is not None:
                return logs
        return self._terms(logits, codes).flatten(-3).logsumexp(-1)

    def posterior(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """See :meth:`Observed.posterior`."""
        terms = self._terms(logits, self.to_entries(rows))
        total = terms.flatten(-3).logsumexp(-1)[..., None, None, None]
        return (terms - total).exp().sum(-3).flatten(-2)

    def known(self, outcome: Tensor) -> Observed:
        """See :meth:`Observed.known`."""
        old, label, codes = split_by(self.codes, outcome, self.entries.labels.shape[-1])
        others = (label != UNKNOWN).unsqueeze(1) & (torch.arange(self.entries.labels.shape[-1]) != label.unsqueeze(1))
        labels = self.entries.labels[old].masked_fill(others.unsqueeze(1), -torch.inf)
        entries = Entries(self.entries.shares[old], labels, tuple(factor[old] for factor in self.entries.factors))
        known = FactoredObserved(entries, codes, self._outputs)
        known.require_possible(KNOWN_RULED_OUT)
        return known

    def possible(self) -> Tensor:
        """See :meth:`Observed.possible`."""
        return ((self.entries.labels > -torch.inf).any(-1) & (self.entries.shares > -torch.inf)).any(-1)

    def stacked(self, others: Sequence[Observed]) -> Observed | None:
        """See :meth:`Observed.stacked`."""
        members = [self, *(other for other in others if isinstance(other, FactoredObserved))]
        if len(members) != len(others) + 1 or len({_shape(member) for member in members}) > 1:
            return None
        starts = accumulate((len(member.entries.shares) for member in members), initial=0)
        factors = zip(*(member.entries.factors for member in members), strict=True)
        entries = Entries(
            torch.cat([member.entries.shares for member in members]),
            torch.cat([member.entries.labels for member in members]),
            tuple(torch.cat(parts) for parts in factors),
        )
        codes = torch.cat([member.codes + start for member, start in zip(members, starts, strict=False)])
        return FactoredObserved(entries, codes, self._outputs)

    def _terms(self, logits: Tensor, codes: Tensor) -> Tensor:
        """log(s w T h), ``[..., groups, variants, fair]``."""
        entries = self._logs[logits.dtype]
        logs = _outcomes(logits, self._outputs, self.variants).unsqueeze(-3)
        weights = _outer([factor[codes] for factor in entries.factors], torch.add).unsqueeze(-1)
        return logs + weights + entries.labels[codes].unsqueeze(-2) + entries.shares[codes][..., None, None]


class _Binary:
    """Two classes: P = base + size sum_v w_v sigmoid(sign z_v) in each group."""

    def __init__(self, entries: Entries) -> None:
        no, yes = entries.labels.exp().unbind(-1)
        sign = torch.where(yes >= no, 1.0, -1.0).to(no.dtype)
        self._linear = Cast(torch.stack([sign, (yes - no).abs(), torch.minimum(yes, no)], dim=-1))
        self._shares = Cast(entries.shares.exp())
        self._factors = [Cast(factor.exp()) for factor in entries.factors]

    def __call__(self, z: Tensor, codes: Tensor) -> Tensor | None:
        """log P; None where a sum is so near to 0 that it must be taken in log space."""
        sign, size, base = self._linear.like(z)[codes].unbind(-1)
        weights = _outer([factor.like(z)[codes] for factor in self._factors], torch.mul)
        total = torch.addcmul(base, size, self._mean(z, sign, weights))
        total = total.squeeze(-1) if total.shape[-1] == 1 else (total * self._shares.like(z)[codes]).sum(-1)
        return None if total.numel() and float(total.detach().min()) <= SAFE_SUM else total.log()

    def _mean(self, z: Tensor, sign: Tensor, weights: Tensor) -> Tensor:
        """``[..., groups]``: sum_v w_v sigmoid(sign z_v)."""
        if z.ndim == 3 and z.shape[1] == 1:
            # All rows of a network share the same inputs: one matrix product for both signs.
            both = torch.bmm(torch.cat([(-z).sigmoid(), z.sigmoid()], dim=1), weights.flatten(1, 2).transpose(1, 2))
            no, yes = both.unflatten(2, weights.shape[1:3]).unbind(1)
            return torch.where(sign > 0, yes, no)
        return ((sign.unsqueeze(-1) * z.unsqueeze(-2)).sigmoid() * weights).sum(-1)


def _outcomes(logits: Tensor, outputs: int, variants: int) -> Tensor:
    """log h, ``[..., variants, classes]``, of logits ``[..., variants * outputs]``."""
    logs = log_outcomes((outputs,) * variants, logits)
    return logs.reshape(*logs.shape[:-1], variants, -1)


def _shape(member: FactoredObserved) -> tuple[object, ...]:
    entries = member.entries
    return entries.shares.shape[1:], entries.labels.shape[1:], tuple(factor.shape[1:] for factor in entries.factors)


def _outer(factors: Sequence[Tensor], combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """``[..., variants]``: the factors of the features combined for every combination of values, the last fastest."""
    if len(factors) == 1:
        return factors[0]
    # By halves: long last dimensions are ten times quicker than adding one short factor after the other.
    middle = len(factors) // 2
    first, rest = _outer(factors[:middle], combine), _outer(factors[middle:], combine)
    return combine(first.unsqueeze(-1), rest.unsqueeze(-2)).flatten(-2)
