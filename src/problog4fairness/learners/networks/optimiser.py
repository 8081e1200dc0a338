"""AdamW for many networks at once, each at its own step.

``torch.optim.AdamW`` moves all its numbers in every step. Here a network whose epoch has fewer batches than the others
sits the rest of it out, and neither its numbers nor its moments nor its step count may move. The networks are ordered
so that those with work left are always the first ones.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

# Beyond this many steps the bias corrections are 1 in float32.
_LAST = 20_000


class StackedAdamW:
    """AdamW, one row of numbers for each network.

    With m and v the running means of the gradient and of its square, and t the network's own step,
    ``x <- (1 - lr decay) x - m / (sqrt(v) scale + shift)`` where ``scale = (1 - BETA1^t) / (lr sqrt(1 - BETA2^t))`` and
    ``shift = EPSILON (1 - BETA1^t) / lr``: the published update, with what depends on t alone gathered in two factors.

    Parameters
    ----------
    values
        ``[models, numbers]``, moved in place.
    learning_rate, weight_decay
        As in ``torch.optim.AdamW``.
    """

    def __init__(self, values: Tensor, learning_rate: float, weight_decay: float) -> None:
        self.values = values
        self.mean = torch.zeros_like(values)
        self.square = torch.zeros_like(values)
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
