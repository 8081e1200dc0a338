"""By group: confusion counts, calibration, and firm and open decisions, by hand."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from problog4fairness.classifier.bands_result import Bands
from problog4fairness.metrics import decide
from problog4fairness.reporting.banded import firm_and_open
from problog4fairness.reporting.groups import calibration, confusion
from problog4fairness.rows.groups import Grouping
from problog4fairness.rows.rows import Rows


def test_confusion_counts_by_hand():
    way = Grouping("g", ("g = 0", "g = 1"), np.eye(2)[[0, 0, 1, 1, 1]])
    rows = Rows(pd.DataFrame({"x": range(5)}), ("x",), fair=np.array([1, 0, 1, 1, 0]))
    found = confusion(way, rows, decide(np.array([[0.1, 0.9], [0.8, 0.2], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]])))
    assert found.loc["g = 0"].tolist() == [1, 0, 0, 1]
    assert found.loc["g = 1"].tolist() == [1, 1, 1, 0]
    assert found.loc["all"].sum() == 5


def test_calibrated_probabilities_lie_within_their_intervals():
    rng = np.random.default_rng(0)
    chance = rng.random(4000)
    way = Grouping("g", ("g = 0", "g = 1"), np.eye(2)[rng.integers(0, 2, 4000)])
    rows = Rows(pd.DataFrame({"x": chance}), ("x",), fair=(rng.random(4000) < chance).astype(int))
    found = calibration(way, rows, chance)
    assert len(found) == 10
    assert found["rows"].sum() == 4000
    assert ((found["low"] <= found["said"]) & (found["said"] <= found["high"])).mean() >= 0.8
    off = calibration(way, rows, np.sqrt(chance))
    assert (off["said"] > off["high"]).sum() >= 4


def test_firm_and_open_decisions_are_counted_by_group():
    people = pd.DataFrame({"decision": ["firm", "open", "open", "firm"]})
    way = Grouping("poor_area", ("poor_area = 0", "poor_area = 1"), np.array([[1.0, 0], [0, 1], [0, 1], [0, 1]]))
    shown = firm_and_open(way, Bands(pd.DataFrame(), people, draws=2, confidence=0.95, threshold=0.5))
    cells = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>(.*?)</tr>", str(shown), re.DOTALL)]
    assert cells[1:] == [
        ["poor_area", "=", "1", "1", "2", "67%"],
        ["poor_area", "=", "0", "1", "0", "0%"],
        ["all", "2", "2", "50%"],
    ]
