"""Many small networks as one: their layers as batched matrix products, what each is evaluated on, how all are moved.

:class:`MLP` is an ordinary module. :class:`Layout` says how the numbers of one such network lie in a single row, so
that many networks of one shape are a matrix ``[models, numbers]``: what the optimiser moves, what is kept as the best
epoch, and what is dropped when a network stops are then rows of one tensor.

Everything has the networks as its first dimension. Those with the most batches in an epoch come first, so that in each
step the networks that still have work are the first ``count`` ones, and the others cost nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from problog4fairness.beliefs import Observation

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
# Beyond this many steps the bias corrections of AdamW are 1 in float32.
_LAST = 20_000


class MLP(nn.Module):
    """A multi-layer perceptron with ReLU; ``dropout`` is the share of hidden units switched off while training."""

    def __init__(self, features: int, hidden: Sequence[int], outputs: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.sizes = (features, *hidden, outputs)
        self.layers = nn.ModuleList(nn.Linear(ins, outs) for ins, outs in pairwise(self.sizes))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Logits ``[..., outputs]`` of ``x [..., features]``."""
        *hidden, last = self.layers
        for layer in hidden:
            x = self.dropout(torch.relu(layer(x)))
        logits: Tensor = last(x)
        return logits


@dataclass(frozen=True)
class Layout:
    """How the weights and biases of an MLP of these sizes (features, hidden layers, outputs) lie in one row of numbers.

    Hidden weights lie as ``[in, out]``, those of the last layer as ``[out, in]``: matrix products are quicker with the
    long dimension last.
    """

    sizes: tuple[int, ...]

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Weight and bias of each layer in turn."""
        shapes = []
        for number, (ins, outs) in enumerate(pairwise(self.sizes)):
            last = number == len(self.sizes) - 2
            shapes += [(outs, ins) if last else (ins, outs), (1, outs)]
        return shapes

    @property
    def numbers(self) -> int:
        """How many numbers a network has."""
        return sum(rows * columns for rows, columns in self.shapes)

    def parts(self, values: Tensor) -> list[Tensor]:
        """Weight and bias of each layer as views ``[models, ...]`` of ``values [models, numbers]``."""
        shapes = self.shapes
        slices = values.split([rows * columns for rows, columns in shapes], dim=1)
        return [part.unflatten(1, shape) for part, shape in zip(slices, shapes, strict=True)]

    def initial(self, generator: torch.Generator) -> Tensor:
        """``[numbers]`` of a new network, as ``nn.Linear`` would draw them from this generator."""
        drawn = []
        for ins, outs in pairwise(self.sizes):
            bound = 1 / math.sqrt(ins)
            drawn += [torch.empty(size).uniform_(-bound, bound, generator=generator) for size in ((outs, ins), (outs,))]
        drawn[:-2] = [part.t() for part in drawn[:-2]]
        return torch.cat([part.reshape(-1) for part in drawn])

    def network(self, values: Tensor, dropout: float) -> MLP:
        """The network with the numbers ``values [numbers]``, in evaluation mode."""
        state = {}
        for number, part in enumerate(self.parts(values.unsqueeze(0))):
            layer, is_bias = divmod(number, 2)
            matrix = part[0] if layer == len(self.sizes) - 2 else part[0].t()
            value = part.flatten() if is_bias else matrix
            state[f"layers.{layer}.{'bias' if is_bias else 'weight'}"] = value.clone(
                memory_format=torch.contiguous_format
            )
        return network_with(state, dropout)


def network_with(state: dict[str, Tensor], dropout: float) -> MLP:
    """The network with these weights and biases, in evaluation mode."""
    weights = [state[f"layers.{layer}.weight"] for layer in range(len(state) // 2)]
    with torch.device("meta"):  # no numbers are drawn, so nobody else's random numbers change
        network = MLP(weights[0].shape[1], [len(weight) for weight in weights[:-1]], len(weights[-1]), dropout)
    network.load_state_dict(state, assign=True)
    return network.eval().requires_grad_()


class Dropout:
    """Switches off hidden units of all networks, from one stream of random numbers."""

    def __init__(self, share: float, seed: int) -> None:
        self._stay = 1 - share
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(self, hidden: Tensor) -> Tensor:
        """``hidden`` with a share of its units at 0 and the others scaled up."""
        mask = torch.empty_like(hidden).bernoulli_(self._stay, generator=self._generator)
        return hidden * mask.div_(self._stay)


def forward(parts: Sequence[Tensor], x: Tensor, dropout: Dropout | None) -> Tensor:
    """Logits ``[models, n, outputs]`` of ``x [models, n, features]``, with the parts of :meth:`Layout.parts`."""
    for weight, bias in zip(parts[:-2:2], parts[1:-2:2], strict=True):
        x = torch.baddbmm(bias, x, weight).relu_()
        if dropout is not None:
            x = dropout(x)
    return torch.baddbmm(parts[-1], x, parts[-2].transpose(1, 2))


class Inputs(ABC):
    """What the networks are evaluated on for given rows; the observation says which inputs a row needs."""

    def __init__(self, observation: Observation) -> None:
        self._observation, self._variants = observation, observation.variants

    def needed(self, rows: Tensor) -> Tensor:
        """``[models, n * variants]``: the inputs that ``rows [models, n]`` need."""
        return self._observation.needs(rows.reshape(-1)).view(len(rows), -1)

    @abstractmethod
    def logits(self, parts: Sequence[Tensor], rows: Tensor, dropout: Dropout | None = None) -> Tensor:
        """``[models, n, variants, outputs]`` for ``rows [models, n]``; 1 in place of n where all rows need the same."""

    def select(self, models: Tensor) -> None:  # noqa: B027  nothing to do by default
        """Go on with these networks only."""


class ManyInputs(Inputs):
    """Each batch looks up its inputs among those of all tasks, ``[distinct, features]``."""

    def __init__(self, observation: Observation, inputs: Tensor) -> None:
        super().__init__(observation)
        self._inputs = inputs

    def logits(self, parts: Sequence[Tensor], rows: Tensor, dropout: Dropout | None = None) -> Tensor:
        needed = self._inputs.index_select(0, self.needed(rows).view(-1))
        logits = forward(parts, needed.view(len(rows), -1, needed.shape[1]), dropout)
        return logits.view(*rows.shape, self._variants, -1)


class FewInputs(Inputs):
    """Each network is evaluated once on all distinct inputs of its task, and the rows look up its logits.

    ``inputs`` are those of each network, and ``starts`` what its first input is called in the observation.
    """

    def __init__(self, observation: Observation, inputs: Sequence[Tensor], starts: Sequence[int]) -> None:
        super().__init__(observation)
        self._inputs = torch.nn.utils.rnn.pad_sequence(list(inputs), batch_first=True)
        self._starts = torch.tensor(starts)
        # Rows that need a run of inputs, as under measurement bias, look up whole runs: far quicker than single ones.
        width = self._variants
        even = all(start % width == 0 for start in starts) and self._inputs.shape[1] % width == 0
        self._runs = observation.runs if width > 1 and even else None
        self._width = 1 if self._runs is None else width
        # All rows of a task need all of its inputs: nothing is looked up.
        self._shared = self._width > 1 and all(len(matrix) == width for matrix in inputs)
        self._place()

    def _place(self) -> None:
        models, distinct = self._inputs.shape[:2]
        self._shift = ((distinct * torch.arange(models) - self._starts) // self._width).unsqueeze(1)
        self._shifted = bool(self._shift.any())

    def logits(self, parts: Sequence[Tensor], rows: Tensor, dropout: Dropout | None = None) -> Tensor:
        count = len(rows)
        logits = forward(parts, self._inputs[:count], dropout)
        if self._shared:
            return logits.unsqueeze(1)
        logits = logits.flatten(0, 1)
        places = self.needed(rows) if self._runs is None else self._runs[rows]
        if self._shifted:
            places = places + self._shift[:count]
        if self._width > 1:
            logits = logits.view(-1, self._width * logits.shape[1])
        elif logits.shape[1] == 1:  # looking up numbers is three times quicker than looking up rows of one number
            logits = logits.view(-1)
        return logits.index_select(0, places.view(-1)).view(*rows.shape, self._variants, -1)

    def select(self, models: Tensor) -> None:
        self._inputs, self._starts = self._inputs[models], self._starts[models]
        self._place()


class Rows:
    """For each network its rows and their weights, None where all count the same.

    Short lists are padded with rows of weight 0, all of them to a ``multiple``.
    """

    def __init__(self, rows: Sequence[Tensor], weights: Sequence[Tensor | None], multiple: int = 1) -> None:
        self.counts = [len(line) for line in rows]
        self.weighted = any(line is not None for line in weights)
        width = -(-max(self.counts) // multiple) * multiple
        self.rows = torch.stack([torch.cat([line, line[:1].expand(width - len(line))]) for line in rows])
        self.weights = torch.zeros(len(rows), width)
        for line, count, given in zip(self.weights, self.counts, weights, strict=True):
            line[:count] = 1 if given is None else given

    def select(self, models: Tensor) -> None:
        """Go on with these networks only."""
        self.counts = [self.counts[model] for model in models.tolist()]
        self.rows, self.weights = self.rows[models], self.weights[models]

    def chunks(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Rows and weights ``[models, size]``, in order."""
        return zip(self.rows.split(size, dim=1), self.weights.split(size, dim=1), strict=True)


