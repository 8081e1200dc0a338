"""Any scikit-learn classifier through a belief."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

import problog4fairness as p4f
from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.em import LikelihoodWarning, Reweighted
from problog4fairness.learners.linear import Linear
from tests.learners.contract import LABEL, SELECTED, LearnerContract, accuracy, people, recorded, rows_of


class TestLogisticRegression(LearnerContract):
    saved = False

    def make(self):
        return Reweighted(LogisticRegression())


class TestForest(LearnerContract):
    saved = False
    rows = 1000
    margin = 0.06

    def make(self):
        return Reweighted(RandomForestClassifier(25, min_samples_leaf=5), max_rounds=3)


class TestNeighbours(LearnerContract):
    """Takes no weights, so labels are drawn."""

    saved = False
    margin = 0.06

    def make(self):
        return Reweighted(KNeighborsClassifier(25), max_rounds=3, draws=3)


def test_em_of_a_linear_model_ends_where_its_own_learner_ends():
    frame, fair = people(1500, 0)
    observation = LABEL.observe(rows_of(*recorded("label", frame, fair)))
    found = Reweighted(LogisticRegression(C=1e6), max_rounds=60, tolerance=0).fit(observation)
    direct = Linear(penalty=0.0).fit(observation)
    assert np.abs((found.log_proba(frame).exp() - direct.log_proba(frame).exp()).numpy()).mean() < 0.02


def test_the_likelihood_never_falls_in_the_history():
    frame, fair = people(1000, 0)
    observation = LABEL.observe(rows_of(*recorded("label", frame, fair)))
    losses = Reweighted(RandomForestClassifier(20, random_state=0)).fit(observation).history["validation"]
    assert losses
    assert losses == sorted(losses, reverse=True)


def test_many_rows_are_gone_through_with_drawn_labels_and_end_with_weights(monkeypatch):
    monkeypatch.setattr("problog4fairness.learners.em.FEW", 500)
    sizes = []

    class Counted(LogisticRegression):
        def fit(self, X, y, sample_weight=None):  # noqa: N803
            sizes.append((len(y), sample_weight is None))
            return super().fit(X, y, sample_weight)

    frame, fair = people(1000, 0)
    fitted = Reweighted(Counted()).fit(LABEL, rows_of(*recorded("label", frame, fair)))
    *rounds, last = sizes
    assert last == (2000, False)
    assert {drawn for _, drawn in rounds} == {True}
    assert sum(size for size, _ in rounds[:2]) == 1000
    assert accuracy(fitted, *people(2000, 1)) > 0.8


def test_without_anything_hidden_it_is_one_fit():
    fits = []

    class Counted(LogisticRegression):
        def fit(self, X, y, sample_weight=None):  # noqa: N803
            fits.append(len(y))
            return super().fit(X, y, sample_weight)

    frame, fair = people(200, 0)
    Reweighted(Counted()).fit(p4f.NoBias(), rows_of(frame, fair))
    assert fits == [200]


class Worse(ClassifierMixin, BaseEstimator):
    """Forgets more with every fit."""

    fits = 0

    def fit(self, X, y, sample_weight=None):  # noqa: N803
        Worse.fits += 1
        self.classes_, self.wrong_ = np.unique(y), 0.5 if Worse.fits <= 3 else 0.99
        return self

    def predict_proba(self, X):  # noqa: N803
        return np.tile([self.wrong_, 1 - self.wrong_], (len(X), 1))


def test_a_round_that_makes_the_record_less_likely_is_told_and_not_kept():
    frame, fair = people(300, 0)
    Worse.fits = 0
    with pytest.warns(LikelihoodWarning, match=r"round 2 of EM made recorded labels less likely .* round 1 is kept"):
        fitted = Reweighted(Worse()).fit(LABEL, rows_of(*recorded("label", frame, fair)))
    assert len(fitted.history["validation"]) == 1


def test_a_pipeline_is_given_the_columns_as_they_are():
    frame, fair = people(800, 0)
    frame, label = recorded("label", frame, fair)
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    pipeline = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=20))
    model = p4f.DebiasedClassifier(LABEL, pipeline, random_state=0).fit(frame, label)
    assert (model.predict(people(1000, 1)[0]) == people(1000, 1)[1]).mean() > 0.75
    neighbours = make_pipeline(columns, KNeighborsClassifier(25))
    assert accuracy(Reweighted(neighbours).fit(LABEL, rows_of(frame, label)), *people(1000, 1)) > 0.7


def test_the_classifier_takes_any_estimator():
    frame, fair = people(600, 0)
    frame, label = recorded("label", frame, fair)
    model = p4f.DebiasedClassifier(LABEL, HistGradientBoostingClassifier(max_iter=20), random_state=0)
    first = model.fit(frame, label).predict_proba(frame)
    assert np.array_equal(model.fit(frame, label).predict_proba(frame), first)
    assert model.fitted_.estimators[0].random_state is not None


def test_a_program_that_selects_rows_by_their_fair_label_is_not_for_em():
    frame, fair = people(100, 0)
    with pytest.raises(TrainingError, match="the program's evidence depends on the classifier, so rows are missing"):
        Reweighted(LogisticRegression()).fit(p4f.ProgramBelief(SELECTED), rows_of(frame, fair))


class Fussy(LogisticRegression):
    """Says that it takes weights, and does not."""

    def fit(self, X, y, sample_weight=None):  # noqa: N803
        if sample_weight is not None:
            raise ValueError("no weights,\nplease")
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("learner", "kind", "message"),
    [
        (LinearSVC(), TrainingError, "LinearSVC has no predict_proba; wrap it in sklearn.calibration.Calibrated"),
        (Fussy(), TrainingError, "Fussy cannot be fitted with weights: no weights, please"),
        (LogisticRegression, TrainingError, r"the learner LogisticRegression is a class; pass one of it, with \(\)"),
        (7, P4FError, r"a learner is a name \(auto, linear, boosted, network\), one of p4f.learners or a scikit-learn"),
        ("forest", P4FError, "there is no learner 'forest'; there are auto, linear, boosted, network"),
    ],
)
def test_what_cannot_learn_is_named_in_one_line(learner, kind, message):
    frame, fair = people(100, 0)
    with pytest.raises(kind, match=message) as caught:
        p4f.DebiasedClassifier(LABEL, learner).fit(frame, fair)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("belief", [LABEL, p4f.MeasurementBias(["first", "second", "third"], "a", 0.2, 0.1)])
def test_rows_that_share_few_inputs_count_one_by_one(belief):
    rng = np.random.default_rng(0)
    names = ("first", "second", "third")
    frame = pd.DataFrame(rng.integers(0, 2, (2000, 4)), columns=[*names, "a"])
    label = (frame[list(names)].sum(axis=1) + rng.normal(size=2000) > 1.5).astype(int).to_numpy()
    rows = p4f.data.Rows(frame, names, recorded=label)
    learner = Reweighted(HistGradientBoostingClassifier(max_iter=30), max_rounds=2)
    kinds = frame[list(names)].drop_duplicates()
    linear, trees = (own.fit(belief, rows).log_proba(kinds).exp()[:, 1].numpy() for own in (Linear(), learner))
    assert np.corrcoef(linear, trees)[0, 1] > 0.95


def test_more_inputs_than_any_estimator_fits_are_refused(monkeypatch):
    monkeypatch.setattr("problog4fairness.learners.em.MOST", 100)
    with pytest.raises(TrainingError, match="200 rows that may stand for 1 fair inputs each are too many for EM"):
        Reweighted(LogisticRegression()).fit(LABEL, rows_of(*people(200, 0)))
