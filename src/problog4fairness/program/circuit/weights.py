"""From the values that a caller gives to the weights of a circuit's variables.

Every variable has two weights, one for "it holds" and one for "it does not". They come from numbers in the text, from
parameters, and from networks; a network's outputs can be given as probabilities, or as logits, which stay exact where
a probability would have been rounded to 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid

from problog4fairness.errors import (
    DisjunctionError,
    MissingValueError,
    P4FError,
    ProbabilityError,
    ShapeError,
    UnknownNameError,
    among,
)
from problog4fairness.program.circuit.compiled import CircuitData, Leaf, ground_text, spaceless
from problog4fairness.program.circuit.passes import Inputs

Value: TypeAlias = float | Tensor | Callable[..., float | Tensor]
Values: TypeAlias = Mapping[str, Value]

TOLERANCE = 1e-5


@dataclass(frozen=True)
class Given:
    """The value of one leaf: a tensor, and whether it holds logits.

    The tensor's shape is the batch, followed by the outcomes where the leaf has several.
    """

    leaf: Leaf
    value: Tensor
    logits: bool

    @property
    def batch(self) -> torch.Size:
        """The shape of the batch."""
        return self.value.shape[:-1] if self.leaf.outcomes else self.value.shape


def find(
    leaves: Sequence[Leaf],
    nn: Values | None,
    parameters: Values | None,
    logits: Values | None,
    default: Values,
    names: Mapping[str, frozenset[str]],
) -> list[Given | None]:
    """The given value of each leaf, or None where there is none."""
    nn, parameters, logits = (_spaceless(values) for values in (nn, parameters, logits))
    _check_names("network", {**nn, **logits}, leaves, names)
    for name in nn.keys() & logits.keys():
        raise P4FError(f"network {name!r} has values in nn and in logits; give one of them")
    _check_names("parameter", parameters, leaves, names)
    entries: list[tuple[Leaf, Any, bool] | None] = []
    parameters = {**_spaceless(default), **parameters}
    for leaf in leaves:
        value, is_logit = _look_up(leaf, parameters if leaf.kind == "parameter" else nn), False
        if value is None and leaf.kind == "network":
            value, is_logit = _look_up(leaf, logits), True
        if callable(value):
            value = value(*leaf.arguments)
        entries.append(None if value is None else (leaf, value, is_logit))
    like = _common([entry[1] for entry in entries if entry is not None])
    return [None if entry is None else _given(*entry, like) for entry in entries]


def _spaceless(values: Values | None) -> dict[str, Value]:
    return {spaceless(name): value for name, value in (values or {}).items()}


def _look_up(leaf: Leaf, values: Mapping[str, Value]) -> Value | None:
    exact = values.get(str(leaf))
    return exact if exact is not None else values.get(leaf.name)


def _check_names(
    kind: str, values: Mapping[str, Value], leaves: Sequence[Leaf], names: Mapping[str, frozenset[str]]
) -> None:
    leaves_of_kind = [leaf for leaf in leaves if leaf.kind == kind]
    known = {name for leaf in leaves_of_kind for name in (leaf.name, str(leaf))} | names[kind]
    for name in values:
        if name not in known:
            all_names = dict.fromkeys([*(leaf.name for leaf in leaves_of_kind), *sorted(names[kind])])
            raise UnknownNameError(f"the program has no {kind} {name!r}; {among(name, all_names, 'it has')}")


def _common(values: Sequence[Any]) -> Tensor:
    """A tensor of the type and on the device that all values share; Python numbers alone are float64."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    if not tensors:
        return torch.empty((), dtype=torch.float64)
    dtype = reduce(torch.promote_types, [tensor.dtype for tensor in tensors])
    return torch.empty(
        (), dtype=dtype if dtype.is_floating_point else torch.get_default_dtype(), device=tensors[0].device
    )


