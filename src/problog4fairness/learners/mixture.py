"""The likelihood of recorded rows under the templates: groups, fair features and fair labels that cannot be seen.

log P(recorded_i) = log sum_g s_ig sum_v w_gv(i) sum_f T_g[f, recorded_i] h_f(x_v)

over groups g with share s, fair feature vectors v with weight w (a product over features), and fair labels f with the
transition probabilities T. All of it is kept in log space, and per distinct kind of row instead of per row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid

from problog4fairness.errors import InconsistentEvidenceError
from problog4fairness.learners.likelihood import Likelihood

# Above this, a sum of probabilities in float32 is as exact as one in log space.
SAFE_SUM = 1e-30
_DTYPES = (torch.float32, torch.float64)

Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Kinds:
    """The distinct kinds of rows: the parts of the formula above that do not depend on the network, as logarithms.

    Attributes
    ----------
    shares
        ``[kinds, groups]``. A row whose group is certain keeps that group alone.
    labels
        ``[kinds, groups, fair]``: log T_g[f, recorded], or None where only fair labels are asked for.
    factors
        For each feature ``[kinds, groups, values]``: log P(fair value | recorded value, group).
    """

    shares: Tensor
    labels: Tensor | None
    factors: tuple[Tensor, ...]

    def to(self, dtype: torch.dtype) -> Kinds:
        """The same in another floating-point type."""
        labels = None if self.labels is None else self.labels.to(dtype)
        return Kinds(self.shares.to(dtype), labels, tuple(factor.to(dtype) for factor in self.factors))


def row_kinds(
    shares: np.ndarray[Any, np.dtype[np.float64]] | Codes,
    recorded: Codes | None,
    label_table: Tensor | None,
    features: Sequence[tuple[Codes, Tensor]],
) -> tuple[Kinds, Tensor]:
    """The distinct kinds of rows, and the kind of each row.

    Parameters
    ----------
    shares
        ``[rows, groups]``: probability of each group; or ``[rows]``: the group of each row, by position.
    recorded
        ``[rows]``: the recorded class, or None where only fair labels are asked for.
    label_table
        ``[groups, fair, recorded]``, or None where labels are not distorted.
    features
        For each distorted feature the recorded value of each row, by position, and its table
        ``[groups, recorded, fair]``.
    """
    hard = shares.ndim == 1 or bool(((shares == 0) | (shares == 1)).all())
    if hard and shares.ndim == 2:
        shares = shares.argmax(axis=1)
    columns = [shares] if hard else list(shares.T)
    columns += [codes for codes, _ in features] + ([] if recorded is None else [recorded])
    examples, kinds = _distinct(columns)
    share = torch.from_numpy(shares[examples])
    chosen = share.unsqueeze(1) if hard else torch.arange(share.shape[1]).expand(share.shape)
    factors = []
    for codes, table in features:
        value = torch.from_numpy(codes[examples])
        factors.append(table[chosen, value[:, None]].log())
    labels = None
    if recorded is not None:
        label = torch.from_numpy(recorded[examples].astype(np.int64))
        if label_table is None:
            classes = max(2, int(label.max()) + 1)
            label_table = torch.eye(classes).double().expand(int(chosen.max()) + 1, classes, classes)
        labels = label_table[chosen, :, label[:, None]].log()
    shares_log = torch.zeros(len(examples), 1).double() if hard else share.log()
    result = Kinds(shares_log, labels, tuple(factors))
    places = torch.from_numpy(kinds)
    _check_possible(result, places)
    return result, places


def _distinct(columns: Sequence[np.ndarray[Any, Any]]) -> tuple[Codes, Codes]:
    """A row of each distinct combination of values, and the combination of each row; column by column is quickest."""
    place = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, own = np.unique(column, return_inverse=True)
        _, place = np.unique(place * len(values) + own.reshape(-1), return_inverse=True)
    place = place.reshape(-1).astype(np.int64)
    _, examples = np.unique(place, return_index=True)
    return examples, place


def _check_possible(kinds: Kinds, codes: Tensor) -> None:
    if kinds.labels is None:
        return
    possible = ((kinds.labels > -torch.inf).any(-1) & (kinds.shares > -torch.inf)).any(-1)
    if not bool(possible.all()):
        count = int((~possible)[codes].sum())
        raise InconsistentEvidenceError(
            f"{count} of {len(codes)} recorded labels have probability 0 under the mechanism; "
            "a parameter of exactly 1 rules them out"
        )


class Mixture(Likelihood):
    """The likelihood of recorded labels under a mechanism.

    Parameters
    ----------
    kinds, codes
        From :func:`row_kinds`.
    index
        ``[rows, variants]``: the inputs of each row; variants are all combinations of the features' fair values, the
        last feature fastest. Or ``[rows]``: the run of inputs of each row.
    outputs
        Logits per input: 1 for a binary label.
    """

    def __init__(self, kinds: Kinds, codes: Tensor, index: Tensor, outputs: int) -> None:
        self.runs = index if index.ndim == 1 else None
        self._index = None if index.ndim == 1 else index
        self.outputs = outputs
        self.codes = codes
        self.kinds = kinds
        self._tables = {torch.float64: kinds, torch.float32: kinds.to(torch.float32)}
        self._binary = _Binary(kinds) if outputs == 1 and kinds.labels is not None else None

    @property
    def index(self) -> Tensor:  # type: ignore[override]
        """``[rows, variants]``: the inputs that each row needs."""
        return self.needs(torch.arange(len(self.codes))) if self._index is None else self._index

    @property
    def variants(self) -> int:
        """See :meth:`Likelihood.variants`."""
        return math.prod(factor.shape[-1] for factor in self.kinds.factors)

    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`Likelihood.__call__`."""
        codes = self.codes[rows]
        if self._binary is not None:
            return self._binary(logits.squeeze(-1), codes)
        kinds = self._tables[logits.dtype]
        if kinds.labels is None:
            raise TypeError("these rows have no recorded label")
        inner = (log_softmax(logits, dim=-1).unsqueeze(-3) + kinds.labels[codes].unsqueeze(-2)).logsumexp(-1)
        return _mixed(inner, kinds, codes)

    def stacked(self, others: Sequence[Likelihood], inputs: Sequence[int]) -> Likelihood | None:
        """See :meth:`Likelihood.stacked`."""
        members = [self, *(other for other in others if isinstance(other, Mixture))]
        if len(members) != len(others) + 1 or len({_shape(member) for member in members}) > 1:
            return None
        starts = np.cumsum([0, *(len(member.kinds.shares) for member in members[:-1])])
        labels = [member.kinds.labels for member in members]
        kinds = Kinds(
            torch.cat([member.kinds.shares for member in members]),
            torch.cat([label for label in labels if label is not None]),
            tuple(torch.cat(parts) for parts in zip(*(member.kinds.factors for member in members), strict=True)),
        )
        codes = torch.cat([member.codes + int(start) for member, start in zip(members, starts, strict=True)])
        even = all(m.runs is not None and start % m.variants == 0 for m, start in zip(members, inputs, strict=True))
        places = [
            m.runs + start // m.variants if even and m.runs is not None else m.index + start
            for m, start in zip(members, inputs, strict=True)
        ]
        return Mixture(kinds, codes, torch.cat(places), self.outputs)


