"""From what a user passes to what a learner is fitted on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from problog4fairness.audit import NOT_STATED, Audit, warn_audit, warn_signal
from problog4fairness.beliefs import Belief, NoBias, as_belief
from problog4fairness.data import Floats, Roles, Rows, label_codes
from problog4fairness.errors import P4FError, among
from problog4fairness.estimators.group_use import DecidedBy, GroupUse, check_use_sensitive, choose_group_use
from problog4fairness.estimators.validation import is_plain, read_features, read_new, read_record, read_training
from problog4fairness.learners import Fitted, Learner, Task

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier


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
    if belief.classes is not None:
        classes, labelled = list(belief.classes), np.unique(labels).tolist()
        if len(classes) != len(labelled) or set(classes) != set(labelled):
            raise P4FError(f"the belief is for {len(classes)} classes, {classes}; y has {len(labelled)}: {labelled}")
    belief.require_known()
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
    belief.check_rows(rows)
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
    weights = None if rows.weights is None else torch.from_numpy(rows.weights.astype(np.float32))
    observation = belief.observe(rows)
    warn_signal(belief, observation, rows)
    return Task(observation, seed, weights=weights, audited=audited_mass(rows))


def audited_mass(rows: Rows) -> torch.Tensor | None:
    """``[rows]``: how many people each audited row stands for, 0 for the others; None where nobody was audited."""
    if rows.fair is None or (rows.fair < 0).all():
        return None
    return torch.from_numpy(np.where(rows.fair >= 0, rows.standing(), 0.0))


def take(model: DebiasedClassifier, fitted: Fitted) -> None:
    """Note on the model what was learned."""
    model.fitted_ = fitted
    model.history_ = {name: list(values) for name, values in fitted.history.items()}
    model.n_iter_ = max((len(values) for values in model.history_.values()), default=1)


def _passed(belief: Belief, sensitive_features: Any) -> Any:
    """What was passed beside X, if the belief reads it."""
    return sensitive_features if belief.read_columns else None


def _learner_columns(model: DebiasedClassifier, belief: Belief, frame: pd.DataFrame) -> list[str]:
    names = _names(model.sensitive)
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise P4FError(f"no column {unknown[0]!r} for sensitive; {among(unknown[0], frame.columns)}")
    sensitive = {*names, *belief.sensitive_columns}
    readable = [name for name in frame.columns if name not in {*belief.withheld, *belief.recorded_columns}]
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
    labels = _beside(fair, fair.values(), rows)
    if fair.sampling != "stratified":
        return labels, None
    return labels, np.nan_to_num(_beside(fair, fair.weights, rows).astype(np.float64))


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


def _beside(audit: Audit, values: Any, rows: int) -> Any:
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
    per_class = compute_class_weight(class_weight, classes=np.unique(labels), y=labels)
    by_row = per_class[np.searchsorted(np.unique(labels), labels)]
    return by_row if weights is None else weights * by_row


def _names(sensitive: object) -> tuple[str, ...]:
    """The names of columns that a user wrote."""
    names = () if sensitive is None else (sensitive,) if isinstance(sensitive, str) else sensitive
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise P4FError(f"sensitive={sensitive!r} is not the name of a column of X, nor a list of names")
    return tuple(names)
