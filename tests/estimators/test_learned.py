"""A model that did not learn says so, when it is fitted and whenever it is read again."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import problog4fairness as p4f
from problog4fairness.errors import LearningWarning
from problog4fairness.learners import Network
from tests.estimators.data import loans

FRAME, AREA, FAIR, RECORDED = loans(800)
BELIEF = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])


def fitted(belief=BELIEF, learner="linear", label=RECORDED, frame=FRAME, **options):
    model = p4f.DebiasedClassifier(belief, learner, random_state=0)
    return model.fit(frame, label, sensitive_features=AREA, **options)


def test_training_that_was_cut_short(tmp_path):
    with pytest.warns(LearningWarning, match=r"stopped at its last epoch \(3\) while the loss was still falling"):
        model = fitted(learner=Network(max_epochs=3))
    model.save(tmp_path / "model.p4f")
    assert p4f.DebiasedClassifier.load(tmp_path / "model.p4f").training_warnings_ == model.training_warnings_
    assert not fitted(learner=Network(max_epochs=200, networks=2)).training_warnings_


def test_predictions_that_are_nearly_constant():
    noise = np.random.default_rng(0).normal(size=(800, 2))
    with pytest.warns(LearningWarning, match="says nearly the same of every row"):
        fitted(frame=noise, learner=p4f.learners.Linear(penalty=1e6))


def test_labels_without_signal():
    with pytest.warns(LearningWarning, match=r"recorded labels carry almost no signal \(.* = 0.050\)"):
        fitted(p4f.LabelBias("area", 0.45, 0.5))


def test_audited_rows_that_disagree():
    # The belief turns everything round, and is far surer than 40 audited rows.
    wrong = np.where(np.arange(800) < 40, 1 - FAIR, np.nan)
    with pytest.warns(LearningWarning) as told:
        fitted(p4f.LabelBias("area", 0.01, 0.01), label=FAIR, fair=wrong)
    lines = [str(warning.message) for warning in told]
    assert any("on 40 audited rows the model is right in" in line for line in lines), lines


@pytest.mark.filterwarnings("ignore::problog4fairness.learners.em.LikelihoodWarning")
def test_audited_rows_are_asked_out_of_fold():
    """A forest knows by heart what it was told of audited rows, and is wrong about any other of their kind."""
    wrong = np.where(np.arange(800) < 160, 1 - FAIR, np.nan)
    with pytest.warns(LearningWarning) as told:
        model = fitted(
            p4f.LabelBias("area", 0.01, 0.01), RandomForestClassifier(20, random_state=0), label=FAIR, fair=wrong
        )
    assert (model.predict(FRAME)[:160] == wrong[:160]).mean() > 0.7
    lines = [str(warning.message) for warning in told]
    assert any("on 160 audited rows the model is right in" in line for line in lines), lines


def test_nothing_is_said_of_a_model_that_learned():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for learner in ("linear", "boosted", "auto"):
            assert not fitted(learner=learner).training_warnings_
