"""The sensitive variable as a user gives it: by the name of a column of X, or beside X."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.classifier.columns import is_frame, to_frame
from problog4fairness.errors import P4FError

Codes = np.ndarray[Any, np.dtype[np.int64]]


def named(sensitive: str | Sequence[str] | None) -> tuple[str, ...]:
    """The names that a user wrote."""
    return () if sensitive is None else (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)


def beside(sensitive_features: Any, names: Sequence[str], rows: int) -> pd.DataFrame:
    """``sensitive_features`` as columns, under their own names or, where they have none, under ``names``."""
    if isinstance(sensitive_features, dict):
        frame = pd.DataFrame({str(name): np.asarray(values) for name, values in sensitive_features.items()})
    elif is_frame(sensitive_features):
        frame = to_frame(sensitive_features)
    else:
        values = np.asarray(sensitive_features)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2:
            raise P4FError(f"sensitive_features must be one or more columns, not the shape {list(values.shape)}")
        own = getattr(sensitive_features, "name", None)
        if len(names) != values.shape[1]:
            single = values.shape[1] == 1
            names = [str(own) if own not in (None, "") and single else f"sensitive{i}" for i in range(values.shape[1])]
        frame = pd.DataFrame({name: values[:, i] for i, name in enumerate(names)})
    if len(frame) != rows:
        raise P4FError(f"sensitive_features have {len(frame)} rows, X has {rows}")
    return frame


def sensitive_columns(sensitive: str | Sequence[str] | None, frame: pd.DataFrame, sensitive_features: Any) -> list[str]:
    """The sensitive columns that X has: those named, and those that ``sensitive_features`` name."""
    names = named(sensitive)
    if sensitive_features is not None:
        names = (*names, *beside(sensitive_features, names, len(frame)).columns)
    else:
        for name in names:
            require(name, frame)
    return [name for name in frame.columns if name in names]


def require(name: str, frame: pd.DataFrame) -> None:
    """An error where X does not have the column."""
    if name not in frame.columns:
        there = ", ".join(map(str, frame.columns))
        raise P4FError(f"no column {name!r} for the sensitive variable; there are {there}, or pass sensitive_features")


def group_codes(column: pd.Series[Any], levels: Sequence[Any]) -> Codes:
    """A of each row: 0 for the first of two levels, 1 for the second one, the sensitive group."""
    missing = int(column.isna().sum())
    if missing:
        raise P4FError(f"column {column.name!r} has {missing} missing values; drop those rows")
    place = {level: code for code, level in enumerate(levels)}
    values = list(dict.fromkeys(column.tolist()))
    unknown = [value for value in values if value not in place]
    if unknown:
        seen = ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")
        raise P4FError(
            f"column {column.name!r} has the value {unknown[0]!r}, which is neither of the two groups "
            f"{', '.join(map(repr, levels))} (its values: {seen}); name the groups by levels=(other, sensitive)"
        )
    return np.array([place[value] for value in column.tolist()], dtype=np.int64)
