"""Different rows of a table with their numbers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data import columns as module
from problog4fairness.data.columns import COUNT, complete_rows, counted_rows, counts_of, expand_counts
from problog4fairness.data.problems import TableError

ROWS = 500
RNG = np.random.default_rng(0)
COLUMNS = {
    "numbers": RNG.integers(0, 3, ROWS),
    "numbers with gaps": RNG.choice([0.0, 1.5, np.nan], ROWS),
    "texts": RNG.choice(["a", " a", "b"], ROWS),
    "texts with gaps": pd.Series(RNG.choice(["a", "b", "c"], ROWS)).where(RNG.random(ROWS) < 0.9),
    "flags": RNG.random(ROWS) < 0.5,
    "flags with gaps": pd.Series(RNG.choice([True, False, None], ROWS), dtype=object),
    "categories": pd.Series(pd.Categorical(RNG.choice(["x", "y"], ROWS), categories=["z", "y", "x"])),
    "nullable": pd.Series(RNG.choice([1, 2], ROWS), dtype="Int64").where(RNG.random(ROWS) < 0.9),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_pieces_are_counted_as_the_whole_table_is(name, monkeypatch):
    monkeypatch.setattr(module, "PENDING", 5)
    frame = pd.DataFrame({"other": RNG.integers(0, 2, ROWS), name: COLUMNS[name]})
    found = counted_rows(frame.iloc[i : i + 7] for i in range(0, ROWS, 7))
    first = frame[~frame.duplicated()].reset_index(drop=True)
    pd.testing.assert_frame_equal(found.drop(columns=COUNT), first)
    times = Counter(frame.astype(str).itertuples(index=False, name=None))
    assert found[COUNT].tolist() == [times[own] for own in first.astype(str).itertuples(index=False, name=None)]
    again = counted_rows([expand_counts(found)])
    pd.testing.assert_frame_equal(again, found)


def test_counts_of_a_table_are_added_up():
    frame = pd.DataFrame({"a": ["x", "y", "x"], COUNT: [2, 1, 5]})
    assert counted_rows([frame, frame])[COUNT].tolist() == [14, 2]
    assert counts_of(frame.drop(columns=COUNT)).tolist() == [1, 1, 1]
    with pytest.warns(UserWarning, match="column 'a' has 7 missing values"):
        complete_rows(frame.assign(a=["x", None, None]).assign(**{COUNT: [2, 3, 4]}), ["a"])


@pytest.mark.parametrize("wrong", [0, -1, 1.5, np.nan, "many"])
def test_counts_that_are_none(wrong):
    with pytest.raises(TableError, match=f"the column 'p4f_count' holds {wrong}; it says how many rows"):
        counts_of(pd.DataFrame({COUNT: pd.Series([1, wrong], dtype=object)}))


def test_too_many_values_are_an_error_that_names_the_column(monkeypatch):
    monkeypatch.setattr(module, "MOST", 300)
    monkeypatch.setattr(module, "PENDING", 50)
    pieces = (pd.DataFrame({"sex": [0, 1] * 20, "income": np.arange(40) + 40 * i}) for i in range(1000))
    message = r"more than 300 different rows of 'sex', 'income'; 'income' alone has \d+ values: make classes of it"
    with pytest.raises(TableError, match=message):
        counted_rows(pieces)
    # It is told soon, not at the end.
    assert next(pieces)["income"].iloc[0] < 1000
