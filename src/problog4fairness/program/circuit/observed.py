"""What was recorded, as a likelihood of the free networks' outputs: the loop that every training step runs.

A row i was recorded with probability

    P_i = b_i + sum over leaves v and outcomes f of c_ivf h_f(v)

with b and c from the circuit or from a template's tables. Rows with the same b and c share one entry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid

from problog4fairness.errors import InconsistentEvidenceError, P4FError

# The outcome of a leaf where it is not known.
UNKNOWN = -1
# Above this, a sum of probabilities in float32 is as exact as one in log space.
SAFE_SUM = 1e-30


RULED_OUT = (
    "{count} of {rows} recorded labels have probability 0 whatever the classifier says; "
    "a parameter of exactly 0 or 1 rules them out"
)
KNOWN_RULED_OUT = (
    "{count} of {rows} rows have a recorded label that the belief rules out for their known fair label; "
    "estimate its parameters anew, or leave these rows out"
)


class Observed(ABC):
    r"""The likelihood of what was recorded in rows 0 .. n - 1, as a function of the free networks' logits.

    Attributes
    ----------
    widths
        For each free leaf its number of logits: 1 for two outcomes, k for k.
    codes
        ``[rows]``: the entry of each row.
    width
        Numbers that are kept for each row while it is computed; rows are looked at in pieces that memory holds.

    Examples
    --------
    >>> import torch
    >>> import problog4fairness as p4f
    >>> circuit = p4f.Program(r"nn(h,X) :: y(X). 0.2 :: lost. z :- y(x), \+lost. ?- z.").compile()
    >>> likelihood = circuit.specialise().observe(torch.tensor([1, 0]))  # recorded: 1, then 0
    >>> likelihood(torch.zeros(2, 1, dtype=torch.float64)).exp().round(decimals=4).tolist()  # where h = 1/2
    [0.4, 0.6]
    """

    widths: tuple[int, ...]
    codes: Tensor
    width: int = 1

    def __len__(self) -> int:
        return len(self.codes)

    @abstractmethod
    def __call__(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """log P(what was recorded), ``[..., rows]``.

        Parameters
        ----------
        logits
            ``[..., rows, sum of widths]``; 1 in place of rows where all of them need the same.
        rows
            Which rows these are; all of them, in order, by default.
        """

    @abstractmethod
    def posterior(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """P(leaf v has outcome f, and it is leaf v that matters | what was recorded), ``[..., rows, outcomes]``.

        Outcomes stand side by side, leaf by leaf: (no, yes) for two. They sum to 1, or to less where what was recorded
        may have come about whatever the networks say.
        """

    @abstractmethod
    def stacked(self, others: Sequence[Observed]) -> Observed | None:
        """One likelihood over the rows of this one, followed by those of the others; None where they do not fit."""

    @abstractmethod
    def known(self, outcome: Tensor) -> Observed:
        """The same likelihood where the outcome of the classifier is known in some rows: only terms with it are left.

        Parameters
        ----------
        outcome
            ``[rows]``: which outcome, -1 where it is not known. All leaves must have the same outcomes.
        """

    def terms(self) -> AffineTerms | None:
        """The likelihood as numbers, where it is affine in what the networks say and all leaves are alike."""
        return None

    @abstractmethod
    def possible(self) -> Tensor:
        """``[entries]``: whether what was recorded has a probability above 0 for some classifier."""

    def require_possible(self, message: str = RULED_OUT) -> None:
        """Raise the error that counts the rows that cannot have been recorded, if there are any."""
        count = int((~self.possible())[self.codes].sum())
        if count:
            raise InconsistentEvidenceError(message.format(count=count, rows=len(self.codes)))

    def to_entries(self, rows: Tensor | None) -> Tensor:
        """The entry of each of these rows."""
        if rows is None:
            return self.codes
        return self.codes.index_select(0, rows) if rows.ndim == 1 else self.codes[rows]


class AffineTerms(NamedTuple):
    """P(recorded) of a row of entry e is ``base[e]`` plus the sum over outcomes of ``coefficients[e]`` P(outcome).

    ``width`` is the number of logits of a leaf, ``codes`` the entry of each row.
    """

    width: int
    base: Tensor
    coefficients: Tensor
    codes: Tensor


class AffineObserved(Observed):
    """Entries with one number for each outcome of each leaf.

    Parameters
    ----------
    widths
        As in :class:`Observed`.
    base
        ``[..., entries]`` in float64: b.
    coefficients
        ``[..., entries, outcomes]``: c, leaf by leaf; two outcomes (no, yes) for a leaf of width 1.
    codes
        ``[rows]``: the entry of each row.
    """

    def __init__(self, widths: Sequence[int], base: Tensor, coefficients: Tensor, codes: Tensor) -> None:
        self.widths = tuple(widths)
        self.codes = codes
        if len(self.widths) == 1:
            # The outcomes of one leaf sum to 1, so all that is recorded has to do with it.
            base, coefficients = torch.zeros_like(base), coefficients + base.unsqueeze(-1)
        self.base, self.coefficients = base, coefficients
        self._logs = Cast(torch.cat([base.unsqueeze(-1), coefficients], dim=-1).log())
        self._binary = _Binary(base, coefficients) if set(self.widths) == {1} else None

    def __call__(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        entries = self.to_entries(rows)
        return self._in_logs(logits, entries) if self._binary is None else self._binary(logits, entries)

    def posterior(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        logs, terms = self._terms(logits, self.to_entries(rows))
        return (terms - terms.logsumexp(-1, keepdim=True)).exp()[..., 1:].masked_fill(logs[..., 1:] == -torch.inf, 0.0)

    def stacked(self, others: Sequence[Observed]) -> Observed | None:
        members = [self, *(other for other in others if isinstance(other, AffineObserved))]
        if len(members) != len(others) + 1 or any(m.widths != self.widths or m.base.ndim != 1 for m in members):
            return None
        starts = accumulate((len(member.base) for member in members), initial=0)
        codes = torch.cat([member.codes + start for member, start in zip(members, starts, strict=False)])
        base, coefficients = (
            torch.cat(parts) for parts in zip(*((m.base, m.coefficients) for m in members), strict=True)
        )
        return AffineObserved(self.widths, base, coefficients, codes)

    def known(self, outcome: Tensor) -> Observed:
        if bool((self.base > 0).any()):
            raise P4FError("fair labels of some rows cannot be used: what was recorded does not follow from them alone")
        classes = self.coefficients.shape[-1] // len(self.widths)
        entries, label, codes = split_by(self.codes, outcome, classes)
        kept = (label == UNKNOWN).unsqueeze(1) | (torch.arange(classes) == label.unsqueeze(1))
        coefficients = self.coefficients[entries] * kept.repeat(1, len(self.widths))
        if len(self.widths) == 1:
            # Given the outcome of the one leaf, what was recorded says nothing more about it.
            sure = (label != UNKNOWN).unsqueeze(1)
            coefficients = torch.where(sure, (coefficients > 0).to(coefficients.dtype), coefficients)
        known = AffineObserved(self.widths, self.base[entries], coefficients, codes)
        known.require_possible(KNOWN_RULED_OUT)
        return known

    def possible(self) -> Tensor:
        possible = (self.base > 0) | (self.coefficients > 0).any(-1)
        return possible.reshape(-1, possible.shape[-1]).all(0)

    def terms(self) -> AffineTerms | None:
        alike = self.base.ndim == 1 and len(set(self.widths)) == 1
        return AffineTerms(self.widths[0], self.base, self.coefficients, self.codes) if alike else None

    def _in_logs(self, logits: Tensor, entries: Tensor) -> Tensor:
        return self._terms(logits, entries)[1].logsumexp(-1)

    def _terms(self, logits: Tensor, entries: Tensor) -> tuple[Tensor, Tensor]:
        logs = pick(self._logs.like(logits), entries, -2)
        outcomes = log_outcomes(self.widths, logits)
        return logs, logs + torch.cat([outcomes.new_zeros(*outcomes.shape[:-1], 1), outcomes], dim=-1)


class _Binary:
    """All leaves have two outcomes: log P = log(base + sum over v of size_v sigmoid(sign_v z_v)).

    Written for few and cheap operations: a sum of probabilities whose logarithm is taken last, wherever it is well
    above 0; log space throughout where it is not.
    """

    def __init__(self, base: Tensor, coefficients: Tensor) -> None:
        no, yes = coefficients[..., 0::2], coefficients[..., 1::2]
        low = torch.minimum(no, yes)
        sign = torch.where(yes >= no, 1.0, -1.0).to(base.dtype)
        size, base = torch.maximum(no, yes) - low, (base + low.sum(-1)).unsqueeze(-1)
        self._leaves = sign.shape[-1]
        # Mostly all leaves of an entry have the same sign, and one number is quicker to look up than one for each leaf.
        common = sign.gather(-1, size.argmax(-1, keepdim=True))
        sign = common if bool(((sign == common) | (size == 0)).all()) else sign
        self._split = [sign.shape[-1], self._leaves, 1]
        self._safe = bool((base > SAFE_SUM).all())
        self._has_base = bool((base > 0).any())
        self._linear = Cast(torch.cat([sign, size, base], dim=-1))
        self._logs = Cast(torch.cat([sign, size.log(), base.log()], dim=-1))

    def __call__(self, logits: Tensor, entries: Tensor) -> Tensor:
        if self._leaves == 1:
            return self._alone(logits.squeeze(-1), entries)
        sign, size, base = pick(self._linear.like(logits), entries, -2).split(self._split, dim=-1)
        if logits.ndim == 3 and logits.shape[1] == 1 and entries.ndim == 2 and self._split[0] == 1:
            # All rows of a network share the same inputs: one matrix product for both signs.
            both = torch.cat([(-logits).sigmoid(), logits.sigmoid()], dim=1).transpose(1, 2)
            no, yes = torch.bmm(size, both).unbind(-1)
            total: Tensor = torch.where(sign.squeeze(-1) > 0, yes, no) + base.squeeze(-1)
        else:
            total = (size * (sign * logits).sigmoid()).sum(-1) + base.squeeze(-1)
        if not self._safe and total.numel() and float(total.detach().min()) <= SAFE_SUM:
            return self._in_logs(logits, entries)
        return total.log()

    def _alone(self, z: Tensor, entries: Tensor) -> Tensor:
        sign, size, base = pick((self._linear if self._safe else self._logs).like(z), entries, -2).unbind(-1)
        if self._safe:
            return torch.addcmul(base, size, (sign * z).sigmoid()).log()
        terms = size + logsigmoid(sign * z)
        return torch.logaddexp(terms, base) if self._has_base else terms

    def _in_logs(self, logits: Tensor, entries: Tensor) -> Tensor:
        sign, size, base = pick(self._logs.like(logits), entries, -2).split(self._split, dim=-1)
        terms: Tensor = size + logsigmoid(sign * logits)
        if self._has_base:
            terms = torch.cat([terms, base.expand(*terms.shape[:-1], 1)], dim=-1)
        return terms.logsumexp(-1)


def split_by(codes: Tensor, outcome: Tensor, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Entries by what else is known: the old entry and the outcome of each new one, and the new entry of each row."""
    keys, new = torch.unique(codes * (classes + 1) + outcome + 1, return_inverse=True)
    return keys // (classes + 1), keys % (classes + 1) - 1, new


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


