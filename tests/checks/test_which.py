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
    found = p4f.checks.compare_beliefs(beliefs, data.table, recorded="granted")
    assert found.best == "right"
    assert found.rows == 2500
    table = found.table
    assert table["loss"].is_monotonic_increasing
    assert table.loc["right", "behind"] == 0
    assert (table["low"] <= table["behind"]).all()
    assert (table.loc[["other group", "twice as strong"], "low"] > 0).all()
    assert "right" in found._repr_html_()
    assert found.plot().axes[0].get_yticklabels()[-1].get_text() == "right"


def test_beliefs_without_names_are_numbered():
    data = people(400)
    found = p4f.checks.compare_beliefs([belief(), p4f.NoBias()], data.table, recorded="granted")
    assert sorted(found.table.index)[1] == "2: NoBias(: no parameters)"
    with pytest.raises(P4FError, match="two or more beliefs"):
        p4f.checks.compare_beliefs([belief()], data.table, recorded="granted")
