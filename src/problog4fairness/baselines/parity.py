"""Parity by thresholds: the lower baseline, with another threshold for each group."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from problog4fairness.baselines.base import Array
from problog4fairness.baselines.grouped import GroupedBaseline, require_two_labels, scores_of
from problog4fairness.baselines.groups import Codes
from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.reading import label_codes, read_new
from problog4fairness.errors import P4FError


class ParityThresholds(GroupedBaseline):
    """The lower baseline's scores, with thresholds for each group that give both the same rate of favourable labels.

    The thresholds are those of fairlearn's ``ThresholdOptimizer`` (Hardt et al., 2016): of all pairs with demographic
    parity on the training data, the one that agrees best with the recorded labels. Where no pair of thresholds gives
    the same rate, as on data with many ties, two thresholds of a group are mixed at random; ``predict_proba`` gives the
    expected outcome of that, and parity holds for its means. Weights of rows and classes reach the network, but not the
    thresholds, which are chosen for plain accuracy.

    Prediction needs the sensitive variable and reads it from its column of X. Needs the extra ``fairlearn``.

    Parameters
    ----------
    sensitive
        The sensitive column of X; not needed where ``sensitive_features`` has that name.
    levels
        The two groups as the column has them, the sensitive one second.
    favourable
        The label that counts as 1; the larger of the two by default.
    hidden, dropout, learning_rate, weight_decay, batch_size, max_epochs, patience, validation, loss, gamma, \
class_weight, random_state, verbose
        The network and its training; see :class:`~problog4fairness.DebiasedClassifier`.

    Attributes
    ----------
    classes_
        The labels, the favourable one last.
    classifier_
        The network of :class:`LowerBaseline`.
    thresholds_
        The fitted ``ThresholdOptimizer``; its features are the network's scores.
    """

    def predict_proba(self, X: Any) -> Array:
        """The expected outcome, ``[rows, classes]``: 0 or 1, or between them where thresholds are mixed."""
        frame = read_new(self, X)
        groups = self._new_groups(frame)
        scores = scores_of(self.classifier_, frame)
        return expected_outcome(self.thresholds_, scores, groups)

    def predict_randomly(self, X: Any, *, random_state: Any = None) -> Array:
        """Labels drawn with the probabilities of ``predict_proba``: parity holds for them, not for ``predict``."""
        expected = self.predict_proba(X)[:, 1]
        drawn = check_random_state(random_state).uniform(size=len(expected)) < expected
        return np.asarray(self.classes_[drawn.astype(np.int64)])

    def _train(self, frame: pd.DataFrame, y: Array, sensitive_features: Any, weights: Any) -> DebiasedClassifier:
        _threshold_optimiser()
        require_two_labels(y)
        classes, recorded = label_codes(y, self.favourable)
        groups = self._training_groups(frame, sensitive_features)
        self._require_column(frame)
        self._require_labels(classes, recorded, groups)
        classifier = self._network().fit(frame, y, sample_weight=weights)
        self.thresholds_ = parity_thresholds(scores_of(classifier, frame), recorded, groups)
        return classifier

    def _require_column(self, frame: pd.DataFrame) -> None:
        if self.sensitive_ not in frame.columns:
            raise P4FError(
                f"X has no column {self.sensitive_!r}, but predicting reads the sensitive variable from X: "
                "add it, and name it by sensitive=..."
            )

    def _require_labels(self, classes: Array, recorded: Array, groups: Codes) -> None:
        """An error where a group has one label only: fairlearn cannot trade anything there."""
        for code, level in enumerate(self.levels):
            labels = np.unique(recorded[groups == code])
            if len(labels) < 2:
                raise P4FError(
                    f"all rows with {self.sensitive_} = {level!r} have the label {classes.tolist()[labels[0]]!r}; "
                    "one class is not enough, thresholds need both in each group"
                )


class GivenScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier for fairlearn whose only feature is P(favourable label)."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn takes nothing for an estimator without
        """Nothing to do."""
        return self

    def predict_proba(self, X: Any) -> Array:
        """The feature itself."""
        positive = np.asarray(X, dtype=np.float64)[:, 0]
        return np.column_stack([1 - positive, positive])


def parity_thresholds(scores: Array, recorded: Array, groups: Codes) -> Any:
    """A fitted ``ThresholdOptimizer``: of all thresholds with demographic parity those that agree best with labels.

    Parameters
    ----------
    scores
        P(favourable label) of each training row.
    recorded
        Labels 0 and 1; every group must have both.
    groups
        The group of each row, any number of groups.
    """
    optimiser = _threshold_optimiser()(
        estimator=GivenScores(), constraints="demographic_parity", prefit=True, predict_method="predict_proba"
    )
    return optimiser.fit(scores[:, None], recorded, sensitive_features=groups)


def expected_outcome(thresholds: Any, scores: Array, groups: Codes) -> Array:
    """The chances of the random decision, ``[rows, 2]``, that :func:`parity_thresholds` make of new scores."""
    expected = thresholds._pmf_predict(scores[:, None], sensitive_features=groups)
    return np.clip(np.asarray(expected, dtype=np.float64), 0, 1)


def _threshold_optimiser() -> Any:
    try:
        return import_module("fairlearn.postprocessing").ThresholdOptimizer
    except ImportError:
        raise P4FError("ParityThresholds needs fairlearn, which is not installed: pip install fairlearn") from None
