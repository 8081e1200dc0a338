"""From what a user passes to what a learner is fitted on, read by scikit-learn's rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from problog4fairness.audit import NOT_STATED, Audit, warn_audit, warn_signal
from problog4fairness.beliefs import Belief, NoBias, Observation, as_belief, check_rows
from problog4fairness.data import Floats, Roles, Rows, is_frame, label_codes, listed, refuse_sparse, to_frame
from problog4fairness.errors import P4FError, among
from problog4fairness.estimators.group_use import DecidedBy, GroupUse, check_use_sensitive, choose_group_use
from problog4fairness.learners import Fitted, Learner, Task

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier

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
    gaps = belief.record.gaps and y is not None and bool(np.any(pd.isna(y)))
    return not belief.columns.recorded and not gaps


def read_record(belief: Belief, y: Any) -> pd.Series[Any] | pd.DataFrame:
    """The recorded label, which may have gaps; or the columns of votes of several people, as the belief says."""
    columns = list(belief.columns.recorded)
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


def check_test_features(test_features: object) -> None:
    """Raise the error that says what it may be."""
    if test_features not in (None, "fair", "biased"):
        raise P4FError(f"test_features must be 'fair', 'biased' or None, not {test_features!r}")


def rows_to_fit(
    model: DebiasedClassifier, X: Any, y: Any, sensitive_features: Any, fair: Any, sample_weight: Any
) -> Rows:
    """Recorded data as rows; notes on the model what :meth:`~DebiasedClassifier.fit` promises."""
    check_test_features(model.test_features)
    check_use_sensitive(model.use_sensitive)
    _warn_design(fair)
    name = getattr(y, "name", None)
    model.recorded_ = str(name) if name is not None and name != "" else None
    belief = model.belief_ = as_belief(model.belief)
    record: Any
    if is_plain(belief, y):
        frame, labels = read_training(model, X, y)
        record = pd.Series(labels, name=model.recorded_)
    else:
        frame, record = read_features(model, X), read_record(belief, y)
        if model.class_weight is not None:
            raise P4FError("class_weight needs one recorded label for each row; pass sample_weight instead")
        labels = pd.DataFrame(record).stack().to_numpy()
    weights = None if sample_weight is None else _check_sample_weight(sample_weight, frame, dtype=np.float64)
    if belief.record.classes is not None:
        classes, labelled = list(belief.record.classes), np.unique(labels).tolist()
        if len(classes) != len(labelled) or set(classes) != set(labelled):
            raise P4FError(f"the belief is for {len(classes)} classes, {classes}; y has {len(labelled)}: {labelled}")
    model.columns_ = _learner_columns(model, belief, frame)
    known, audit_weights = known_labels(fair, len(frame))
    rows = Rows.from_table(
        frame,
        Roles(record, _passed(belief, sensitive_features), known, favourable=model.favourable),
        belief,
        features=model.columns_,
        # Without a belief no label is the favourable one.
        ordered=not isinstance(belief, NoBias),
    )
    weights = row_weights(model.class_weight, labels, weights)
    rows = replace(rows, weights=weights, audit_weights=audit_weights)
    model.classes_ = np.asarray(rows.classes)
    check_rows(belief, rows)
    return rows


def new_rows(model: DebiasedClassifier, X: Any, sensitive_features: Any = None, y: Any = None) -> Rows:
    """New data as rows, with recorded labels where they are passed."""
    frame, belief = read_new(model, X), model.belief_
    record = None if y is None else read_record(belief, y)
    roles = Roles(record, _passed(belief, sensitive_features), labels=tuple(model.classes_))
    rows = Rows.from_table(frame, roles, belief, features=model.columns_)
    model.fitted_.check(rows.frame[model.columns_])
    return rows


def recorded_rows(model: DebiasedClassifier, X: Any, y: Any, sensitive_features: Any = None, fair: Any = None) -> Rows:
    """Recorded data to fit a fitted model's learner on again, weighed as it weighs classes."""
    if y is None:
        raise P4FError("the learner is fitted again on recorded rows; pass their recorded labels as y")
    rows = with_known(new_rows(model, X, sensitive_features, y), fair)
    return replace(rows, weights=row_weights(model.class_weight, model.classes_[rows.recorded]))


def with_known(rows: Rows, fair: Any) -> Rows:
    """The same rows with fair labels, missing where nobody looked."""
    if fair is None:
        return rows
    labels, audit_weights = known_labels(fair, len(rows))
    if len(labels) != len(rows):
        raise P4FError(f"there are {len(rows)} rows and {len(labels)} fair labels; give one for each row")
    return replace(rows, fair=label_codes(labels, rows.classes, "fair", missing=True), audit_weights=audit_weights)


def task(model: DebiasedClassifier, rows: Rows) -> Task:
    """What there is to fit."""
    model.seed_ = drawn_seed(model.random_state)
    return task_through(model.belief_, rows, model.seed_)


