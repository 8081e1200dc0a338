"""Data as they come, as columns: numpy, or any library's data frame in, a pandas data frame out.

Equal rows may stand in a table once, with the number of rows that each stands for in the column :data:`COUNT`.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import narwhals.stable.v1 as narwhals
import numpy as np
import pandas as pd

from problog4fairness.data.problems import TableError, listed, warn
from problog4fairness.data.values import Codes
from problog4fairness.errors import P4FError, SwappedWarning, among

# The column that says how many equal rows a row stands for.
COUNT = "p4f_count"
# More kinds of rows than this are not kept.
MOST = 1 << 20
# As many rows are waited for before they are counted together with those from before.
PENDING = 1 << 16


def is_frame(data: Any) -> bool:
    """Whether the data have named columns: a data frame of pandas, polars, pyarrow or another library."""
    if isinstance(data, pd.DataFrame):
        return True
    known = narwhals.from_native(data, pass_through=True)
    if isinstance(known, narwhals.LazyFrame):
        way = "collect" if hasattr(data, "collect") else "compute"
        raise P4FError(f"a {type(data).__name__} has no rows before it is {way.rstrip('e')}ed; pass its .{way}()")
    return isinstance(known, narwhals.DataFrame)


def to_frame(data: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """A pandas data frame with the index 0, 1, 2, ...; arrays get the names, or x0, x1, ..."""
    if isinstance(data, pd.DataFrame):
        frame = data.reset_index(drop=True)
    elif is_frame(data):
        other = narwhals.from_native(data, eager_only=True)
        columns = {name: np.asarray(other[name].to_native()) for name in other.columns}
        for name, values in columns.items():
            if values.ndim != 1:
                raise P4FError(f"column {name!r} has several values in each row; give each a column of its own")
        frame = pd.DataFrame(columns)
    else:
        refuse_sparse(data, "the table")
        values = np.asarray(data)
        if values.ndim != 2:
            raise P4FError(f"a table is a data frame or an array of rows and columns, not {type(data).__name__}")
        frame = pd.DataFrame(
            values, columns=[f"x{i}" for i in range(values.shape[1])] if names is None else list(names)
        )
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise P4FError(f"column {repeated[0]!r} occurs more than once")
    frame.columns = [str(name) for name in frame.columns]
    return frame


def refuse_sparse(data: Any, name: str) -> None:
    """Raise the error that says how to pass a sparse matrix."""
    from scipy.sparse import issparse

    if issparse(data):
        size = 8 * data.shape[0] * data.shape[1] / 1e6
        raise P4FError(f"{name} is a sparse matrix; pass it dense: X.toarray(), which takes {size:,.0f} MB")


def complete_rows(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows with a value in each of these columns, numbered anew; a warning counts those that were left out."""
    missing = frame[list(names)].isna()
    for name, count in zip(names, counts_of(frame) @ missing.to_numpy(), strict=True):
        if count:
            warn(f"column {name!r} has {count} missing values; these rows were left out")
    incomplete = missing.any(axis=1).to_numpy()
    if incomplete.all():
        raise TableError(f"no row has a value in each of {listed(names)}")
    return frame[~incomplete].reset_index(drop=True) if incomplete.any() else frame


def sensitive_frame(sensitive_features: Any, columns: Sequence[str], rows: int) -> pd.DataFrame:
    """The sensitive columns as a data frame, from an array, a series, a frame or a dictionary."""
    if isinstance(sensitive_features, dict):
        frame = pd.DataFrame({str(k): np.asarray(v) for k, v in sensitive_features.items()})
    elif is_frame(sensitive_features):
        frame = to_frame(sensitive_features)
    else:
        values = np.asarray(sensitive_features)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[1] != len(columns):
            raise P4FError(
                f"sensitive_features must have {len(columns)} column{'s' if len(columns) != 1 else ''} "
                f"({', '.join(columns) or 'the belief names none'}), not the shape {list(values.shape)}"
            )
        frame = pd.DataFrame({name: values[:, i] for i, name in enumerate(columns)})
    if len(frame) != rows:
        raise P4FError(f"sensitive_features have {len(frame)} rows, the data have {rows}")
    return frame


