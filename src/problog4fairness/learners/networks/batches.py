"""Batches for a module of any kind: from a tensor of inputs, or as a data loader gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from problog4fairness.beliefs import Observation
from problog4fairness.errors import ShapeError, TrainingError
from problog4fairness.learners.base import Task
from problog4fairness.learners.networks.training import SuitedSettings
from problog4fairness.learners.splits import check_weights, row_list, split


@dataclass(frozen=True)
class Batch:
    """Rows of an observation and the inputs ``[n, ...]`` that they need.

    ``places [rows * variants]`` says which of the inputs each row needs; None where they are in order.
    """

    inputs: Tensor
    rows: Tensor
    places: Tensor | None = None


class TensorBatches:
    """Batches out of one tensor of distinct inputs ``[distinct, ...]``.

    A single row that is left over at the end joins the batch before it, since batch normalisation cannot train on one.
    """

    def __init__(self, inputs: Tensor, observation: Observation, rows: Tensor, batch_size: int) -> None:
        self._inputs, self._observation, self._rows = inputs, observation, rows
        full, left = divmod(len(rows), batch_size)
        self._sizes = [batch_size] * full
        if left == 1 and full:
            self._sizes[-1] += 1
        elif left:
            self._sizes.append(left)

    def epoch(self, generator: torch.Generator | None) -> Iterator[Batch]:
        """All batches, shuffled where there is a generator."""
        rows = self._rows
        if generator is not None:
            rows = rows[torch.randperm(len(rows), generator=generator)]
        for chosen in rows.split(self._sizes):
            needed = self._observation.needs(chosen)
            if needed.shape[1] == 1:
                yield Batch(self._inputs[needed.view(-1)], chosen)
            else:
                distinct, places = needed.unique(return_inverse=True)
                yield Batch(self._inputs[distinct], chosen, places.view(-1))

    def __len__(self) -> int:
        return len(self._sizes)


class LoaderBatches:
    """Batches as a data loader gives them: inputs ``[rows, ...]`` or ``[rows, variants, ...]``, and row numbers."""

    def __init__(self, loader: Iterable[Any], observation: Observation) -> None:
        self._loader, self._total, self._variants = loader, len(observation), observation.variants

    def epoch(self, generator: torch.Generator | None) -> Iterator[Batch]:
        """All batches."""
        empty = True
        for item in self._loader:
            empty = False
            yield self._batch(item)
        if empty:
            raise TrainingError("the data loader gives no batches; an iterator can be gone through only once")

    def __len__(self) -> int:
        try:
            return max(1, len(self._loader))  # type: ignore[arg-type]  # not all have a length
        except TypeError:
            return 1

    def _batch(self, item: Any) -> Batch:
        pair = isinstance(item, (tuple, list)) and len(item) == 2 and all(isinstance(part, Tensor) for part in item)
        if not (pair and self._fit(*item)):
            variants = f", {self._variants}" if self._variants > 1 else ""
            raise ShapeError(
                f"a data loader must give pairs of tensors, inputs [rows{variants}, ...] and row numbers [rows], not "
                f"{described(item)}"
            )
        inputs, rows = item
        rows = rows.long().cpu()
        outside = rows[(rows < 0) | (rows >= self._total)]
        if len(outside):
            raise TrainingError(
                f"the data loader gives {row_list(outside)} of an observation with 0 .. {self._total - 1}"
            )
        return Batch(inputs if self._variants == 1 else inputs.flatten(0, 1), rows)

    def _fit(self, inputs: Tensor, rows: Tensor) -> bool:
        lead = tuple(rows.shape) if self._variants == 1 else (*rows.shape, self._variants)
        return rows.ndim == 1 and not rows.is_floating_point() and tuple(inputs.shape[: len(lead)]) == lead


Batches: TypeAlias = TensorBatches | LoaderBatches


def training_batches(
    data: Tensor | Iterable[Any],
    observation: Observation,
    settings: SuitedSettings,
    seed: int,
    train_rows: Tensor | None,
    validation: Tensor | Iterable[Any] | None,
    weights: Tensor | None,
) -> tuple[Batches, Batches]:
    """Training and validation batches; the parameters are those of ``fit_module``."""
    total = len(observation)
    if not isinstance(data, Tensor):
        check_weights(weights, total)
        if train_rows is not None:
            raise TrainingError(
                "train_rows cannot be chosen from a data loader; let it give only the rows to learn from"
            )
        if validation is None or isinstance(validation, Tensor):
            raise TrainingError("a data loader cannot be split; pass validation= another data loader")
        return LoaderBatches(data, observation), LoaderBatches(validation, observation)
    if data.ndim == 0 or observation.input_range()[1] >= len(data):
        raise ShapeError(f"the observation needs {observation.input_range()[1] + 1} inputs, not {list(data.shape)}")
    rows = validation if isinstance(validation, Tensor) else None
    share = settings.validation if validation is None else 0.0
    task = Task(observation, seed, train_rows, weights, rows)
    chosen, held = split(task, share, torch.Generator().manual_seed(seed))
    train = TensorBatches(data, observation, chosen, settings.batch_size)
    if validation is None or isinstance(validation, Tensor):
        return train, TensorBatches(data, observation, held, settings.batch_size)
    return train, LoaderBatches(validation, observation)


def described(item: Any) -> str:
    """What somebody gave, for an error."""
    if isinstance(item, Tensor):
        return f"{list(item.shape)} of {str(item.dtype).removeprefix('torch.')}"
    if isinstance(item, (tuple, list)):
        return f"({', '.join(map(described, item))})"
    return type(item).__name__
