"""Many networks as one: their layers as batched matrix products, and what each is evaluated on.

Everything has the networks as its first dimension. Those with the most batches in an epoch come first, so that in each
step the networks that still have work are the first ``count`` ones, and the others cost nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from problog4fairness.beliefs import Observation


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
    """What the networks are evaluated on for given rows.

    Parameters
    ----------
    observation
        Its ``inputs`` say which inputs a row needs.
    """

    def __init__(self, observation: Observation) -> None:
        self._observation = observation
        self._variants = observation.variants

    def needed(self, rows: Tensor) -> Tensor:
        """``[models, n * variants]``: the inputs that ``rows [models, n]`` need."""
        return self._observation.needs(rows.reshape(-1)).view(len(rows), -1)

    @abstractmethod
    def logits(self, parts: Sequence[Tensor], rows: Tensor, dropout: Dropout | None = None) -> Tensor:
        """``[models, n, variants, outputs]`` for ``rows [models, n]``; 1 in place of n where all rows need the same."""

    @abstractmethod
    def select(self, models: Tensor) -> None:
        """Go on with these networks only."""


class ManyInputs(Inputs):
    """Each batch looks up its inputs.

    Parameters
    ----------
    observation
        Its ``inputs`` say which inputs a row needs.
    inputs
        ``[distinct, features]``: the inputs of all jobs.
    """

    def __init__(self, observation: Observation, inputs: Tensor) -> None:
        super().__init__(observation)
        self._inputs = inputs

    def logits(self, parts: Sequence[Tensor], rows: Tensor, dropout: Dropout | None = None) -> Tensor:
        """See :meth:`Inputs.logits`."""
        needed = self._inputs.index_select(0, self.needed(rows).view(-1))
        logits = forward(parts, needed.view(len(rows), -1, needed.shape[1]), dropout)
        return logits.view(*rows.shape, self._variants, -1)

    def select(self, models: Tensor) -> None:
        """See :meth:`Inputs.select`."""


class FewInputs(Inputs):
    """The network is evaluated once on all distinct inputs of its job, and the rows look up its logits.

    Parameters
    ----------
    observation
        Its ``inputs`` say which inputs a row needs.
    inputs
        For each network, the ``[distinct, features]`` of its job.
    starts
        For each network, what its first input is called in ``index``.
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
        # All rows of a job need all of its inputs: nothing is looked up.
        self._shared = self._width > 1 and all(len(own) == width for own in inputs)
        self._place()

    def _place(self) -> None:
        models, distinct = self._inputs.shape[:2]
        self._shift = ((distinct * torch.arange(models) - self._starts) // self._width).unsqueeze(1)
        self._shifted = bool(self._shift.any())

    def logits(self, parts: Sequence[Tensor], rows: Tensor, dropout: Dropout | None = None) -> Tensor:
        """See :meth:`Inputs.logits`."""
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
        """See :meth:`Inputs.select`."""
        self._inputs, self._starts = self._inputs[models], self._starts[models]
        self._place()


class Rows:
    """Rows of an observation with weights, for each network its own; short lists are padded with rows of weight 0.

    Parameters
    ----------
    rows
        For each network, its rows.
    weights
        For each network, the weights of these rows, or None where all count the same.
    multiple
        Pad to a multiple of this.
    """

    def __init__(self, rows: Sequence[Tensor], weights: Sequence[Tensor | None], multiple: int = 1) -> None:
        self.counts = [len(own) for own in rows]
        self.weighted = any(own is not None for own in weights)
        width = -(-max(self.counts) // multiple) * multiple
        self.rows = torch.stack([torch.cat([own, own[:1].expand(width - len(own))]) for own in rows])
        self.weights = torch.zeros(len(rows), width)
        for line, count, own in zip(self.weights, self.counts, weights, strict=True):
            line[:count] = 1 if own is None else own

    def select(self, models: Tensor) -> None:
        """Go on with these networks only."""
        self.counts = [self.counts[model] for model in models.tolist()]
        self.rows, self.weights = self.rows[models], self.weights[models]

    def chunks(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Rows and weights ``[models, size]``, in order."""
        return zip(self.rows.split(size, dim=1), self.weights.split(size, dim=1), strict=True)


class Epoch:
    """The batches of one epoch, in each network's own random order.

    Parameters
    ----------
    rows
        Padded to a multiple of ``batch_size``; networks with more batches first.
    batch_size
        Rows of a batch.
    generators
        For each network, where its order is drawn from.
    """

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
