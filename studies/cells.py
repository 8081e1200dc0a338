"""What a study is made of, from the outside in: points, the stacks of cells that train together, and single cells.

A *point* is one place on a figure's axis: data of one kind, with bias of one strength. A *cell* is one fold of one
seed at one point, under one method. A *stack* is all cells of a method that learn from the same settings: they are
fitted as one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from problog4fairness.datasets import SyntheticData, SyntheticSettings, synthetic
from problog4fairness.learners import Settings

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Rows: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Bias: TypeAlias = Literal["label", "measurement", "historical"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Point:
    """One place on the axis of a study.

    Attributes
    ----------
    bias
        The kind of bias, which is also the column of the figure.
    x
        Where on the axis: the strength of the bias, or the strength that is assumed.
    settings
        What the people are drawn from.
    assumed
        What a method that needs to know the bias believes of them; None for the truth.
    tested_on
        Whether classifiers see the fair or the recorded features of the people they are tested on.
    """

    bias: Bias
    x: float
    settings: SyntheticSettings
    assumed: SyntheticSettings | None = None
    tested_on: Literal["fair", "recorded"] = "fair"

    @property
    def believed(self) -> SyntheticSettings:
        """What a method that needs to know the bias believes."""
        return self.settings if self.assumed is None else self.assumed

    @property
    def dependent(self) -> bool:
        """Whether the fair label depends on A."""
        return self.settings.alpha_a != 0


class Memo:
    """What stacks on the same data share: the data themselves, and fits that several methods begin with."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What is known under ``key``; made if it is new."""
        if key not in self._known:
            self._known[key] = make()
        value: Value = self._known[key]
        return value

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known


@dataclass(frozen=True, eq=False)
class Cell:
    """One fold of one seed at one point.

    Attributes
    ----------
    point, seed, fold
        Which.
    data
        All people of this seed, fair and recorded.
    train, test
        Rows of ``data`` to learn from, and to be tested on.
    """

    point: Point
    seed: int
    fold: int
    data: SyntheticData
    train: Rows
    test: Rows

    @property
    def test_features(self) -> pd.DataFrame:
        """What a classifier sees of the people it is tested on."""
        data = self.data
        features = data.fair_features if self.point.tested_on == "fair" else data.recorded_features
        return features.iloc[self.test]

    @property
    def sensitive(self) -> Rows:
        """A of everybody."""
        return np.asarray(self.data.sensitive, dtype=np.int64)

    @property
    def recorded_label(self) -> Rows:
        """The recorded label of everybody."""
        return np.asarray(self.data.recorded_label, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Stack:
    """Cells that one method fits together.

    Attributes
    ----------
    points, seeds, folds, rows
        The cells: every seed and fold at every point, with ``rows`` people for each seed.
    training
        How networks are trained.
    memo
        Shared with other stacks on the same data.
    """

    points: tuple[Point, ...]
    seeds: tuple[int, ...]
    folds: int
    rows: int
    training: Settings
    memo: Memo = field(default_factory=Memo)

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells, point by point, seed by seed, fold by fold."""
        return [
            Cell(point, seed, fold, self._data(point, seed), *self._split(seed, fold))
            for point in self.points
            for seed in self.seeds
            for fold in range(self.folds)
        ]

    def _data(self, point: Point, seed: int) -> SyntheticData:
        key = ("data", point.settings, self.rows, seed)
        return self.memo.get(key, lambda: synthetic(point.settings, rows=self.rows, seed=seed))

    def _split(self, seed: int, fold: int) -> tuple[Rows, Rows]:
        parts = np.array_split(np.random.default_rng((seed, self.folds)).permutation(self.rows), self.folds)
        others = [part for number, part in enumerate(parts) if number != fold]
        return np.sort(np.concatenate(others)), np.sort(parts[fold])
