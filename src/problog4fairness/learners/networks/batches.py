"""Batches for a module of any kind: from a tensor of inputs, or as a data loader gives them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from problog4fairness.beliefs import Observation
from problog4fairness.errors import ShapeError, TrainingError
from problog4fairness.learners.job import check_weights, numbered, split
from problog4fairness.learners.networks.sharing import Share, ShareSampler, numbered_items
from problog4fairness.learners.settings import SuitedSettings


@dataclass(frozen=True)
class Batch:
    """Rows of an observation and the inputs that they need.

    Attributes
    ----------
    inputs
        ``[n, ...]``, for the module.
    rows
        ``[rows]``.
    places
        ``[rows * variants]``: which of the inputs each row needs; None where they are in order.
    counts
        Whether the rows count. Where a batch has fewer rows than there are processes, a process without a row is given
        a row of weight 0, because the others wait for it.
    """

    inputs: Tensor
    rows: Tensor
    places: Tensor | None = None
    counts: bool = True


class Batches(ABC):
    """Batches that can be gone through again in each epoch."""

    @abstractmethod
    def go_through(self, generator: torch.Generator | None) -> Iterator[Batch]:
        """All batches, shuffled with the generator where it is for these batches to do so."""

    @abstractmethod
    def __len__(self) -> int:
        """How many there are, or 1 where that is not known."""


class TensorBatches(Batches):
    """Batches out of one tensor of distinct inputs.

    A single row that is left over at the end joins the batch before it, since batch normalisation cannot train on one.

    Parameters
    ----------
    inputs
        ``[distinct, ...]``.
    observation
        Its ``inputs`` say which inputs a row needs.
    rows
        The rows to go through.
    batch_size
        Rows of a batch.
    share
        Which of them this process takes.
    """

    def __init__(
        self, inputs: Tensor, observation: Observation, rows: Tensor, batch_size: int, share: Share | None = None
    ) -> None:
        self._inputs, self._observation, self._rows = inputs, observation, rows
        self._share = share or Share()
        full, left = divmod(len(rows), batch_size)
        self._sizes = [batch_size] * full
        if left == 1 and full:
            self._sizes[-1] += 1
        elif left:
            self._sizes.append(left)

    def go_through(self, generator: torch.Generator | None) -> Iterator[Batch]:
        """See :meth:`Batches.go_through`."""
        rows = self._rows
        if generator is not None:
            rows = rows[torch.randperm(len(rows), generator=generator)]
        for chosen in rows.split(self._sizes):
            own, counts = self._share.of(len(chosen))
            chosen = chosen[own]
            needed = self._observation.needs(chosen)
            if needed.shape[1] == 1:
                yield Batch(self._inputs[needed.view(-1)], chosen, counts=counts)
            else:
                distinct, places = needed.unique(return_inverse=True)
                yield Batch(self._inputs[distinct], chosen, places.view(-1), counts)

    def __len__(self) -> int:
        return len(self._sizes)


class LoaderBatches(Batches):
    """Batches as a data loader gives them: pairs (inputs, rows).

    Parameters
    ----------
    loader
        Gives inputs ``[rows, ...]``, or ``[rows, variants, ...]`` where a row needs several, and the rows' numbers.
    observation
        What the row numbers refer to.
    share
        Which rows of a batch this process takes. A ``DataLoader`` over a data set with numbered items then loads only
        those; any other source is asked for whole batches by every process.
    """

    def __init__(self, loader: Iterable[Any], observation: Observation, share: Share | None = None) -> None:
        self._total, self._variants = len(observation), observation.variants
        self._share = share or Share()
        self._sampler = ShareSampler(loader, self._share) if self._share.count > 1 and numbered_items(loader) else None
        self._loader = loader if self._sampler is None else self._sampler.loader()

    def go_through(self, generator: torch.Generator | None) -> Iterator[Batch]:  # noqa: ARG002  it shuffles by itself
        """See :meth:`Batches.go_through`."""
        empty = True
        for number, item in enumerate(self._loader):
            empty = False
            batch = self._batch(item)
            if self._sampler is not None:
                batch = replace(batch, counts=number not in self._sampler.stand_ins)
            elif self._share.count > 1:
                batch = self._part(batch)
            yield batch
        if empty:
            raise TrainingError("the data loader gives no batches; an iterator can be gone through only once")

    def __len__(self) -> int:
        try:
            return max(1, len(self._loader))  # type: ignore[arg-type]  # not all have a length
        except TypeError:
            return 1

    def _batch(self, item: Any) -> Batch:
        if not (isinstance(item, (tuple, list)) and len(item) == 2 and all(isinstance(part, Tensor) for part in item)):
            raise ShapeError(f"a data loader must give pairs of tensors (inputs, rows), not {_described(item)}")
        inputs, rows = item
        lead = tuple(rows.shape) if self._variants == 1 else (*rows.shape, self._variants)
        if rows.ndim != 1 or rows.is_floating_point() or tuple(inputs.shape[: len(lead)]) != lead:
            raise ShapeError(
                f"a batch must be inputs [rows{f', {self._variants}' if self._variants > 1 else ''}, ...] and "
                f"rows [rows] of whole numbers, not {_described(inputs)} and {_described(rows)}"
            )
        rows = rows.long().cpu()
        outside = rows[(rows < 0) | (rows >= self._total)]
        if len(outside):
            raise TrainingError(
                f"the data loader gives {numbered(outside)} of an observation with 0 .. {self._total - 1}"
            )
        return Batch(inputs if self._variants == 1 else inputs.flatten(0, 1), rows)

    def _part(self, batch: Batch) -> Batch:
        own, counts = self._share.of(len(batch.rows))
        inputs = batch.inputs.unflatten(0, (-1, self._variants))[own].flatten(0, 1)
        return Batch(inputs, batch.rows[own], counts=counts)


class LocalBatches(Batches):
    """Batches of which every process has its own rows.

    Parameters
    ----------
    inputs
        ``[rows, ...]``, those of this process.
    rows
        Which of them to go through.
    count
        How many batches there are, the same in all processes; a process with fewer rows stands in with one of weight 0.
    """

    def __init__(self, inputs: Tensor, rows: Tensor, count: int) -> None:
        self._inputs, self._rows, self._count = inputs, rows, count

    def go_through(self, generator: torch.Generator | None) -> Iterator[Batch]:
        """See :meth:`Batches.go_through`."""
        rows = self._rows
        if generator is not None:
            rows = rows[torch.randperm(len(rows), generator=generator)]
        for chosen in rows.tensor_split(self._count):
            if len(chosen):
                yield Batch(self._inputs[chosen], chosen)
            else:
                yield Batch(self._inputs[:1], torch.zeros(1, dtype=torch.long), counts=False)

    def __len__(self) -> int:
        return self._count


def training_batches(
    data: Tensor | Batches | Iterable[Any],
    observation: Observation,
    settings: SuitedSettings,
    seed: int,
    train_rows: Tensor | None,
    validation: Tensor | Batches | Iterable[Any] | None,
    weights: Tensor | None,
    share: Share,
) -> tuple[Batches, Batches]:
    """Training and validation batches; the parameters are those of ``fit_module``, and the share of this process."""
    total = len(observation)
    if isinstance(data, Batches) or isinstance(validation, Batches):
        if not isinstance(data, Batches) or not isinstance(validation, Batches):
            raise TrainingError("batches to train with need batches to validate with, and the other way round")
        return data, validation
    if not isinstance(data, Tensor):
        check_weights(weights, total)
        if train_rows is not None:
            raise TrainingError(
                "train_rows cannot be chosen from a data loader; let it give only the rows to learn from"
            )
        if validation is None or isinstance(validation, Tensor):
            raise TrainingError("a data loader cannot be split; pass validation= another data loader")
        return LoaderBatches(data, observation, share), LoaderBatches(validation, observation, share)
    if data.ndim == 0 or observation.input_range()[1] >= len(data):
        raise ShapeError(f"the observation needs {observation.input_range()[1] + 1} inputs, not {list(data.shape)}")
    own = validation if isinstance(validation, Tensor) else None
    held_out = settings.validation if validation is None else 0.0
    chosen = split(total, train_rows, own, weights, held_out, torch.Generator().manual_seed(seed))
    train = TensorBatches(data, observation, chosen.train, settings.batch_size, share)
    if validation is None or isinstance(validation, Tensor):
        return train, TensorBatches(data, observation, chosen.validation, settings.batch_size, share)
    return train, LoaderBatches(validation, observation, share)


def _described(item: Any) -> str:
    if isinstance(item, Tensor):
        return f"{list(item.shape)} of {str(item.dtype).removeprefix('torch.')}"
    if isinstance(item, (tuple, list)):
        return f"({', '.join(type(part).__name__ for part in item)})"
    return type(item).__name__
