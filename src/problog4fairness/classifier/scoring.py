"""Scoring a table: what a trained model says of each of its rows, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.errors import P4FError
from problog4fairness.learners.encoder import MISSING
from problog4fairness.rows.problems import listed, warn
from problog4fairness.rows.values import plain_column

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
    texts = [name for name, values in model.fitted_.categories.items() if not _FLAGS.issuperset(values)]
    groups = model.belief_.known_groups().items()
    texts += [name for name, levels in groups if any(isinstance(level, str) for level in levels)]
    label = model.recorded_ if recorded is None else recorded
    if label is not None and all(isinstance(value, str) for value in model.classes_.tolist()):
        texts.append(label)
    return list(dict.fromkeys(texts))


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
    belief = model.belief_
    if not all(name in frame.columns for name in (*belief.sensitive_columns, *belief.features)):
        return frame.assign(**_fair(model, model.predict_proba(features)[:, 1], threshold))
    known = frame[list(belief.sensitive_columns)].notna().all(axis=1).to_numpy()
    label = frame[recorded] if recorded is not None and recorded in frame.columns else None
    labelled = known if label is None else known & label.notna().to_numpy()
    parts = [labelled, known & ~labelled, ~known]
    scores = pd.DataFrame(index=frame.index, columns=list(COLUMNS), dtype=np.float64)
    for number, rows in enumerate(parts):
        if rows.any():
            own = _scores(model, features[rows], frame[rows], label[rows] if label is not None and not number else None,
                          with_groups=number < 2)  # fmt: skip
            for name, values in own.items():
                scores.loc[rows, name] = values
    del scores["fair_label"]
    if label is None or scores["distorted_probability"].isna().all():
        del scores["distorted_probability"]
    return frame.assign(**{**_fair(model, scores["fair_probability"].to_numpy(), threshold), **scores.iloc[:, 1:]})


def _fair(model: DebiasedClassifier, fair: Any, threshold: float) -> dict[str, Any]:
    labels = np.asarray(model.classes_)[(fair >= threshold).astype(int)]
    return {"fair_probability": fair, "fair_label": labels}


def _scores(
    model: DebiasedClassifier, features: pd.DataFrame, frame: pd.DataFrame, label: Any, *, with_groups: bool
) -> dict[str, Any]:
    """What a model says of some rows, for which all or none of group and label are known."""
    if not with_groups:
        return {"fair_probability": model.predict_proba(features)[:, 1]}
    groups = _groups(frame, list(model.belief_.sensitive_columns))
    values = None if label is None else plain_column(label).infer_objects().to_numpy()
    try:
        found = model.explain(features, values, sensitive_features=groups)
    except P4FError as error:
        if values is None:
            raise
        warn(f"no distorted_probability: {error}")
        found = model.explain(features, sensitive_features=groups)
    scores = {"fair_probability": found.fair[:, 1], "recorded_probability": found.recorded[:, 1]}
    return scores if found.distorted is None else scores | {"distorted_probability": found.distorted}


def _groups(frame: pd.DataFrame, sensitive: list[str]) -> pd.DataFrame | None:
    """The sensitive columns, with whole numbers as such: missing values make them floats."""
    if not sensitive:
        return None
    return pd.DataFrame({name: plain_column(frame[name]) for name in sensitive}).infer_objects()
