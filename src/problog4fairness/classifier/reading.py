"""Reading X and y by scikit-learn's rules, with errors that name the column and the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from problog4fairness.classifier.columns import is_frame, to_frame
from problog4fairness.errors import P4FError

Array = np.ndarray[Any, np.dtype[Any]]


def read_training(estimator: BaseEstimator, X: Any, y: Any) -> tuple[pd.DataFrame, Array]:
    """Training data as columns and labels; notes the features on the estimator, their names as ``names_``."""
    if is_frame(X):
        frame = to_frame(X)
        _check_feature_names(estimator, X, reset=True)
        _check_n_features(estimator, X, reset=True)
        y = column_or_1d(y, warn=True)
        if not len(frame):
            raise P4FError("Found array with 0 sample(s): X has no rows")
        if len(frame) != len(y):
            raise P4FError(f"X has {len(frame)} rows, y has {len(y)}")
    else:
        X, y = validate_data(estimator, X, y, dtype="numeric", ensure_all_finite="allow-nan", multi_output=False)
        frame = to_frame(X)
        y = column_or_1d(y, warn=True)
    missing = int(pd.isna(y).sum())
    if missing:
        raise P4FError(f"y has {missing} missing values; drop those rows")
    check_classification_targets(y)
    _check_infinite(frame)
    estimator.names_ = list(frame.columns)
    return frame, np.asarray(y)


def read_new(estimator: BaseEstimator, X: Any) -> pd.DataFrame:
    """New data as columns, checked against those of training."""
    check_is_fitted(estimator)
    if is_frame(X):
        _check_feature_names(estimator, X, reset=False)
        _check_n_features(estimator, X, reset=False)
        frame = to_frame(X)
    else:
        X = validate_data(estimator, X, reset=False, dtype="numeric", ensure_all_finite="allow-nan")
        frame = to_frame(X, estimator.names_)
    _check_infinite(frame)
    return frame


def label_codes(y: Array, favourable: Any) -> tuple[Array, Array]:
    """The classes, the favourable one of two last, and the class of each row by position."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise P4FError(f"y has one class only ({classes.tolist()[0]!r}); a classifier needs two or more")
    if favourable is not None:
        if len(classes) != 2 or favourable not in classes:
            raise P4FError(f"favourable={favourable!r} is not one of two labels {list(classes)}")
        if classes[0] == favourable:
            classes, codes = classes[::-1], 1 - codes
    return classes, codes


def codes_among(classes: Array, y: Any, rows: int) -> Array:
    """The class of each row by position among known classes."""
    y = column_or_1d(y, warn=True)
    if len(y) != rows:
        raise P4FError(f"X has {rows} rows, y has {len(y)}")
    place = {value: i for i, value in enumerate(classes.tolist())}
    found, codes = np.unique(y, return_inverse=True)
    unknown = [value for value in found.tolist() if value not in place]
    if unknown:
        raise P4FError(f"y has the label {unknown[0]!r}, which training did not see")
    return np.array([place[value] for value in found.tolist()], dtype=np.int64)[codes.reshape(-1)]


def _check_infinite(frame: pd.DataFrame) -> None:
    for name in frame.columns:
        if pd.api.types.is_float_dtype(frame[name]) and np.isinf(frame[name].to_numpy(dtype=float, na_value=0)).any():
            raise P4FError(f"Input X contains infinity: column {name!r}")
