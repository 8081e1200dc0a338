"""Learners by name, and in model files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.learners.boosted import Boosted
from problog4fairness.learners.linear import Linear
from problog4fairness.learners.named import LEARNERS, Auto, learner_json, learner_of_json, named_learner
from problog4fairness.learners.networks.network import Network
from tests.learners.contract import LABEL, people, recorded


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
