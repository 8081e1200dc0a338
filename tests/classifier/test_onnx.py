"""The ONNX file gives the same fair probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.learners.encoder import encode
from tests.classifier.data import loans, quick


@pytest.mark.parametrize("classes", [2, 3])
def test_onnx_gives_the_same_probabilities(tmp_path, classes):
    reference = pytest.importorskip("onnx.reference")
    frame, area, _, recorded = loans(400)
    label = recorded if classes == 2 else recorded + (frame["income"] > 1)
    model = p4f.DebiasedClassifier(**quick(max_epochs=5)).fit(frame, label)
    model.to_onnx(tmp_path / "model.onnx")
    evaluator = reference.ReferenceEvaluator(str(tmp_path / "model.onnx"))
    (found,) = evaluator.run(None, {"features": encode(model.fitted_.encoder, frame)})
    np.testing.assert_allclose(found, model.predict_proba(frame), atol=1e-5)
