"""The rows whose record was most likely distorted, for somebody to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.view import groups_of
from problog4fairness.errors import P4FError

Array = np.ndarray[Any, np.dtype[Any]]

LABEL = "the fair label differs from the recorded one"
FEATURES = "a fair feature differs from the recorded one"
DISAGREES = "the model would decide otherwise"


def distortion(model: DebiasedClassifier, features: Any, y: Any, sensitive_features: Any) -> tuple[Array, str]:
    """For each row the probability that its record was distorted, and what that means for this belief.

    Where the belief says that labels are distorted, that of the label; where only features are, that at least one of
    them is. Programs that do not say which atom is the distortion get the model's probability of the other label.
    """
    belief = model.belief_
    try:
        known = model._known(features, sensitive_features)
        if belief is not None and belief.feature_values() and _labels_are_right(model, known):
            changed = model.feature_distortion_proba(features, sensitive_features=sensitive_features)
            return np.asarray(1 - (1 - changed).prod(axis=1)), FEATURES
        return model.distortion_proba(features, y, sensitive_features=sensitive_features), LABEL
    except P4FError:
        fair = np.exp(model._fair_logs(model._known(features, sensitive_features))[:, 1])
        good = np.asarray(y) == model.classes_[1]
        return np.where(good, 1 - fair, fair), DISAGREES


def suspects(data: pd.DataFrame, columns: list[str], chance: Array, fair: Array, most: int = 20) -> pd.DataFrame:
    """The rows with the highest probability, highest first, by their number from 1; then both probabilities."""
    known = np.nan_to_num(chance)
    order = np.lexsort((np.arange(len(known)), -known))[:most]
    order = order[known[order] > 0]
    found = data[columns].iloc[order].set_axis(pd.Index(order + 1, name="row"))
    for name, values in (("fair_probability", fair), ("distorted", chance)):
        while name in found.columns:
            name += "_"
        found[name] = values[order]
    return found


def tied(chance: Array, shown: int) -> int:
    """How many rows are not shown although they are as likely as the last one that is."""
    if not shown:
        return 0
    known = np.nan_to_num(chance)
    last = np.sort(known)[-shown]
    return max(0, int((known >= last - 1e-12).sum()) - shown)


def _labels_are_right(model: DebiasedClassifier, known: pd.DataFrame) -> bool:
    """Whether the belief leaves labels alone."""
    groups = groups_of(model.belief_, known).levels
    return bool(np.allclose(model._label_table(groups), np.eye(len(model.classes_))))
