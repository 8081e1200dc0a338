"""Scoring a table: what a trained model says of each of its rows, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.classifier.encoder import MISSING
from problog4fairness.errors import P4FError
from problog4fairness.files.problems import listed, warn
from problog4fairness.files.values import plain_column
from problog4fairness.mechanisms.base import Mechanism
from problog4fairness.mechanisms.custom import ProgramMechanism

if TYPE_CHECKING:
    from problog4fairness.classifier.estimator import DebiasedClassifier

COLUMNS = ("fair_probability", "fair_label", "recorded_probability", "distorted_probability")


# What a column of yes and no with gaps is read as; in another file it may be without gaps, or be spelt otherwise.
_FLAGS = {"True", "False", MISSING}


def text_columns(model: DebiasedClassifier, recorded: str | None = None) -> list[str]:
    """The columns of a table that are texts to a model, whatever a file has in them.

    Parameters
    ----------
    model
        A trained model.
    recorded
        The column of the recorded label; the name that training saw by default.
    """
    texts = [name for name, values in model.encoder_.categories.items() if not _FLAGS.issuperset(values)]
    texts += [name for name, levels in _levels(model.mechanism_) if any(isinstance(level, str) for level in levels)]
    label = model.recorded_ if recorded is None else recorded
    if label is not None and all(isinstance(value, str) for value in model.classes_.tolist()):
        texts.append(label)
    return list(dict.fromkeys(texts))


def _levels(mechanism: Mechanism | None) -> list[tuple[str, Sequence[Any]]]:
    """Each sensitive column that alone says the group, and its groups."""
    if isinstance(mechanism, ProgramMechanism):
        return [(mechanism.columns[network], pair) for network, pair in mechanism.values.items()]
    variables = () if mechanism is None else mechanism.variables
    return [(variable.columns[0], variable.levels) for variable in variables if len(variable.columns) == 1]


def feature_frame(model: DebiasedClassifier, frame: pd.DataFrame) -> pd.DataFrame:
    """The features of a table, in the order of training; the error names those that are missing in one line."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise P4FError("the model was trained on an array without names; the columns of a table cannot be told apart")
    missing = [str(name) for name in names if name not in frame.columns]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        raise P4FError(f"the table lacks the column{plural} {listed(missing)} that the model was trained on")
    return frame[list(names)]


def score_rows(
    model: DebiasedClassifier, frame: pd.DataFrame, *, recorded: str | None = None, threshold: float = 0.5
) -> pd.DataFrame:
    """The table with what a model for a binary label says of each row.

    Parameters
    ----------
    model
        A trained model, with named features.
    frame
        Rows to score. Columns that the model does not know are kept.
    recorded
        The column of the recorded label, where the table has one; the name that training saw by default.
    threshold
        The fair label is the favourable one where its probability is at least this.

    Returns
    -------
    pandas.DataFrame
        The table and the columns ``fair_probability`` (that the fair label is the favourable one), ``fair_label``;
        ``recorded_probability`` (that it is recorded so) where the sensitive columns are there; and
        ``distorted_probability`` (that the recorded label is not the fair one) where the label is there too. They are
        missing in rows without a group or without a label.
    """
    if len(model.classes_) != 2:
        raise P4FError(f"the model is for {len(model.classes_)} classes; only binary labels can be scored as a table")
    taken = [name for name in COLUMNS if name in frame.columns]
    if taken:
        raise P4FError(f"the table already has the column {taken[0]!r}; drop or rename it")
    recorded = model.recorded_ if recorded is None else recorded
    features = feature_frame(model, frame)
    fair = model.predict_proba(features)[:, 1]
    scores: dict[str, Any] = {
        "fair_probability": fair,
        "fair_label": np.asarray(model.classes_)[(fair >= threshold).astype(int)],
    }
    sensitive = [] if model.mechanism_ is None else list(model.mechanism_.sensitive_columns)
    if all(name in frame.columns for name in (*sensitive, *(model.mechanism_.features if model.mechanism_ else ()))):
        known = frame[sensitive].notna().all(axis=1).to_numpy()
        groups = _groups(frame, sensitive)
        scores["recorded_probability"] = _where(
            known,
            lambda rows: model.predict_recorded_proba(features[rows], sensitive_features=_part(groups, rows))[:, 1],
        )
        if recorded is not None and recorded in frame.columns:
            scores |= _distortion(model, frame[recorded], features, groups, known)
    return frame.assign(**scores)


def _distortion(
    model: DebiasedClassifier, label: pd.Series[Any], features: pd.DataFrame, groups: pd.DataFrame | None, known: Any
) -> dict[str, Any]:
    """The probability that the recorded label is not the fair one, where the belief can tell."""
    labelled = known & label.notna().to_numpy()
    values = plain_column(label[labelled]).infer_objects().to_numpy()
    try:
        found = _where(
            labelled,
            lambda rows: model.distortion_proba(features[rows], values, sensitive_features=_part(groups, rows)),
        )
    except P4FError as error:
        warn(f"no distorted_probability: {error}")
        return {}
    return {"distorted_probability": found}


def _groups(frame: pd.DataFrame, sensitive: list[str]) -> pd.DataFrame | None:
    """The sensitive columns, with whole numbers as such: missing values make them floats."""
    if not sensitive:
        return None
    return pd.DataFrame({name: plain_column(frame[name]) for name in sensitive})


def _part(groups: pd.DataFrame | None, rows: Any) -> pd.DataFrame | None:
    return None if groups is None else groups[rows].infer_objects()


def _where(rows: Any, values: Any) -> Any:
    """Values for some rows, missing for the others."""
    result = np.full(len(rows), np.nan)
    if rows.any():
        result[rows] = values(rows)
    return result
