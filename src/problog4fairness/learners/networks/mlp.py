"""The small network that most fits need: a chain of linear layers with ReLU and dropout between them.

:class:`MLP` is an ordinary module. :class:`Layout` says how the numbers of one such network lie in a single row, so
that many networks of one shape are a matrix ``[models, numbers]``: what the optimiser moves, what is kept as the best
epoch, and what is dropped when a network stops are then rows of one tensor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn


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