def log_outcomes(widths: Sequence[int], logits: Tensor) -> Tensor:
    """Log-probabilities of all outcomes side by side: (no, yes) for a leaf of width 1."""
    if set(widths) <= {1}:
        return torch.stack([logsigmoid(-logits), logsigmoid(logits)], dim=-1).flatten(-2)
    if len(set(widths)) == 1:
        parts = logits.reshape(*logits.shape[:-1], len(widths), widths[0])
        return log_softmax(parts, -1).reshape(logits.shape)
    mixed = [
        torch.cat([logsigmoid(-part), logsigmoid(part)], -1) if part.shape[-1] == 1 else log_softmax(part, -1)
        for part in logits.split(list(widths), dim=-1)
    ]
    return torch.cat(mixed, dim=-1)


def pick(table: Tensor, entries: Tensor | None, dimension: int) -> Tensor:
    """Rows ``entries`` of a table along ``dimension``; with entries ``[models, rows]`` each model picks its own."""
    if entries is None:
        return table
    if entries.ndim == 1:
        return table.index_select(dimension, entries)
    trailing = table.shape[dimension + 1 :] if dimension != -1 else torch.Size()
    if table.ndim == -dimension:
        return table[entries]
    index = entries.reshape(*entries.shape, *(1 for _ in trailing)).expand(*entries.shape, *trailing)
    return table.gather(dimension, index)
