"""What a bias may depend on: which value a row has, whatever the column is made of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data.groups import Category, numbers_of
from problog4fairness.errors import P4FError

OFFICERS = ["ann", "None", "nan", 7, None, np.nan, "7", "zoe"]


@pytest.mark.parametrize("dtype", [object, "category"])
def test_a_missing_value_is_the_other_one_even_where_a_level_is_called_none(dtype):
    variable = Category.listing("officer", ("ann", "None", "nan", 7), "officer")
    found = variable.positions(pd.DataFrame({"officer": pd.Series(OFFICERS, dtype=dtype)}))
    assert found.tolist() == [0, 1, 2, 3, 4, 4, 3, 4]


def test_a_column_without_rows_has_no_values():
    variable = Category.listing("officer", ("ann",), "officer")
    assert variable.positions(pd.DataFrame({"officer": pd.Series([], dtype=object)})).tolist() == []


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None], dtype="Int64"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series(["1.0", None], dtype="string"),
        pd.Series([1.0, np.nan], dtype="category"),
    ],
)
def test_numbers_of_any_kind(column):
    assert numbers_of(column).tolist() == pytest.approx([1.0, np.nan], nan_ok=True)


def test_days_are_no_numbers():
    days = pd.Series(pd.to_datetime([None, "2020-03-01"]), index=[5, 5], name="day")
    with pytest.raises(P4FError, match=r"column 'day' has the value '2020-03-01 00:00:00', which is no number"):
        numbers_of(days)
