"""A circuit in which everything but some networks is fixed: affine in their outputs, or the part that they reach."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from problog4fairness.errors import P4FError, ShapeError
from problog4fairness.program.circuit.compiled import FIRST_LITERAL, CircuitData, Leaf
from problog4fairness.program.circuit.observed import UNKNOWN, AffineObserved, Cast, Observed, log_outcomes, pick
from problog4fairness.program.circuit.passes import Plan, evaluate_log
from problog4fairness.program.circuit.weights import Given, Row, batch_shape, circuit_inputs, stack_rows, variable_rows

if TYPE_CHECKING:
    from problog4fairness.program.circuit.circuit import Circuit


class Specialised(ABC):
    r"""A circuit in which everything but some networks is fixed.

    Attributes
    ----------
    free
        The network outputs that are still open.
    widths
        How many logits each of them takes: one for a network with two outcomes, k for one with k.
    columns
        How many logits they take in all.
    queries
        The queries, as in the circuit.
    codes
        ``[rows]``: the entry of each row, rows with the same fixed values sharing one; None where all share it.
    affine
        Whether the probabilities are affine in the free outputs.
    width
        Numbers that one evaluation of a row keeps at once.

    Examples
    --------
    >>> import torch
    >>> import problog4fairness as p4f
    >>> circuit = p4f.Program(r"nn(h,X) :: y(X). p :: lost. z :- y(x), \+lost. ?- z.").compile()
    >>> left = circuit.specialise(parameters={"p": 0.2})
    >>> left.affine, [str(leaf) for leaf in left.free]
    (True, ['h(x)'])
    >>> half = torch.zeros(1, 1, dtype=torch.float64)
    >>> left.log_probability(half).exp().squeeze().round(decimals=4).tolist()  # not z, z
    [0.6, 0.4]
    """

    affine: bool
    width = 1

    def __init__(self, queries: Sequence[str], free: Sequence[Leaf], codes: Tensor | None) -> None:
        self.queries = tuple(queries)
        self.free = tuple(free)
        self.widths = tuple(len(leaf.outcomes) if leaf.outcomes else 1 for leaf in free)
        self.columns = sum(self.widths)
        self.codes = codes

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
    def observed(self, outcome: Tensor) -> Observed:
        """As :meth:`observe`, also where some row has an outcome of probability 0."""

    def observe(self, outcome: Tensor) -> Observed:
        """The likelihood of what was recorded in each row.

        Parameters
        ----------
        outcome
            ``[rows]``. With one query: whether it holds (0 or 1). With several, of which one holds in each row: which
            one, by its position.
        """
        observed = self.observed(outcome)
        observed.require_possible()
        return observed

    def _entries(self, logits: Tensor, rows: Tensor | None) -> Tensor | None:
        """For each row of ``logits``, the entry of its fixed values; None where all rows share one."""
        if logits.ndim == 0 or logits.shape[-1] != self.columns:
            raise ShapeError(
                f"the last dimension of the logits must be {self.columns} ({', '.join(map(str, self.free))}), "
                f"not {list(logits.shape)}"
            )
        if self.codes is None:
            return None
        return self.codes if rows is None else self.codes[rows]

    def _pairs(self, outcome: Tensor) -> Tensor:
        """Position of each outcome among the (query, truth) pairs."""
        outcome = outcome.detach().long()
        count = 2 if len(self.queries) == 1 else len(self.queries)
        if outcome.numel() and not (int(outcome.min()) >= 0 and int(outcome.max()) < count):
            raise ShapeError(f"an outcome must be one of 0 .. {count - 1}")
        return outcome if len(self.queries) == 1 else 2 * outcome + 1


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
        logs = pick(self._logs.like(logits), self._entries(logits, rows), -3)
        weights = log_outcomes(self.widths, logits).unsqueeze(-2)
        terms = logs + torch.cat([weights.new_zeros(*weights.shape[:-1], 1), weights], dim=-1)
        impossible = (logs == -torch.inf).all(-1)
        sums = terms.masked_fill(impossible.unsqueeze(-1), 0.0).logsumexp(-1)
        return sums.masked_fill(impossible, -torch.inf).reshape(*sums.shape[:-1], len(self.queries), 2)

    def observed(self, outcome: Tensor) -> AffineObserved:
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


class Folded(Specialised):
    """The part of the circuit that free networks reach, over values of the rest that were computed once."""

    affine = False

    def __init__(self, circuit: Circuit, given: Sequence[Given | None], codes: Tensor | None) -> None:
        free = [leaf for leaf, entry in zip(circuit.leaves, given, strict=True) if entry is None]
        super().__init__(circuit.queries, free, codes)
        self._data = circuit.data
        self._given = given
        self._moving = _moving_variables(circuit.data, {i for i, entry in enumerate(given) if entry is None})
        self._frontier, self._plan = _upper_part(circuit.data, self._moving)
        self.width = self._plan.rows
        self._fixed = Cast(self._fixed_values())

    @property
    def edges(self) -> int:
        """Products that one evaluation of a row computes."""
        return self._plan.edges

    def _fixed_values(self) -> Tensor:
        """Log-values ``[..., entries, frontier]`` of the fixed nodes that the moving part reads."""
        known = [entry for entry in self._given if entry is not None]
        shape = batch_shape(known) or torch.Size([1])
        # The rows of moving variables are placeholders: nothing on the frontier is above them.
        half = torch.full((), 0.5, dtype=torch.float64, device=known[0].value.device if known else None)
        filled = [
            entry
            if entry is not None
            else Given(leaf, half.expand(len(leaf.outcomes)) if leaf.outcomes else half, False)
            for leaf, entry in zip(self._data.leaves, self._given, strict=True)
        ]
        plan = Plan(self._data.first_decision, self._data.nodes, self._frontier)
        inputs = circuit_inputs(self._data, filled, shape, log_space=True)
        values = evaluate_log(plan, inputs)
        return values.T.reshape(*shape, len(self._frontier))

    def log_probability(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        evidence, joint = self.log_joint(logits, rows)
        return (joint - evidence.unsqueeze(-1)).reshape(*evidence.shape, len(self.queries), 2)

    def log_joint(self, logits: Tensor, rows: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """log P(evidence), ``[..., rows]``, and log P(evidence, query or not), ``[..., rows, pairs]``."""
        entries = self._entries(logits, rows)
        given, column = [], 0
        for leaf, entry in zip(self._data.leaves, self._given, strict=True):
            if entry is not None:
                given.append(_entry_given(entry, entries, logits))
            elif leaf.outcomes:
                given.append(Given(leaf, logits[..., column : column + len(leaf.outcomes)], True))
                column += len(leaf.outcomes)
            else:
                given.append(Given(leaf, logits[..., column], True))
                column += 1
        frontier = pick(self._fixed.like(logits), entries, -2)
        shape = torch.Size(np.broadcast_shapes(frontier.shape[:-1], logits.shape[:-1]))
        moving = [Row(value, is_log=True) for value in frontier.unbind(-1)]
        moving += variable_rows(self._data, given, self._moving, log_space=True)
        roots = evaluate_log(self._plan, stack_rows(moving, shape, log_space=True))
        return roots[0].reshape(shape), roots[1:].T.reshape(*shape, -1)

    def observed(self, outcome: Tensor) -> Observed:
        return FoldedObserved(self, self._pairs(outcome))


class FoldedObserved(Observed):
    """What was recorded, through the part of the circuit that is left: log P(recorded, evidence) - log P(evidence)."""

    def __init__(self, folded: Folded, codes: Tensor) -> None:
        self._folded, self.codes, self.widths, self.width = folded, codes, folded.widths, folded.width

    def __call__(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        evidence, joint = self._joint(logits, rows)
        return joint - evidence

    def posterior(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """P(outcome of each leaf | what was recorded, evidence), ``[..., rows, outcomes]``; 1 in all for each leaf.

        The circuit is multilinear in h_f(v), so d log P / d logit is the posterior minus h: one backward pass.
        """
        with torch.enable_grad():
            leaf = logits.detach().requires_grad_()
            (slope,) = torch.autograd.grad(self._joint(leaf, rows)[1].sum(), leaf)
        prior, parts = log_outcomes(self.widths, logits).exp(), []
        for width, part in zip(self.widths, slope.split(list(self.widths), dim=-1), strict=True):
            parts.append(torch.cat([-part, part], dim=-1) if width == 1 else part)
        return (prior + torch.cat(parts, dim=-1)).clamp(0, 1)

    def known(self, outcome: Tensor) -> Observed:
        if bool((outcome == UNKNOWN).all()):
            return self
        raise P4FError("fair labels of some rows cannot be used: the program does not ask about one of them at a time")

    def possible(self) -> Tensor:
        """See :meth:`Observed.possible`; that no classifier could explain a row shows in the loss."""
        return torch.ones(int(self.codes.max()) + 1, dtype=torch.bool)

    def stacked(self, others: Sequence[Observed]) -> Observed | None:
        """See :meth:`Observed.stacked`; such programs are trained one after another."""
        return None if others else self

    def _joint(self, logits: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor]:
        evidence, joint = self._folded.log_joint(logits, rows)
        pairs = self.to_entries(rows)
        return evidence, joint.gather(-1, pairs.expand(joint.shape[:-1]).unsqueeze(-1)).squeeze(-1)


def _moving_variables(data: CircuitData, free: set[int]) -> list[int]:
    """The variables whose weights depend on a free leaf."""

    def mentions(weight: tuple[object, ...]) -> bool:
        if weight[0] in ("leaf", "outcome"):
            return weight[1] in free
        return any(isinstance(part, tuple) and mentions(part) for part in weight)

    moving = {index for index, variable in enumerate(data.variables) if mentions(variable.weight)}
    moving |= {group.extra for group in data.groups if moving & set(group.members)}
    return sorted(moving)


def _upper_part(data: CircuitData, moving: Sequence[int]) -> tuple[list[int], Plan]:
    """The fixed nodes that the moving part reads, and the plan of the moving part over them and the moving literals."""
    first = data.first_decision
    literals = [FIRST_LITERAL + 2 * variable + side for variable in moving for side in (0, 1)]
    moves = set(literals)
    kept = []
    for number, node in enumerate(data.nodes, start=first):
        if any(child in moves for pair in node for child in pair):
            moves.add(number)
            kept.append(number)
    read = {child for number in kept for pair in data.nodes[number - first] for child in pair} | set(data.roots)
    frontier = sorted(read - moves)
    place = {number: position for position, number in enumerate([*frontier, *literals, *kept])}
    nodes = [[(place[prime], place[sub]) for prime, sub in data.nodes[number - first]] for number in kept]
    return frontier, Plan(len(frontier) + len(literals), nodes, [place[root] for root in data.roots])


def _entry_given(given: Given, entries: Tensor | None, like: Tensor) -> Given:
    value = given.value.to(dtype=like.dtype, device=like.device)
    if entries is not None and given.batch and given.batch[-1] > 1:
        value = pick(value, entries, -2 if given.leaf.outcomes else -1)
    return Given(given.leaf, value, given.logits)
