"""Probabilities that are not affine: the part of the circuit above the free networks, with the rest computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.program.circuit.compiled import FIRST_LITERAL, CircuitData
from problog4fairness.program.circuit.observed import UNKNOWN, Cast, Observed, log_outcomes, pick
from problog4fairness.program.circuit.passes import Plan, evaluate_log
from problog4fairness.program.circuit.specialised import Specialised
from problog4fairness.program.circuit.weights import Given, Row, batch_shape, circuit_inputs, stack_rows, variable_rows

if TYPE_CHECKING:
    from problog4fairness.program.circuit.circuit import Circuit


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
        self._fixed = Cast(self._fixed_values())

    @property
    def edges(self) -> int:
        """Products that one evaluation of a row computes."""
        return self._plan.edges

    @property
    def width(self) -> int:
        """Numbers that one evaluation of a row keeps at once."""
        return self._plan.rows

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
        logs = inputs.logs if inputs.logs is not None else inputs.linear
        values = evaluate_log(plan, inputs.linear, logs, inputs.is_log)
        return values.T.reshape(*shape, len(self._frontier))

    def log_probability(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """See :meth:`Specialised.log_probability`."""
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
        inputs = stack_rows(moving, shape, log_space=True)
        logs = inputs.logs if inputs.logs is not None else inputs.linear
        roots = evaluate_log(self._plan, inputs.linear, logs, inputs.is_log)
        return roots[0].reshape(shape), roots[1:].T.reshape(*shape, -1)

    def observed(self, outcome: Tensor) -> Observed:
        """See :meth:`Specialised.observed`."""
        return FoldedObserved(self, self._pairs(outcome))


class FoldedObserved(Observed):
    """What was recorded, through the part of the circuit that is left: log P(recorded, evidence) - log P(evidence)."""

    def __init__(self, folded: Folded, codes: Tensor) -> None:
        self._folded, self.codes, self.widths, self.width = folded, codes, folded.widths, folded.width

    def __call__(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """See :meth:`Observed.__call__`."""
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
        for width, own in zip(self.widths, slope.split(list(self.widths), dim=-1), strict=True):
            parts.append(torch.cat([-own, own], dim=-1) if width == 1 else own)
        return (prior + torch.cat(parts, dim=-1)).clamp(0, 1)

    def known(self, outcome: Tensor) -> Observed:
        """See :meth:`Observed.known`."""
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
    roots = [data.evidence, *(root for query in data.queries for root in (query.false, query.true))]
    read = {child for number in kept for pair in data.nodes[number - first] for child in pair} | set(roots)
    frontier = sorted(read - moves)
    place = {number: position for position, number in enumerate([*frontier, *literals, *kept])}
    nodes = [[(place[prime], place[sub]) for prime, sub in data.nodes[number - first]] for number in kept]
    return frontier, Plan(len(frontier) + len(literals), nodes, [place[root] for root in roots])


def _entry_given(given: Given, entries: Tensor | None, like: Tensor) -> Given:
    value = given.value.to(dtype=like.dtype, device=like.device)
    if entries is not None and given.batch and given.batch[-1] > 1:
        value = pick(value, entries, -2 if given.leaf.outcomes else -1)
    return Given(given.leaf, value, given.logits)
