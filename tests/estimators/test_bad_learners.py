"""Learners and fair labels that cannot be used: one line each."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from tests.estimators.data import loans

FRAME, AREA, FAIR, RECORDED = loans(300)
BELIEF = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])


class RefusesWeights(LogisticRegression):
    def fit(self, X, y, sample_weight=None):  # noqa: N803
        if sample_weight is not None:
            raise ValueError("this estimator\ndoes not take weights")
        return super().fit(X, y)


class NoParameters(ClassifierMixin):
    def fit(self, X, y):  # noqa: N803
        return self


class FitOnly(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):  # noqa: N803
        return self


def refused(learner, **options) -> str:
    model = p4f.DebiasedClassifier(BELIEF, learner, random_state=0)
    with pytest.raises(P4FError) as found:
        model.fit(FRAME, RECORDED, sensitive_features=AREA, **options)
    assert "\n" not in str(found.value)
    return str(found.value)


@pytest.mark.parametrize("estimator", [LinearSVC(), FitOnly()])
def test_an_estimator_without_probabilities(estimator):
    assert f"{type(estimator).__name__} has no predict_proba; wrap it in" in refused(estimator)


def test_an_estimator_that_refuses_weights():
    line = "RefusesWeights cannot be fitted with weights: this estimator does not take weights"
    assert refused(RefusesWeights()) == line


def test_what_is_no_learner():
    assert "there is no learner 'forest'; there are auto, linear, boosted, network" in refused("forest")
    assert "is a class; pass one of it" in refused(LogisticRegression)
    assert "is not a scikit-learn estimator" in refused(NoParameters())
    assert "a learner is a name" in refused(3)


def test_fair_labels_that_cannot_be():
    assert "300 rows and 2 fair labels" in refused("linear", fair=[0, 1])
    assert "label 2, which is not among 0, 1" in refused("linear", fair=np.full(300, 2))
    # Nobody who is unfit is recorded as fit.
    impossible = np.where(np.arange(300) == np.flatnonzero(RECORDED)[0], 0, np.nan)
    for learner in ("linear", "boosted", "network", LogisticRegression()):
        assert "1 of 300 rows have a recorded label that the belief rules out" in refused(learner, fair=impossible)


def test_without_lightgbm(monkeypatch):
    original = builtins.__import__

    def without(name, *arguments, **options):
        if name.partition(".")[0] == "lightgbm":
            raise ImportError("no lightgbm here")
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "lightgbm" in refused("boosted").lower()
    with pytest.warns(UserWarning, match="they are not compared"):
        model = p4f.DebiasedClassifier(BELIEF, "auto", random_state=0).fit(FRAME, RECORDED, sensitive_features=AREA)
    assert set(model.fitted_.choice.index) == {"linear", "network"}
