"""Data as it comes, as columns: numpy, pandas or polars in, a pandas data frame and an encoded matrix out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from problog4fairness.errors import P4FError

# Rows that are encoded at a time.
CHUNK = 1 << 16
# Categories of a column that get an indicator each; rarer ones share one.
MAX_CATEGORIES = 256


def is_frame(data: Any) -> bool:
    """Whether the data have named columns."""
    return hasattr(data, "columns") and hasattr(data, "shape")


def to_frame(data: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """A pandas data frame with the index 0, 1, 2, ...; arrays get the names, or x0, x1, ..."""
    if isinstance(data, pd.DataFrame):
        frame = data.reset_index(drop=True)
    elif is_frame(data):
        frame = pd.DataFrame({str(name): np.asarray(data[name]) for name in data.columns})
    else:
        values = np.asarray(data)
        columns = list(names) if names is not None else [f"x{i}" for i in range(values.shape[1])]
        frame = pd.DataFrame(values, columns=columns)
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
    """Columns as the encoder takes them: numbers as floats, everything else as text, missing values kept."""
    columns: dict[str, Any] = {}
    for name in frame.columns:
        values = frame[name]
        if pd.api.types.is_numeric_dtype(values):
            columns[name] = values.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            # Each different value becomes text once, however many rows have it.
            codes, found = pd.factorize(values)
            texts = np.array([*(str(value) for value in found), "missing"], dtype=object)
            columns[name] = texts[codes]
    return pd.DataFrame(columns, index=frame.index)


def make_encoder(frame: pd.DataFrame) -> ColumnTransformer:
    """Numbers scaled, categories as indicators, missing values filled and marked; fitted on a prepared frame."""
    numbers = [name for name in frame.columns if frame[name].dtype == np.float64]
    categories = [name for name in frame.columns if name not in numbers]
    filled = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    indicators = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False, dtype=np.float32
    )
    return ColumnTransformer([("numbers", filled, numbers), ("categories", indicators, categories)]).fit(frame)


def encode(encoder: ColumnTransformer, frame: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The network's input, made piece by piece: what is made on the way takes several times as much memory."""
    parts = (frame.iloc[start : start + CHUNK] for start in range(0, len(frame), CHUNK))
    first = np.asarray(encoder.transform(prepared(next(parts, frame))), dtype=np.float32)
    if len(first) == len(frame):
        return np.ascontiguousarray(first)
    matrix = np.empty((len(frame), first.shape[1]), dtype=np.float32)
    matrix[:CHUNK] = first
    for number, part in enumerate(parts, start=1):
        matrix[number * CHUNK : (number + 1) * CHUNK] = encoder.transform(prepared(part))
    return matrix
