"""The rows whose record was most likely distorted, for somebody to look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.explaining import explain, fair_proba
from problog4fairness.errors import P4FError
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.types import Floats

LABEL = "the recorded label is not the fair one"
FEATURES = "a recorded feature is not the fair one"
DISAGREES = "the fair label is another one than the recorded label, by their features alone"
MOST_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Review:
    """Rows to look at.

    Attributes
    ----------
    table
        The rows with the highest probability, highest first, by their number from 1; its last two columns are the
        probability of a favourable fair label, and that of a distortion.
    what
        What is likely of them, in words.
    expected
        How many of all rows are expected to be like that.
    tied
        How many rows are not shown although they are as likely as the last one that is.
    """

    table: pd.DataFrame
    what: str
    expected: float
    tied: int


def review(model: DebiasedClassifier, rows: Rows, shown: pd.DataFrame) -> tuple[Review, Floats]:
    """The rows to look at, and for every row the probability of a favourable fair label.

    Parameters
    ----------
    model
        A trained classifier of a binary label.
    rows
        Recorded data.
    shown
        The same rows with the columns to show.
    """
    fair, chance, what = _explained(model, rows)
    known = np.nan_to_num(chance)
    order = np.lexsort((np.arange(len(known)), -known))[:MOST_SHOWN]
    order = order[known[order] > 0]
    tied = int((known >= known[order[-1]] - 1e-12).sum()) - len(order) if len(order) else 0
    table = shown.iloc[order].set_axis(pd.Index(order + 1, name="row"))
    for name, values in (("fair_probability", fair), ("distorted", chance)):
        while name in table.columns:
            name += "_"
        table[name] = values[order]
    return Review(table, what, float(known.sum()), tied), fair


def _explained(model: DebiasedClassifier, rows: Rows) -> tuple[Floats, Floats, str]:
    """For each row P(favourable fair label), the probability that its record was distorted, and what that means.

    Where the belief says that labels are distorted, it is that of the label; where only features are, that at least one
    of them is. Programs that do not say which label is fair get the model's probability of the other label.
    """
    try:
        found = explain(model, rows)
    except P4FError:
        fair = fair_proba(model, rows)[:, 1]
        return fair, np.where(rows.recorded == 1, 1 - fair, fair), DISAGREES
    fair, label = found.fair[:, 1], np.asarray(found.distorted)
    features = model.belief_.feature_distortion(rows)
    if features and np.nan_to_num(label).max() < 1e-9:
        return fair, 1 - np.prod([1 - chance for chance in features.values()], axis=0), FEATURES
    return fair, label, LABEL
