"""Values of a column as a person writes them: which ones there are, and which of them is meant; types of arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from problog4fairness.data.problems import TableError, listed

if TYPE_CHECKING:
    import pandas as pd

Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Value: TypeAlias = int | str | bool
# A group of a sensitive variable: a value, or one value for each of its columns.
Level: TypeAlias = int | str | tuple[int | str, ...]

# Pairs of values of which everybody knows which one is "yes".
CONVENTIONS = (("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"))
# A single letter alone says too little: "f" may be the half of true and false, or of male and female.
_WORDS = CONVENTIONS[:3]
_YES = {pair[1] for pair in CONVENTIONS}
_NO = {pair[0] for pair in CONVENTIONS}


def plain(value: Any) -> Value:
    """A value as plain data: whole numbers as int, text without blanks around it."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    return str(value).strip()


def values_of(column: pd.Series[Any]) -> list[Value]:
    """The different values of a column without missing ones, in the order of their texts."""
    return sorted({plain(value) for value in column.dropna().unique().tolist()}, key=_order)


def plain_column(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column with its values as plain data; missing ones stay missing."""
    import pandas as pd

    if column.dtype == np.dtype(np.int64):
        return column
    codes, different = pd.factorize(column)
    values = np.empty(len(different) + 1, dtype=object)
    values[:-1] = [plain(value) for value in different]
    return pd.Series(values[codes], index=column.index, name=column.name)


def _order(value: Value) -> tuple[bool, float, str]:
    if isinstance(value, str):
        return True, 0.0, value
    try:
        return False, float(value), ""
    except OverflowError:  # a whole number with hundreds of digits
        return False, math.inf if value > 0 else -math.inf, ""


def text_of(value: Value) -> str:
    """A value as a person would say it: ``1``, ``1.0`` and ``' 1'`` are the same."""
    text = str(value).strip().lower()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def conventional(values: Sequence[Value]) -> tuple[Value, Value] | None:
    """(no, yes), where these are 0 and 1, false and true, no and yes, in any case; otherwise None.

    Where one of the two is missing, the other is made up: a column of nothing but 1 is taken as 0 and 1.
    """
    by_text = {text_of(value): value for value in values}
    if len(by_text) != len(values):
        return None
    for no, yes in CONVENTIONS:
        if set(by_text) == {no, yes}:
            return by_text[no], by_text[yes]
    for no, yes in _WORDS:
        if set(by_text) == {no}:
            return by_text[no], _other(by_text[no], yes)
        if set(by_text) == {yes}:
            return _other(by_text[yes], no), by_text[yes]
    return None


def _other(value: Value, text: str) -> Value:
    """The missing one of a pair, written like the one that occurs."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return int(text)
    return text.upper() if value.isupper() and len(value) > 1 else text.title() if value[:1].isupper() else text


def match(given: object, values: Sequence[Value], column: str, argument: str) -> Value:
    """The value that somebody means by a text: exactly, in another case, as a number, or as yes and no."""
    text = str(given).strip()
    for near in (
        [value for value in values if str(value) == text],
        [value for value in values if str(value).lower() == text.lower()],
        [value for value in values if text_of(value) == text_of(text)],
        [value for value in values if _side(value) is not None and _side(value) == _side(text)],
    ):
        if len(near) == 1:
            return near[0]
    raise TableError(
        f"{argument}={text!r} is not a value of column {column!r}; it has {listed(values)}", argument=argument
    )


def _side(value: Value) -> bool | None:
    text = text_of(value)
    return True if text in _YES else False if text in _NO else None
