"""scikit-learn's own checks, on every baseline."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from problog4fairness.baselines import LowerBaseline, Massaging, ParityThresholds, Unawareness, UpperBaseline

STOCHASTIC = "the order of rows and the validation split are random: repeated rows are not the same as weighted rows"
UNWEIGHTED = "thresholds are chosen for plain accuracy, whatever the weights of the network"
QUICK = {"learning_rate": 0.01, "max_epochs": 30, "patience": 5, "hidden": (16,), "batch_size": 32, "random_state": 0}


class Digits:
    """scikit-learn's checks do not name a sensitive column: groups are made from the digits of all columns.

    They have to depend on the row alone, to be the same in training and prediction, and to go along with nothing.
    """

    def _training_groups(self, frame, sensitive_features):
        self.sensitive_ = frame.columns[0]
        return self._new_groups(frame)

    def _new_groups(self, frame):
        total = np.abs(np.nan_to_num(frame.to_numpy(dtype=float)).sum(axis=1))
        return (np.floor(total * 100.5) % 2).astype(np.int64)


class MassagingByDigits(Digits, Massaging):
    pass


class ParityByDigits(Digits, ParityThresholds):
    pass


class UnawarenessOfFirst(Unawareness):
    def _omitted(self, frame, sensitive_features):
        return [frame.columns[0]]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of the two informative columns of the checks, one is left
        return tags


ESTIMATORS = [
    LowerBaseline(**QUICK),
    UpperBaseline(**QUICK),
    UnawarenessOfFirst(**QUICK),
    MassagingByDigits(**QUICK),
    ParityByDigits(**QUICK),
]


def name_of(check) -> str:
    return getattr(check, "func", check).__name__


@pytest.mark.filterwarnings("ignore:.*SkipTest.*")
@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": STOCHASTIC}
)
def test_scikit_learn_rules(estimator, check):
    if isinstance(estimator, ParityThresholds) and name_of(check) == "check_class_weight_classifiers":
        pytest.skip(UNWEIGHTED)
    check(estimator)
