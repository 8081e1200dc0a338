"""Reading X and y by scikit-learn's rules, with errors that name the column and the way out; and other records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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

from problog4fairness.beliefs import Belief
from problog4fairness.data import is_frame, listed, refuse_sparse, to_frame
from problog4fairness.errors import P4FError

Array = np.ndarray[Any, np.dtype[Any]]

_COMPLEX = "Complex data not supported: {} has complex numbers; pass their real and imaginary parts as two columns"


def read_training(estimator: BaseEstimator, X: Any, y: Any) -> tuple[pd.DataFrame, Array]:
    """Training data as columns and labels; notes the features on the estimator, their names as ``names_``."""
    missing = 0 if y is None else int(np.sum(pd.isna(y)))
    if missing:
        raise P4FError(f"y has {missing} missing values; drop those rows")
    if is_frame(X):
        frame = _frame_to_fit(estimator, X)
        y = column_or_1d(y, warn=True)
        if len(frame) != len(y):
            raise P4FError(f"X has {len(frame)} rows, y has {len(y)}")
    else:
        with _errors_of_array(X):
            X, y = validate_data(estimator, X, y, dtype="numeric", ensure_all_finite="allow-nan", multi_output=False)
        frame = to_frame(X)
        y = column_or_1d(y, warn=True)
    try:
        check_classification_targets(y)
    except TypeError:
        raise P4FError("y mixes labels of several types; make all of them texts, such as y.astype(str)") from None
    return _checked(estimator, frame), np.asarray(y)


def read_features(estimator: BaseEstimator, X: Any) -> pd.DataFrame:
    """The columns of training data whose record is not one label for each row; notes them on the estimator."""
    if is_frame(X):
        return _checked(estimator, _frame_to_fit(estimator, X))
    with _errors_of_array(X):
        values = validate_data(estimator, X, dtype="numeric", ensure_all_finite="allow-nan")
    return _checked(estimator, to_frame(values))


def _frame_to_fit(estimator: BaseEstimator, X: Any) -> pd.DataFrame:
    frame = to_frame(X)
    _check_feature_names(estimator, X, reset=True)
    _check_n_features(estimator, X, reset=True)
    if not len(frame):
        raise P4FError("Found array with 0 sample(s): X has no rows")
    return frame


def _checked(estimator: BaseEstimator, frame: pd.DataFrame) -> pd.DataFrame:
    _check_cells(frame)
    estimator.names_ = list(frame.columns)
    return frame


def is_plain(belief: Belief, y: Any) -> bool:
    """Whether each row has one recorded label, as scikit-learn has it."""
    gaps = belief.missing_labels and y is not None and bool(np.any(pd.isna(y)))
    return not belief.recorded_columns and not gaps


def read_record(belief: Belief, y: Any) -> pd.Series[Any] | pd.DataFrame:
    """The recorded label, which may have gaps; or the columns of votes of several people, as the belief says."""
    columns = list(belief.recorded_columns)
    if not columns:
        return pd.Series(column_or_1d(y, warn=True))
    if is_frame(y):
        votes = to_frame(y)
        absent = [name for name in columns if name not in votes.columns]
        if absent:
            raise P4FError(f"y has no column {absent[0]!r} of votes; there are {', '.join(map(str, votes.columns))}")
        return votes[columns]
    values = np.asarray(y, dtype=object)
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise P4FError(
            f"y must have the votes of {', '.join(columns)}, a column each, not the shape {list(values.shape)}"
        )
    return pd.DataFrame(values, columns=columns)


def read_new(estimator: BaseEstimator, X: Any) -> pd.DataFrame:
    """New data as columns, checked against those of training."""
    check_is_fitted(estimator)
    if is_frame(X):
        frame = to_frame(X)
        _check_names(estimator, X, frame)
        _check_n_features(estimator, X, reset=False)
    else:
        with _errors_of_array(X):
            X = validate_data(estimator, X, reset=False, dtype="numeric", ensure_all_finite="allow-nan")
        frame = to_frame(X, estimator.names_)
    _check_cells(frame)
    return frame


def _check_names(estimator: BaseEstimator, X: Any, frame: pd.DataFrame) -> None:
    """Columns must be those of training; scikit-learn prescribes the words where these had names."""
    if hasattr(estimator, "feature_names_in_"):
        try:
            _check_feature_names(estimator, X, reset=False)
        except ValueError as error:
            raise ValueError(f"{error}Pass the columns of training: X[list(model.feature_names_in_)].") from None
    elif list(frame.columns) != estimator.names_:
        raise P4FError(
            f"X has the columns {listed(frame.columns, 6)}, training had {listed(estimator.names_, 6)}, as an array "
            "without names has; pass an array with the columns in the order of training, such as X.to_numpy()"
        )


@contextmanager
def _errors_of_array(X: Any) -> Iterator[None]:
    """What is wrong with X that is not a frame, in one line."""
    refuse_sparse(X, "X")
    try:
        values = np.asarray(X)
    except ValueError:
        raise P4FError("the rows of X have different lengths; give each row a value for every column") from None
    if values.ndim == 0:
        raise P4FError(f"X is of type {type(X).__name__}; pass an array or a data frame")
    if values.ndim == 1:
        raise P4FError(
            f"X has one dimension, the shape {list(values.shape)}, not rows and columns. Reshape your data: "
            "np.asarray(X).reshape(-1, 1) if it is one feature, np.asarray(X).reshape(1, -1) if it is one row"
        )
    if values.dtype.kind == "c":
        raise P4FError(_COMPLEX.format("X"))
    try:
        yield
    except ValueError as error:
        if values.dtype.kind not in "OUS" or isinstance(error, P4FError):
            raise
        raise P4FError(
            f"X is an array with a cell that is not a number ({error}); pass a data frame, whose columns may be texts"
        ) from None


def _check_cells(frame: pd.DataFrame) -> None:
    """Raise the error that names a column with infinite or complex numbers, or with cells of several values."""
    for name, column in frame.items():
        if pd.api.types.is_complex_dtype(column):
            raise P4FError(_COMPLEX.format(f"column {name!r}"))
        if pd.api.types.is_float_dtype(column) and np.isinf(_floats(column)).any():
            raise P4FError(f"Input X contains infinity: column {name!r}; correct it, or leave it empty")
        if pd.api.types.is_object_dtype(column):
            _check_single(name, column)


def _floats(column: pd.Series[Any]) -> Array:
    """Floats as an array, without a copy where they are one."""
    return np.asarray(column.to_numpy() if isinstance(column.dtype, np.dtype) else column.to_numpy(float, na_value=0))


def _check_single(name: str, column: pd.Series[Any]) -> None:
    for row, value in enumerate(column, start=1):
        try:
            hash(value)
        except TypeError:
            raise P4FError(
                f"column {name!r} has a {type(value).__name__} in row {row}; a cell holds one number or text: give "
                "each part a column of its own"
            ) from None
