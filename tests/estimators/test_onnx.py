"""The ONNX file gives the same fair probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from problog4fairness.learners import Boosted, Calibrated, Network
from tests.estimators.data import loans

LEARNERS = {
    "one network": Network(max_epochs=2, networks=1),
    "networks": Network(max_epochs=2, networks=3),
    "linear": "linear",
}


@pytest.mark.filterwarnings("ignore::problog4fairness.errors.LearningWarning")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_onnx_gives_the_same_probabilities(tmp_path, classes, learner):
    reference = pytest.importorskip("onnx.reference")
    frame, _, _, recorded = loans(400)
    label = recorded if classes == 2 else recorded + (frame["income"] > 1)
    model = p4f.DebiasedClassifier(learner=LEARNERS[learner], random_state=0).fit(frame, label)
    model.to_onnx(tmp_path / "model.onnx")
    evaluator = reference.ReferenceEvaluator(str(tmp_path / "model.onnx"))
    (found,) = evaluator.run(None, {"features": model.fitted_.encoder.transform(frame)})
    np.testing.assert_allclose(found, model.predict_proba(frame), atol=1e-5)


@pytest.mark.filterwarnings("ignore::problog4fairness.errors.LearningWarning")
@pytest.mark.parametrize("classes", [2, 3])
def test_a_calibrated_model_too(tmp_path, classes):
    reference = pytest.importorskip("onnx.reference")
    frame, _, _, recorded = loans(400)
    label = recorded if classes == 2 else recorded + (frame["income"] > 1)
    model = p4f.DebiasedClassifier(learner="linear", random_state=0).fit(frame, label)
    before = model.predict_proba(frame)
    model.fitted_ = Calibrated(model.fitted_, 0.6, [-0.4, 0.3][: classes - 1], 0.1, 0.01)
    model.to_onnx(tmp_path / "model.onnx")
    evaluator = reference.ReferenceEvaluator(str(tmp_path / "model.onnx"))
    (found,) = evaluator.run(None, {"features": model.fitted_.fitted.encoder.transform(frame)})
    np.testing.assert_allclose(found, model.predict_proba(frame), atol=1e-5)
    assert np.abs(found - before).max() > 0.05


def test_trees_are_refused(tmp_path):
    frame, _, _, recorded = loans(200)
    model = p4f.DebiasedClassifier(learner=Boosted(max_trees=2), random_state=0).fit(frame, recorded)
    with pytest.raises(P4FError, match="only networks and linear models can be written as ONNX, not the learner boost"):
        model.to_onnx(tmp_path / "model.onnx")
