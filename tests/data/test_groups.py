"""The groups that people are compared by."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.data.groups import Category, numbers_of
from problog4fairness.errors import P4FError

PROGRAM = r"nn(h,X) :: y(X). nn(a,X) :: a(X). 0.3 :: b(X) :- a(X). z(X) :- y(X), \+b(X). ?- z(x)."


def test_two_groups_and_their_disparity():
    frame = pd.DataFrame({"area": [1, 1, 0, 0, 0]})
    (way,) = p4f.LabelBias("area").groupings(p4f.data.Rows(frame, ()))
    assert way.groups == ("area = 0", "area = 1")
    assert way.certain
    assert way.disparity(np.array([1.0, 0.0, 1.0, 1.0, 1.0])) == pytest.approx(-0.5)


def test_uncertain_groups_count_by_their_share():
    (way,) = p4f.LabelBias("area").groupings(p4f.data.Rows(pd.DataFrame({"area": [0.25, 1.0]}), ()))
    assert not way.certain
    assert way.means(np.array([1.0, 0.0])) == pytest.approx([1.0, 0.2])


def test_more_groups_give_the_largest_difference():
    frame = pd.DataFrame({"city": ["a", "b", "c", "c"]})
    (way,) = p4f.LabelBias("city", groups=("a", "b", "c")).groupings(p4f.data.Rows(frame, ()))
    assert way.disparity(np.array([0.1, 0.9, 0.5, 0.7])) == pytest.approx(0.8)


def test_programs_are_grouped_by_the_columns_that_they_read():
    belief = p4f.ProgramBelief(PROGRAM, columns={"a": "sex"}, values={"a": ("w", "m")})
    (way,) = belief.groupings(p4f.data.Rows(pd.DataFrame({"sex": ["m", "w", "w"]}), ()))
    assert way.groups == ("sex = w", "sex = m")
    (way,) = p4f.ProgramBelief(PROGRAM).groupings(p4f.data.Rows(pd.DataFrame({"a": [0, 1, 1]}), ()))
    assert way.groups == ("a = 0", "a = 1")
    assert p4f.ProgramBelief(PROGRAM).groupings(p4f.data.Rows(pd.DataFrame({"other": [0]}), ())) == []
    assert p4f.NoBias().groupings(p4f.data.Rows(pd.DataFrame({"a": [0]}), ())) == []


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
