"""Evaluating a circuit: upwards for values, downwards for derivatives, a whole level and a whole batch at a time.

A circuit is a sum of products of sums ... over its inputs. The value of a node is the sum over its pairs of
prime x sub; the derivative of a root with respect to a node is the sum over its parents of parent x sibling. Both are
the same kind of pass, and both work in two semirings:

=========  ========  =============  ==========================================================
semiring   times     plus           used for
=========  ========  =============  ==========================================================
linear     x * y     x + y          probabilities
log        x + y     logaddexp      log-probabilities, finite however small the probability
=========  ========  =============  ==========================================================

The derivative never contains the node's own value, so it is exact where an input is 0 or 1, also in log space, where
going through log(0) would give NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint


@dataclass(frozen=True)
class Inputs:
    """The inputs of a circuit, ``[inputs, batch]``; only those with ``is_log`` are read from ``logs``."""

    linear: Tensor
    logs: Tensor
    is_log: Tensor


@dataclass(frozen=True)
class _Level:
    """The rows ``start:stop`` are sums over edges: edge e adds ``left[e] x right[e]`` to row ``start + into[e]``."""

    start: int
    stop: int
    left: Tensor
    right: Tensor
    into: Tensor


class Plan:
    """The order in which the nodes of a circuit are computed.

    Parameters
    ----------
    inputs
        Number of inputs; they are the rows ``0 .. inputs - 1``.
    nodes
        The other nodes as lists of pairs of earlier nodes, numbered from ``inputs``.
    roots
        The nodes whose values are wanted.
    """

    def __init__(self, inputs: int, nodes: Sequence[Sequence[tuple[int, int]]], roots: Sequence[int]) -> None:
        self.inputs = inputs
        self.rows = inputs + len(nodes)
        depth = [0] * self.rows
        for number, node in enumerate(nodes, start=inputs):
            depth[number] = 1 + max((depth[child] for pair in node for child in pair), default=0)
        order = sorted(range(self.rows), key=lambda number: (depth[number], number))
        row = [0] * self.rows
        for position, number in enumerate(order):
            row[number] = position
        above: list[list[tuple[int, int]]] = [[] for _ in range(self.rows)]
        below: list[list[tuple[int, int]]] = [[] for _ in range(self.rows)]
        for number, node in enumerate(nodes, start=inputs):
            for prime, sub in node:
                below[row[number]].append((row[prime], row[sub]))
                above[row[prime]].append((row[number], row[sub]))
                above[row[sub]].append((row[number], row[prime]))
        bounds = [0] + [p for p in range(1, self.rows) if depth[order[p]] != depth[order[p - 1]]] + [self.rows]
        spans = list(pairwise(bounds))
        self.upward = [_level(below, *span) for span in spans[1:]]
        self.downward = [_level(above, *span) for span in reversed(spans)]
        self.edges = sum(len(level.into) for level in self.upward)
        self.roots = torch.tensor([row[root] for root in roots], dtype=torch.long)
        self._places: dict[torch.device, Plan] = {}

    def to(self, device: torch.device) -> Plan:
        """The same plan with its indices on ``device``."""
        if self.roots.device == device:
            return self
        if device not in self._places:
            moved = object.__new__(Plan)
            moved.inputs, moved.rows, moved._places = self.inputs, self.rows, self._places
            moved.edges = self.edges
            moved.upward = [_moved(level, device) for level in self.upward]
            moved.downward = [_moved(level, device) for level in self.downward]
            moved.roots = self.roots.to(device)
            self._places[device] = moved
        return self._places[device]


def _level(edges: list[list[tuple[int, int]]], start: int, stop: int) -> _Level:
    flat = [(left, right, into) for into in range(stop - start) for left, right in edges[start + into]]
    columns = torch.tensor(flat, dtype=torch.long).reshape(-1, 3)
    return _Level(start, stop, *(columns[:, i].contiguous() for i in range(3)))


def _moved(level: _Level, device: torch.device) -> _Level:
    return _Level(level.start, level.stop, *(t.to(device) for t in (level.left, level.right, level.into)))


class _Linear(torch.autograd.Function):
    """Values of the roots from the values of the inputs."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, plan: Plan) -> Tensor:
        values = inputs.new_zeros(plan.rows, inputs.shape[1])
        values[: plan.inputs] = inputs
        for level in plan.upward:
            products = values[level.left] * values[level.right]
            values[level.start : level.stop].index_add_(0, level.into, products)
        ctx.plan = plan
        ctx.save_for_backward(values)
        return values[plan.roots]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (values,) = ctx.saved_tensors
        plan: Plan = ctx.plan
        slopes = torch.zeros_like(values)
        slopes.index_add_(0, plan.roots, gradient)
        for level in plan.downward:
            products = slopes[level.left] * values[level.right]
            slopes[level.start : level.stop].index_add_(0, level.into, products)
        return slopes[: plan.inputs], None


