"""What a belief gains over doing without one: paired, with intervals, in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.evaluation.gains import Gain


def test_gains_by_hand():
    fair, this, other = [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]
    gain = Gain.of(fair, this, other)
    # The second person should have it and gets it, too; the fourth should not have it, and no longer gets it.
    assert (gain.accuracy, gain.reached, gain.wrongly, gain.rows) == (0.5, 0.25, -0.25, 4)
    assert gain.accuracy_low < 0.5 < gain.accuracy_high
    assert not gain.refitted


def test_gains_of_three_classes_by_hand():
    fair = [2, 2, 0, 1]
    this, other = (np.eye(3)[decided] for decided in ([2, 0, 0, 2], [1, 0, 1, 1]))
    gain = Gain.of(fair, this, other)
    # Of the first and the third person this is right, of the last one the other; the first one gets what he should.
    assert (gain.accuracy, gain.reached, gain.wrongly, gain.rows) == (0.25, 0.25, 0.25, 4)


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        fair = rng.integers(0, 2, 300)
        this, other = (np.where(rng.random(300) < wrong, 1 - fair, fair) for wrong in (0.2, 0.25))
        gain = Gain.of(fair, this, other)
        covered += gain.accuracy_low <= 0.05 <= gain.accuracy_high
    assert 0.92 <= covered / 400 <= 0.98


NOBODY = (0.0, 0.0, 0.0)


def test_the_sentence_counts_both_sides():
    gain = Gain(-0.031, -0.05, -0.01, -0.02, -0.03, -0.01, 0.011, -0.002, 0.02, 400)
    told = gain.sentence(5000, "a loan")
    assert "−3.1 points of accuracy (−5.0 to −1.0)" in told
    assert "of 5,000 people, 100 fewer who should have a loan get it (−150 to −50)" in told
    assert "55 more who should not have it get it (−10 to +100)" in told
    assert gain.verdict == "worse"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.03, 0.11, "not decided"),  # +4.1 (-3.0 to +11) shows neither a difference nor equality
        (-0.019, 0.019, "equally good"),
        (-0.021, 0.005, "not decided"),
        (0.001, 0.019, "better"),
        (-0.1, -0.001, "worse"),
    ],
)
def test_equally_good_is_what_an_equivalence_test_says(low, high, verdict):
    gain = Gain((low + high) / 2, low, high, *NOBODY, *NOBODY, 400)
    assert gain.verdict == verdict
    assert ("2 points" in gain.judgement) == (verdict in ("equally good", "not decided"))


def test_a_comparison_ends_with_a_verdict():
    data = p4f.datasets.loans(rows=1, audited=1500, new=1)
    belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    model = p4f.DebiasedClassifier(belief, "linear")
    options = {"recorded": "granted", "seeds": 1, "folds": 2, "methods": ["recorded_only", "without_sensitive"]}
    comparison = p4f.compare(data.audit, model, fair="repaid", **options)
    assert list(comparison.gains.index) == ["trained on recorded labels", "without the sensitive column"]
    name, gain = comparison.gain("without_sensitive")
    assert name == "without the sensitive column"
    assert gain.verdict == "better"
    means = comparison.summary.set_index(["method", "labels", "metric"])["mean"]
    told = means["this model", "fair", "accuracy"] - means["without the sensitive column", "fair", "accuracy"]
    assert gain.accuracy == pytest.approx(told, abs=1e-3)
    assert comparison.verdict.startswith("Against a model without the sensitive column: +")
    assert "who should not have it get it" in comparison.verdict
    assert gain.refitted
    assert comparison.to_dict()["verdict"] == comparison.verdict
    unknown = p4f.compare(data.audit.drop(columns="repaid"), model, **options)
    assert unknown.verdict.startswith("No fair label is known")
