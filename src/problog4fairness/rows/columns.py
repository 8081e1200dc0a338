"""Data as it comes, as columns: numpy, pandas or polars in, a pandas data frame out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.errors import P4FError


def is_frame(data: Any) -> bool:
    """Whether the data have named columns."""
    if type(data).__name__ == "LazyFrame":
        raise P4FError("a LazyFrame has no rows before it is collected; pass its .collect()")
    return hasattr(data, "columns") and hasattr(data, "shape")


def to_frame(data: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """A pandas data frame with the index 0, 1, 2, ...; arrays get the names, or x0, x1, ..."""
    if isinstance(data, pd.DataFrame):
        frame = data.reset_index(drop=True)
    elif is_frame(data):
        columns = {str(name): np.asarray(data[name]) for name in data.columns}
        for name, values in columns.items():
            if values.ndim != 1:
                raise P4FError(f"column {name!r} has several values in each row; give each a column of its own")
        frame = pd.DataFrame(columns)
    else:
        values = np.asarray(data)
        frame = pd.DataFrame(
            values, columns=[f"x{i}" for i in range(values.shape[1])] if names is None else list(names)
        )
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise P4FError(f"column {repeated[0]!r} occurs more than once")
    frame.columns = [str(name) for name in frame.columns]
    return frame


def sensitive_frame(sensitive_features: Any, columns: Sequence[str], rows: int, data: str = "X has") -> pd.DataFrame:
    """The sensitive columns as a data frame, from an array, a series, a frame or a dictionary.

    ``data`` says in the error what has another number of rows.
    """
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
        raise P4FError(f"sensitive_features have {len(frame)} rows, {data} {rows}")
    return frame.reset_index(drop=True)
