"""Disparity, selection rates and equalized odds against tables worked by hand, and against fairlearn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.metrics import METRICS, intervals_by_group, mean_probability_disparity, statistical_disparity

# A = 1: four rows, TP 1, FN 1, FP 0, TN 2. A = 0: six rows, TP 2, FN 1, FP 2, TN 1.
A = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
TRUE = [1, 1, 0, 0, 1, 1, 1, 0, 0, 0]
PREDICTED = [1, 0, 0, 0, 1, 1, 0, 1, 1, 0]


def rates(predicted, a):
    return intervals_by_group("positive_rate", None, predicted, sensitive_features=a)["value"]


def test_disparity_by_hand():
    probability = [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.6, 0.7, 0.7]
    assert mean_probability_disparity(probability, sensitive_features=A) == pytest.approx(0.25 - 0.6)
    assert statistical_disparity(PREDICTED, sensitive_features=A) == pytest.approx(1 / 4 - 4 / 6)
    assert statistical_disparity(PREDICTED, sensitive_features=A, groups=(1, 0)) == pytest.approx(4 / 6 - 1 / 4)


def test_disparity_with_weights_by_hand():
    weight = [3, 1, 1, 1, 1, 1, 1, 1, 1, 5]
    assert statistical_disparity(PREDICTED, sensitive_features=A, sample_weight=weight) == pytest.approx(3 / 6 - 4 / 10)


def test_disparity_of_named_groups_in_a_series_with_an_index_of_its_own():
    area = pd.Series(A, index=range(10, 20)).map({0: "rich", 1: "poor"})
    assert statistical_disparity(
        pd.Series(PREDICTED), sensitive_features=area, groups=("rich", "poor")
    ) == pytest.approx(1 / 4 - 4 / 6)


def test_selection_rates_by_hand():
    assert rates(PREDICTED, A).to_dict() == pytest.approx({0: 4 / 6, 1: 1 / 4})


def test_selection_rates_of_combinations():
    frame = pd.DataFrame({"area": ["p", "p", "r", "r"], "sex": [0, 1, 0, 0]})
    found = rates([1, 0, 1, 0], frame)
    assert found.to_dict() == {("p", 0): 1.0, ("p", 1): 0.0, ("r", 0): 0.5}
    assert list(found.index.names) == ["area", "sex"]
    assert rates([1, 0, 1, 0], frame.to_numpy()).to_dict() == found.to_dict()


def test_groups_of_different_types():
    assert rates([1, 0], np.array(["a", 1], dtype=object)).to_dict() == {"a": 1.0, 1: 0.0}


def test_odds_by_hand():
    # True positive rates 2/3 and 1/2, false positive rates 2/3 and 0.
    assert METRICS["equalized_odds"](TRUE, PREDICTED, sensitive_features=A) == pytest.approx(2 / 3)


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_agreement_with_fairlearn(groups, weighted, seed):
    fairlearn = pytest.importorskip("fairlearn.metrics", reason="fairlearn is not installed")
    random = np.random.default_rng(seed)
    true, predicted = random.integers(0, 2, (2, 300))
    a = random.integers(0, groups, 300)
    weight = random.random(300) if weighted else None
    given = {"sensitive_features": a, "sample_weight": weight}

    ours = METRICS["equalized_odds"](true, predicted, **given)
    assert ours == pytest.approx(fairlearn.equalized_odds_difference(true, predicted, **given))

    apart = fairlearn.demographic_parity_difference(true, predicted, **given)
    if groups == 2:
        assert abs(statistical_disparity(predicted, **given)) == pytest.approx(apart)
    if not weighted:
        assert np.ptp(rates(predicted, a)) == pytest.approx(apart)
        for group, rate in rates(predicted, a).items():
            rows = a == group
            assert rate == pytest.approx(fairlearn.selection_rate(true[rows], predicted[rows]))
