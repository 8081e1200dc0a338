"""Learners by name, and in model files."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.errors import TrainingError
from problog4fairness.learners import named as choice
from problog4fairness.learners.boosted import Boosted
from problog4fairness.learners.linear import Linear
from problog4fairness.learners.named import LEARNERS, Auto, learner_json, learner_of_json, named_learner
from problog4fairness.learners.networks.network import Network
from tests.learners.contract import LABEL, LearnerContract, people, recorded, rows_of


@pytest.mark.parametrize("name", LEARNERS)
def test_names_stand_for_default_options(name):
    learner = named_learner(name)
    assert type(learner) is LEARNERS[name]
    assert named_learner(learner) is learner
    assert learner_of_json(learner_json(name)) == name


@pytest.mark.parametrize(
    "learner", [Linear(3.0), Linear(), Boosted(leaves=7), Network(hidden=(3,), networks=2), Auto(compare_rows=500)]
)
def test_a_model_file_keeps_learner_and_what_it_learned(learner, tmp_path):
    again = learner_of_json(json.loads(json.dumps(learner_json(learner))))
    assert type(again) is type(learner)
    assert again.get_params() == learner.get_params()
    frame, fair = people(150, 0)
    frame, label = recorded("label", frame, fair)
    quick = learner.set_params(max_epochs=2) if isinstance(learner, Network) else learner
    model = p4f.DebiasedClassifier(LABEL, quick, random_state=0).fit(frame, label)
    model.save(tmp_path / "model.p4f")
    loaded = p4f.DebiasedClassifier.load(tmp_path / "model.p4f")
    assert np.array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert loaded.history_ == model.history_
    model.save(tmp_path / "again.p4f")
    assert (tmp_path / "again.p4f").read_bytes() == (tmp_path / "model.p4f").read_bytes()


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    quick = {"hidden": (8,), "learning_rate": 0.02, "max_epochs": 10, "patience": 3, "networks": 1}
    monkeypatch.setitem(choice.CANDIDATES, "network", lambda: Network(**quick))


class TestAuto(LearnerContract):
    rows = 1000
    margin = 0.04

    def make(self):
        return Auto()


def test_a_linear_truth_chooses_linear_and_steps_choose_trees():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1500, 4)), columns=list("pqrs"))
    chance = 1 / (1 + np.exp(-2 * frame["p"] + frame["q"])).to_numpy()
    steps = np.where((frame["p"] > 0) ^ (frame["q"] > 0), 0.95, 0.05)
    for truth, expected in ((chance, "linear"), (steps, "boosted")):
        label = (rng.random(1500) < truth).astype(np.int64)
        fitted = Auto().fit(p4f.NoBias(), p4f.data.Rows(frame, tuple("pqrs"), recorded=label))
        assert fitted.chosen == fitted.fitted.kind == fitted.choice.index[0] == expected
        assert set(fitted.choice.index) == {"linear", "boosted", "network"}
        assert fitted.choice["margin"].iloc[0] == fitted.choice["error"].iloc[0] == 0
        assert (fitted.choice["margin"].iloc[1:] > 0).all()
        np.testing.assert_allclose(fitted.choice["margin"], fitted.choice["loss"] - fitted.choice["loss"].min())


def test_the_choice_is_saved():
    frame, fair = people(300, 0)
    fitted = Auto().fit(LABEL, rows_of(*recorded("label", frame, fair)))
    tensors, plain = fitted.state()
    pd.testing.assert_frame_equal(type(fitted).from_state(tensors, plain).choice, fitted.choice)
    for wrong in ({"chosen": "estimator"}, {"compared": {}}, {"compared": {"linear": {"loss": "x"}}}):
        with pytest.raises(ValueError, match="its"):
            type(fitted).shapes({**plain, **wrong}, ["x", "kind", "first", "second"], 2)


def test_many_rows_are_compared_on_some_of_them(monkeypatch):
    monkeypatch.setattr(choice, "FEW", 100)
    frame, fair = people(600, 0)
    seen = []
    original = choice.row_losses
    count = lambda task, fit, rows: seen.append(len(rows)) or original(task, fit, rows)  # noqa: E731
    monkeypatch.setattr(choice, "row_losses", count)
    Auto(compare_rows=200).fit(LABEL, rows_of(*recorded("label", frame, fair)))
    assert seen == [40, 40, 40]


def test_without_lightgbm_the_others_are_compared(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    frame, fair = people(200, 0)
    with pytest.warns(UserWarning, match="boosted trees need the package lightgbm.*they are not compared"):
        fitted = Auto().fit(LABEL, rows_of(frame, fair))
    assert set(fitted.choice.index) == {"linear", "network"}


def test_bad_options_are_named():
    with pytest.raises(TrainingError, match="compare_rows=3 is not a whole number of at least 10"):
        Auto(3).check_options()
