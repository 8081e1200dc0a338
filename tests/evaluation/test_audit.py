"""Audited rows of the parts that are learned from teach the belief's classifier; tested ones never do."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.data import cells
from problog4fairness.evaluation.methods.method import ThroughBelief
from problog4fairness.evaluation.run import predictions
from tests.evaluation.data import loans, rows_of, table_of

PEOPLE, RECORDED, FAIR = loans(400)
# An audit of which the belief rules nothing out.
BELIEF = p4f.LabelBias("poor_area", negative=0.3, positive=0.1)
SOME = FAIR.astype(object).where(np.arange(400) % 3 == 0, None)


def chances(fair, learn_from_audit=True, part=0):
    data = rows_of(PEOPLE, RECORDED, fair=fair)
    base = rows_of(PEOPLE, RECORDED, fair=SOME)
    cell = cells(base, 1, 2)[part]
    method = ThroughBelief(data.sensitive, BELIEF, learn_from_audit=learn_from_audit)
    found = predictions(data, [method], [cell], p4f.learners.Linear(), progress=False)
    return cell, found.chances[method.title][0]


def test_fair_labels_of_tested_rows_are_not_looked_at():
    cell, expected = chances(SOME)
    tested = np.isin(np.arange(400), cell.test)
    turned = SOME.where(~(tested & SOME.notna()), 1 - FAIR)
    np.testing.assert_array_equal(chances(turned)[1], expected)
    hidden = SOME.where(tested, None)
    assert not np.array_equal(chances(hidden)[1], expected)


@pytest.mark.parametrize("teach", [True, False])
def test_it_is_what_the_classifier_does_alone(teach):
    cell, found = chances(SOME, teach)
    known = SOME.to_numpy()[cell.train] if teach else None
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=cell.random_state)
    model.fit(PEOPLE.iloc[cell.train], RECORDED.iloc[cell.train], fair=known)
    np.testing.assert_allclose(found, model.predict_proba(PEOPLE.iloc[cell.test])[:, 1], atol=1e-9)


def test_some_teach_all_only_judge():
    options = {"methods": [], "seeds": 1, "folds": 2}
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0)
    alone = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0).fit(PEOPLE, RECORDED)
    for fair, alike in ((SOME, False), (FAIR, True)):
        data, names = table_of(PEOPLE, RECORDED, fair)
        one, other = (p4f.compare(data, classifier, **names, **options).results for classifier in (model, alone))
        assert one.equals(other) == alike


def test_the_learner_and_the_margin_are_told():
    data, names = table_of(PEOPLE, RECORDED, SOME)
    found = p4f.compare(data, BELIEF, **names, methods=["recorded_only"], seeds=1, folds=2)
    assert found.learner in ("linear", "boosted", "network")
    assert found.to_dict()["learner"] == found.learner
    row = found.summary.query("labels == 'fair' and metric == 'accuracy'").iloc[0]
    half = 1.96 * np.sqrt(row["mean"] * (1 - row["mean"]) / found.audited)
    assert row["high"] - row["mean"] == pytest.approx(half, rel=0.15)
    assert "134 rows, sampling unknown, taken as random" in found.intervals("fair")


def test_an_audit_that_the_belief_rules_out_is_one_line():
    strict = p4f.LabelBias("poor_area", negative=0.3, positive=False)
    wrong = SOME.where(~((RECORDED == 1) & SOME.notna()), 0)
    data, names = table_of(PEOPLE, RECORDED, wrong)
    with pytest.raises(P4FError, match=r"this model: .* that the belief rules out for their known fair label") as found:
        p4f.compare(data, p4f.DebiasedClassifier(strict, "linear"), **names, seeds=1, folds=2)
    assert "\n" not in str(found.value)
