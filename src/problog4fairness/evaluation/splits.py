"""Which rows are learnt from, and which are tested on: the same for every method."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

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

    Examples
    --------
    >>> import numpy as np
    >>> from problog4fairness.evaluation import Cell
    >>> Cell(seed=2, fold=1, train=np.arange(8), test=np.arange(8, 10)).random_state
    2001
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
    folds. With ``data.split_groups`` whole groups are dealt out, as evenly as that allows.

    Parameters
    ----------
    data
        The rows.
    seeds
        How many times to split, or by which seeds; by default 5 times, and 3 times from 20,000 rows on.
    folds
        In how many parts.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> from problog4fairness.evaluation import cells, compared_rows
    >>> data = p4f.datasets.loans(rows=1, audited=40, new=1)
    >>> columns = [*data.features, "poor_area"]
    >>> table = compared_rows(data.audit[columns], data.audit["granted"], sensitive_features="poor_area")
    >>> [(cell.seed, cell.fold, len(cell.train), len(cell.test)) for cell in cells(table, seeds=1, folds=2)]
    [(0, 0, 20, 20), (0, 1, 20, 20)]
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
    found = list(given)
    for seed in found:
        if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) <= _LARGEST_SEED:
            raise P4FError(f"seed {seed!r} is not a whole number between 0 and {_LARGEST_SEED}")
    if not found or len(set(found)) != len(found):
        raise P4FError("seeds must be one or more different numbers")
    return [int(seed) for seed in found]


def _parts(data: ComparedRows, seed: int, folds: int) -> Codes:
    """The fold in which each row is tested."""
    given: Any = folds
    if isinstance(given, bool) or not isinstance(given, Integral) or not 2 <= folds <= len(data):
        raise P4FError(f"folds={folds!r} is not a whole number between 2 and the {len(data)} rows")
    classes = len(data.rows.classes)
    kinds = (data.groups * (classes + 1) + data.recorded + 1) * (classes + 1) + data.fair + 1
    if data.split_groups is not None:
        return _grouped(kinds, data.split_groups, seed, folds)
    # Rows in a random order within their kind, dealt out like cards.
    order = np.lexsort((np.random.default_rng((seed, folds)).random(len(data)), kinds))
    part = np.empty(len(data), dtype=np.int64)
    part[order] = np.arange(len(data)) % folds
    return part


def _grouped(kinds: Codes, groups: Codes, seed: int, folds: int) -> Codes:
    count = len(np.unique(groups))
    if count < folds:
        raise P4FError(f"split_groups has {count} different values, too few for {folds} folds")
    part = np.full(len(kinds), -1, dtype=np.int64)
    dealer = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    # One kind for all where kinds are too rare for it: then sizes alone are balanced.
    kinds = kinds if np.unique(kinds, return_counts=True)[1].max() >= folds else np.zeros_like(kinds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a kind with fewer rows than folds is not in every fold
        for fold, (_, test) in enumerate(dealer.split(kinds, kinds, groups)):
            part[test] = fold
    if len(np.unique(part)) < folds:
        raise P4FError(f"split_groups cannot be dealt out to {folds} folds: some would be empty; take fewer folds")
    return part
