"""Equal rates by another threshold for each group, chosen by fairlearn, on a classifier of the recorded labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods.method import Method, Steps, Trained, Training

# Rows that thresholds are chosen on, about: fairlearn goes through all distinct scores in Python.
MOST_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class ThresholdTrained(Trained):
    """A classifier with thresholds."""

    thresholds: Any  # the fitted ThresholdOptimizer, whose only feature is the classifier's score
    groups: Callable[[Rows], Codes]  # of new rows

    def proba(self, rows: Rows) -> Floats:
        """The expected outcome, ``[rows, classes]``: 0 or 1, or between them where thresholds are mixed."""
        return expected_outcome(self.thresholds, self.scores(rows), self.groups(rows))


class ThresholdOptimizer(Method):
    """Thresholds for each group that give all groups the same rate of favourable labels (Hardt et al., 2016).

    They are fairlearn's: of all thresholds with demographic parity on the training rows, those that agree best with the
    recorded labels. Where no thresholds give the same rate, as on data with many ties, two thresholds of a group are
    mixed at random, and predictions are the expected outcome of that. From more than 5,000 training rows as many are
    taken, evenly over the scores of each group and label. Weights of rows reach the learner, but not the thresholds.
    """

    name = "threshold_optimizer"
    about = "a threshold for each group, for equal rates"
    title = "threshold optimizer"
    style = ("#E69F00", "X")
    needs_groups = decides_by_group = True
    randomised = True

    def check(self, rows: Rows) -> None:
        threshold_optimiser()
        super().check(rows)

    def steps(self, training: Training) -> Steps:
        rows, recorded = training.rows, np.asarray(training.rows.recorded)
        for group, labels in enumerate(self.labels_by_group(rows)):
            if len(labels) < 2:
                label = np.asarray(rows.classes).tolist()[labels[0]]
                raise P4FError(
                    f"all training rows with {self.sensitive.group_text(group)} have the label {label!r}; "
                    "one class is not enough, thresholds need both in each group"
                )
        plain = Trained.plainly((yield training.record), rows)
        thresholds = parity_thresholds(plain.scores(rows), recorded, self.groups(rows))
        return ThresholdTrained(plain.fitted, plain.features, plain.belief, thresholds, self.groups)


class GivenScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier for fairlearn whose only feature is P(favourable label)."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing to do."""
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The feature itself."""
        positive = np.asarray(X, dtype=np.float64)[:, 0]
        return np.column_stack([1 - positive, positive])


def parity_thresholds(scores: Floats, recorded: Codes, groups: Codes) -> Any:
    """A fitted ``ThresholdOptimizer``: of all thresholds with demographic parity those that agree best with labels.

    ``scores`` are P(favourable label), ``recorded`` labels 0 and 1; every group must have both.
    """
    optimiser = threshold_optimiser()(
        estimator=GivenScores(), constraints="demographic_parity", prefit=True, predict_method="predict_proba"
    )
    some = _spread(scores, recorded, groups)
    return optimiser.fit(scores[some, None], recorded[some], sensitive_features=groups[some])


def _spread(scores: Floats, recorded: Codes, groups: Codes) -> Codes:
    """Rows for the thresholds: all, or of many some that are spread evenly over the scores of each group and label."""
    if len(scores) <= MOST_ROWS:
        return np.arange(len(scores))
    order = np.lexsort((scores, recorded, groups))
    kind = 2 * groups[order] + recorded[order]
    starts = np.flatnonzero(np.diff(kind, prepend=-1))
    sizes = np.diff(starts, append=len(order))
    counts = np.ceil(sizes * MOST_ROWS / len(scores)).astype(np.int64)
    # The middle of each of so many equal parts.
    places = [
        start + ((np.arange(count) + 0.5) * size / count).astype(np.int64)
        for start, size, count in zip(starts.tolist(), sizes.tolist(), counts.tolist(), strict=True)
    ]
    chosen: Codes = order[np.concatenate(places)]
    return chosen


def expected_outcome(thresholds: Any, scores: Floats, groups: Codes) -> Floats:
    """The chances of the random decision, ``[rows, 2]``, that :func:`parity_thresholds` make of new scores."""
    expected = thresholds._pmf_predict(scores[:, None], sensitive_features=groups)
    return np.clip(np.asarray(expected, dtype=np.float64), 0, 1)


def threshold_optimiser() -> Any:
    """fairlearn's class; an error where it is not installed."""
    try:
        return import_module("fairlearn.postprocessing").ThresholdOptimizer
    except ImportError:
        raise P4FError("threshold_optimizer needs fairlearn, which is not installed: pip install fairlearn") from None
