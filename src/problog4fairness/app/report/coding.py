"""Tables as rows: labels and groups are coded here, once, as the model knows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from problog4fairness.data import Grouping, Rows, label_codes
from problog4fairness.errors import P4FError, among
from problog4fairness.estimators import DebiasedClassifier, new_rows


def coded(
    model: DebiasedClassifier, frame: pd.DataFrame, where: str, *, recorded: str | None = None, fair: str | None = None
) -> Rows:
    """A table as rows.

    Parameters
    ----------
    model
        A trained classifier, which knows the labels and the groups.
    frame
        The table, with the features and the sensitive columns.
    where
        What the table is called in errors: "the data".
    recorded, fair
        The columns of the recorded and of the fair label, without missing values; None for a label that is not known.
    """
    labels = {role: name for role, name in (("recorded", recorded), ("fair", fair)) if name is not None}
    require_columns(frame, [*feature_names(model), *model.belief_.context_columns, *labels.values()], where)
    rows = new_rows(model, frame[feature_names(model)], sensitive_of(model, frame))
    return replace(
        rows,
        **{role: label_codes(frame[name], rows.classes, f"column {name!r}") for role, name in labels.items()},  # type: ignore[arg-type]
    )


def groupings(model: DebiasedClassifier, rows: Rows) -> list[Grouping]:
    """The ways to divide rows by the model's belief; all rows in one group where it names none."""
    return model.belief_.groupings(rows) or [Grouping("everybody", ("everybody",), np.ones((len(rows), 1)))]


def feature_names(model: DebiasedClassifier) -> list[str]:
    """The columns of X that the model was trained on."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise P4FError("the model was trained on an array without column names; train it on a data frame")
    return [str(name) for name in names]


def sensitive_of(model: DebiasedClassifier, frame: pd.DataFrame) -> pd.DataFrame | None:
    """The columns that the belief reads besides; None where all of them are features."""
    columns = list(model.belief_.context_columns)
    columns += [name for name in model.belief_.sensitive_columns if name in frame.columns and name not in columns]
    return None if set(columns) <= set(feature_names(model)) else frame[columns]


def require_columns(frame: pd.DataFrame, columns: list[str], where: str) -> None:
    """Raise the error that names a column which is missing."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise P4FError(f"no column {missing[0]!r} in {where}; {among(missing[0], frame.columns)}")
