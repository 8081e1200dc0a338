"""Which rows are learnt from, and which are tested on: the same for every method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from problog4fairness.data import Codes
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.data import ComparedRows

_LARGEST_SEED = 1_000_000
# How often rows are split by default, and from so many rows on, where splits differ little and fits take long.
SEEDS, MANY_ROWS, SEEDS_OF_MANY = 5, 20_000, 3


@dataclass(frozen=True, eq=False)
class Cell:
    """One fold of one seed.

    Attributes
    ----------
    seed, fold
        The seed, and the number of the fold.
    train, test
        Rows to learn from, and to be tested on, by number.
    """

    seed: int
    fold: int
    train: Codes
    test: Codes

    @property
    def random_state(self) -> int:
        """The same for all methods of this cell: the same first weights and validation rows."""
        return 1000 * self.seed + self.fold


def cells(data: ComparedRows, seeds: int | Sequence[int] | None = None, folds: int = 5) -> list[Cell]:
    """All folds of all seeds; they depend on nothing else than the rows, the seeds and the number of folds.

    Each kind of row, by group, recorded label and fair label (favourable, not, unknown), is spread evenly over the
    folds. By default there are 5 seeds, and 3 from 20,000 rows on.
    """
    return [
        Cell(seed, fold, np.flatnonzero(part != fold), np.flatnonzero(part == fold))
        for seed in seed_list(default_seeds(len(data)) if seeds is None else seeds)
        for part in [_parts(data, seed, folds)]
        for fold in range(folds)
    ]


def default_seeds(rows: int) -> int:
    """How many times so many rows are split, where nothing is stated."""
    return SEEDS if rows < MANY_ROWS else SEEDS_OF_MANY


def seed_list(seeds: int | Sequence[int]) -> list[int]:
    """0, 1, ... for a number of seeds; the seeds themselves where they are given."""
    given: Any = seeds
    if isinstance(given, int | np.integer):
        if isinstance(given, bool) or given < 1:
            raise P4FError(f"seeds={given!r} is not a number of at least 1, nor a list of seeds")
        return list(range(int(given)))
    chosen = list(given)
    for seed in chosen:
        if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) <= _LARGEST_SEED:
            raise P4FError(f"seed {seed!r} is not a whole number between 0 and {_LARGEST_SEED}")
    if not chosen or len(set(chosen)) != len(chosen):
        raise P4FError("seeds must be one or more different numbers")
    return [int(seed) for seed in chosen]


def _parts(data: ComparedRows, seed: int, folds: int) -> Codes:
    """The fold in which each row is tested."""
    given: Any = folds
    if isinstance(given, bool) or not isinstance(given, Integral) or not 2 <= folds <= len(data):
        raise P4FError(f"folds={folds!r} is not a whole number between 2 and the {len(data)} rows")
    classes = len(data.rows.classes)
    kinds = (data.groups * (classes + 1) + data.recorded + 1) * (classes + 1) + data.fair + 1
    # Rows in a random order within their kind, dealt out like cards.
    order = np.lexsort((np.random.default_rng((seed, folds)).random(len(data)), kinds))
    part = np.empty(len(data), dtype=np.int64)
    part[order] = np.arange(len(data)) % folds
    return part
