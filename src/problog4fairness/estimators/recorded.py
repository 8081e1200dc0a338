"""The record of rows as a user passes it: a label, a label that may be missing, or the votes of several people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import column_or_1d

from problog4fairness.beliefs import Belief
from problog4fairness.data import Codes, is_frame, label_codes, majority, to_frame
from problog4fairness.errors import P4FError

Array = np.ndarray[Any, np.dtype[Any]]


def is_plain(belief: Belief, y: Any) -> bool:
    """Whether each row has one recorded label, as scikit-learn has it."""
    gaps = belief.missing_labels and y is not None and bool(np.any(pd.isna(y)))
    return not belief.recorded_columns and not gaps


def read_record(belief: Belief, y: Any, rows: int) -> pd.DataFrame:
    """The recorded label, with gaps, as one column; or the columns that several people labelled.

    Parameters
    ----------
    belief
        Says which of them it is.
    y
        What the user passed.
    rows
        How many rows X has.
    """
    columns = belief.recorded_columns
    if not columns:
        found = pd.DataFrame({"y": np.asarray(column_or_1d(y, warn=True), dtype=object)})
    elif is_frame(y):
        found = to_frame(y)
        absent = [name for name in columns if name not in found.columns]
        if absent:
            there = ", ".join(map(str, found.columns))
            raise P4FError(f"y has no column {absent[0]!r} of votes; there are {there}")
        found = found[list(columns)]
    else:
        values = np.asarray(y, dtype=object)
        if values.ndim != 2 or values.shape[1] != len(columns):
            raise P4FError(
                f"y must have the votes of {', '.join(columns)}, a column each, not the shape {list(values.shape)}"
            )
        found = pd.DataFrame(values, columns=list(columns))
    if len(found) != rows:
        raise P4FError(f"X has {rows} rows, y has {len(found)}")
    return found.reset_index(drop=True)


def record_labels(record: pd.DataFrame) -> Array:
    """All labels that occur in it."""
    values = record.to_numpy(dtype=object).reshape(-1)
    return np.array([value for value in values.tolist() if not pd.isna(value)])


def record_codes(record: pd.DataFrame, classes: tuple[Any, ...]) -> Codes:
    """One label for each row, -1 where there is none: of several votes, what most say."""
    codes = [label_codes(record[name], classes, "y", missing=True, unknown="is not among") for name in record.columns]
    return codes[0] if len(codes) == 1 else majority(np.stack(codes, axis=1), len(classes))
