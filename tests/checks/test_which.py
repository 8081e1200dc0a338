"""Which of several beliefs explains the record best."""

from __future__ import annotations

import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from tests.checks.people import belief, people


def test_the_right_belief_comes_first_and_the_other_group_last():
    data = people(2500)
    beliefs = {
        "other group": belief(neg=(0.4, 0.1)),
        "none": p4f.NoBias(),
        "right": belief(),
        "twice as strong": belief(neg=(0.2, 0.8)),
    }
    table = p4f.checks.compare_beliefs(beliefs, data.table, recorded="granted")
    assert table.index[0] == "right"
    assert table["loss"].is_monotonic_increasing
    assert table.loc["right", "behind"] == 0
    assert (table["low"] <= table["behind"]).all()
    assert (table.loc[["other group", "twice as strong"], "low"] > 0).all()


def test_beliefs_without_names_are_numbered():
    data = people(400)
    table = p4f.checks.compare_beliefs([belief(), p4f.NoBias()], data.table, recorded="granted")
    assert sorted(table.index)[1] == "2: NoBias(: no parameters)"
    with pytest.raises(P4FError, match="two or more beliefs"):
        p4f.checks.compare_beliefs([belief()], data.table, recorded="granted")
