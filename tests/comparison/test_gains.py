"""What a belief gains over doing without one: paired, with intervals, in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.comparison.gains import Gain


def test_gains_by_hand():
    fair, this, other = [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]
    gain = Gain.of(fair, this, other)
    assert (gain.accuracy, gain.reached, gain.rows) == (0.5, 0.25, 4)
    assert gain.accuracy_low < 0.5 < gain.accuracy_high


def test_gains_of_three_classes_by_hand():
    fair = [2, 2, 0, 1]
    this, other = (np.eye(3)[decided] for decided in ([2, 0, 0, 2], [1, 0, 1, 1]))
    gain = Gain.of(fair, this, other)
    # Of the first and the third person this is right, of the last one the other; the first one gets what he should.
    assert (gain.accuracy, gain.reached, gain.rows) == (0.25, 0.25, 4)


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        fair = rng.integers(0, 2, 300)
        this, other = (np.where(rng.random(300) < wrong, 1 - fair, fair) for wrong in (0.2, 0.25))
        gain = Gain.of(fair, this, other)
        covered += gain.accuracy_low <= 0.05 <= gain.accuracy_high
    assert 0.92 <= covered / 400 <= 0.98


def test_the_sentence_says_fewer_where_there_are_fewer():
    gain = Gain(-0.031, -0.05, -0.01, -0.02, -0.03, -0.01, 400)
    assert gain.sentence(5000, "a loan") == (
        "−3.1 points of accuracy (−5.0 to −1.0), and 100 fewer people who should have a loan get it, "
        "of 5,000 (−150 to −50)"
    )
    assert gain.verdict == "worse"
    assert Gain(0.01, -0.01, 0.03, 0, 0, 0, 400).verdict == "about as good"


def test_a_comparison_ends_with_a_verdict():
    data = p4f.datasets.loans(rows=1, audited=1500, new=1)
    belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, groups=[1])
    features = data.audit[[*data.features, "poor_area"]]
    options = {"learner": "linear", "seeds": 1, "folds": 2, "methods": ["lower", "unawareness"]}
    found = p4f.compare(features, data.audit["granted"], belief, fair=data.audit["repaid"], **options)
    assert list(found.gains.index) == ["the record as it is", "without poor_area"]
    name, gain = found.gain("unawareness")
    assert name == "without poor_area"
    assert gain.verdict == "better"
    means = found.summary.set_index(["method", "labels", "metric"])["mean"]
    told = means["this model", "fair", "accuracy"] - means["without poor_area", "fair", "accuracy"]
    assert gain.accuracy == pytest.approx(told, abs=1e-3)
    assert found.verdict.startswith("Against leaving the column out (without poor_area): +")
    assert found.to_dict()["verdict"] == found.verdict
    unknown = p4f.compare(features, data.audit["granted"], belief, **options)
    assert unknown.verdict.startswith("No fair label is known")
