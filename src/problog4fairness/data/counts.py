"""Tables of few kinds of rows, each kind once with the number of rows that it stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.data.problems import TableError, listed
from problog4fairness.data.values import Codes

if TYPE_CHECKING:
    import pandas as pd

# The column that says how many equal rows a row stands for.
COUNT = "p4f_count"
# More kinds of rows than this are not kept.
MOST = 1 << 20
# As many rows are waited for before they are counted together with those from before.
PENDING = 1 << 16


def counts_of(frame: pd.DataFrame) -> Codes:
    """``[rows]``: how many rows each row stands for; one, where the table does not say."""
    import pandas as pd

    if COUNT not in frame.columns:
        return np.ones(len(frame), dtype=np.int64)
    counts = pd.to_numeric(frame[COUNT], errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~((counts >= 1) & (counts == np.floor(counts)))
    if wrong.any():
        raise TableError(
            f"the column {COUNT!r} holds {frame[COUNT].to_numpy()[wrong][0]}; it says how many rows each one stands for"
        )
    return np.asarray(counts, dtype=np.int64)


def counted_rows(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The different rows of a table that comes piece by piece, in the order in which they first occur, counted.

    For more than a million different rows, the error names the column with the most values.
    """
    parts: list[pd.DataFrame] = []
    for frame in frames:
        parts.append(_counted(frame))
        # Counted together when they have doubled, so that the time goes with the length of the table.
        if sum(map(len, parts[1:])) > max(len(parts[0]), PENDING):
            parts = [_merged(parts)]
    return _merged(parts)


def one_by_one(table: Any) -> Any:
    """A table in which each row stands for itself: counted rows are repeated."""
    if not hasattr(table, "columns") or COUNT not in table.columns:
        return table
    from problog4fairness.data.columns import to_frame

    frame = to_frame(table)
    rows = np.repeat(np.arange(len(frame)), counts_of(frame))
    return frame.drop(columns=COUNT).iloc[rows].reset_index(drop=True)


def _merged(parts: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    frame = _counted(pd.concat(parts, ignore_index=True)) if len(parts) > 1 else parts[0]
    if len(frame) > MOST:
        values = frame.drop(columns=COUNT).nunique()
        raise TableError(
            f"there are more than {MOST:,} different rows of {listed(list(values.index))}; {values.idxmax()!r} alone "
            f"has {values.max():,} values: make classes of it, or name fewer columns at a time"
        )
    return frame


def _counted(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    place = np.zeros(len(frame), dtype=np.int64)
    for name in frame.columns.drop(COUNT, errors="ignore"):
        codes, values = pd.factorize(frame[name])
        place, _ = pd.factorize(place * (len(values) + 1) + codes + 1)
    first = np.unique(place, return_index=True)[1]
    counts = np.zeros(len(first), dtype=np.int64)
    np.add.at(counts, place, counts_of(frame))
    return frame.iloc[first].assign(**{COUNT: counts}).reset_index(drop=True)
