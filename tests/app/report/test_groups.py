"""By group: confusion counts, calibration, and stable and uncertain decisions, by hand."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.app.report.groups import calibration, confusion
from problog4fairness.app.report.uncertainty import stable_and_uncertain
from problog4fairness.data import Grouping, Rows
from problog4fairness.metrics import decide
from problog4fairness.robustness import Uncertainty


def random_sample(rows):
    return p4f.Audit.of(pd.DataFrame({"fair": np.ones(rows)}), fair="fair", sampling="random")


def test_confusion_counts_by_hand():
    grouping = Grouping("g", ("g = 0", "g = 1"), np.eye(2)[[0, 0, 1, 1, 1]])
    rows = Rows(pd.DataFrame({"x": range(5)}), ("x",), fair=np.array([1, 0, 1, 1, 0]))
    decided = decide(np.array([[0.1, 0.9], [0.8, 0.2], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]))
    found = confusion(grouping, rows, decided, random_sample(5))
    assert found.loc["g = 0"].tolist() == [1, 0, 0, 1]
    assert found.loc["g = 1"].tolist() == [1, 1, 1, 0]
    assert found.loc["all"].sum() == 5
    # Of the first two rows each stands for as many people as all others together.
    frame = pd.DataFrame({"s": list("aabbb"), "fair": 1})
    sample = p4f.Audit.of(frame, fair="fair", strata="s", population={"a": 600, "b": 300})
    assert confusion(grouping, rows, decided, sample).loc["all"].tolist() == pytest.approx(
        [20 / 9, 5 / 9, 5 / 9, 15 / 9]
    )


def test_calibrated_probabilities_lie_within_their_intervals():
    rng = np.random.default_rng(0)
    chance = rng.random(4000)
    grouping = Grouping("g", ("g = 0", "g = 1"), np.eye(2)[rng.integers(0, 2, 4000)])
    rows = Rows(pd.DataFrame({"x": chance}), ("x",), fair=(rng.random(4000) < chance).astype(int))
    found = calibration(grouping, rows, chance, random_sample(4000))
    assert len(found) == 10
    assert found["rows"].sum() == 4000
    assert ((found["low"] <= found["predicted"]) & (found["predicted"] <= found["high"])).mean() >= 0.8
    off = calibration(grouping, rows, np.sqrt(chance), random_sample(4000))
    assert (off["predicted"] > off["high"]).sum() >= 4


def test_stable_and_uncertain_decisions_are_counted_by_group():
    people = pd.DataFrame({"decision": ["stable", "uncertain", "uncertain", "stable"]})
    grouping = Grouping("poor_area", ("poor_area = 0", "poor_area = 1"), np.array([[1.0, 0], [0, 1], [0, 1], [0, 1]]))
    shown = stable_and_uncertain(grouping, Uncertainty(pd.DataFrame(), people, draws=2, confidence=0.95, threshold=0.5))
    cells = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>(.*?)</tr>", str(shown), re.DOTALL)]
    assert cells[1:] == [
        ["poor_area", "=", "1", "1", "2", "67%"],
        ["poor_area", "=", "0", "1", "0", "0%"],
        ["all", "2", "2", "50%"],
    ]
