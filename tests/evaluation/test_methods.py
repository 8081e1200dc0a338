"""Methods fitted together against the same methods fitted alone, fold by fold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.baseline import BaselineClassifier
from problog4fairness.evaluation.data import cells
from problog4fairness.evaluation.methods import METHODS
from problog4fairness.evaluation.methods.method import ThroughBelief
from problog4fairness.evaluation.run import predictions, scored
from problog4fairness.learners import Network
from tests.evaluation.data import BELIEF, QUICK, binary, loans, rows_of

PROGRAM = r"""
nn(h,X) :: y_h(X).
nn(a,X) :: a(X).
0.3 :: distorted(X) :- a(X).
y_(X) :- y_h(X), \+distorted(X).
?- y_(x).
"""


def loan_rows(rows=240, **options):
    people, recorded, fair = loans(rows)
    return rows_of(people, recorded, **{"fair": fair, **options})


def found(data, *methods, seeds=2, folds=2, learner=QUICK, class_weight=None):
    parts = cells(data, seeds, folds)
    result = predictions(data, methods, parts, learner, progress=False, class_weight=class_weight)
    assert not result.left_out
    return parts, result.chances


def check_against(data, method, make, learner=QUICK, **options):
    parts, chances = found(data, method, learner=learner, **options)
    frame = data.rows.frame
    for cell, chance in zip(parts, chances[method.title], strict=True):
        model = make(learner=learner, random_state=cell.random_state)
        model.fit(frame.iloc[cell.train], data.recorded[cell.train])
        np.testing.assert_allclose(chance, model.predict_proba(frame.iloc[cell.test])[:, 1], atol=1e-6)


@pytest.mark.parametrize("use_sensitive", [True, False])
def test_label_bias_is_what_the_classifier_does_alone(use_sensitive):
    data = loan_rows()
    check_against(
        data,
        ThroughBelief(data.sensitive, BELIEF, use_sensitive=use_sensitive),
        lambda **options: p4f.DebiasedClassifier(BELIEF, use_sensitive=use_sensitive, **options),
    )


@pytest.mark.parametrize(
    "belief",
    [
        p4f.MeasurementBias("q", "a", negative=0.4, positive=0.1),
        p4f.HistoricalBias("q", "a", negative=0.4, positive=0.1),
        p4f.HistoricalBias(
            "q", "a", negative=0.4, positive=0.1, label=p4f.LabelBias("a", negative=0.1, positive=False)
        ),
        p4f.ProgramBelief(PROGRAM),
    ],
    ids=["measurement", "historical", "historical with label", "program"],
)
def test_other_beliefs_are_what_the_classifier_does_alone(belief):
    people, recorded, fair = binary(240)
    data = rows_of(people, recorded, "a", fair)
    check_against(
        data, ThroughBelief(data.sensitive, belief), lambda **options: p4f.DebiasedClassifier(belief, **options)
    )


@pytest.mark.parametrize("kind", ["recorded_only", "without_sensitive", "massaging", "threshold_optimizer"])
def test_methods_are_what_the_estimators_do_alone(kind):
    data = loan_rows()
    check_against(
        data,
        METHODS[kind](data.sensitive),
        lambda **options: BaselineClassifier(kind, sensitive="poor_area", **options),
    )


@pytest.mark.parametrize("weight", ["balanced", {0: 3.0, 1: 1.0}])
def test_classes_may_have_weights(weight):
    data = loan_rows()
    check_against(
        data,
        ThroughBelief(data.sensitive, BELIEF),
        lambda **options: p4f.DebiasedClassifier(BELIEF, class_weight=weight, **options),
        class_weight=weight,
    )
    check_against(
        data,
        METHODS["massaging"](data.sensitive),
        lambda **options: BaselineClassifier("massaging", sensitive="poor_area", class_weight=weight, **options),
        class_weight=weight,
    )


def test_features_of_tested_rows_may_be_biased():
    people, recorded, _ = binary(240)
    data = rows_of(people, recorded, "a")
    belief = p4f.MeasurementBias("q", "a", negative=0.4, positive=0.1)
    check_against(
        data,
        ThroughBelief(data.sensitive, belief, test_features="biased"),
        lambda **options: p4f.DebiasedClassifier(belief, test_features="biased", **options),
    )
    with pytest.raises(P4FError, match="test_features must be 'fair', 'biased' or None, not 'new'"):
        ThroughBelief(data.sensitive, belief, test_features="new")


def test_knowing_fair_labels_and_only_audited_rows_learn_fair_labels():
    partly = loan_rows(fair=loans(240)[2].where(np.arange(240) % 2 == 0))
    for data, kind in ((loan_rows(), "oracle"), (partly, "audit_only")):
        method = METHODS[kind](data.sensitive)
        parts, chances = found(data, method)
        for cell, chance in zip(parts, chances[method.title], strict=True):
            rows, frame = cell.train[data.fair[cell.train] >= 0], data.rows.frame
            model = p4f.DebiasedClassifier(learner=QUICK, random_state=cell.random_state)
            model.fit(frame.iloc[rows], data.fair[rows])
            np.testing.assert_allclose(chance, model.predict_proba(frame.iloc[cell.test])[:, 1], atol=1e-6)


def test_what_suits_a_fold_does_not_depend_on_what_comes_with_it():
    """Audited rows are fewer, so that another batch size suits them."""
    learner = Network(hidden=(8,), max_epochs=3)
    data = loan_rows(fair=loans(240)[2].where(np.arange(240) % 4 == 0))
    audited, lower = METHODS["audit_only"](data.sensitive), METHODS["recorded_only"](data.sensitive)
    _, alone = found(data, audited, learner=learner)
    _, beside = found(data, lower, audited, learner=learner)
    for one, other in zip(alone[audited.title], beside[audited.title], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_folds_may_differ_in_their_categories():
    people, recorded, _ = loans(240)
    people = people.assign(
        job=people["job"].where(people.index != 7, "pilot"), income=people["income"].where(people.index != 9)
    )
    data = rows_of(people, recorded, "poor_area")
    check_against(
        data, ThroughBelief(data.sensitive, BELIEF), lambda **options: p4f.DebiasedClassifier(BELIEF, **options)
    )


@pytest.mark.parametrize("count", [200, 600])
def test_folds_may_differ_in_which_of_many_categories_are_rare(count):
    people, recorded, _ = loans(900)
    numbers = np.random.default_rng(0).integers(0, count, 900)
    people = people.assign(city=[f"city {number}" for number in numbers])
    data = rows_of(people, recorded, "poor_area")
    check_against(
        data,
        METHODS["recorded_only"](data.sensitive),
        BaselineClassifier,
        Network(hidden=(8,), max_epochs=2),
        seeds=1,
        folds=3,
    )


def test_one_method_at_a_time_gives_the_same_results():
    data = loan_rows()
    methods = [ThroughBelief(data.sensitive, BELIEF), METHODS["threshold_optimizer"](data.sensitive)]
    _, together = found(data, *methods)
    for method in methods:
        _, alone = found(data, method)
        for one, other in zip(alone[method.title], together[method.title], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_what_several_methods_begin_with_is_fitted_once():
    class Counting(Network):
        fits = 0

        def fit_many(self, tasks, progress=None):
            Counting.fits += len(tasks)
            return super().fit_many(tasks, progress)

    data, learner = loan_rows(), Counting(hidden=(8,), max_epochs=2)
    found(
        data,
        *(METHODS[kind](data.sensitive) for kind in ("recorded_only", "threshold_optimizer", "massaging")),
        learner=learner,
    )
    # Four cells: recorded labels, and massaged labels.
    assert learner.fits == 8


def test_scores_on_fair_labels_are_those_of_the_audited_rows():
    data = loan_rows(fair=loans(240)[2].where(np.arange(240) % 2 == 0))
    method = METHODS["recorded_only"](data.sensitive)
    parts = cells(data, 2, 2)
    predicted = predictions(data, [method], parts, QUICK, progress=False)
    results = scored(data, [method], parts, predicted)
    for cell, chance in zip(parts, predicted.chances[method.title], strict=True):
        of_cell = results.query("seed == @cell.seed and fold == @cell.fold").set_index(["labels", "metric"])["value"]
        fair, decision = data.fair[cell.test], (chance > 0.5).astype(int)
        rows = fair >= 0
        assert of_cell["fair", "accuracy"] == pytest.approx(accuracy_score(fair[rows], decision[rows]))
        assert of_cell["recorded", "accuracy"] == pytest.approx(accuracy_score(data.recorded[cell.test], decision))
        groups = data.groups[cell.test]
        disparity = p4f.metrics.statistical_disparity(decision[rows], sensitive_features=groups[rows])
        assert of_cell["fair", "disparity"] == pytest.approx(disparity)


def test_cells_are_fitted_in_portions(monkeypatch):
    data = loan_rows()
    methods = [ThroughBelief(data.sensitive, BELIEF), METHODS["massaging"](data.sensitive)]
    _, whole = found(data, *methods)
    monkeypatch.setattr("problog4fairness.evaluation.run.AT_ONCE", 1)
    _, portions = found(data, *methods)
    for method in methods:
        for one, other in zip(whole[method.title], portions[method.title], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_what_cannot_be_fitted_does_not_take_others_with_it():
    data = loan_rows()
    impossible = ThroughBelief(data.sensitive, BELIEF.bind({"p1": 1.0}), "impossible")
    lower = METHODS["recorded_only"](data.sensitive)
    result = predictions(data, [impossible, lower], cells(data, 1, 2), QUICK, progress=False)
    assert list(result.chances) == [lower.title]
    assert "probability 0" in result.left_out["impossible"]


def test_methods_of_one_name_are_refused():
    data = loan_rows()
    with pytest.raises(P4FError, match="two methods have the name 'trained on recorded labels'"):
        predictions(data, [METHODS["recorded_only"](data.sensitive)] * 2, cells(data, 1, 2), QUICK)
