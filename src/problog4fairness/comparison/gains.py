"""What one way of deciding gains over another, on the rows whose fair label is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.beliefs.amounts import count, points_interval
from problog4fairness.comparison.data import ComparedRows
from problog4fairness.comparison.run import Predictions
from problog4fairness.comparison.splits import Cell
from problog4fairness.metrics.decisions import decide
from problog4fairness.rows.types import Floats
from problog4fairness.rows.whole import WholeTable

COLUMNS = ("accuracy", "accuracy_low", "accuracy_high", "reached", "reached_low", "reached_high", "rows")


@dataclass(frozen=True)
class Gain:
    """What one way of deciding gains over another one.

    Both decided on the same rows, so their difference is known better than either of them.

    Attributes
    ----------
    accuracy, accuracy_low, accuracy_high
        The difference in the share of right decisions, with its 95% interval over rows.
    reached, reached_low, reached_high
        The difference in the share of people who should have the favourable label and get it, of all people.
    rows
        How many rows with a fair label this rests on.
    """

    accuracy: float
    accuracy_low: float
    accuracy_high: float
    reached: float
    reached_low: float
    reached_high: float
    rows: float

    @classmethod
    def of(cls, fair: Any, this: Any, other: Any) -> Gain:
        """The gain of decisions ``this`` over decisions ``other``.

        Parameters
        ----------
        fair
            Fair labels, 0 and 1; or 0, 1, ... of more classes, the last of which is favourable.
        this, other
            Decisions, 0 and 1; shares between where a row was decided on several times. Of more classes the shares of
            all, ``[rows, classes]``.
        """
        more = np.asarray(this, dtype=np.float64) - np.asarray(other, dtype=np.float64)
        more = np.column_stack([-more, more]) if more.ndim == 1 else more
        labels, rows = np.asarray(fair, dtype=np.int64), np.arange(len(more))
        right = more[rows, labels]
        return cls(*_mean(right), *_mean(np.where(labels == more.shape[1] - 1, right, 0.0)), len(rows))

    def sentence(self, people: int, good: str = "the favourable label") -> str:
        """The verdict: ``+2.9 points of accuracy (+1.8 to +4.0), 357 more people ...``.

        Parameters
        ----------
        people
            Of how many people is told who gets the favourable label.
        good
            How that label is called.
        """
        low, high = (round(people * share) for share in (self.reached_low, self.reached_high))
        number = round(people * self.reached)
        more = "more" if number >= 0 else "fewer"
        accuracy = points_interval(self.accuracy, self.accuracy_low, self.accuracy_high)
        value, _, spread = accuracy.partition(" ")
        return (
            f"{value} points of accuracy {spread}, and {count(abs(number))} {more} people who should have {good} get "
            f"it, of {count(people)} ({_signed(low)} to {_signed(high)})"
        )

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, or ``about as good`` where the interval of the accuracy holds 0."""
        return "better" if self.accuracy_low > 0 else "worse" if self.accuracy_high < 0 else "about as good"


def gains(data: ComparedRows, cells: Sequence[Cell], found: Predictions, this: str | None) -> pd.DataFrame:
    """For each other method, what ``this`` one gains over it; no rows where no fair label is known.

    Parameters
    ----------
    data, cells, found
        The rows, how they were split, and what was predicted.
    this
        The method that is compared with the others; None for no comparison.
    """
    known = data.fair >= 0
    if this not in found.chances or not known.any():
        return pd.DataFrame(columns=list(COLUMNS), index=pd.Index([], name="against"))
    decided = {name: _decided(len(data), cells, chances)[known] for name, chances in found.chances.items()}
    rows = {
        name: vars(Gain.of(data.fair[known], decided[this], other)) for name, other in decided.items() if name != this
    }
    return WholeTable.from_dict(rows, orient="index", columns=list(COLUMNS)).rename_axis(index="against")


def _decided(rows: int, cells: Sequence[Cell], chances: Sequence[Floats]) -> Floats:
    """For each row the share of repetitions that decide for the favourable label; of many classes, for each."""
    shape = (rows, *chances[0].shape[1:])
    chosen, times = np.zeros(shape), np.zeros((rows, *[1] * (len(shape) - 1)))
    for cell, chance in zip(cells, chances, strict=True):
        chosen[cell.test] += decide(chance) if chance.ndim == 1 else np.eye(shape[1])[decide(chance)]
        times[cell.test] += 1
    return chosen / np.maximum(times, 1)


def _mean(differences: Floats) -> tuple[float, float, float]:
    """A mean of paired differences with its 95% interval (Agresti and Min: one row of either kind is added)."""
    total = len(differences) + 2
    mean, middle = float(differences.mean()), float(differences.sum()) / total
    spread = float((differences**2).sum() + 2) / total - middle**2
    half = 1.96 * float(np.sqrt(spread / total))
    return mean, min(mean, middle - half), max(mean, middle + half)


def _signed(number: int) -> str:
    return f"{number:+,}".replace("-", "−") if number else "0"