def _given(leaf: Leaf, value: Any, logits: bool, like: Tensor) -> Given:
    try:
        tensor = torch.as_tensor(value, dtype=like.dtype, device=like.device)
    except (TypeError, ValueError):
        raise ShapeError(f"the value of {leaf.kind} {leaf} is not a number or a tensor: {value!r}") from None
    if leaf.outcomes is not None:
        if tensor.ndim == 0 or tensor.shape[-1] != len(leaf.outcomes):
            raise ShapeError(
                f"network {leaf} has the outcomes {', '.join(map(ground_text, leaf.outcomes))}: "
                f"its last dimension must be {len(leaf.outcomes)}, not {list(tensor.shape)}"
            )
        if not logits:
            off = (tensor.detach().sum(-1) - 1).abs().max() if tensor.numel() else torch.zeros(())
            if not float(off) <= TOLERANCE * 10:
                raise ProbabilityError(f"the outcomes of network {leaf} do not sum to 1 (off by {float(off):.3g})")
    if not logits and tensor.numel():
        low, high = tensor.detach().aminmax()
        if not (float(low) >= 0 and float(high) <= 1):
            worst = float(low) if not float(low) >= 0 else float(high)
            raise ProbabilityError(f"probability {worst:g} of {leaf.kind} {leaf} is not between 0 and 1")
    return Given(leaf, tensor, logits)


def require(leaves: Sequence[Leaf], given: Sequence[Given | None]) -> list[Given]:
    """All values, or the error that names the first one missing."""
    for leaf, entry in zip(leaves, given, strict=True):
        if entry is None:
            raise missing(leaf)
    return [entry for entry in given if entry is not None]


def missing(leaf: Leaf) -> MissingValueError:
    """The error for a leaf that needs a value."""
    which = str(leaf) if str(leaf) == leaf.name else f"{leaf.name}, or {leaf} alone"
    return MissingValueError(f"{leaf.kind} {leaf} has no value; give one to {which}")


def batch_shape(given: Sequence[Given]) -> torch.Size:
    """The shape that all values broadcast to."""
    try:
        return torch.Size(np.broadcast_shapes(*(tuple(entry.batch) for entry in given)))
    except ValueError:
        shapes = ", ".join(f"{entry.leaf}: {list(entry.batch)}" for entry in given)
        raise ShapeError(f"the shapes of the values do not fit together ({shapes})") from None


@dataclass(frozen=True)
class Row:
    """One input of a circuit: a probability, or its logarithm."""

    value: Tensor
    is_log: bool = False


def circuit_inputs(data: CircuitData, given: Sequence[Given], shape: torch.Size, *, log_space: bool) -> Inputs:
    """The two weights of every variable, from the values of the leaves."""
    like = given[0].value if given else torch.empty((), dtype=torch.float64)
    rows = [Row(like.new_zeros(())), Row(like.new_ones(()))]
    rows += variable_rows(data, given, range(len(data.variables)), log_space=log_space)
    return stack_rows(rows, shape, log_space=log_space)


def stack_rows(rows: Sequence[Row], shape: torch.Size, *, log_space: bool) -> Inputs:
    """Rows of any shape that broadcasts to ``shape``, as one matrix."""
    like = rows[0].value
    size = shape.numel()

    def stack(tensors: list[Tensor]) -> Tensor:
        return torch.stack([tensor.expand(shape).reshape(size) for tensor in tensors])

    is_log = torch.tensor([row.is_log for row in rows], device=like.device)
    zero = like.new_zeros(())
    linear = stack([zero if row.is_log else row.value for row in rows])
    if not log_space:
        return Inputs(linear, linear, is_log)
    return Inputs(linear, stack([row.value if row.is_log else zero for row in rows]), is_log)


def variable_rows(data: CircuitData, given: Sequence[Given], which: Iterable[int], *, log_space: bool) -> list[Row]:
    """The rows "variable i holds" and "variable i does not hold", for the variables ``which``."""
    return _Variables(data, given, log_space).rows(which)


