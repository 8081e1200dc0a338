"""Data as it comes, as columns: numpy, or any library's data frame in, a pandas data frame out."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Any

import narwhals.stable.v1 as narwhals
import numpy as np
import pandas as pd

from problog4fairness.data.counts import counts_of
from problog4fairness.data.problems import TableError, listed, warn
from problog4fairness.errors import P4FError, SwappedWarning, among


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
    gone = missing.any(axis=1).to_numpy()
    if gone.all():
        raise TableError(f"no row has a value in each of {listed(names)}")
    return frame[~gone].reset_index(drop=True) if gone.any() else frame


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


def beside(sensitive_features: Any, names: Sequence[str], rows: int) -> pd.DataFrame:
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
    if isinstance(what, str) and what not in frame.columns:
        raise P4FError(f"no column {what!r} for the {role} values; {among(what, frame.columns)}")
    values = frame[what] if isinstance(what, str) else pd.Series(np.asarray(what), name=getattr(what, "name", None))
    missing = int(values.isna().sum())
    if missing and not gaps:
        raise P4FError(f"the {role} values have {missing} missing ones; audit those rows or drop them")
    if not len(values) and not empty:
        raise P4FError("the audit has no rows")
    return values


def require_column(name: str, frame: pd.DataFrame, needed_for: str = "the sensitive variable") -> None:
    """Raise the error that names a column which X does not have."""
    if name not in frame.columns:
        raise P4FError(f"no column {name!r} for {needed_for}; {among(name, frame.columns)}, or pass it beside X")


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
