"""Intervals from counts: published numbers, numbers by hand, and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problog4fairness import metrics as m
from problog4fairness.statistics import interval

accuracy, f1, equalized_odds = (m.METRICS[name] for name in ("accuracy", "f1", "equalized_odds"))


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [  # Newcombe 1998, Table II, method 10
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 10), -0.2775, 0.2775),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ],
)
def test_newcombes_table(counts, low, high):
    estimate = m.difference_interval(*counts)
    assert estimate.low == pytest.approx(low, abs=5e-5)
    assert estimate.high == pytest.approx(high, abs=5e-5)
    turned = m.difference_interval(*counts[2:], *counts[:2])
    assert (turned.low, turned.high) == pytest.approx((-estimate.high, -estimate.low))


def test_metrics_and_intervals_agree_on_the_value():
    random = np.random.default_rng(0)
    true, predicted = random.integers(0, 2, (2, 400))
    a = random.integers(0, 3, 400)
    two = (a > 0).astype(int)
    assert m.interval("accuracy", true, predicted).value == pytest.approx(accuracy(true, predicted))
    assert m.interval("f1", true, predicted).value == pytest.approx(f1(true, predicted))
    disparity = m.interval("disparity", None, predicted, sensitive_features=two)
    assert disparity.value == pytest.approx(m.statistical_disparity(predicted, sensitive_features=two))
    rates = m.intervals_by_group("positive_rate", None, predicted, sensitive_features=a)
    assert rates["value"].to_dict() == pytest.approx({group: predicted[a == group].mean() for group in range(3)})
    assert rates["rows"].sum() == 400
    odds = m.interval("equalized_odds", true, predicted, sensitive_features=a)
    assert odds.value == pytest.approx(equalized_odds(true, predicted, sensitive_features=a))
    assert odds.low <= odds.value <= odds.high


def test_by_hand():
    # 8 of 10 right; Wilson with z^2 = 3.8415: centre (.8 + .19207) / 1.38415, half 1.95996 / 1.38415 sqrt(.016 + .0096)
    right = m.interval("accuracy", [1] * 10, [1] * 8 + [0] * 2)
    assert (right.low, right.high) == pytest.approx((0.4902, 0.9433), abs=5e-5)
    # TP 8 of 10 rows that anyone calls 1: the same ends, as 2 J / (1 + J)
    score = m.interval("f1", [1] * 10 + [0] * 5, [1] * 8 + [0] * 7)
    assert (score.low, score.high) == pytest.approx((0.9804 / 1.4902, 1.8866 / 1.9433), abs=5e-5)
    assert score.rows == 10


def test_f1_of_nothing_is_no_knowledge():
    nothing = m.interval("f1", [0, 0], [0, 0])
    assert (nothing.value, nothing.low, nothing.high, nothing.rows) == (0.0, 0.0, 1.0, 0)


def test_equalized_odds_by_hand():
    # TPR 9/10 against 2/10, FPR equal: the interval is that of the TPR difference at confidence sqrt(.95)
    true = ([1] * 10 + [0] * 10) * 2
    predicted = [1] * 9 + [0] + [0] * 10 + [1] * 2 + [0] * 8 + [0] * 10
    odds = m.interval("equalized_odds", true, predicted, sensitive_features=[0] * 20 + [1] * 20)
    (l1, u1), (l0, u0) = interval(0.9, 10, math.sqrt(0.95)), interval(0.2, 10, math.sqrt(0.95))
    assert odds.value == pytest.approx(0.7)
    assert odds.low == pytest.approx(0.7 - math.hypot(0.9 - l1, u0 - 0.2))
    assert odds.high == pytest.approx(0.7 + math.hypot(u1 - 0.9, 0.2 - l0))


def test_equal_odds_reach_down_to_0():
    odds = m.interval("equalized_odds", [1, 0] * 20, [1, 0] * 20, sensitive_features=[0] * 20 + [1] * 20)
    assert (odds.value, odds.low) == (0.0, 0.0)
    assert odds.high > 0


@pytest.mark.parametrize(("p1", "p0"), [(0.3, 0.6), (0.05, 0.05), (0.9, 0.97)])
@pytest.mark.parametrize("rows", [(30, 60), (400, 300)])
def test_the_disparity_is_covered(p1, p0, rows):
    random = np.random.default_rng(1)
    counts = zip(random.binomial(rows[0], p1, 3000), random.binomial(rows[1], p0, 3000), strict=True)
    estimate = [m.difference_interval(int(k1), rows[0], int(k0), rows[1]) for k1, k0 in counts]
    assert 0.935 <= np.mean([d.low <= p1 - p0 <= d.high for d in estimate]) <= 0.985


@pytest.mark.parametrize(
    "rates", [[(0.8, 0.2), (0.6, 0.3)], [(0.7, 0.2), (0.7, 0.2)], [(0.8, 0.3), (0.6, 0.3), (0.7, 0.1)]]
)
def test_equalized_odds_are_covered(rates):
    random = np.random.default_rng(2)
    a = np.repeat(np.arange(len(rates)), 200)
    true = np.tile([1, 0], 100 * len(rates))
    chance = np.array(rates)[a, 1 - true]
    truth = np.ptp(np.array(rates), axis=0).max()
    covered = []
    for _ in range(600):
        estimate = m.interval("equalized_odds", true, random.random(len(a)) < chance, sensitive_features=a)
        covered.append(estimate.low <= truth <= estimate.high)
    assert np.mean(covered) >= 0.94


def test_f1_is_covered():
    random = np.random.default_rng(3)
    truth = 2 * 0.4 * 0.8 / (2 * 0.4 * 0.8 + 0.6 * 0.2 + 0.4 * 0.2)
    covered = []
    for _ in range(1000):
        true = random.random(300) < 0.4
        estimate = m.interval("f1", true, random.random(300) < np.where(true, 0.8, 0.2))
        covered.append(estimate.low <= truth <= estimate.high)
    assert 0.93 <= np.mean(covered) <= 0.97
