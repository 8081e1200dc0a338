"""scikit-learn's own checks, on every estimator of the package."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from problog4fairness import DebiasedClassifier

ESTIMATORS = [DebiasedClassifier(random_state=0)]
STOCHASTIC = "the order of rows and the validation split are random: repeated rows are not the same as weighted rows"


@pytest.mark.filterwarnings("ignore:.*SkipTest.*")
@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": STOCHASTIC},
)
def test_scikit_learn_rules(estimator, check):
    check(estimator)
