"""What a model says of rows, by separate methods or all at once; and who was distorted, under any program."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from tests.estimators.data import loans, quick

FRAME, AREA, FAIR, RECORDED = loans(300)
DATA = FRAME.assign(area=AREA)
OWN = "nn(h,X)::y(X). nn(area,X)::a(X). 0.5::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."
# Recorded as 1 where the row, and the row with its feature flipped, are.
TWICE = "nn(h,X)::y(X). r :- y(x), y(x_(1)). ?- r."
THREE = (
    "nn(h,X,K,[a,b,c])::y(X,K). nn(area,X)::a(X). 0.4::down(X) :- a(X)."
    " r(X,a) :- y(X,a). r(X,a) :- y(X,b), down(X). r(X,b) :- y(X,b), \\+down(X). r(X,c) :- y(X,c)."
    " ?- r(x,a). ?- r(x,b). ?- r(x,c)."
)
BELIEFS = {
    "none": None,
    "label": p4f.LabelBias("area", {1: 0.5}, False, affected=[1]),
    "program": p4f.ProgramBelief(OWN),
    "evidence": p4f.ProgramBelief(OWN.replace("?-", "0.3::m(X). evidence(\\+m(x)). ?-")),
    "measurement": p4f.MeasurementBias(["q0", "q1"], "area", 0.2, 0.1),
    "flipped": p4f.ProgramBelief("nn(h,X)::y(X). r :- y(x_(1)). ?- r.", features=["q0"]),
    "historical": p4f.HistoricalBias(["q0"], "area", 0.2, 0.1),
}


def fitted(belief, label=RECORDED):
    return p4f.DebiasedClassifier(belief, **quick(max_epochs=2)).fit(DATA, label)


def counted(model, monkeypatch):
    """How often the learner is asked, as a list that grows."""
    asked, ask = [], model.fitted_.log_proba
    monkeypatch.setattr(model.fitted_, "log_proba", lambda table: asked.append(len(table)) or ask(table))
    return asked


@pytest.mark.parametrize("kind", BELIEFS)
def test_all_at_once_is_the_same_as_one_by_one(kind, monkeypatch):
    model = fitted(BELIEFS[kind])
    asked = counted(model, monkeypatch)
    found = model.explain(DATA, RECORDED)
    assert len(asked) == 1 or model.belief_.features
    np.testing.assert_allclose(found.fair, model.predict_proba(DATA), rtol=1e-12)
    np.testing.assert_allclose(found.recorded, model.predict_recorded_proba(DATA), rtol=1e-12)
    np.testing.assert_allclose(found.distorted, model.distortion_proba(DATA, RECORDED), rtol=1e-12)
    unlabelled = model.explain(DATA)
    assert unlabelled.distorted is None
    np.testing.assert_array_equal(unlabelled.fair, found.fair)
    np.testing.assert_array_equal(unlabelled.recorded, found.recorded)


@pytest.mark.parametrize("kind", ["label", "program", "evidence"])
def test_distortion_is_bayes_rule_also_under_a_program_with_evidence(kind):
    model = fitted(BELIEFS[kind])
    p = model.predict_proba(DATA)[:, 1]
    expected = np.where((RECORDED == 0) & (AREA == 1), 0.5 * p / (1 - 0.5 * p), 0)
    np.testing.assert_allclose(model.distortion_proba(DATA, RECORDED), expected, atol=1e-9)


def test_evidence_that_rules_distortion_out():
    model = fitted(OWN.replace("?-", "evidence(\\+n(x)). ?-"))
    assert model.recorded_ is None
    np.testing.assert_array_equal(model.distortion_proba(DATA, RECORDED), 0)


def test_distortion_of_one_of_many_classes():
    recorded = RECORDED + (FRAME["income"] > 1)
    model = fitted(p4f.ProgramBelief(THREE), recorded)
    p = model.predict_proba(DATA)
    lost = np.where(AREA == 1, 0.4, 0) * p[:, 1]
    expected = np.where(recorded == 0, lost / (lost + p[:, 0]), 0)
    np.testing.assert_allclose(model.distortion_proba(DATA, recorded), expected, atol=1e-9)


def test_a_program_about_several_inputs_does_not_say_who_was_distorted():
    model = fitted(p4f.ProgramBelief(TWICE, features=["q0"]))
    with pytest.raises(P4FError, match="asks about several inputs at once; it does not say which label is fair"):
        model.distortion_proba(DATA, RECORDED)


def test_what_cannot_have_been_recorded_is_not_a_number_in_new_rows():
    label = np.where(AREA == 1, 0, FAIR)
    model = fitted(p4f.LabelBias("area", {1: 1.0}, False, affected=[1]), label)
    new, recorded = DATA.head(4).assign(area=[0, 1, 1, 0]), [1, 1, 0, 0]
    distorted = model.distortion_proba(new, recorded)
    assert np.isnan(distorted).tolist() == [False, True, False, False]
    np.testing.assert_array_equal(model.explain(new, recorded).distorted, distorted)


def test_labels_are_needed_to_say_who_was_distorted():
    model = fitted(BELIEFS["label"])
    with pytest.raises(P4FError, match=r"recorded labels are needed .*; pass y"):
        model.distortion_proba(DATA, None)
    with pytest.raises(P4FError, match="300 rows and 2 recorded labels"):
        model.explain(DATA, [0, 1])
    with pytest.raises(P4FError, match="the belief does not distort features"):
        model.feature_distortion_proba(DATA)


@pytest.mark.parametrize("kind", BELIEFS)
def test_no_rows_are_explained_too(kind):
    found = fitted(BELIEFS[kind]).explain(DATA[:0], pd.Series(RECORDED[:0]))
    assert (found.fair.shape, found.recorded.shape, found.distorted.shape) == ((0, 2), (0, 2), (0,))