def drawn_seed(random_state: Any) -> int:
    """The seed of a fit, from what scikit-learn calls a random state."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def task_through(belief: Belief, rows: Rows, seed: int) -> Task:
    """What there is to fit, with a warning where the belief turns labels round."""
    observation = belief.observe(rows)
    warn_signal(belief, observation, rows)
    return task_of(observation, rows, seed)


def task_of(observation: Observation, rows: Rows, seed: int, weights: Floats | None = None) -> Task:
    """What there is to fit of rows that are observed already; they count by their weights, or by others."""
    weights = rows.weights if weights is None else weights
    audited = None
    if rows.fair is not None and (rows.fair >= 0).any():
        # How many people each audited row stands for, 0 for the others.
        audited = torch.from_numpy(np.where(rows.fair >= 0, rows.sampling_weights(), 0.0))
    mass = None if weights is None else torch.from_numpy(weights.astype(np.float32))
    return Task(observation, seed, weights=mass, audited=audited)


def note_fit(model: DebiasedClassifier, fitted: Fitted) -> None:
    """Note on the model what was learned."""
    model.fitted_ = fitted
    model.history_ = {name: list(values) for name, values in fitted.history.items()}
    model.n_iter_ = max((len(values) for values in model.history_.values()), default=1)


def _passed(belief: Belief, sensitive_features: Any) -> Any:
    """What was passed beside X, if the belief reads it."""
    return sensitive_features if belief.columns.all else None


def _learner_columns(model: DebiasedClassifier, belief: Belief, frame: pd.DataFrame) -> list[str]:
    names = _column_names(model.sensitive)
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise P4FError(f"no column {unknown[0]!r} for sensitive; {among(unknown[0], frame.columns)}")
    read = belief.columns
    sensitive, hidden = {*names, *read.sensitive}, {*read.withheld, *read.recorded}
    readable = [name for name in frame.columns if name not in hidden]
    visible = [name for name in readable if name in sensitive]
    decided: DecidedBy = "default" if model.use_sensitive == "auto" else "statement"
    model.group_use_ = GroupUse(model.use_sensitive is True and bool(visible), tuple(visible), decided)
    columns = readable if model.group_use_.used else [name for name in readable if name not in sensitive]
    if not columns:
        raise P4FError("no column is left for the learner; use_sensitive=True adds sensitive ones")
    return columns


def with_group_use(model: DebiasedClassifier, rows: Rows, learner: Learner, progress: bool | None) -> Rows:
    """The rows with the columns that the learner reads, once it is decided whether the group is among them."""
    names = model.group_use_.columns
    if model.use_sensitive != "auto" or not names:
        return rows
    use = choose_group_use(model.belief_, rows, names, learner, drawn_seed(model.random_state), progress)
    model.group_use_ = use
    if use.used:
        model.columns_ = [name for name in rows.frame.columns if name in {*rows.features, *names}]
    return rows.with_features(model.columns_)


def known_labels(fair: Any, rows: int) -> tuple[Any, Floats | None]:
    """``[rows]``: the fair label of audited rows, missing elsewhere; and how many people each of them stands for.

    The latter is None where audited rows are a random sample.
    """
    if not isinstance(fair, Audit):
        return fair, None
    labels = _by_row(fair, fair.values(), rows)
    if fair.sampling != "stratified":
        return labels, None
    return labels, np.nan_to_num(_by_row(fair, fair.weights, rows).astype(np.float64))


def _warn_design(fair: Any) -> None:
    """Warn where nothing says how the rows with a fair label were sampled, or where they come in clusters."""
    if isinstance(fair, Audit):
        if fair.clusters is not None:
            warn_audit(
                "training takes the audited rows of one cluster as independent of each other: whether calibration "
                "helps is judged as if there were more of them"
            )
    elif fair is not None and 0 < (known := int(pd.notna(pd.Series(fair)).sum())) < len(fair):
        warn_audit(f"{NOT_STATED}; {known} rows have a fair label")


def _by_row(audit: Audit, values: Any, rows: int) -> Any:
    """``[rows]``: a value of each audited row where it stands in X, missing elsewhere."""
    if (audit.rows < 0).any() or (audit.rows >= rows).any():
        absent = int(((audit.rows < 0) | (audit.rows >= rows)).sum())
        raise P4FError(
            f"{absent} of {len(audit)} audited rows are not in X; make the audit with the table that X is from: "
            "Audit.of(..., table=X)"
        )
    by_row = np.full(rows, None, dtype=object)
    by_row[audit.rows] = np.asarray(values, dtype=object)
    return by_row


def row_weights(class_weight: Any, labels: Any, weights: Any = None) -> Any:
    """``[rows]``: weights of rows times those of their classes; None where there are neither."""
    if class_weight is None:
        return weights
    by_row = compute_sample_weight(class_weight, labels)
    return by_row if weights is None else weights * by_row


def _column_names(sensitive: object) -> tuple[str, ...]:
    """The names of columns that a user wrote."""
    names = () if sensitive is None else (sensitive,) if isinstance(sensitive, str) else sensitive
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise P4FError(f"sensitive={sensitive!r} is not the name of a column of X, nor a list of names")
    return tuple(names)