class _Binary:
    """Binary labels: P = base + size sum_v w_v sigmoid(sign z_v) in each group, where base and size do not depend on v.

    This runs in every training step, so it is written for few and cheap operations: sums of probabilities, whose
    logarithm is taken last, wherever they are well above 0; log space throughout where they are not.
    """

    def __init__(self, kinds: Kinds) -> None:
        if kinds.labels is None:
            raise TypeError("these rows have no recorded label")
        no, yes = kinds.labels.exp().unbind(-1)
        sign = torch.where(yes >= no, 1.0, -1.0).to(no.dtype)
        size, base = (yes - no).abs(), torch.minimum(yes, no)
        self._safe = bool((base > SAFE_SUM).all())
        self._has_base = bool((base > 0).any())
        self._alone = kinds.shares.shape[-1] == 1 and not kinds.factors
        linear = torch.stack([sign, size, base], dim=-1)
        logs = torch.stack([sign, size.log(), base.log()], dim=-1)
        if self._alone:
            linear, logs = linear.squeeze(1), logs.squeeze(1)
        self._linear = {dtype: linear.to(dtype) for dtype in _DTYPES}
        self._logs = {dtype: logs.to(dtype) for dtype in _DTYPES}
        self._kinds = {dtype: kinds.to(dtype) for dtype in _DTYPES}
        shares, factors = kinds.shares.exp(), [factor.exp() for factor in kinds.factors]
        self._shares = {dtype: shares.to(dtype) for dtype in _DTYPES}
        self._factors = {dtype: [factor.to(dtype) for factor in factors] for dtype in _DTYPES}

    def __call__(self, z: Tensor, codes: Tensor) -> Tensor:
        if self._alone:
            return self._sole(z.squeeze(-1), codes)
        sign, size, base = self._linear[z.dtype][codes].unbind(-1)
        weights = [factor[codes] for factor in self._factors[z.dtype]]
        total = torch.addcmul(base, size, self._mean(z, sign, _outer(weights, torch.mul) if weights else None))
        total = total.squeeze(-1) if total.shape[-1] == 1 else (total * self._shares[z.dtype][codes]).sum(-1)
        if total.numel() and float(total.detach().min()) <= SAFE_SUM:
            return self._in_logs(sign.unsqueeze(-1) * z.unsqueeze(-2), codes)
        return total.log()

    def _mean(self, z: Tensor, sign: Tensor, weights: Tensor | None) -> Tensor:
        """``[..., groups]``: sum_v w_v sigmoid(sign z_v)."""
        if weights is None:
            return (sign * z).sigmoid()
        if z.ndim == 3 and z.shape[1] == 1:
            # All rows of a network share the same inputs: one matrix product for both signs.
            both = torch.bmm(torch.cat([(-z).sigmoid(), z.sigmoid()], dim=1), weights.flatten(1, 2).transpose(1, 2))
            no, yes = both.unflatten(2, weights.shape[1:3]).unbind(1)
            return torch.where(sign > 0, yes, no)
        return ((sign.unsqueeze(-1) * z.unsqueeze(-2)).sigmoid() * weights).sum(-1)

    def _sole(self, z: Tensor, codes: Tensor) -> Tensor:
        """One group and one input for each row."""
        if self._safe:
            sign, size, base = self._linear[z.dtype][codes].unbind(-1)
            return torch.addcmul(base, size, (sign * z).sigmoid()).log()
        sign, size, base = self._logs[z.dtype][codes].unbind(-1)
        terms = size + logsigmoid(sign * z)
        return torch.logaddexp(terms, base) if self._has_base else terms

    def _in_logs(self, signed: Tensor, codes: Tensor) -> Tensor:
        _, size, base = self._logs[signed.dtype][codes].unbind(-1)
        kinds = self._kinds[signed.dtype]
        weights = _weights(kinds, codes)
        logs = logsigmoid(signed)
        inner = logs.squeeze(-1) if weights is None else (logs + weights).logsumexp(-1)
        terms = torch.logaddexp(size + inner, base) if self._has_base else size + inner
        return terms.squeeze(-1) if terms.shape[-1] == 1 else (terms + kinds.shares[codes]).logsumexp(-1)


