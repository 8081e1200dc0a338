"""Columns at a glance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.app.studio.columns import BARS, cell, columns_of


def test_each_kind_of_column_says_what_it_is_about():
    rows = 2000
    frame = pd.DataFrame(
        {
            "income": np.linspace(0, 4000, rows),
            "children": np.arange(rows) % 3,
            "job": np.resize(["nurse", "smith", "smith", "clerk", "cook"], rows),
            "id": [f"c{number}" for number in range(rows)],
            "gaps": [None, 1.0] * (rows // 2),
        }
    )
    income, children, job, identifier, gaps = columns_of(frame)
    assert (income.values, income.about, len(income.bars)) == (rows, "0 to 4,000", BARS)
    assert (children.values, children.about, len(children.bars)) == (3, "0, 1, 2", 3)
    assert job.about.startswith("smith, ")
    assert job.about.endswith(", 1 more")
    assert (identifier.values, identifier.bars) == (rows, ()), "no bar tells anything of texts that are all different"
    assert (gaps.missing, gaps.about) == (rows // 2, "1")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3.0, "3"), (2.5, "2.5"), (np.float64(7), "7"), (np.nan, ""), (np.inf, "inf"), ("x", "x"), (1, "1")],
)
def test_cells_are_written_as_people_write_them(value, shown):
    assert cell(value) == shown
