"""From columns to the network's input by names and numbers alone, so that a model file needs nothing else to say it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.errors import CellError, P4FError

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Slot: TypeAlias = tuple[Any, ...]
Matrix: TypeAlias = np.ndarray[Any, np.dtype[Any]]

# The text of a missing category.
MISSING = "missing"
_LARGEST = float(np.finfo(np.float32).max)
# Rows that are encoded at a time.
CHUNK = 1 << 16
# Inputs of a column of categories, at most: the most frequent ones have one each, all others share one.
MAX_CATEGORIES = 30
# Where others share one, a category with an input of its own has at least so many rows.
LEAST_ROWS = 10


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

    def transform(self, frame: pd.DataFrame, kind: type[Any] = np.float32) -> Matrix:
        """A learner's input for rows that :meth:`check` let pass, in float32 or another type."""
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
        found = [*numbers, *(np.where(places < 0, np.nan, places) for places in texts)]
        return np.column_stack(found) if found else np.zeros((len(frame), 0))

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


def prepared(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns as the encoder learns them: numbers as floats, everything else as text."""
    columns: dict[str, Any] = {}
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            columns[str(name)] = as_numbers(column)
        else:
            # Each different value becomes text once, however many rows have it.
            codes, texts = text_codes(column)
            columns[str(name)] = np.array(texts, dtype=object)[codes]
    return pd.DataFrame(columns, index=frame.index, copy=False)


def make_encoder(frame: pd.DataFrame) -> Encoder:
    """Numbers scaled, categories as indicators, missing values filled and marked; fitted on a prepared frame."""
    numbers = [name for name, kind in zip(frame.columns, frame.dtypes, strict=True) if kind == np.float64]
    fills, marked, means, scales = _scales(frame[numbers])
    categories, rare = _categories(frame.drop(columns=numbers))
    return Encoder(tuple(numbers), tuple(numbers[place] for place in marked), categories, rare, fills, means, scales)


def _scales(frame: pd.DataFrame) -> tuple[Floats, list[int], Floats, Floats]:
    """For columns of numbers what fills their gaps, which of them have any; their means and scales."""
    fills, marked, found = [], [], []
    for number, (name, column) in enumerate(frame.items()):
        values = column.to_numpy()
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
        found.append((fill, scale))
        if missing.any():
            marked.append(number)
    for number in marked:
        gaps = np.isnan(frame.iloc[:, number].to_numpy()).astype(np.float64)
        share = float(gaps.mean())
        found.append((share, _scale(gaps, share, len(gaps))))
    means, scales = np.array(found).reshape(-1, 2).T
    return np.array(fills), marked, means, scales


def _scale(known: Floats, mean: float, rows: int) -> float:
    """The standard deviation where gaps are filled with the mean; 1 for a column that is constant but for rounding."""
    spread = float(((known - mean) ** 2).sum() / max(1, rows))
    rounding = (rows * mean * float(np.finfo(np.float64).eps)) ** 2
    return spread**0.5 if spread > rounding else 1.0


def _categories(frame: pd.DataFrame) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """For columns of texts the values that get an indicator each, and the columns in which others share one."""
    categories, shared = {}, set()
    for name in frame.columns:
        counts = frame[name].value_counts().sort_index()
        categories[str(name)], rest = frequent(counts.index.tolist(), counts.to_numpy())
        shared |= {str(name)} if rest else set()
    return categories, frozenset(shared)


def frequent(values: Sequence[str], counts: Codes) -> tuple[tuple[str, ...], bool]:
    """The values of a column that get an input each, in their order, and whether there are others.

    What a fit costs does not grow with the number of values: at most ``MAX_CATEGORIES`` inputs come of a column. Of one
    with more values, those that few rows have are among the others, too, so that nobody is learned by name.

    Parameters
    ----------
    values
        All values, in order.
    counts
        How many rows have each.
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


def encode(encoder: Encoder, frame: pd.DataFrame, kind: type[Any] = np.float32) -> Matrix:
    """A learner's input, made piece by piece: what is made on the way takes several times as much memory."""
    # torch wants rows that lie together; linear algebra does not mind, and columns are quicker to write.
    order: Literal["C", "F"] = "C" if kind is np.float32 else "F"
    if len(frame) <= CHUNK:
        return np.asarray(encoder.transform(frame, kind), order=order)
    matrix = np.empty((len(frame), encoder.width), dtype=kind, order=order)
    for start in range(0, len(frame), CHUNK):
        matrix[start : start + CHUNK] = encoder.transform(frame.iloc[start : start + CHUNK], kind)
    return matrix
