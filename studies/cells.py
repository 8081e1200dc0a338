"""Cells of the studies on tables: people to learn from, and people to be tested on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedGroupKFold

from problog4fairness.beliefs import Belief
from problog4fairness.data import Rows

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class People:
    """A table of people, as they should have been seen and as they are on file.

    Attributes
    ----------
    recorded_frame, fair_frame
        Features and the sensitive column.
    tested_frame
        What a classifier sees of the people it is tested on.
    sensitive
        The name of the sensitive column, which is 0 or 1.
    recorded, fair
        Labels 0 and 1.
    kinds
        Rows of each kind are spread evenly over the folds; None for folds at random.
    units
        Rows with the same number are never on both sides of a split.
    """

    recorded_frame: pd.DataFrame
    fair_frame: pd.DataFrame
    tested_frame: pd.DataFrame
    sensitive: str
    recorded: Codes
    fair: Codes
    kinds: Codes | None = None
    units: Codes | None = None

    def __len__(self) -> int:
        return len(self.recorded)

    @property
    def groups(self) -> Codes:
        """The sensitive column."""
        return np.asarray(self.recorded_frame[self.sensitive], dtype=np.int64)

    def features(self, aware: bool) -> tuple[str, ...]:
        """The columns that a network reads; the sensitive one is among them if it is aware."""
        return tuple(name for name in self.recorded_frame.columns if aware or name != self.sensitive)

    def rows(self, aware: bool, label: Codes | None = None) -> Rows:
        """What was recorded of them, with labels to learn from."""
        return Rows(self.recorded_frame, self.features(aware), (0, 1), label)

    def fair_rows(self) -> Rows:
        """What should have been recorded of them."""
        return Rows(self.fair_frame, self.features(True), (0, 1), self.fair)

    def tested_rows(self, chosen: Codes, aware: bool) -> Rows:
        """What is seen of some of them when they are tested."""
        return Rows(self.tested_frame, self.features(aware)).take(chosen)


@dataclass(frozen=True)
class Cell:
    """One fold of one seed.

    Attributes
    ----------
    people
        All people of this seed.
    seed, fold, folds
        Which fold, of how many.
    belief
        What a method that needs to know the bias believes.
    aware
        Whether the network of that method sees the sensitive column, for the fair label depends on it.
    """

    people: People
    seed: int
    fold: int
    folds: int
    belief: Belief | None = None
    aware: bool = False

    @property
    def random_state(self) -> int:
        """The seed of all networks of this cell: the same first weights and validation rows for all methods."""
        return 1000 * self.seed + self.fold

    @cached_property
    def train(self) -> Codes:
        """Rows to learn from."""
        return np.flatnonzero(_parts(self.people, self.seed, self.folds) != self.fold)

    @cached_property
    def test(self) -> Codes:
        """Rows to be tested on."""
        return np.flatnonzero(_parts(self.people, self.seed, self.folds) == self.fold)


@lru_cache(maxsize=64)
def _parts(people: People, seed: int, folds: int) -> Codes:
    """The fold in which each row is tested."""
    kinds = np.zeros(len(people), dtype=np.int64) if people.kinds is None else people.kinds
    part = np.empty(len(people), dtype=np.int64)
    if people.units is not None:
        dealer = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a kind with fewer rows than folds is not in every fold
            for fold, (_, test) in enumerate(dealer.split(kinds, kinds, people.units)):
                part[test] = fold
        return part
    # Rows in a random order within their kind, dealt out like cards.
    order = np.lexsort((np.random.default_rng((seed, folds)).random(len(people)), kinds))
    part[order] = np.arange(len(people)) % folds
    return part