def named_sensitive_frame(sensitive_features: Any, names: Sequence[str], rows: int) -> pd.DataFrame:
    """``sensitive_features`` as columns, under their own names or, where they have none, under ``names``.

    Where these are not as many, columns without a name are ``sensitive0``, ``sensitive1``, ...
    """
    if not isinstance(sensitive_features, dict) and not is_frame(sensitive_features):
        width = np.shape(sensitive_features)[1] if np.ndim(sensitive_features) == 2 else 1
        if len(names) != width:
            name = getattr(sensitive_features, "name", None)
            known = width == 1 and name not in (None, "")
            names = [str(name)] if known else [f"sensitive{i}" for i in range(width)]
    return sensitive_frame(sensitive_features, names, rows)


def column_values(frame: pd.DataFrame, what: Any, role: str, gaps: bool = False, empty: bool = False) -> pd.Series[Any]:
    """A column by name, or the values themselves; with ``gaps`` some may be missing, with ``empty`` all."""
    if isinstance(what, str):
        values = column_of(frame, what, f"the {role} values")
    else:
        values = pd.Series(np.asarray(what), name=getattr(what, "name", None))
    missing = int(values.isna().sum())
    if missing and not gaps:
        raise P4FError(f"the {role} values have {missing} missing ones; audit those rows or drop them")
    if not len(values) and not empty:
        raise P4FError("the audit has no rows")
    return values


def column_of(frame: pd.DataFrame, name: str, needed_for: str, advice: str = "") -> pd.Series[Any]:
    """A column by its name; the error of a missing one says what it is ``needed_for``."""
    if name not in frame.columns:
        raise P4FError(f"no column {name!r} for {needed_for}; {among(name, frame.columns)}{advice}")
    return frame[name]


def warn_swapped(recorded: Any, fair: Any, sensitive: Any, columns: Collection[str], stacklevel: int = 3) -> None:
    """Warn where a series is named after another role than the one that it was passed for.

    ``recorded``, ``fair`` and ``sensitive`` are what was passed; ``columns`` are the sensitive ones of the belief.
    """
    names = (x if isinstance(x, str) else getattr(x, "name", None) for x in (recorded, fair, sensitive))
    label, checked, group = (str(name or "") for name in names)
    if label in columns and group not in columns:
        problem = f"the recorded label is the column {label!r}, which the belief names as sensitive"
    elif checked in columns:
        problem = f"the fair label is the column {checked!r}, which the belief names as sensitive"
    elif checked and ("fair" in label.lower() or "recorded" in checked.lower()):
        problem = f"the recorded label is the column {label!r} and the fair one {checked!r}"
    else:
        return
    warnings.warn(f"{problem}; were they swapped?", SwappedWarning, stacklevel=stacklevel + 1)


def counts_of(frame: pd.DataFrame) -> Codes:
    """``[rows]``: how many rows each row stands for; one, where the table does not say."""
    if COUNT not in frame.columns:
        return np.ones(len(frame), dtype=np.int64)
    counts = pd.to_numeric(frame[COUNT], errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~((counts >= 1) & (counts == np.floor(counts)))
    if wrong.any():
        raise TableError(
            f"the column {COUNT!r} holds {frame[COUNT].to_numpy()[wrong][0]}; it says how many rows each one stands for"
        )
    return np.asarray(counts, dtype=np.int64)


def row_kinds(frame: pd.DataFrame) -> Codes:
    """``[rows]``: equal rows have the same number, in the order of their first ones; missing values are equal."""
    kinds: Codes = frame.groupby(list(frame.columns), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    return kinds


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


def expand_counts(table: Any) -> Any:
    """A table in which each row stands for itself: counted rows are repeated."""
    if not hasattr(table, "columns") or COUNT not in table.columns:
        return table
    frame = to_frame(table)
    rows = np.repeat(np.arange(len(frame)), counts_of(frame))
    return frame.drop(columns=COUNT).iloc[rows].reset_index(drop=True)


def _merged(parts: list[pd.DataFrame]) -> pd.DataFrame:
    frame = _counted(pd.concat(parts, ignore_index=True)) if len(parts) > 1 else parts[0]
    if len(frame) > MOST:
        values = frame.drop(columns=COUNT).nunique()
        raise TableError(
            f"there are more than {MOST:,} different rows of {listed(list(values.index))}; {values.idxmax()!r} alone "
            f"has {values.max():,} values: make classes of it, or name fewer columns at a time"
        )
    return frame


def _counted(frame: pd.DataFrame) -> pd.DataFrame:
    kinds = row_kinds(frame.drop(columns=COUNT, errors="ignore"))
    first = np.unique(kinds, return_index=True)[1]
    counts = np.bincount(kinds, counts_of(frame), len(first)).astype(np.int64)
    return frame.iloc[first].assign(**{COUNT: counts}).reset_index(drop=True)
