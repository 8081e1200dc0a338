"""Columns that say how the record came about are read by no method of a comparison."""

from __future__ import annotations

import pandas as pd

from problog4fairness.beliefs import RowBias, by
from problog4fairness.comparison import compared_rows


def test_no_method_reads_who_decided():
    belief = RowBias("g", by({"officer": ["ann", "bob"]}), False)
    frame = pd.DataFrame({"x": [1.0, 2.0], "g": [0, 1], "officer": ["ann", "bob"]})
    data = compared_rows(frame, [0, 1], sensitive_features="g", belief=belief)
    assert data.rows.features == ("x", "g")
    assert "officer" in data.rows.frame