class _Log(torch.autograd.Function):
    """Log-values of the roots, from inputs of which some are probabilities and some are log-probabilities."""

    @staticmethod
    def forward(ctx: Any, linear: Tensor, logs: Tensor, is_log: Tensor, plan: Plan) -> Tensor:
        values = _log_values(linear, logs, is_log, plan)
        ctx.plan = plan
        ctx.save_for_backward(values, is_log)
        return values[plan.roots]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        values, is_log = ctx.saved_tensors
        # d log(root) is d root / root; where the probability is 0 its logarithm has no slope.
        return *_log_slopes(ctx.plan, values, is_log, gradient, values[ctx.plan.roots]), None, None


class _Ratio(torch.autograd.Function):
    """The log-value of the first root, and the values of the roots after it as shares of the first.

    With T the value of a root and E that of the first, d(T / E) = (dT - T / E dE) / E. All of it stays in log space
    until the division is done, so neither a small E nor a T of 0 spoils the share or its slope.
    """

    @staticmethod
    def forward(ctx: Any, linear: Tensor, logs: Tensor, is_log: Tensor, plan: Plan) -> tuple[Tensor, Tensor]:
        values = _log_values(linear, logs, is_log, plan)
        whole, parts = values[plan.roots[:1]], values[plan.roots[1:]]
        shares = torch.where(whole > -torch.inf, parts - whole, -torch.inf).clamp(max=0).exp()
        ctx.plan = plan
        ctx.save_for_backward(values, is_log, shares)
        whole = whole.squeeze(0)
        ctx.mark_non_differentiable(whole)
        return whole, shares

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, _: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        values, is_log, shares = ctx.saved_tensors
        seeds = torch.cat([-(gradient * shares).sum(0, keepdim=True), gradient])
        return *_log_slopes(ctx.plan, values, is_log, seeds, values[ctx.plan.roots[:1]]), None, None


def _log_values(linear: Tensor, logs: Tensor, is_log: Tensor, plan: Plan) -> Tensor:
    values = linear.new_full((plan.rows, linear.shape[1]), -torch.inf)
    values[: plan.inputs] = torch.where(is_log, logs, linear.log())
    for level in plan.upward:
        _log_add(values, level, values[level.left] + values[level.right])
    return values