class Epoch:
    """The batches of one epoch, in each network's random order; rows are padded to a multiple of ``batch_size``."""

    def __init__(self, rows: Rows, batch_size: int, generators: Sequence[torch.Generator]) -> None:
        self._batches = [-(-count // batch_size) for count in rows.counts]
        order = torch.zeros_like(rows.rows[:, : self._batches[0] * batch_size])
        for line, count, generator in zip(order, rows.counts, generators, strict=True):
            torch.randperm(count, generator=generator, out=line[:count])
        shape = (len(order), -1, batch_size)
        self._rows = rows.rows.gather(1, order).view(shape).transpose(0, 1).contiguous()
        weights = rows.weights[:, : order.shape[1]]
        if rows.weighted:
            weights = weights.gather(1, order) * (weights > 0)
        self._weights = weights.reshape(shape).transpose(0, 1).contiguous()
        self._scale = 1 / self._weights.sum(2)

    def phases(self) -> Iterator[tuple[int, list[tuple[Tensor, Tensor, Tensor]]]]:
        """Phases with the same number of networks at work: that number, and the batches.

        A batch is its rows and their weights ``[count, batch_size]``, and 1 / sum of weights ``[count]``.
        """
        done = 0
        for count in range(len(self._batches), 0, -1):
            last = self._batches[count - 1]
            if last > done:
                phase = (part[done:last, :count].unbind() for part in (self._rows, self._weights, self._scale))
                yield count, list(zip(*phase, strict=True))
                done = last


class StackedAdamW:
    """AdamW for many networks at once, ``values [models, numbers]``, each at its own step.

    ``torch.optim.AdamW`` moves all its numbers in every step. Here a network whose epoch has fewer batches than the
    others sits the rest of it out, and neither its numbers nor its moments nor its step count may move. With m and v
    the running means of the gradient and of its square, and t the network's own step,
    ``x <- (1 - lr decay) x - m / (sqrt(v) scale + shift)`` where ``scale = (1 - BETA1^t) / (lr sqrt(1 - BETA2^t))`` and
    ``shift = EPSILON (1 - BETA1^t) / lr``: the published update, with what depends on t alone gathered in two factors.
    """

    def __init__(self, values: Tensor, learning_rate: float, weight_decay: float) -> None:
        self.values = values
        self.mean, self.square = torch.zeros_like(values), torch.zeros_like(values)
        self.steps = torch.zeros(len(values), dtype=torch.long)
        self._buffer = torch.empty_like(values)
        self._keep = 1 - learning_rate * weight_decay
        step = torch.arange(_LAST + 1, dtype=torch.float64)
        first, second = (1 - BETA1**step) / learning_rate, 1 - BETA2**step
        self._factors = torch.stack([first / second.sqrt(), first * EPSILON], dim=1).float()

    def ahead(self, count: int, steps: int) -> Callable[[Tensor], None]:
        """Begin ``steps`` steps of the first ``count`` networks: call what comes back with each gradient in turn.

        What a step needs besides the gradient is made ready here, once for all of them, since a step is short.
        """
        numbers = (self.steps[:count] + torch.arange(1, steps + 1).unsqueeze(1)).clamp_(max=_LAST)
        factors = iter(zip(*(part.unbind() for part in self._factors[numbers].split(1, dim=2)), strict=True))
        self.steps[:count] += steps
        values, mean, square, root = (part[:count] for part in (self.values, self.mean, self.square, self._buffer))
        keep = self._keep

        @torch.no_grad()
        def step(gradient: Tensor) -> None:
            scale, shift = next(factors)
            mean.lerp_(gradient, 1 - BETA1)
            square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            torch.addcmul(shift, torch.sqrt(square, out=root), scale, out=root)
            values.mul_(keep).addcdiv_(mean, root, value=-1)

        return step

    def state(self) -> tuple[Tensor, ...]:
        """All that a step changes."""
        return self.values, self.mean, self.square, self.steps

    def select(self, models: Tensor) -> None:
        """Go on with these networks only."""
        self.values, self.mean, self.square, self.steps = (part[models] for part in self.state())
        self._buffer = torch.empty_like(self.values)
