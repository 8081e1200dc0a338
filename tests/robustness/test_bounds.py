"""Bounds: the disparity over all beliefs in a set, and where the gap would close."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs import LEAST_SIGNAL
from problog4fairness.data import Rows
from problog4fairness.learners import Linear, Network
from problog4fairness.robustness.box import BeliefBox, extremes, possible
from tests.estimators.data import loans

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")

LINEAR = Linear(penalty=1.0)


def data(rows=800):
    frame, area, fair, recorded = loans(rows)
    # Fewer of the group deserve it, and more of those who do are turned down.
    less = (area == 1) & (np.random.default_rng(1).random(rows) < 0.4)
    return frame.assign(area=area), np.where(less, 0, fair), np.where(less, 0, recorded)


def fitted(learner=LINEAR, belief=None):
    frame, fair, recorded = data()
    audit = frame.assign(recorded=recorded, fair=fair)[:200]
    belief = belief or p4f.LabelBias("area").estimate(audit, recorded="recorded", fair="fair")
    return p4f.DebiasedClassifier(belief, learner, use_sensitive=True, random_state=0).fit(frame, recorded)


def disparity(belief):
    frame, _, recorded = data()
    model = p4f.DebiasedClassifier(belief, LINEAR, use_sensitive=True, random_state=0).fit(frame, recorded)
    decided, area = model.predict(frame), frame["area"] == 1
    return decided[area].mean() - decided[~area].mean()


@pytest.fixture(scope="module")
def found():
    frame, _, recorded = data()
    return fitted().bounds(frame, recorded)


def test_no_belief_in_the_box_goes_further(found):
    frame, fair, recorded = data()
    belief = fitted().belief_
    rng = np.random.default_rng(0)
    for _ in range(12):
        inside = {parameter.name: rng.uniform(parameter.low, parameter.high) for parameter in belief.parameters}
        assert found.low - 1e-3 <= disparity(belief.bind(inside)) <= found.high + 1e-3
    ends = [found.at_low, found.at_high]
    assert [disparity(belief.bind({p.name: p.value for p in belief.parameters})) for belief in ends] == pytest.approx(
        [found.low, found.high], abs=2e-3
    )
    assert found.low < found.value < found.high


def test_the_gap_closes_at_the_tipping_point(found):
    tip = next(tip for tip in found.tipping if tip.parameter.name == "p1")
    assert tip.above
    # Decisions come one by one: each is 1 in about 400 people of its group.
    assert disparity(fitted().belief_.bind({"p1": tip.value})) == pytest.approx(0, abs=2 / 400)
    assert found.table.loc["p1", "tipping"] == tip.value
    assert found.table.loc["p2", "closes"] == "never"


def test_it_says_itself_in_words(found):
    text = str(found)
    p1 = fitted().belief_.parameters[0]
    tip = found.table.loc["p1", "tipping"]
    closes = f"more than {tip:.0%} of those with a fair 1 where area = 1 had been recorded as 0; "
    assert f"The gap would close only if {closes}" in text
    assert f"the audit says {p1.value:.0%} ({p1.low:.0%} to {p1.high:.0%})." in text
    assert "The gap would stay open whatever share of those with a fair 1 where area = 0 had been recorded as 0" in text
    assert "search of the box" in text
    assert "<p>" in found._repr_html_()


def test_a_box_of_ones_own_and_several_beliefs():
    frame, _, recorded = data()
    stated = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])
    model = fitted(belief=stated)
    box = model.bounds(frame, recorded, box={"p1": (0.4, 0.6)})
    assert [belief.parameters[0].value for belief in (box.at_low, box.at_high)] == [0.4, 0.6]
    assert "stated are 50%." in str(box)
    several = model.bounds(frame, recorded, beliefs=[stated.bind({"p1": v}) for v in (0.6, 0.4, 0.5)])
    assert (several.low, several.high) == pytest.approx((box.low, box.high))
    assert several.at_low == stated.bind({"p1": 0.4})
    assert "beliefs that were named" in str(several)


@pytest.mark.filterwarnings("ignore::problog4fairness.errors.LearningWarning")
def test_audited_rows_that_were_distorted_are_possible_everywhere():
    frame, fair, recorded = data()
    known = np.where(np.arange(len(frame)) < 100, fair, np.nan)
    model = p4f.DebiasedClassifier(fitted().belief_, "linear", random_state=0).fit(frame, recorded, fair=known)
    found = model.bounds(frame, recorded, fair=known)
    assert min(tip.low for tip in found.tipping) == pytest.approx(0.001)


def test_beliefs_by_which_the_record_says_nothing_are_left_out_of_a_box():
    frame, _, recorded = data()
    model = fitted(belief=p4f.LabelBias("area", {1: 0.4}, {1: 0.1}, affected=[1]))
    found = model.bounds(frame, recorded, box={"p1": (0.0, 1.0), "p3": (0.0, 0.6)})
    for belief in (found.at_low, found.at_high):
        assert sum(parameter.value for parameter in belief.parameters) <= 1 - LEAST_SIGNAL + 1e-6
    assert "audit more rows" in found.assumed
    with pytest.raises(p4f.errors.P4FError, match="smaller box"):
        model.bounds(frame, recorded, box={"p1": (0.9, 1.0), "p3": (0.5, 0.6)})


def test_extremes_inside_the_box_are_found():
    frame, _, recorded = data()
    belief = fitted().belief_
    rows = Rows(frame, ("area",), (0, 1), recorded)
    box = BeliefBox(belief, {"p1": (0.1, 0.7), "p2": (0.0, 0.4)}, rows)

    def bowl(beliefs):
        values = [[parameter.value for parameter in one.parameters][:2] for one in beliefs]
        return [(p1 - 0.32) ** 2 - (p2 - 0.17) ** 2 for p1, p2 in values]

    ends = extremes(box, bowl, 500)
    low, high = ([parameter.value for parameter in beliefs[0].parameters][:2] for beliefs in ends)
    assert low == pytest.approx([0.32, 0.4], abs=0.05)
    assert high == pytest.approx([0.7, 0.17], abs=0.05)


def test_noise_and_networks():
    frame, _, recorded = data()
    noisy = p4f.LabelBias("area", {1: 0.4}, False, affected=[1], noise=0.05)
    model = fitted(Network(hidden=(4,), max_epochs=3), noisy)
    found = model.bounds(frame, recorded, box={"p_noise": (0.0, 0.1)})
    assert "p_noise (a mistake flips the label of anybody)" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"box": {"p9": (0, 1)}}, "no parameter 'p9'"),
        ({"box": {"p1": 0.3}}, "the box of p1 is 0.3; give two numbers"),
        ({"box": {"p1": (0.6, 0.2)}}, "the smaller one first"),
        ({"box": {}}, "box must be a mapping"),
        ({"beliefs": []}, "beliefs is empty"),
        ({"beliefs": [p4f.LabelBias("area")]}, "p1, p2, p3, p4 of the belief unknown"),
        ({"beliefs": [p4f.LabelBias("area", 0.6, 0.6)]}, "recorded labels say nothing about fair ones"),
        ({"box": {"p1": (0, 1)}, "beliefs": []}, "not both"),
        ({"by": "job"}, "no groups by 'job'; there are area"),
        ({}, "numbers were stated, without intervals"),
    ],
)
def test_bad_input(options, message):
    frame, _, recorded = data()
    model = fitted(belief=p4f.LabelBias("area", {1: 0.5}, False, affected=[1]))
    with pytest.raises(p4f.errors.P4FError, match=message):
        model.bounds(frame, recorded, **options)
    with pytest.raises(p4f.errors.P4FError, match="pass their recorded labels as y"):
        model.bounds(frame, None)


def test_a_range_stays_off_certainty_where_fair_labels_are_known():
    rows = Rows(pd.DataFrame({"x": [1, 2]}), ("x",), (0, 1), np.array([0, 1]))
    audited = replace(rows, fair=np.array([1, -1]))
    assert possible(0.0, 1.0, rows) == (0.0, 1.0)
    assert possible(0.0, 1.0, audited) == (0.001, 0.999)
    assert possible(0.0, 0.0, audited) == (0.001, 0.001)


def test_rows_of_one_group_have_no_disparity():
    frame, _, recorded = data()
    inside = frame["area"] == 1
    with pytest.raises(p4f.errors.P4FError, match=r"two or more groups by area are needed .*; all have area = 1"):
        fitted().bounds(frame[inside], recorded[inside])
