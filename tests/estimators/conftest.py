"""A model that was saved."""

from __future__ import annotations

import pytest

import problog4fairness as p4f
from tests.estimators.data import loans, quick

LABEL = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])


@pytest.fixture
def saved(tmp_path):
    frame, area, _, recorded = loans(300)
    path = tmp_path / "loans.p4f"
    p4f.DebiasedClassifier(LABEL, **quick(max_epochs=1)).fit(frame, recorded, sensitive_features=area).save(path)
    return path
