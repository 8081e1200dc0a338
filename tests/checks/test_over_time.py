"""Whether the bias changed over time, and whether beliefs by officer and by period pass where they are right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
REFORM = "2020-03-01"


def decisions(rows: int, seed: int) -> pd.DataFrame:
    """One of two officers turns down people of group 1, and before the reform the other one did so, too."""
    rng = np.random.default_rng(seed)
    day = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 730, rows), unit="D")
    x, group, officer = rng.normal(size=rows), rng.integers(0, 2, rows), rng.choice(["ann", "bob"], rows)
    fair = (rng.random(rows) < 1 / (1 + np.exp(-2 * x))).astype(int)
    frame = pd.DataFrame({"x": x, "group": group, "officer": officer, "day": day.strftime("%Y-%m-%d"), "due": fair})
    return frame.assign(chance=rng.random(rows))


def recorded(frame: pd.DataFrame, chance) -> pd.DataFrame:
    lost = (frame["group"] == 1) & (frame["chance"] < chance)
    return frame.drop(columns="chance").assign(granted=frame["due"] * ~lost)


def checked(belief, data, when=None):
    table, audit = data.drop(columns="due"), data[:400]
    belief = belief.estimate(audit, recorded="granted", fair="due")
    return p4f.check(belief, table, recorded="granted", audit=audit, fair="due", when=when)


def test_a_change_is_found_and_the_belief_that_knows_it_is_not_contradicted():
    frame = decisions(700, 0)
    data = recorded(frame, np.where(frame["day"] < REFORM, 0.6, 0.1)).drop(columns="officer")
    result = checked(p4f.LabelBias("group", positive=False, affected=[1]), data, when="day")["over time"]
    assert result.contradicts
    assert "believe in ChangedBias(..., when='day', changed='20" in result.advice
    right = p4f.ChangedBias("group", "day", REFORM, positive=False, affected=[1])
    passed = checked(right, data)
    assert not passed.contradicted
    assert passed["over time"].finding.endswith("by the belief nothing changed that it does not say.")
    without = checked(p4f.LabelBias("group", positive=False, affected=[1]), data.drop(columns="day"))["over time"]
    assert "no column with days was named" in without.finding


def test_an_officer_is_named_and_the_belief_by_officer_is_not_contradicted():
    frame = decisions(700, 1)
    data = recorded(frame, np.where(frame["officer"] == "bob", 0.7, 0.1)).drop(columns="day")
    result = checked(p4f.LabelBias("group", positive=False, affected=[1]), data)["class-conditional"]
    assert result.contradicts
    assert "RowBias(..., depends_on('officer'))" in result.advice
    right = p4f.RowBias("group", p4f.depends_on("officer"), False, affected=[1])
    assert not checked(right, data).contradicted