def _mixed(inner: Tensor, kinds: Kinds, codes: Tensor) -> Tensor:
    """From ``[..., groups, variants]`` to ``[...]``: the sums over fair vectors and over groups."""
    weights = _weights(kinds, codes)
    inner = inner.squeeze(-1) if weights is None else (inner + weights).logsumexp(-1)
    if kinds.shares.shape[-1] == 1:
        return inner.squeeze(-1)
    return (inner + kinds.shares[codes]).logsumexp(-1)


def _shape(member: Mixture) -> tuple[Any, ...]:
    kinds = member.kinds
    labels = None if kinds.labels is None else kinds.labels.shape[1:]
    return member.outputs, kinds.shares.shape[1:], labels, tuple(factor.shape[1:] for factor in kinds.factors)


def _weights(kinds: Kinds, codes: Tensor) -> Tensor | None:
    """log w, ``[..., groups, variants]``; None where no feature is distorted."""
    return _outer([factor[codes] for factor in kinds.factors], torch.add) if kinds.factors else None


def _outer(factors: Sequence[Tensor], combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """``[..., variants]``: the factors of the features combined for every combination of values, the last fastest."""
    if len(factors) == 1:
        return factors[0]
    # By halves: long last dimensions are ten times quicker than adding one short factor after the other.
    middle = len(factors) // 2
    first, rest = _outer(factors[:middle], combine), _outer(factors[middle:], combine)
    return combine(first.unsqueeze(-1), rest.unsqueeze(-2)).flatten(-2)


def fair_log_probability(kinds: Kinds, codes: Tensor, logits: Tensor) -> Tensor:
    """log P(fair label), ``[rows, classes]``, for logits ``[rows, variants, outputs]`` at all fair feature vectors."""
    kinds = kinds.to(logits.dtype)
    if logits.shape[-1] == 1:
        logs = torch.cat([logsigmoid(-logits), logsigmoid(logits)], dim=-1)
    else:
        logs = log_softmax(logits, dim=-1)
    inner = logs.unsqueeze(-3)
    weights = _weights(kinds, codes)
    inner = inner.squeeze(-2) if weights is None else (inner + weights.unsqueeze(-1)).logsumexp(-2)
    return (inner + kinds.shares[codes].unsqueeze(-1)).logsumexp(-2)
