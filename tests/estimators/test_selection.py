"""Model selection chooses what is best about fair labels, not what repeats the bias of recorded ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from problog4fairness.metrics import make_fair_scorer

GRID = [0.01, 0.2, 0.6]


def people(rows: int = 4000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Features, recorded labels and fair ones: in the group, 60% of fair 1s are recorded as 0."""
    rng = np.random.default_rng(seed)
    area = (rng.random(rows) < 0.7).astype(int)
    x = rng.normal(size=rows)
    fair = (rng.random(rows) < 1 / (1 + np.exp(-2 * x))).astype(int)
    recorded = np.where((area == 1) & (rng.random(rows) < 0.6), 0, fair)
    return pd.DataFrame({"x": x, "area": area}), recorded, fair


def model(p1: float = 0.2) -> p4f.DebiasedClassifier:
    belief = p4f.LabelBias("area", {1: p1}, False, affected=[1])
    return p4f.DebiasedClassifier(belief, "linear", use_sensitive=False, random_state=0)


def test_score_is_the_mean_log_likelihood_of_recorded_labels():
    table, recorded, _ = people(500)
    classifier = model(0.4).fit(table, recorded)
    chance = classifier.predict_recorded_proba(table)[np.arange(len(table)), recorded]
    assert classifier.score(table, recorded) == pytest.approx(np.log(chance).mean())
    weights = np.arange(len(table)) % 3
    assert classifier.score(table, recorded, weights) == pytest.approx(np.average(np.log(chance), weights=weights))
    without = table[["x"]]
    apart = clone(classifier).fit(without, recorded, sensitive_features=table["area"])
    assert apart.score(without, recorded, sensitive_features=table["area"]) == pytest.approx(
        classifier.score(table, recorded)
    )


def test_a_search_by_recorded_labels_finds_the_belief_that_is_right_about_fair_ones():
    table, recorded, fair = people()
    found = GridSearchCV(model(), {"belief__p1": GRID}, cv=3).fit(table, recorded)
    assert found.best_params_ == {"belief__p1": 0.6}
    assert found.best_estimator_.belief_.parameter_table()["value"].tolist() == [0.6]
    new, new_recorded, new_fair = people(seed=1)
    fits = [model(p1).fit(table, recorded) for p1 in GRID]
    right = [(fit.predict(new) == new_fair).mean() for fit in fits]
    repeated = [(fit.predict(new) == new_recorded).mean() for fit in fits]
    assert right[-1] == max(right)
    assert repeated[-1] < max(repeated)  # accuracy on recorded labels would have chosen another one
    assert [fit.score(new, new_recorded) for fit in fits] == sorted(fit.score(new, new_recorded) for fit in fits)


def test_a_list_of_beliefs_is_searched_as_well():
    table, recorded, _ = people()
    beliefs = [model(p1).belief for p1 in GRID]
    found = GridSearchCV(model(), {"belief": beliefs}, cv=3).fit(table, recorded)
    assert found.best_params_["belief"] == beliefs[-1]


def test_the_fair_scorer_chooses_by_audited_rows():
    table, recorded, fair = people()
    known = np.where(np.arange(len(table)) % 2 == 0, fair, np.nan)
    with sklearn.config_context(enable_metadata_routing=True):
        for metric in ("accuracy", "log_loss"):
            search = GridSearchCV(model(), {"belief__p1": GRID}, cv=3, scoring=make_fair_scorer(metric))
            searched = clone(search).set_params(estimator=model().set_fit_request(fair=False))
            found = searched.fit(table, recorded, fair=known)
            assert found.best_params_ == {"belief__p1": 0.6}


def test_the_fair_scorer_is_the_metric_on_audited_rows_weighted():
    table, recorded, fair = people(600)
    classifier = model(0.4).fit(table, recorded)
    known, weight = np.where(np.arange(600) < 300, fair, np.nan), np.linspace(0.5, 1.5, 600)
    right = (classifier.predict(table) == fair)[:300]
    with sklearn.config_context(enable_metadata_routing=True):
        accuracy, odds = make_fair_scorer("accuracy"), make_fair_scorer("equalized_odds")
        assert accuracy(classifier, table, recorded, fair=known) == pytest.approx(right.mean())
        weighted = accuracy(classifier, table, recorded, fair=known, audit_weight=weight)
        assert weighted == pytest.approx(np.average(right, weights=weight[:300]))
        assert odds(classifier, table, recorded, fair=known, sensitive_features=table["area"]) < 0
        with pytest.raises(P4FError, match="fair"):
            accuracy(classifier, table, recorded)
        with pytest.raises(P4FError, match="sensitive_features"):
            odds(classifier, table, recorded, fair=known)
        with pytest.raises(P4FError, match="no row"):
            accuracy(classifier, table, recorded, fair=np.full(600, np.nan))


def test_without_routing_the_scorer_says_how_to_enable_it():
    with pytest.raises(P4FError, match="enable_metadata_routing"):
        make_fair_scorer("accuracy")
    with pytest.raises(P4FError, match="acuracy"):
        make_fair_scorer("acuracy")


def test_parameters_of_the_belief_are_parameters_of_the_classifier():
    classifier = model(0.2)
    assert classifier.get_params()["belief__p1"] == 0.2
    before = classifier.belief
    assert classifier.set_params(belief__p1=0.3).get_params()["belief__p1"] == 0.3
    assert before.parameter_table()["value"].tolist() == [0.2]  # beliefs are immutable
    assert "belief__p1" not in classifier.get_params(deep=False)
    assert clone(classifier).get_params()["belief__p1"] == 0.3
    with pytest.raises(P4FError, match="p9"):
        classifier.set_params(belief__p9=0.3)
    with pytest.raises(P4FError, match="belief__p1"):
        p4f.DebiasedClassifier().set_params(belief__p1=0.3)


def test_in_a_pipeline():
    table, recorded, _ = people(600)
    pipeline = make_pipeline(p4f.DebiasedClassifier(model(0.4).belief, LogisticRegression(), use_sensitive=False))
    assert cross_val_score(pipeline, table, recorded, cv=3).max() < 0
