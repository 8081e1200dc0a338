"""The groups that people are compared by."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f

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
