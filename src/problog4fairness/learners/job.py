"""One network to fit: its inputs, its observation, and which rows it learns from."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs import Observation
from problog4fairness.errors import P4FError, ShapeError, TrainingError
from problog4fairness.learners.base import Task

# Rows with equal inputs are copies where there are so many different ones at least, and so many of each at most.
LEAST_KINDS, MOST_COPIES = 100, 20
# Many fits share an observation.
_KINDS: WeakKeyDictionary[Observation, Tensor | None] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Job:
    """One small network to fit.

    Parameters
    ----------
    inputs
        ``[distinct, features]`` in float32: the inputs that ``observation.inputs`` points at. Jobs that learn from the
        same data should hold the same tensor, and the same observation: each is then stored once.
    observation
        What was recorded, and how likely that is.
    seed
        All that is random in this fit is drawn from it, in this order: the first weights, the validation rows, the
        order of the rows in each epoch. Only dropout is drawn for all networks together.
    train_rows
        Rows of the observation to learn from, by number, such as those of a fold; by default all that are not
        ``validation_rows``.
    weights
        ``[rows of the observation]``: how much each row counts. Rows of weight 0 are left out.
    validation_rows
        Rows that choose the best epoch; by default a random share of ``train_rows``.

    Examples
    --------
    >>> import pandas as pd
    >>> import torch
    >>> import problog4fairness as p4f
    >>> x = torch.linspace(-1, 1, 200).unsqueeze(1)
    >>> rows = p4f.data.Rows(pd.DataFrame({"x": x.squeeze(1)}), ("x",), recorded=(x.squeeze(1) > 0).long().numpy())
    >>> observation = p4f.NoBias().observe(rows)
    >>> jobs = [p4f.learners.Job(x, observation, seed=seed) for seed in range(3)]
    >>> len(p4f.learners.fit_many(jobs, p4f.learners.Settings(max_epochs=2)))
    3
    """

    inputs: Tensor
    observation: Observation
    seed: int = 0
    train_rows: Tensor | None = None
    weights: Tensor | None = None
    validation_rows: Tensor | None = None


@dataclass(frozen=True)
class Split:
    """Rows of an observation to train with, and rows to validate with."""

    train: Tensor
    validation: Tensor


def split(
    total: int,
    train_rows: Tensor | None,
    validation_rows: Tensor | None,
    weights: Tensor | None,
    share: float,
    generator: torch.Generator,
    kinds: Tensor | None = None,
) -> Split:
    """Choose the training and the validation rows, without those of weight 0.

    Parameters
    ----------
    total
        Rows of the observation.
    train_rows, validation_rows, weights
        As in :class:`Job`.
    share
        Share of the rows to hold out where no validation rows are given; 0 holds out none.
    generator
        Where the choice is drawn from.
    kinds
        See :func:`kinds_of`: rows of a kind are held out together.
    """
    check_weights(weights, total)
    validation = None if validation_rows is None else _used(validation_rows, total, weights, "validation_rows")
    if train_rows is None:
        train_rows = torch.arange(total)
        if validation_rows is not None:
            train_rows = train_rows[~torch.isin(train_rows, validation_rows)]
    train = _used(train_rows, total, weights, "train_rows")
    if validation is not None:
        return Split(train, validation)
    if share == 0:
        return Split(train, train)
    if len(train) < 2:
        raise TrainingError("1 row cannot be split into training and validation rows; give more, or set validation=0")
    held = min(max(1, round(share * len(train))), len(train) - 1)
    if kinds is None:
        order = train[torch.randperm(len(train), generator=generator)]
        return Split(order[held:], order[:held])
    _, own, counts = kinds[train].unique(return_inverse=True, return_counts=True)
    drawn = torch.randperm(len(counts), generator=generator)
    chosen = drawn[counts[drawn].cumsum(0) <= held]
    inside = torch.isin(own, chosen if len(chosen) else drawn[:1])
    return Split(train[~inside], train[inside])


def kinds_of(observation: Observation) -> Tensor | None:
    """``[rows]``: which rows are copies of each other; None where none are, or where few kinds make up the table.

    What early stopping holds out must not be among what is learned from: a learner would know copies by heart, and go
    on too long. Where each kind has very many rows, as in a table of a few categories, it is no copy but a cell.

    Parameters
    ----------
    observation
        The rows.
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