def _log_slopes(plan: Plan, values: Tensor, is_log: Tensor, seeds: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """The slopes of sum(seeds * roots / exp(scale)) in the inputs, for probabilities and for logarithms."""
    # A log-space pass cannot carry signs: one pass for the positive seeds, one for the negative.
    of_log = torch.where(is_log, values[: plan.inputs], 0.0)
    halves = [_log_downward(plan, values, part, scale) + of_log for part in (seeds, -seeds)]
    total = _difference(*halves)
    zero = torch.zeros((), dtype=total.dtype, device=total.device)
    return torch.where(is_log, zero, total), torch.where(is_log, total, zero)


def _log_downward(plan: Plan, values: Tensor, seeds: Tensor, scale: Tensor) -> Tensor:
    """Logarithms of the slopes that the positive ones of ``seeds`` cause."""
    slopes = torch.full_like(values, -torch.inf)
    starts = torch.where((seeds > 0) & (scale > -torch.inf), seeds.clamp(min=0).log() - scale, -torch.inf)
    if bool((starts > -torch.inf).any()):
        for root, start in zip(plan.roots.tolist(), starts, strict=True):
            slopes[root] = torch.logaddexp(slopes[root], start)
        for level in plan.downward:
            _log_add(slopes, level, slopes[level.left] + values[level.right])
    return slopes[: plan.inputs]


def _difference(left: Tensor, right: Tensor) -> Tensor:
    """exp(left) - exp(right), where either may be too large for exp; a slope beyond the largest number ends there."""
    larger = torch.maximum(left, right)
    gap = torch.where(larger > -torch.inf, left - right, 0.0)
    # A margin below the largest number, so that slopes which are added up later stay finite too.
    size = larger.exp().clamp(max=torch.finfo(larger.dtype).max * 2.0**-20)
    return gap.sign() * size * -torch.expm1(-gap.abs())


def _log_add(values: Tensor, level: _Level, terms: Tensor) -> None:
    """``values[rows of the level] = logaddexp(values, terms that go there)``."""
    target = values[level.start : level.stop]
    into = level.into.unsqueeze(1).expand_as(terms)
    largest = target.scatter_reduce(0, into, terms, "amax")
    largest = torch.where(largest > -torch.inf, largest, 0.0)
    sums = (target - largest).exp().index_add_(0, level.into, (terms - largest[level.into]).exp_())
    values[level.start : level.stop] = sums.log_().add_(largest)


# Rows of a circuit times entries of a batch that are evaluated at once: 128 MiB of numbers for each step.
CHUNK = 1 << 24


def _in_pieces(function: Callable[..., Any], plan: Plan, *tensors: Tensor) -> Any:
    """The function of the whole batch, a piece at a time where all of it would take too much memory.

    Slopes need the values of all nodes: of a piece they are computed once more when its turn comes.
    """
    batch, step = tensors[0].shape[1], max(1, CHUNK // max(1, plan.rows))
    if batch <= step:
        return function(*tensors)
    slopes = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    parts = []
    for start in range(0, batch, step):
        piece = [tensor if tensor.shape[1] == 1 else tensor[:, start : start + step] for tensor in tensors]
        parts.append(checkpoint(function, *piece, use_reentrant=False) if slopes else function(*piece))
    if isinstance(parts[0], tuple):
        return tuple(torch.cat(results, dim=-1) for results in zip(*parts, strict=True))
    return torch.cat(parts, dim=-1)


def evaluate(plan: Plan, inputs: Inputs) -> Tensor:
    """Values of the roots, ``[roots, batch]``."""
    plan = plan.to(inputs.linear.device)
    result: Tensor = _in_pieces(lambda linear: _Linear.apply(linear, plan), plan, inputs.linear)  # type: ignore[no-untyped-call]
    return result


def evaluate_log(plan: Plan, inputs: Inputs) -> Tensor:
    """Log-values of the roots, ``[roots, batch]``."""
    result: Tensor = _logs_in_pieces(_Log, plan, inputs)
    return result


def evaluate_ratio(plan: Plan, inputs: Inputs) -> tuple[Tensor, Tensor]:
    """The log-value of the first root, without a slope, and the values of the others divided by that of the first."""
    whole, shares = _logs_in_pieces(_Ratio, plan, inputs)
    return whole, shares


def _logs_in_pieces(function: Any, plan: Plan, inputs: Inputs) -> Any:
    plan, is_log = plan.to(inputs.linear.device), inputs.is_log.unsqueeze(1)
    return _in_pieces(lambda *tensors: function.apply(*tensors, is_log, plan), plan, inputs.linear, inputs.logs)
