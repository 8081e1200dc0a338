"""scikit-learn's own checks, on every estimator of the package and with every learner."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from problog4fairness import DebiasedClassifier
from problog4fairness.learners import Auto, Boosted, Linear, Network, Reweighted
from problog4fairness.learners import named as choice

LEARNERS = {
    "network": Network(hidden=(8,), learning_rate=0.02, batch_size=16, max_epochs=30, networks=2),
    "linear": Linear(),
    "boosted": Boosted(max_trees=20, min_rows=2),
    "auto": Auto(),
    "estimator": Reweighted(LogisticRegression(), max_rounds=2),
}
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
# Why repeated rows are not the same as weighted rows; for the linear learner, they are.
EXPECTED = {
    "network": {WEIGHTS: "the order of rows and the validation split are random"},
    "boosted": {WEIGHTS: "the validation split is random"},
    "auto": {WEIGHTS: "the parts that learners are compared on are random"},
    "estimator": {WEIGHTS: "the folds of out-of-fold predictions are random"},
}


@pytest.fixture(autouse=True)
def quick_candidates(monkeypatch):
    """What auto compares is smaller than what is checked by itself: it fits each of them six times."""
    network, boosted = Network(hidden=(8,), max_epochs=5, networks=1), Boosted(max_trees=5, min_rows=2)
    monkeypatch.setitem(choice.CANDIDATES, "network", lambda: network)
    monkeypatch.setitem(choice.CANDIDATES, "boosted", lambda: boosted)


def expected_failures(estimator):
    name = next(name for name, learner in LEARNERS.items() if type(learner) is type(estimator.learner))
    return EXPECTED.get(name, {})


@pytest.mark.filterwarnings("ignore:.*SkipTest.*")
@pytest.mark.filterwarnings("ignore::problog4fairness.errors.LearningWarning")
@parametrize_with_checks(
    [DebiasedClassifier(learner=learner, random_state=0) for learner in LEARNERS.values()],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_rules(estimator, check):
    check(estimator)
