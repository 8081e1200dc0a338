"""Columns that say how the record came about are read by no method of a comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.beliefs import RowBias, SelectiveLabels, depends_on
from tests.evaluation.data import read_rows


def test_no_method_reads_who_decided():
    belief = RowBias("g", depends_on({"officer": ["ann", "bob"]}), False)
    frame = pd.DataFrame({"x": [1.0, 2.0], "g": [0, 1], "officer": ["ann", "bob"]})
    data = read_rows(frame.assign(y=[0, 1]), [belief], recorded="y", features=["x"])
    assert data.rows.features == ("x", "g")
    assert "officer" in data.rows.frame


@pytest.mark.parametrize("order", [1, -1])
def test_all_beliefs_are_asked_in_any_order(order):
    officers = RowBias("g", depends_on({"officer": ["ann", "bob"]}), False)
    beliefs = [officers, SelectiveLabels("g")][::order]
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "g": [0, 1, 1], "officer": ["ann", "bob", "ann"]})
    data = read_rows(frame.assign(y=[0, 1, np.nan]), beliefs, recorded="y", features=["x", "officer"])
    assert data.rows.features == ("x", "g")
    assert data.recorded.tolist() == [0, 1, -1]
