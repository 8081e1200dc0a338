"""Accuracy and F1 against a table worked by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score

from problog4fairness.metrics import METRICS

accuracy, f1 = METRICS["accuracy"], METRICS["f1"]

# Ten rows: TP 3, FN 1, FP 2, TN 4.
TRUE = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
PREDICTED = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]


def test_by_hand():
    assert accuracy(TRUE, PREDICTED) == pytest.approx(7 / 10)
    assert f1(TRUE, PREDICTED) == pytest.approx(2 * 3 / (2 * 3 + 2 + 1))


def test_weights_by_hand():
    # The false negative counts five times: 7 of 14 right, F1 = 6 / (6 + 2 + 5).
    weight = [1, 1, 1, 5, 1, 1, 1, 1, 1, 1]
    assert accuracy(TRUE, PREDICTED, sample_weight=weight) == pytest.approx(7 / 14)
    assert f1(TRUE, PREDICTED, sample_weight=weight) == pytest.approx(6 / 13)


@pytest.mark.parametrize(
    "kind", [list, np.array, pd.Series, lambda v: pd.DataFrame({"y": v}), lambda v: np.array(v) > 0]
)
def test_kinds_of_columns(kind):
    assert accuracy(kind(TRUE), kind(PREDICTED)) == pytest.approx(0.7)
    assert f1(kind(TRUE), kind(PREDICTED)) == pytest.approx(2 / 3)


def test_other_labels():
    words = np.array(["no", "yes"])
    true, predicted = words[TRUE], pd.Series(words[PREDICTED], dtype="category")
    assert f1(true, predicted, favourable="yes") == pytest.approx(2 / 3)
    assert f1(true, predicted, favourable="no") == pytest.approx(8 / 11)
    assert f1(np.array(TRUE) + 1, np.array(PREDICTED) + 1, favourable=2) == pytest.approx(2 / 3)


def test_f1_of_nothing_is_0():
    assert f1([0, 0], [0, 0]) == 0.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_agreement_with_scikit_learn(seed, weighted):
    random = np.random.default_rng(seed)
    true, predicted = random.integers(0, 2, (2, 200))
    weight = random.random(200) if weighted else None
    assert accuracy(true, predicted, sample_weight=weight) == pytest.approx(
        accuracy_score(true, predicted, sample_weight=weight)
    )
    assert f1(true, predicted, sample_weight=weight) == pytest.approx(f1_score(true, predicted, sample_weight=weight))
