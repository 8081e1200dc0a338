"""What a column looks like at a glance: how many values, how many are missing, and their shape as a few bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

BARS = 12


@dataclass(frozen=True)
class Column:
    """A column at a glance.

    Attributes
    ----------
    name
        Its name.
    values
        How many different values it has.
    missing
        How many rows lack one.
    bars
        Heights between 0 and 1: of equal parts of its range, or of its most frequent values.
    ends
        What the first and the last bar are about.
    """

    name: str
    values: int
    missing: int
    bars: tuple[float, ...]
    ends: tuple[str, str]


def columns_of(frame: pd.DataFrame) -> list[Column]:
    """All columns of a table at a glance."""
    return [_column(str(name), frame[name]) for name in frame.columns]


def _column(name: str, values: pd.Series[Any]) -> Column:
    known = values.dropna()
    different = int(known.nunique())
    numeric = known.dtype.kind in "iuf" and different > BARS
    if numeric:
        counts, edges = np.histogram(known.to_numpy(dtype=float), bins=BARS)
        ends = (f"{edges[0]:.4g}", f"{edges[-1]:.4g}")
    else:
        frequent = known.value_counts().head(BARS)
        if known.dtype.kind in "iufb":
            frequent = frequent.sort_index()
        counts = frequent.to_numpy()
        ends = (str(frequent.index[0]), str(frequent.index[-1])) if len(frequent) else ("", "")
    top = max(int(counts.max()), 1) if len(counts) else 1
    return Column(name, different, int(values.isna().sum()), tuple(float(count) / top for count in counts), ends)
