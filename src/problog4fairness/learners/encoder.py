"""From columns to the network's input by names and numbers alone, so that a model file needs nothing else to say it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.data import Codes, Floats
from problog4fairness.errors import CellError, P4FError
from problog4fairness.learners.validation import Shape, require

Slot: TypeAlias = tuple[Any, ...]
Matrix: TypeAlias = np.ndarray[Any, np.dtype[Any]]

# The text of a missing category.
MISSING = "missing"
_LARGEST = float(np.finfo(np.float32).max)
# What a model file holds as arrays.
NUMBERS = ("fills", "means", "scales")
# Rows that are encoded at a time.
CHUNK = 1 << 16
# Inputs of a column of categories, at most: the most frequent ones have one each, all others share one.
MAX_CATEGORIES = 30
# Where others share one, a category with an input of its own has at least so many rows.
LEAST_ROWS = 10


@dataclass(frozen=True, eq=False)
class Encoder:
    """Numbers filled and scaled, (x - mean) / scale; categories as indicators. What a column is, training decided.

    Attributes
    ----------
    numbers, marked
        The columns of numbers; those with a further input that says whether the number is missing, scaled like it.
    categories, rare
        The other columns, and the values of each that have an input; those in which all other values share one more
        input, while elsewhere an unknown value is zeros.
    fills, means, scales
        What stands for a missing number, ``[numbers]``; ``[numbers + marked]``.
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
            options = (*values, None) if name in self.rare else values
            slots += [("category", name, value) for value in options]
        return slots

    @property
    def width(self) -> int:
        """How many inputs there are."""
        numbers = len(self.numbers) + len(self.marked)
        return numbers + sum(map(len, self.categories.values())) + len(self.rare)

    def transform(self, frame: pd.DataFrame, kind: type[Any] = np.float32) -> Matrix:
        """A learner's input for rows that :meth:`check` let pass.

        In float32 with rows that lie together, as torch wants them, or in float64 column by column.
        """
        matrix = np.empty((len(frame), self.width), dtype=kind, order="C" if kind is np.float32 else "F")
        # Piece by piece: what is made on the way takes several times as much memory.
        for start in range(0, len(frame), CHUNK):
            matrix[start : start + CHUNK] = self._block(frame.iloc[start : start + CHUNK], kind)
        return matrix

    def _block(self, frame: pd.DataFrame, kind: type[Any]) -> Matrix:
        # Column by column, as it is written.
        matrix = np.zeros((len(frame), self.width), dtype=kind, order="F")
        start = len(self.means)
        if start:
            self._scale(frame, matrix[:, :start])
        for name, values in self.categories.items():
            places = self._places(frame, name)
            rows = np.flatnonzero(places >= 0)
            matrix[rows, start + places[rows]] = 1
            start += len(values) + (name in self.rare)
        return matrix

    def columns(self, frame: pd.DataFrame) -> Floats:
        """``[rows, numbers + categories]``: numbers as they are, categories by position, NaN where not known."""
        numbers = [as_numbers(frame[name]) for name in self.numbers]
        texts = [self._places(frame, name) for name in self.categories]
        columns = [*numbers, *(np.where(places < 0, np.nan, places) for places in texts)]
        return np.column_stack(columns) if columns else np.zeros((len(frame), 0))

    def _places(self, frame: pd.DataFrame, name: str) -> Codes:
        """The position of each value of a category; -1 for one that is not known."""
        values = self.categories[name]
        place = {value: number for number, value in enumerate(values)}
        codes, texts = text_codes(frame[name])
        other = len(values) if name in self.rare else -1
        return np.array([place.get(text, other) for text in texts], dtype=np.int64)[codes]

    def _scale(self, frame: pd.DataFrame, out: Matrix) -> None:
        """Write the scaled numbers of rows, and the marks of missing ones, into ``out``."""
        for number, name in enumerate(self.numbers):
            values = as_numbers(frame[name])
            missing = np.isnan(values)
            if missing.any():
                values = np.where(missing, self.fills[number], values)
            out[:, number] = (values - self.means[number]) / self.scales[number]
            if name in self.marked:
                mark = len(self.numbers) + self.marked.index(name)
                out[:, mark] = (missing - self.means[mark]) / self.scales[mark]

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """The numbers of an encoder, and the rest as plain data."""
        numbers = {name: torch.from_numpy(np.array(getattr(self, name))) for name in NUMBERS}
        categories = [[name, name in self.rare, list(values)] for name, values in self.categories.items()]
        return numbers, {"numbers": list(self.numbers), "marked": list(self.marked), "categories": categories}

    @classmethod
    def of_plain(cls, plain: Any, columns: Sequence[str] | None = None) -> Encoder:
        """The encoder that plain data describe, which may be a stranger's, without its numbers.

        Where ``columns`` are given, it must read these.
        """
        known = isinstance(plain, dict) and set(plain) == {"numbers", "marked", "categories"}
        require(known and isinstance(plain["categories"], list), "its encoder is another one")
        numbers, marked = _names(plain["numbers"]), _names(plain["marked"])
        categories: dict[str, tuple[str, ...]] = {}
        rare = set()
        for entry in plain["categories"]:
            known = isinstance(entry, list) and len(entry) == 3 and isinstance(entry[1], bool)
            require(known, "its categories are wrong")
            (name,), values = _names(entry[:1]), _names(entry[2])
            require(name not in categories, "a category occurs twice")
            categories[name] = tuple(values)
            rare |= {name} if entry[1] else set()
        fit = columns is None or sorted([*numbers, *categories]) == sorted(columns)
        require(fit and set(marked) <= set(numbers), "its encoder does not fit its columns")
        nothing = np.zeros(0)
        return cls(tuple(numbers), tuple(marked), categories, frozenset(rare), nothing, nothing, nothing)

    def shapes(self) -> dict[str, Shape]:
        """The shapes of its numbers."""
        inputs = len(self.numbers) + len(self.marked)
        sizes = {"fills": len(self.numbers), "means": inputs, "scales": inputs}
        return {name: ((size,), torch.float64) for name, size in sizes.items()}

    def with_numbers(self, tensors: dict[str, Tensor]) -> Encoder:
        """The encoder with its numbers, which are taken out of ``tensors``."""
        fills, means, scales = (tensors.pop(name).numpy() for name in NUMBERS)
        require(bool((scales > 0).all()), "a scale is not above 0")
        return replace(self, fills=fills, means=means, scales=scales)

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
        rest = f"{reason}, and the model was trained on numbers there; correct it, or leave it empty"
        raise CellError(f"column {name!r} has {shown}", int(rows[0]), rest)


