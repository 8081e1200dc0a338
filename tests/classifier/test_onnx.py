"""The ONNX file gives the same fair probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from problog4fairness.classifier.columns import encode

import problog4fairness as p4f
from tests.classifier.data import QUICK, loans


@pytest.mark.parametrize("classes", [2, 3])
def test_onnx_gives_the_same_probabilities(tmp_path, classes):
    reference = pytest.importorskip("onnx.reference")
    frame, area, _, recorded = loans(400)
    label = recorded if classes == 2 else recorded + (frame["income"] > 1)
    model = p4f.DebiasedClassifier(**{**QUICK, "max_epochs": 5}).fit(frame, label)
    model.to_onnx(tmp_path / "model.onnx")
    evaluator = reference.ReferenceEvaluator(str(tmp_path / "model.onnx"))
    (found,) = evaluator.run(None, {"features": encode(model.encoder_, frame)})
    np.testing.assert_allclose(found, model.predict_proba(frame), atol=1e-5)