def dealt(rows: Tensor, kinds: Tensor | None, count: int) -> list[Tensor]:
    """Rows in so many parts, those of a kind in one; parts without rows are left out.

    Parameters
    ----------
    rows
        By number, in random order.
    kinds
        See :func:`kinds_of`.
    count
        How many parts.
    """
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
        return _used(torch.arange(total), total, task.weights, "train_rows")
    parts = [task.train_rows] if task.validation_rows is None else [task.train_rows, task.validation_rows]
    return _used(torch.cat(parts).unique(), total, task.weights, "train_rows")


def check_weights(weights: Tensor | None, total: int) -> None:
    """One weight for each row, none of them negative."""
    if weights is None:
        return
    if weights.shape != (total,):
        raise ShapeError(f"weights must have one number for each of {total} rows, not the shape {list(weights.shape)}")
    wrong = (~(torch.isfinite(weights) & (weights >= 0))).nonzero().flatten()
    if len(wrong):
        raise TrainingError(f"{numbered(wrong)}: a weight of {weights[wrong[0]].item():g} is not 0 or more")


def check_job(job: Job) -> None:
    """All that can be wrong with a job but its rows and weights, in one line."""
    inputs = job.inputs
    if inputs.ndim != 2 or 0 in inputs.shape:
        raise ShapeError(f"inputs must be [distinct inputs, features], not {list(inputs.shape)}")
    if inputs.dtype != torch.float32:
        raise TrainingError(f"inputs are {str(inputs.dtype).removeprefix('torch.')}; pass inputs.float()")
    if not bool(torch.isfinite(inputs.sum())):
        wrong = (~torch.isfinite(inputs)).any(1).nonzero().flatten()
        if len(wrong):
            raise TrainingError(f"inputs are not finite in the {numbered(wrong)}; fill or drop missing values first")
    if len(job.observation) == 0:
        raise TrainingError("the observation has no rows")
    job.observation.require_possible()
    first, last = job.observation.input_range()
    if first < 0 or last >= len(inputs):
        raise ShapeError(f"the observation needs inputs {first} .. {last}, but there are {len(inputs)}")
    check_seed(job.seed)


def check_seed(seed: object) -> None:
    """A whole number that all random streams accept."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) < 2**63:
        raise TrainingError(f"seed={seed!r} is not a whole number between 0 and 2^63 - 1")


def named(error: P4FError, number: int, total: int) -> P4FError:
    """The same error, naming the job where there are several."""
    return type(error)(f"job {number}: {error}") if total > 1 else error


def numbered(rows: Tensor, at_most: int = 5) -> str:
    """``row 7``, ``rows 3, 7``, or ``rows 0, 1, 2, 3, 4 and 12 more``."""
    listed = ", ".join(str(row) for row in rows[:at_most].tolist())
    more = f" and {len(rows) - at_most} more" if len(rows) > at_most else ""
    return f"row{'s' if len(rows) > 1 else ''} {listed}{more}"


def _used(rows: Tensor, total: int, weights: Tensor | None, name: str) -> Tensor:
    """Row numbers that exist and count."""
    if rows.ndim != 1 or rows.dtype not in (torch.int64, torch.int32):
        raise ShapeError(f"{name} must be a vector of row numbers, not {list(rows.shape)} of {rows.dtype}")
    rows = rows.long()
    outside = rows[(rows < 0) | (rows >= total)]
    if len(outside):
        raise TrainingError(f"{name} asks for {numbered(outside)} of an observation with rows 0 .. {total - 1}")
    used = rows if weights is None else rows[weights[rows] > 0]
    if not len(used):
        raise TrainingError(
            f"no {name.replace('_', ' ')} to {'learn from' if name == 'train_rows' else 'validate with'}"
        )
    return used