def as_numbers(column: pd.Series[Any]) -> Floats:
    """A column as numbers, whatever it was read as; NaN for what is missing or is no number."""
    if column.dtype == np.float64:
        return np.asarray(column.to_numpy())
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    codes, values = pd.factorize(column)
    numbers: Floats = np.array([*map(_number, values), np.nan])
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
    codes, values = pd.factorize(column)
    return codes, [*map(_text, values), MISSING]


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)


def make_encoder(frame: pd.DataFrame) -> Encoder:
    """Numbers scaled, categories as indicators, missing values filled and marked."""
    numbers = {str(name): as_numbers(column) for name, column in frame.items() if pd.api.types.is_numeric_dtype(column)}
    fills, marked, means, scales = _scales(numbers)
    categories, rare = {}, set()
    for name, column in frame.items():
        if str(name) not in numbers:
            # Each different value becomes text once, however many rows have it.
            codes, texts = text_codes(column)
            counts = pd.Series(np.array(texts, dtype=object)[codes]).value_counts().sort_index()
            categories[str(name)], others = frequent(counts.index.tolist(), counts.to_numpy())
            rare |= {str(name)} if others else set()
    return Encoder(tuple(numbers), tuple(marked), categories, frozenset(rare), fills, means, scales)


def _scales(columns: Mapping[str, Floats]) -> tuple[Floats, list[str], Floats, Floats]:
    """For columns of numbers what fills their gaps, which of them have any; their means and scales."""
    fills, marks, moments = [], {}, []
    for name, values in columns.items():
        missing = np.isnan(values)
        known = values[~missing] if missing.any() else values
        with np.errstate(over="ignore", invalid="ignore"):
            # 0 for a column without any value.
            fill = float(known.mean()) if len(known) else 0.0
            scale = _scale(known, fill, len(values))
        if not (math.isfinite(fill) and math.isfinite(scale)):
            raise P4FError(
                f"column {name!r} has values up to {np.abs(known).max():g}, too large to be scaled; "
                "correct them, or divide them"
            )
        fills.append(fill)
        moments.append((fill, scale))
        if missing.any():
            marks[name] = missing.astype(np.float64)
    for gaps in marks.values():
        share = float(gaps.mean())
        moments.append((share, _scale(gaps, share, len(gaps))))
    means, scales = np.array(moments).reshape(-1, 2).T
    return np.array(fills), list(marks), means, scales


def _scale(known: Floats, mean: float, rows: int) -> float:
    """The standard deviation where gaps are filled with the mean; 1 for a column that is constant but for rounding."""
    spread = float(((known - mean) ** 2).sum() / max(1, rows))
    rounding = (rows * mean * float(np.finfo(np.float64).eps)) ** 2
    return spread**0.5 if spread > rounding else 1.0


def frequent(values: Sequence[str], counts: Codes) -> tuple[tuple[str, ...], bool]:
    """The values of a column that get an input each, in their order, and whether there are others.

    What a fit costs does not grow with the number of values: at most ``MAX_CATEGORIES`` inputs come of a column. Of one
    with more values, those that few rows have (``counts``) are among the others, so that nobody is learned by name.
    """
    if len(values) <= MAX_CATEGORIES:
        return tuple(values), False
    most = np.argsort(counts, kind="stable")[len(values) - MAX_CATEGORIES + 1 :]
    kept = np.sort(most[np.asarray(counts)[most] >= LEAST_ROWS])
    return tuple(values[place] for place in kept), True


def slot_name(slot: Slot) -> str:
    """What an input is called: ``income``, ``income is missing``, ``job = clerk``, ``job is rare``."""
    kind, column, *value = slot
    if kind == "number":
        return str(column)
    if kind == "missing":
        return f"{column} is missing"
    return f"{column} = {value[0]}" if value[0] is not None else f"{column} is rare"


def _names(values: Any) -> list[str]:
    require(isinstance(values, list) and all(isinstance(value, str) for value in values), "its names are not texts")
    require(len(set(values)) == len(values), "a name or category occurs twice")
    return list(values)
