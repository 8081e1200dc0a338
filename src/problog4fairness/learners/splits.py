"""Which rows a learner learns from, and which it holds out."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs import Observation
from problog4fairness.errors import ShapeError, TrainingError
from problog4fairness.learners.base import Task

# Rows with equal inputs are copies where there are so many different ones at least, and so many of each at most.
LEAST_KINDS, MOST_COPIES = 100, 20
# Rows that an error names.
LISTED = 5
# Many fits share an observation.
_KINDS: WeakKeyDictionary[Observation, Tensor | None] = WeakKeyDictionary()


def split(task: Task, share: float, generator: torch.Generator, kinds: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The training and the validation rows of a task, without those of weight 0.

    Where it names no validation rows, a ``share`` of its rows is held out; 0 validates on the training rows. Rows of a
    kind (:func:`kinds_of`) are held out together.
    """
    total, train_rows, validation = len(task.observation), task.train_rows, task.validation_rows
    check_weights(task.weights, total)
    if validation is not None:
        validation = _used(task, validation, "validation_rows")
    if train_rows is None:
        train_rows = torch.arange(total)
        if task.validation_rows is not None:
            train_rows = train_rows[~torch.isin(train_rows, task.validation_rows)]
    train = _used(task, train_rows, "train_rows")
    if validation is not None:
        return train, validation
    if share == 0:
        return train, train
    if len(train) < 2:
        raise TrainingError("1 row cannot be split into training and validation rows; give more, or set validation=0")
    held = min(max(1, round(share * len(train))), len(train) - 1)
    if kinds is None:
        order = train[torch.randperm(len(train), generator=generator)]
        return order[held:], order[:held]
    _, kind, counts = kinds[train].unique(return_inverse=True, return_counts=True)
    order = torch.randperm(len(counts), generator=generator)
    chosen = order[counts[order].cumsum(0) <= held]
    inside = torch.isin(kind, chosen if len(chosen) else order[:1])
    return train[~inside], train[inside]


def kinds_of(observation: Observation) -> Tensor | None:
    """``[rows]``: which rows are copies of each other; None where none are, or where few kinds make up the table.

    What early stopping holds out must not be among what is learned from: a learner would know copies by heart, and go
    on too long. Where each kind has very many rows, as in a table of a few categories, it is no copy but a cell.
    """
    if observation not in _KINDS:
        _KINDS[observation] = _kinds_of(observation)
    return _KINDS[observation]


def _kinds_of(observation: Observation) -> Tensor | None:
    total = len(observation)
    if not observation.table.size:
        # Networks whose inputs are no table, such as pictures.
        return None
    needs = observation.needs(torch.arange(total))[:, 0].numpy()
    hashes = pd.util.hash_pandas_object(observation.table, index=False).to_numpy()
    kinds, distinct = pd.factorize(hashes[needs])
    few = len(distinct) < max(LEAST_KINDS, total / MOST_COPIES)
    return None if len(distinct) == total or few else torch.from_numpy(kinds.astype(np.int64))


def random_parts(rows: Tensor, kinds: Tensor | None, count: int) -> list[Tensor]:
    """Rows, in random order, in so many parts, those of a kind in one; parts without rows are left out."""
    if kinds is None:
        parts = rows.tensor_split(count)
    else:
        place = torch.from_numpy(pd.factorize(kinds[rows].numpy())[0] % count)
        parts = tuple(rows[place == part] for part in range(count))
    return [part for part in parts if len(part)]


def learning_rows(task: Task) -> Tensor:
    """The rows that a learner without early stopping learns from: those to validate with too, none of weight 0."""
    total = len(task.observation)
    check_weights(task.weights, total)
    if task.train_rows is None:
        return _used(task, torch.arange(total), "train_rows")
    parts = [task.train_rows] if task.validation_rows is None else [task.train_rows, task.validation_rows]
    return _used(task, torch.cat(parts).unique(), "train_rows")


def check_weights(weights: Tensor | None, total: int) -> None:
    """One weight for each row, none of them negative."""
    if weights is None:
        return
    if weights.shape != (total,):
        raise ShapeError(f"weights must have one number for each of {total} rows, not the shape {list(weights.shape)}")
    wrong = (~(torch.isfinite(weights) & (weights >= 0))).nonzero().flatten()
    if len(wrong):
        raise TrainingError(f"{row_list(wrong)}: a weight of {weights[wrong[0]].item():g} is not 0 or more")


def row_list(rows: Tensor) -> str:
    """``row 7``, ``rows 3, 7``, or ``rows 0, 1, 2, 3, 4 and 12 more``."""
    listed = ", ".join(str(row) for row in rows[:LISTED].tolist())
    more = f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
    return f"row{'s' if len(rows) > 1 else ''} {listed}{more}"


def _used(task: Task, rows: Tensor, name: str) -> Tensor:
    """Row numbers that exist and count."""
    total = len(task.observation)
    if rows.ndim != 1 or rows.dtype not in (torch.int64, torch.int32):
        raise ShapeError(f"{name} must be a vector of row numbers, not {list(rows.shape)} of {rows.dtype}")
    rows = rows.long()
    outside = rows[(rows < 0) | (rows >= total)]
    if len(outside):
        raise TrainingError(f"{name} asks for {row_list(outside)} of an observation with rows 0 .. {total - 1}")
    used = rows if task.weights is None else rows[task.weights[rows] > 0]
    if not len(used):
        purpose = "learn from" if name == "train_rows" else "validate with"
        raise TrainingError(f"no {name.replace('_', ' ')} to {purpose}")
    return used
