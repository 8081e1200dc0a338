"""Thresholds with parity."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from fairlearn.postprocessing import ThresholdOptimizer

from problog4fairness.data import Rows
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.baseline import BaselineClassifier
from problog4fairness.evaluation.methods.threshold_optimizer import (
    MOST_ROWS,
    GivenScores,
    _spread,
    expected_outcome,
    parity_thresholds,
)
from tests.evaluation.methods.data import QUICK, loans


def optimised(**options):
    return BaselineClassifier("threshold_optimizer", **options)


def rates(values, area):
    return [values[area == group].mean() for group in (0, 1)]


def test_expected_rates_are_equal_on_the_training_data():
    people, y = loans()
    expected = optimised(sensitive="area", **QUICK).fit(people, y).predict_proba(people)
    np.testing.assert_allclose(expected.sum(axis=1), 1)
    other, sensitive = rates(expected[:, 1], people["area"])
    assert other == pytest.approx(sensitive, abs=1e-9)
    assert 0.05 < other < 0.95


def test_it_is_fairlearn_on_the_lower_baseline():
    people, y = loans()
    parity = optimised(sensitive="area", **QUICK).fit(people, y)
    lower = BaselineClassifier(**QUICK).fit(people, y)
    rows = Rows(people, tuple(people.columns))
    np.testing.assert_allclose(parity.trained_.scores(rows), lower.predict_proba(people)[:, 1], atol=1e-12)
    direct = ThresholdOptimizer(
        estimator=lower, constraints="demographic_parity", prefit=True, predict_method="predict_proba"
    ).fit(people, y, sensitive_features=people["area"])
    new, _ = loans(seed=1)
    np.testing.assert_allclose(
        parity.predict_proba(new), direct._pmf_predict(new, sensitive_features=new["area"]), atol=1e-9
    )


def test_one_row_arrays_missing_values_and_categories():
    people, y = loans()
    parity = optimised(sensitive="area", **QUICK).fit(people, y)
    whole = parity.predict_proba(people)
    np.testing.assert_array_equal(parity.predict_proba(people.iloc[[3]]), whole[[3]])
    by_position = optimised(sensitive="x3", **QUICK).fit(people.to_numpy(), y)
    np.testing.assert_array_equal(by_position.predict_proba(people.to_numpy()), whole)
    odd = people.assign(
        job=people["job"].map({0: "none", 1: "some"}), saved=people["saved"].where(people.index % 7 > 0)
    )
    assert optimised(sensitive="area", **QUICK).fit(odd, y).predict_proba(odd).shape == (len(people), 2)


def test_the_group_is_found_by_the_name_of_sensitive_features():
    people, y = loans()
    named = people.assign(area=people["area"].map({0: "rich", 1: "poor"}))
    parity = optimised(levels=("rich", "poor"), **QUICK).fit(named, y, sensitive_features=named["area"])
    other, sensitive = rates(parity.predict_proba(named)[:, 1], people["area"])
    assert other == pytest.approx(sensitive, abs=1e-9)


def test_prediction_needs_the_group():
    people, y = loans(100)
    with pytest.raises(P4FError, match="X has no column 'area', but predicting reads the sensitive variable from X"):
        optimised(sensitive="area").fit(people.drop(columns="area"), y, sensitive_features=people["area"])
    with pytest.raises(P4FError, match="threshold_optimizer needs one sensitive column"):
        optimised().fit(people, y)
    parity = optimised(sensitive="area", **QUICK).fit(people, y)
    with pytest.raises(P4FError, match="has 100 missing values"):
        parity.predict(people.assign(area=np.nan))
    with pytest.raises(P4FError, match="value 2, which is not between 0 and 1"):
        parity.predict(people.assign(area=2))
    with pytest.raises(ValueError, match="area"):
        parity.predict(people.drop(columns="area"))


def test_a_group_with_one_label():
    people, y = loans(100)
    with pytest.raises(P4FError, match="all training rows with area = 1 have the label 0; one class is not enough"):
        optimised(sensitive="area").fit(people, np.where(people["area"] == 1, 0, y))


def test_without_fairlearn(monkeypatch):
    people, y = loans(40)
    monkeypatch.setitem(sys.modules, "fairlearn.postprocessing", None)
    with pytest.raises(P4FError, match="needs fairlearn, which is not installed"):
        optimised(sensitive="area").fit(people, y)


def test_thresholds_of_many_rows_are_chosen_on_some_of_them_and_are_the_same():
    rng = np.random.default_rng(0)
    groups = (rng.random(30_000) < 0.1).astype(np.int64)
    scores = rng.beta(2 - groups, 2)
    recorded = (rng.random(30_000) < scores).astype(np.int64)
    thresholds = parity_thresholds(scores, recorded, groups)
    assert len(_spread(scores, recorded, groups)) <= MOST_ROWS + 4
    decided = expected_outcome(thresholds, scores, groups)[:, 1]
    assert abs(decided[groups == 1].mean() - decided[groups == 0].mean()) < 0.01
    whole = ThresholdOptimizer(
        estimator=GivenScores(), constraints="demographic_parity", prefit=True, predict_method="predict_proba"
    ).fit(scores[:, None], recorded, sensitive_features=groups)
    best = expected_outcome(whole, scores, groups)[:, 1]
    accuracy = [np.mean(decision * recorded + (1 - decision) * (1 - recorded)) for decision in (decided, best)]
    assert abs(accuracy[0] - accuracy[1]) < 0.003
