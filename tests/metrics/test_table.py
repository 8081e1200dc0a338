from __future__ import annotations

import math

import numpy as np
import pytest

from problog4fairness import metrics
from problog4fairness.errors import P4FError
from problog4fairness.metrics.predictions import Judged
from problog4fairness.metrics.table import METRICS, _part, scores
from problog4fairness.metrics.values import accuracy


def people(rows=200, groups=2):
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, rows), rng.random(rows), rng.integers(0, groups, rows)


def test_the_same_as_the_single_metrics():
    label, chance, a = people()
    found, decision = scores(label, chance, a), (chance > 0.5).astype(int)
    assert list(found) == list(METRICS)
    assert found["accuracy"] == pytest.approx(METRICS["accuracy"](label, decision))
    assert found["f1"] == pytest.approx(METRICS["f1"](label, decision))
    assert found["disparity"] == pytest.approx(metrics.statistical_disparity(decision, sensitive_features=a))
    odds = METRICS["equalized_odds"](label, decision, sensitive_features=a)
    assert found["equalized_odds"] == pytest.approx(odds)
    assert found["positive_rate"] == pytest.approx(decision.mean())


def test_a_random_decision_is_scored_by_its_expectation():
    label, chance, a = people()
    found = scores(label, chance, a, randomised=True)
    drawn = np.random.default_rng(1).random((4000, 200)) < chance
    assert found["accuracy"] == pytest.approx((drawn == label).mean(), abs=0.005)
    assert found["positive_rate"] == pytest.approx(drawn.mean(), abs=0.005)


def test_of_three_classes_the_accuracy_counts_all_and_the_rest_is_about_the_last():
    chances = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.2, 0.1, 0.7]])
    found = scores([2, 1, 1, 0], chances, [0, 0, 1, 1])
    assert found["accuracy"] == 0.5
    assert found["positive_rate"] == 0.5
    assert found["disparity"] == pytest.approx(0.5 - 0.5)
    assert found["f1"] == pytest.approx(2 / 3)
    by_lot = scores([2, 1, 1, 0], chances, [0, 0, 1, 1], randomised=True)
    assert by_lot["accuracy"] == pytest.approx((0.7 + 0.3 + 0.6 + 0.2) / 4)


def test_three_groups():
    label, chance, a = people(groups=3)
    found, means = scores(label, chance, a), [(chance[a == group] >= 0.5).mean() for group in range(3)]
    assert found["disparity"] == pytest.approx(max(means) - min(means))
    odds = METRICS["equalized_odds"](label, (chance > 0.5).astype(int), sensitive_features=a)
    assert found["equalized_odds"] == pytest.approx(odds)


def test_what_has_no_rows_is_not_known():
    found = scores([1, 0, 0], [0.9, 0.1, 0.2], [0, 0, 1])
    assert math.isnan(found["equalized_odds"])
    assert found["disparity"] == pytest.approx(-0.5)
    assert math.isnan(scores([1, 0], [0.9, 0.1], [0, 0])["disparity"])


def test_intervals_are_around_the_value():
    label, chance, a = people()
    decision = (chance > 0.5).astype(int)
    for name, metric in METRICS.items():
        if metric.interval is None:
            with pytest.raises(P4FError, match="no interval from counts"):
                metrics.interval(name, label, decision, sensitive_features=a)
            continue
        found = metrics.interval(name, label, decision, sensitive_features=a)
        assert found.value == pytest.approx(metric(label, decision, sensitive_features=a))
        assert found.low <= found.value <= found.high


def test_metrics_in_each_group_are_fairlearns_metric_frame():
    pytest.importorskip("fairlearn.metrics", reason="fairlearn is not installed")
    label, chance, a = people(groups=3)
    words, decision = np.array(["no", "yes"]), (chance > 0.5).astype(int)
    frame = metrics.metric_frame(words[label], words[decision], sensitive_features=a, favourable="yes")
    assert {"accuracy", "f1", "positive_rate"} <= set(frame.by_group.columns)
    for name in ("accuracy", "f1", "positive_rate"):
        intervals = metrics.intervals_by_group(name, label, decision, sensitive_features=a)
        assert frame.by_group[name].to_dict() == pytest.approx(intervals["value"].to_dict())
    weighted = metrics.metric_frame(label, decision, sensitive_features=a, sample_weight=np.arange(1, 201))
    assert weighted.overall["accuracy"] == pytest.approx(
        METRICS["accuracy"](label, decision, sample_weight=np.arange(1, 201))
    )


def test_a_part_of_many_classes_keeps_what_is_right():
    chances = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.2, 0.1, 0.7]])
    whole = Judged.of([2, 1, 1, 0], chances, [0, 0, 1, 1])
    assert accuracy(_part(whole, np.array([0, 2]))) == 1
    assert accuracy(_part(whole, np.array([1, 3]))) == 0
