"""Data as it comes, as columns: numpy, pandas or polars in, a pandas data frame and an encoded matrix out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from problog4fairness.classifier.encoder import Encoder, Floats, as_numbers, filled, text_codes
from problog4fairness.errors import P4FError

# Rows that are encoded at a time; and numbers that predicting holds at a time, however many inputs a model file names.
CHUNK, NUMBERS = 1 << 16, 1 << 24
# Categories of a column that get an indicator each; rarer ones share one.
MAX_CATEGORIES = 256


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
                f"({', '.join(columns) or 'the mechanism names none'}), not the shape {list(values.shape)}"
            )
        frame = pd.DataFrame({name: values[:, i] for i, name in enumerate(columns)})
    if len(frame) != rows:
        raise P4FError(f"sensitive_features have {len(frame)} rows, X has {rows}")
    return frame.reset_index(drop=True)


def prepared(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns as the encoder learns them: numbers as floats, everything else as text."""
    columns: dict[str, Any] = {}
    for name in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[name]):
            columns[name] = as_numbers(frame[name])
        else:
            # Each different value becomes text once, however many rows have it.
            codes, texts = text_codes(frame[name])
            columns[name] = np.array(texts, dtype=object)[codes]
    return pd.DataFrame(columns, index=frame.index)


def make_encoder(frame: pd.DataFrame) -> Encoder:
    """Numbers scaled, categories as indicators, missing values filled and marked; fitted on a prepared frame."""
    numbers = [name for name in frame.columns if frame[name].dtype == np.float64]
    fills, marked, means, scales = _scales(frame[numbers])
    categories, rare = _categories(frame.drop(columns=numbers))
    return Encoder(tuple(numbers), tuple(numbers[place] for place in marked), categories, rare, fills, means, scales)


def _scales(frame: pd.DataFrame) -> tuple[Floats, list[int], Floats, Floats]:
    """For columns of numbers what fills their gaps, which of them have any; their means and scales."""
    if not len(frame.columns):
        return np.zeros(0), [], np.zeros(0), np.zeros(0)
    values = frame.to_numpy(dtype=np.float64)
    marked = np.flatnonzero(np.isnan(values).any(axis=0)).tolist()
    with np.errstate(over="ignore", invalid="ignore"):
        # 0 for a column without any value.
        fills = np.nan_to_num(SimpleImputer(keep_empty_features=True).fit(values).statistics_)
        scaler = StandardScaler().fit(filled(values, fills, marked))
    for place, name in enumerate(frame.columns):
        if not np.isfinite([scaler.mean_[place], scaler.var_[place]]).all():
            largest = np.nanmax(np.abs(values[:, place]))
            raise P4FError(
                f"column {name!r} has values up to {largest:g}, too large to be scaled; correct them, or divide them"
            )
    return fills, marked, scaler.mean_, scaler.scale_


def _categories(frame: pd.DataFrame) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """For columns of texts the values that get an indicator each, and the columns in which others share one."""
    if not len(frame.columns):
        return {}, frozenset()
    found = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES).fit(frame)
    categories, shared = {}, set()
    for name, values, rare in zip(frame.columns, found.categories_, found.infrequent_categories_, strict=True):
        gone = set() if rare is None else set(rare)
        shared |= {name} if gone else set()
        categories[name] = tuple(str(value) for value in values if value not in gone)
    return categories, frozenset(shared)


def encode(encoder: Encoder, frame: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The network's input, made piece by piece: what is made on the way takes several times as much memory."""
    parts = (frame.iloc[start : start + CHUNK] for start in range(0, len(frame), CHUNK))
    first = np.asarray(encoder.transform(next(parts, frame)), dtype=np.float32)
    if len(first) == len(frame):
        return np.ascontiguousarray(first)
    matrix = np.empty((len(frame), first.shape[1]), dtype=np.float32)
    matrix[:CHUNK] = first
    for number, part in enumerate(parts, start=1):
        matrix[number * CHUNK : (number + 1) * CHUNK] = encoder.transform(part)
    return matrix