class _Variables:
    def __init__(self, data: CircuitData, given: Sequence[Given], log_space: bool) -> None:
        self._data, self._given, self._log_space = data, given, log_space
        self._like = given[0].value if given else torch.empty((), dtype=torch.float64)

    def rows(self, which: Iterable[int]) -> list[Row]:
        member_of = {member: group for group in self._data.groups for member in group.members}
        extra_of = {group.extra: group for group in self._data.groups}
        one = Row(self._like.new_ones(()))
        rows: list[Row] = []
        for index in which:
            variable = self._data.variables[index]
            if index in extra_of:
                rows += [self._rest(extra_of[index].members), one]
            elif index in member_of:
                rows += [self._pair(variable.weight)[0], one]
            else:
                rows += self._pair(variable.weight)
        return rows

    def _pair(self, weight: tuple[Any, ...]) -> tuple[Row, Row]:
        """Weights of "holds" and "does not hold"."""
        if weight[0] == "outcome":
            count = len(self._given[weight[1]].leaf.outcomes or ())
            others = [k for k in range(count) if k != weight[2]]
            return self._outcomes(weight[1], [weight[2]]), self._outcomes(weight[1], others)
        if weight[0] == "leaf" and self._given[weight[1]].logits:
            value = self._given[weight[1]].value
            if self._log_space:
                return Row(logsigmoid(value), True), Row(logsigmoid(-value), True)
            return Row(torch.sigmoid(value)), Row(torch.sigmoid(-value))
        value = self._number(weight)
        return Row(value), Row(1 - value)

    def _outcomes(self, leaf: int, which: list[int]) -> Row:
        """Probability of one of the outcomes ``which`` of a network."""
        given = self._given[leaf]
        if given.logits and self._log_space:
            logs = log_softmax(given.value, dim=-1)[..., which]
            return Row(logs.squeeze(-1) if len(which) == 1 else logs.logsumexp(-1), True)
        values = torch.softmax(given.value, dim=-1) if given.logits else given.value
        return Row(values[..., which].sum(-1))

    def _rest(self, members: Sequence[int]) -> Row:
        """Weight of "none of the heads"."""
        weights = [self._data.variables[member].weight for member in members]
        if all(weight[0] == "outcome" and weight[1] == weights[0][1] for weight in weights):
            named = {weight[2] for weight in weights}
            count = len(self._given[weights[0][1]].leaf.outcomes or ())
            missing = [k for k in range(count) if k not in named]
            return self._outcomes(weights[0][1], missing) if missing else Row(self._like.new_zeros(()))
        rest = 1 - sum((self._number(weight) for weight in weights), self._like.new_zeros(()))
        if rest.numel() and float(rest.detach().min()) < -TOLERANCE:
            names = "; ".join(self._data.variables[member].name for member in members)
            raise DisjunctionError(
                f"the probabilities of {names} sum to {1 - float(rest.detach().min()):g}, which is more than 1"
            )
        # What rounding leaves of 1 - (0.06 + 0.57 + 0.37) is not the probability of anything; its slope stays.
        rounding = rest.detach() <= 4 * torch.finfo(rest.dtype).eps
        return Row(torch.where(rounding, rest - rest.detach(), rest))

    def _number(self, weight: tuple[Any, ...]) -> Tensor:
        value = self._expression(weight)
        if weight[0] in _OPERATIONS and value.numel():
            low, high = (float(bound) for bound in value.detach().aminmax())
            if not (low >= -TOLERANCE and high <= 1 + TOLERANCE):
                raise ProbabilityError(
                    f"an expression in the program gives the probability {high if low >= -TOLERANCE else low:g}"
                )
            value = value.clamp(0, 1)
        return value

    def _expression(self, weight: tuple[Any, ...]) -> Tensor:
        kind = weight[0]
        if kind == "number":
            return self._like.new_tensor(weight[1])
        if kind in _OPERATIONS:
            return _OPERATIONS[kind](*(self._expression(part) for part in weight[1:]))
        given = self._given[weight[1]]
        if kind == "leaf":
            return torch.sigmoid(given.value) if given.logits else given.value
        return (torch.softmax(given.value, dim=-1) if given.logits else given.value)[..., weight[2]]


_OPERATIONS: dict[str, Callable[..., Tensor]] = {
    "+": lambda *parts: parts[0] if len(parts) == 1 else parts[0] + parts[1],
    "-": lambda *parts: -parts[0] if len(parts) == 1 else parts[0] - parts[1],
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}
