"""scikit-learn's own checks, on every baseline."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from problog4fairness.data import Rows, Sensitive
from problog4fairness.evaluation import BaselineClassifier
from problog4fairness.learners import Network

STOCHASTIC = "the order of rows and the validation split are random: repeated rows are not the same as weighted rows"
UNWEIGHTED = "thresholds are chosen for plain accuracy, whatever the weights of the network"
QUICK = {
    "learner": Network(learning_rate=0.01, max_epochs=30, patience=5, hidden=(16,), batch_size=32),
    "random_state": 0,
}


class Unstated(BaselineClassifier):
    """scikit-learn's checks do not state which label is favourable: it is the last one."""

    def _states_favourable(self, kind):
        return False


class ByDigits(Unstated):
    """scikit-learn's checks do not name a sensitive column either: groups are made from the digits of all columns.

    They have to depend on the row alone, to be the same in training and prediction, and to go along with nothing.
    """

    def _groups(self, kind, frame, sensitive_features):
        return self._new_rows(frame).frame, Sensitive(("digit",))

    def _new_rows(self, frame):
        total = np.abs(np.nan_to_num(frame.to_numpy(dtype=float)).sum(axis=1))
        columns = frame.assign(digit=(np.floor(total * 100.5) % 2).astype(np.int64))
        return Rows(columns, tuple(frame.columns), tuple(getattr(self, "classes_", (0, 1))))


class WithoutFirst(BaselineClassifier):
    def _groups(self, kind, frame, sensitive_features):
        return frame, Sensitive((frame.columns[0],))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of the two informative columns of the checks, one is left
        return tags


ESTIMATORS = [
    BaselineClassifier(**QUICK),
    WithoutFirst("without_sensitive", **QUICK),
    ByDigits("massaging", **QUICK),
    ByDigits("threshold_optimizer", **QUICK),
]


def name_of(check) -> str:
    return getattr(check, "func", check).__name__


@pytest.mark.filterwarnings("ignore:.*SkipTest.*")
@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": STOCHASTIC}
)
def test_scikit_learn_rules(estimator, check):
    if estimator.method == "threshold_optimizer" and name_of(check) == "check_class_weight_classifiers":
        pytest.skip(UNWEIGHTED)
    check(estimator)
