"""The estimators that treat two groups in different ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Tags, check_random_state

from problog4fairness.data import Sensitive, beside, require_column
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods.estimators import Array, Baseline, named
from problog4fairness.evaluation.methods.massaging import MassagedLabels, MassagedTrained
from problog4fairness.evaluation.methods.thresholds import ParityByThresholds


class GroupedBaseline(Baseline):
    """A baseline for two labels and two groups.

    Parameters are those of :class:`Baseline`. ``sensitive`` names one column of X, where it is not passed as
    ``sensitive_features``; it stays among the features. ``levels`` must be as the column has them.

    Attributes
    ----------
    sensitive_
        The name of the sensitive column.
    """

    _ordered = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _groups(self, frame: pd.DataFrame, sensitive_features: Any) -> tuple[pd.DataFrame, Sensitive]:
        if len(self.levels) != 2 or self.levels[0] == self.levels[1]:
            raise P4FError(f"levels must be two different groups (other, sensitive), not {list(self.levels)}")
        column = self._column(frame, sensitive_features)
        self.sensitive_ = str(column.name)
        return frame.assign(**{self.sensitive_: column}), Sensitive.of(self.sensitive_, self.levels)

    def _column(self, frame: pd.DataFrame, sensitive_features: Any) -> pd.Series[Any]:
        names = named(self.sensitive)
        if len(names) > 1:
            raise P4FError(f"{type(self).__name__} takes one sensitive column, not {', '.join(names)}")
        if sensitive_features is not None:
            given = beside(sensitive_features, names, len(frame))
            if names and names[0] in given.columns:
                return given[names[0]]
            if len(given.columns) != 1:
                there = ", ".join(given.columns)
                raise P4FError(f"sensitive_features have {len(given.columns)} columns ({there}); name one by sensitive")
            return given.iloc[:, 0].rename(names[0] if names else given.columns[0])
        if not names:
            raise P4FError(
                f"{type(self).__name__} needs the sensitive variable: name a column of X by sensitive=..., "
                "or pass sensitive_features"
            )
        require_column(names[0], frame)
        return frame[names[0]]


class Massaging(GroupedBaseline):
    """Massaged labels (Kamiran and Calders, 2009); see :class:`~problog4fairness.evaluation.MassagedLabels`.

    Exactly as many labels change as bring the difference of the groups' rates nearest to 0, none where the sensitive
    group is not behind. Rows are counted without their weights. Parameters are those of :class:`GroupedBaseline`.

    Attributes
    ----------
    labels_
        The massaged labels.
    n_flipped_
        How many labels were changed in all: half of them promoted, half of them demoted.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=5)
    >>> columns = [*data.features, "poor_area"]
    >>> model = p4f.evaluation.Massaging(sensitive="poor_area", learner="linear", random_state=0)
    >>> model = model.fit(data.loans[columns], data.loans["granted"])
    >>> model.n_flipped_ > 0  # labels that were changed in each group
    True
    """

    method = MassagedLabels
    trained_: MassagedTrained

    @property
    def labels_(self) -> Array:
        """The massaged labels."""
        return np.asarray(self.classes_[self.trained_.labels])

    @property
    def n_flipped_(self) -> int:
        """How many labels were changed."""
        return self.trained_.changed


class ParityThresholds(GroupedBaseline):
    """The record as it is, with thresholds for each group that give both the same rate of favourable labels.

    See :class:`~problog4fairness.evaluation.ParityByThresholds`. ``predict_proba`` gives the expected outcome, and
    parity holds for its means. Weights of rows and classes reach the learner, but not the thresholds, which are chosen
    for plain accuracy. Prediction needs the sensitive variable and reads it from its column of X. Needs the extra
    ``fairlearn``. Parameters are those of :class:`GroupedBaseline`.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=5)
    >>> columns = [*data.features, "poor_area"]
    >>> model = p4f.evaluation.ParityThresholds(sensitive="poor_area", learner="linear", random_state=0)
    >>> model = model.fit(data.loans[columns], data.loans["granted"])
    >>> model.predict_proba(data.new[columns]).shape  # chances of the decision, which may be drawn by lot
    (5, 2)
    """

    method = ParityByThresholds

    def predict_randomly(self, X: Any, *, random_state: Any = None) -> Array:
        """Labels drawn with the probabilities of ``predict_proba``: parity holds for them, not for ``predict``."""
        expected = self.predict_proba(X)[:, 1]
        drawn = check_random_state(random_state).uniform(size=len(expected)) < expected
        return np.asarray(self.classes_[drawn.astype(np.int64)])

    def _groups(self, frame: pd.DataFrame, sensitive_features: Any) -> tuple[pd.DataFrame, Sensitive]:
        known, sensitive = super()._groups(frame, sensitive_features)
        if self.sensitive_ not in frame.columns:
            raise P4FError(
                f"X has no column {self.sensitive_!r}, but predicting reads the sensitive variable from X: "
                "add it, and name it by sensitive=..."
            )
        return known, sensitive
