"""Audited rows choose the penalty of a linear model, among those that are as good for recorded rows."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.learners.linear import PENALTIES, _best

AUDITED = np.arange(200) < 100
ONES = np.ones(200)


def losses(recorded: tuple[float, ...], fair: tuple[float, ...]) -> np.ndarray:
    """Losses of 100 audited and 100 other rows under each penalty, with differences of either sign between rows."""
    noise = np.outer(np.arange(len(fair)), np.tile([-0.3, 0.3], 50))
    return np.concatenate([np.array(fair)[:, None] + noise, np.array(recorded)[:, None] + noise], axis=1)


def test_they_decide_between_penalties_that_are_as_good_for_recorded_rows():
    found = losses((0.50, 0.51, 0.90), (0.7, 0.5, 0.0))
    assert _best(found, ONES, None) == 2
    # The third is much worse for recorded rows, the second within chance.
    assert _best(found, ONES, AUDITED) == 1
    assert _best(found, ONES, np.ones(200, dtype=bool)) == 2


def test_a_weight_of_two_is_two_rows():
    found = losses((0.50, 0.52, 0.56), (0.7, 0.5, 0.3))
    twice = np.concatenate([found, found[:, 150:]], axis=1)
    weights = np.where(np.arange(200) < 150, 1.0, 2.0)
    again = _best(twice, np.ones(250), np.arange(250) < 100)
    assert _best(found, weights, AUDITED) == again


@pytest.mark.parametrize("audited", [0, 300])
def test_a_model_takes_one_of_them(audited):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 30))
    fair = (x[:, 0] + rng.normal(size=500) > 0).astype(int)
    area = rng.integers(0, 2, 500)
    recorded = np.where((area == 1) & (rng.random(500) < 0.4), 0, fair)
    belief = p4f.LabelBias("area", {1: 0.4}, False, affected=[1])
    known = np.where(np.arange(500) < audited, fair, np.nan)
    model = p4f.DebiasedClassifier(belief, "linear").fit(x, recorded, sensitive_features=area, fair=known)
    own = getattr(model.fitted_, "fitted", model.fitted_)
    assert own.penalty in PENALTIES
