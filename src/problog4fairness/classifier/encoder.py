"""From columns to the network's input by names and numbers alone, so that a model file needs nothing else to say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.errors import P4FError

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Slot: TypeAlias = tuple[Any, ...]

# The text of a missing category.
MISSING = "missing"
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Encoder:
    """Numbers filled and scaled, (x - mean) / scale; categories as indicators. What a column is, training said.

    Attributes
    ----------
    numbers
        The columns of numbers.
    marked
        Those of them with a further input that says whether the number is missing, scaled like a number.
    categories
        The other columns, and the values of each that have an input of their own.
    rare
        Those of them in which all other values share one more input; elsewhere an unknown value is zeros.
    fills
        What stands for a missing number, ``[numbers]``.
    means, scales
        ``[numbers + marked]``.
    """

    numbers: tuple[str, ...]
    marked: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    rare: frozenset[str]
    fills: Floats
    means: Floats
    scales: Floats

    @property
    def slots(self) -> list[Slot]:
        """What each input means, in order: its kind, its column and, of a category, a value; None for all rare ones."""
        slots: list[Slot] = [("number", name) for name in self.numbers]
        slots += [("missing", name) for name in self.marked]
        for name, values in self.categories.items():
            told_apart = (*values, None) if name in self.rare else values
            slots += [("category", name, value) for value in told_apart]
        return slots

    @property
    def width(self) -> int:
        """How many inputs there are."""
        numbers = len(self.numbers) + len(self.marked)
        return numbers + sum(map(len, self.categories.values())) + len(self.rare)

    def transform(self, frame: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The network's input for rows that :meth:`check` let pass."""
        matrix = np.zeros((len(frame), self.width), dtype=np.float32)
        start = len(self.means)
        if start:
            matrix[:, :start] = self._scaled(frame)
        for name, values in self.categories.items():
            place = {value: start + number for number, value in enumerate(values)}
            codes, texts = text_codes(frame[name])
            other = start + len(values) if name in self.rare else -1
            places = np.array([place.get(text, other) for text in texts], dtype=np.int64)[codes]
            rows = np.flatnonzero(places >= 0)
            matrix[rows, places[rows]] = 1
            start += len(values) + (name in self.rare)
        return matrix

    def _scaled(self, frame: pd.DataFrame) -> Floats:
        values = np.column_stack([as_numbers(frame[name]) for name in self.numbers])
        place = {name: number for number, name in enumerate(self.numbers)}
        return (filled(values, self.fills, [place[name] for name in self.marked]) - self.means) / self.scales

    def check(self, frame: pd.DataFrame) -> None:
        """Raise the error that names row (from 1) and column of a cell where training saw numbers and this is none.

        A number that is too large for the network counts as none: its label would be made up.
        """
        for place, name in enumerate(self.numbers):
            column = frame[name]
            values = as_numbers(column)
            if not pd.api.types.is_numeric_dtype(column):
                _refuse(name, column, np.isnan(values) & column.notna().to_numpy(), "which is not a number")
            with np.errstate(over="ignore"):
                scaled = np.abs((values - self.means[place]) / self.scales[place])
            _refuse(name, column, scaled > _LARGEST, "which is too large")


def _refuse(name: str, column: pd.Series[Any], wrong: Any, reason: str) -> None:
    rows = np.flatnonzero(wrong)
    if len(rows):
        value = column.iloc[rows[0]]
        shown = repr(value) if isinstance(value, str) else str(value)
        raise P4FError(
            f"column {name!r} has {shown} in row {rows[0] + 1}, {reason}, and the model was trained on numbers there; "
            "correct it, or leave it empty"
        )


def filled(values: Floats, fills: Floats, marked: list[int]) -> Floats:
    """Numbers with their gaps filled, and beside them for some columns whether there was one."""
    missing = np.isnan(values)
    return np.hstack([np.where(missing, fills, values), missing[:, marked]])


def as_numbers(column: pd.Series[Any]) -> Floats:
    """A column as numbers, whatever it was read as; NaN for what is missing or is no number."""
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    codes, found = pd.factorize(column)
    numbers: Floats = np.array([*map(_number, found), np.nan])
    return np.asarray(numbers[codes])


def _number(value: Any) -> float:
    try:
        return float(value) if "_" not in str(value) else np.nan
    except OverflowError:
        return np.inf
    except (TypeError, ValueError):
        return np.nan


def text_codes(column: pd.Series[Any]) -> tuple[Codes, list[str]]:
    """For each row a position among texts; whole numbers are the same text whatever they were read as."""
    codes, found = pd.factorize(column)
    return codes, [*map(_text, found), MISSING]


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)
