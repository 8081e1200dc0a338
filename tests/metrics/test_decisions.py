"""One rule makes a decision of a probability, whoever asks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

import problog4fairness as p4f
from problog4fairness.app.report import collect
from problog4fairness.estimators import score_rows
from problog4fairness.metrics.predictions import decide
from problog4fairness.metrics.table import scores


def test_a_half_is_decided_favourably_with_one_column_and_with_two():
    chance = np.array([0.0, 0.49999, 0.5, 0.50001, 1.0])
    assert decide(chance).tolist() == [0, 0, 1, 1, 1]
    assert decide(np.column_stack([1 - chance, chance])).tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
def test_the_threshold_itself_is_favourable(threshold):
    assert decide([threshold], threshold=threshold).tolist() == [1]


def test_of_many_classes_the_likeliest_and_of_equal_ones_the_last():
    assert decide([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]).tolist() == [0, 1, 2]


def test_everybody_decides_a_half_alike():
    """``predict``, ``p4f predict``, bands, the report, comparisons and metrics, for a model that says 0.5 of all."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"x": rng.normal(size=80), "poor": np.tile([0, 1], 40), "granted": np.repeat([0, 1], 40)})
    people["repaid"] = people["granted"]
    belief = p4f.LabelBias("poor", negative=0, positive=0)
    model = p4f.DebiasedClassifier(belief, DummyClassifier(strategy="prior"))
    model.fit(people[["x"]], people["granted"], sensitive_features=people["poor"])
    assert (model.predict_proba(people[["x"]]) == 0.5).all()

    assert (model.predict(people[["x"]]) == 1).all()
    assert (score_rows(model, people)["fair_label"] == 1).all()
    facts = collect(model, people, None, None, "granted")
    assert facts.divisions[0].changes.loc["all", "decided"] == 1
    assert scores(people["granted"], np.full(80, 0.5), people["poor"])["positive_rate"] == 1
    options = {"methods": ["recorded_only"], "seeds": 1, "folds": 2}
    plain = p4f.DebiasedClassifier(belief, DummyClassifier(strategy="prior"))
    table = p4f.compare(people.drop(columns="repaid"), plain, recorded="granted", **options)
    rate = table.results.query("metric == 'positive_rate'")
    assert len(rate) == 4
    assert (rate["value"] == 1).all()
