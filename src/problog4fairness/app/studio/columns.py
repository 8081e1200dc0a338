"""What a column looks like at a glance: how many values, how many are missing, and their shape as a few bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

BARS = 12
# Of texts with more values than this, no bar would tell anything.
MANY = 1000
# Values that are named.
NAMED = 3


@dataclass(frozen=True)
class Column:
    """A column at a glance.

    ``bars`` are heights between 0 and 1, of equal parts of its range or of its most frequent values; there are none of
    many texts. ``about`` says which these are.
    """

    name: str
    values: int
    missing: int
    bars: tuple[float, ...]
    about: str


# Numbers beyond it are in no bar: the bars of what is left could not be told apart.
LARGEST = 1e100


def columns_of(frame: pd.DataFrame) -> list[Column]:
    """All columns of a table at a glance."""
    return [_column(str(name), frame[name]) for name in frame.columns]


def _column(name: str, values: pd.Series[Any]) -> Column:
    known = values.dropna()
    different = int(known.nunique())
    numeric = known.dtype.kind in "iuf" and different > BARS
    if numeric:
        numbers = known.to_numpy(dtype=float)
        counts, edges = np.histogram(numbers[np.abs(numbers) < LARGEST], bins=BARS)
        about = f"{_number(edges[0])} to {_number(edges[-1])}"
    elif different > MANY:
        counts, about = np.array([]), "mostly different texts"
    else:
        frequent = known.value_counts().head(BARS)
        if known.dtype.kind in "iufb":
            frequent = frequent.sort_index()
        counts = frequent.to_numpy()
        more = f", {different - NAMED} more" if different > NAMED else ""
        about = ", ".join(_number(one) if isinstance(one, float) else str(one) for one in frequent.index[:NAMED]) + more
    top = max(int(counts.max()), 1) if len(counts) else 1
    return Column(name, different, int(values.isna().sum()), tuple(float(count) / top for count in counts), about)


def cell(value: Any) -> str:
    """A value of a table as a person would write it; nothing where it is missing."""
    if isinstance(value, float) and not np.isfinite(value):
        return "" if np.isnan(value) else str(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:.3g}"
