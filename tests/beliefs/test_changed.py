"""Bias that changed over time: days that are stated or searched for, and whether there was a change."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.templates.chains import chain
from problog4fairness.beliefs.templates.custom import ProgramBelief
from problog4fairness.beliefs.templates.labels.changed import ChangedBias, search_change
from problog4fairness.beliefs.templates.labels.dependence import depends_on
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.data import days_of
from problog4fairness.errors import MissingValueError, P4FError
from tests.beliefs.contract import BeliefContract, distorted_labels

REFORM = "2020-03-01"
DAYS = np.array(["2019-05-17", "2020-03-01"])


class InPeriods(BeliefContract):
    """The rows have days; the printed program reads whether they are after the change."""

    def people(self, belief, rows, rng):
        frame = super().people(belief, rows, rng)
        return frame.assign(day=DAYS[frame["day"]])

    def as_program(self, belief, frame):
        _, beside = super().as_program(belief, frame)
        return AfterProgram(str(belief)), beside


class AfterProgram(ProgramBelief):
    """The printed program, with the days as its network ``after`` reads them."""

    def _leaf_value(self, leaf, rows):
        if leaf.name == "after":
            rows = rows.take(np.arange(len(rows)))
            rows.frame["after"] = (rows.frame["day"] >= REFORM).astype(int)
        return super()._leaf_value(leaf, rows)

    @property
    def columns(self):
        return replace(super().columns, optional=("after",))


class TestChangedBias(InPeriods):
    def make(self):
        return ChangedBias("a", "day", REFORM, affected=[1])

    def known(self):
        return {"neg(1,0)": 0.45, "neg(1,1)": 0.1, "pos(1,0)": 0.05, "pos(1,1)": 0.2}

    def simulate(self, belief, rows, rng):
        rows = 2 * rows
        cells, fair = rng.integers(0, 4, rows), rng.integers(0, 2, rows)
        frame = pd.DataFrame({"a": cells // 2, "day": DAYS[cells % 2]})
        return frame, {"recorded": distorted_labels(belief, fair, cells, rng), "fair": fair}


def decisions(rows: int, seed: int, before: float = 0.5, after: float = 0.1) -> pd.DataFrame:
    """Of those who should have had it, applicants of one group were turned down; less often since the reform."""
    rng = np.random.default_rng(seed)
    day = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 730, rows), unit="D")
    group, fair = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    lost = (group == 1) & (rng.random(rows) < np.where(day < REFORM, before, after))
    return pd.DataFrame({"group": group, "day": day, "granted": fair * ~lost, "due": fair})


def estimated(belief, audit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        return belief.estimate(audit, recorded="granted", fair="due")


def test_the_day_is_searched_for_and_found():
    belief = ChangedBias("group", "day", positive=False, affected=[1])
    with pytest.raises(MissingValueError, match="the day of the change is not known"):
        belief._require_known()
    found = estimated(belief, decisions(600, 0))
    away = abs(pd.Timestamp(found.change_point.day) - pd.Timestamp(REFORM))
    assert away <= pd.Timedelta(days=45)
    assert found.change_point.low <= found.change_point.day <= found.change_point.high
    assert found.change_point.low <= REFORM <= found.change_point.high
    assert found.change_point.p < 0.01
    assert [own.low < true < own.high for own, true in zip(found.parameters, (0.5, 0.1), strict=True)] == [
        True,
        True,
    ]
    assert f"changed on {found.change_point.day}, which was searched" in found.words()[1]
    assert Belief.from_json(json.loads(json.dumps(found.to_json()))) == found
    # What is found is kept, also by another audit.
    assert estimated(found, decisions(300, 1)).period == found.period


def test_an_audit_is_planned_before_the_day_is_known_and_finds_it():
    loans = decisions(6000, 5)
    belief, table = ChangedBias("group", "day", positive=False, affected=[1]), loans.drop(columns="due")
    options = {"recorded": "granted", "fair": "due", "error": 0.1}
    plan, rounds = belief.plan_audit(table, **options), 0
    assert any("rows of all days" in note for note in plan.notes)
    while not plan.stop:
        todo = plan.draw(random_state=0)
        todo["due"] = loans["due"].to_numpy()[todo["row"].to_numpy(dtype=int)]
        plan, rounds = belief.plan_audit(table, pilot=todo, **options), rounds + 1
        assert rounds < 20
    found = estimated(belief, todo)
    assert len(todo) < plan.hoeffding.asked
    assert max(own.high - own.low for own in found.parameters) <= 0.2
    assert abs(pd.Timestamp(found.change_point.day) - pd.Timestamp(REFORM)) <= pd.Timedelta(days=45)
    np.testing.assert_allclose([own.value for own in found.parameters], [0.5, 0.1], atol=0.15)
    with pytest.raises(P4FError, match="'day' has the value 'May', which is no day"):
        belief.plan_audit(table.assign(day="May"), **options)


def test_no_change_is_found_in_nineteen_of_twenty_audits_without_one():
    alarms, right = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        days = np.datetime64("2019-01-01") + np.sort(rng.integers(0, 730, 120))
        cells, late = rng.integers(0, 2, 120), days >= np.datetime64(REFORM)
        alarms += search_change(days, cells, (rng.random(120) < 0.3).astype(float)).p <= 0.05
        right += search_change(days, cells, (rng.random(120) < np.where(late, 0.1, 0.45)).astype(float)).p <= 0.05
    assert alarms <= 5
    assert right >= 36


def test_the_interval_around_the_day_holds_it_in_95_of_100_audits():
    inside = []
    for seed in range(60):
        audit = decisions(500, seed)
        audit = audit[(audit["group"] == 1) & (audit["due"] == 1)]
        days, lost = audit["day"].to_numpy().astype("datetime64[D]"), (audit["granted"] == 0).to_numpy(dtype=float)
        found = search_change(days, np.zeros(len(audit), dtype=int), lost)
        inside.append(found.low <= REFORM <= found.high)
    assert np.mean(inside) >= 0.93


def test_a_period_without_audited_rows_is_told():
    belief = ChangedBias("group", "day", [REFORM, "2022-01-01"], positive=False, affected=[1])
    with pytest.warns(AuditWarning, match="no audited row with a fair 1 has day since 2022-01-01: what is said of it"):
        belief.estimate(decisions(600, 3), recorded="granted", fair="due")


def test_it_says_where_the_audit_shows_no_change():
    belief = ChangedBias("group", "day", positive=False, affected=[1])
    with pytest.warns(AuditWarning, match="does not show that the bias changed \\(p = 0.*believe in LabelBias"):
        belief.estimate(decisions(600, 3, 0.3, 0.3), recorded="granted", fair="due")


def test_several_changes_and_other_columns():
    belief = ChangedBias("group", "day", ["2020-03-01", "2019-06-01"], depends_on({"office": ("east",)}), False)
    assert belief.period.changes == ("2019-06-01", "2020-03-01")
    assert [own.name for own in belief.parameters][:2] == ["neg(1,east,0)", "neg(1,east,1)"]
    assert belief.columns.withheld == ("office", "day")
    assert belief.parameters[1].meaning.endswith("day since 2019-06-01 and before 2020-03-01")
    audit = decisions(300, 4).assign(office="west")
    searched = ChangedBias("group", "day", None, depends_on("office"), False)
    found = estimated(searched, audit)
    assert [own.name for own in found.parameters][:2] == ["neg(1,0,west)", "neg(1,0,other)"]
    assert Belief.from_json(searched.to_json()) == searched


@pytest.mark.parametrize("day", ["2019-07-04", "2019-07-04T10:00:00", pd.Timestamp("2019-07-04", tz="UTC"), 2019])
def test_days_are_read_as_they_are_written(day):
    period = ChangedBias("group", "day", "2020").period
    assert period.positions(pd.DataFrame({"day": [day]})).tolist() == [0]


@pytest.mark.parametrize(
    ("days", "match"),
    [
        (["2019-01-01", "1st of May"], "'day' has the value '1st of May', which is no day; write days as 2020-03-01"),
        (["2019-01-01", None], "'day' misses a day"),
        (["2019-01-01", "04/05/2019"], "which is no day"),
    ],
)
def test_days_that_are_none_are_told_in_one_line(days, match):
    belief = ChangedBias("group", "day", REFORM, positive=False)
    audit = pd.DataFrame({"group": [0, 1], "day": days, "granted": [0, 1], "due": [1, 1]})
    with pytest.raises(P4FError, match=match) as told:
        belief.estimate(audit, recorded="granted", fair="due")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ChangedBias("g", "day", "soon"), "changed='soon' is no day"),
        (lambda: ChangedBias("g", "day", REFORM, 0.3), "state numbers by .bind"),
        (lambda: chain(LabelBias("g"), ChangedBias("g", "day")), "the day of the change is not known"),
        (lambda: estimated(ChangedBias("group", "day"), decisions(12, 0)), "no day divides the 12 audited rows"),
        (lambda: estimated(ChangedBias("group", "month"), decisions(50, 0)), "no column 'month'"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(make, match):
    with pytest.raises(P4FError, match=match) as told:
        make()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "text", ["2020-03-01T00:30:00+02:00", "2020-03-01 00:30:00.5+0200", "2020-03-01T00:30Z", "2020-03-01"]
)
def test_a_time_zone_does_not_move_a_row_to_another_day(text):
    assert str(days_of(pd.Series([text]))[0]) == "2020-03-01"
    assert str(days_of(pd.Series([pd.Timestamp(text)]))[0]) == "2020-03-01"


def test_days_of_change_may_be_an_array():
    assert ChangedBias("g", "day", changed=np.array(["2020-06-01", "2021-01-01"])).period.changes[1] == "2021-01-01"


def test_no_day_is_not_a_change():
    with pytest.raises(P4FError, match=r"changed=\[\] names no day"):
        ChangedBias("a", "day", [])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_audit_is_planned_in_rounds_where_the_day_is_searched_for():
    """Rows are drawn by group and recorded label; the day that is found does not change how the next ones are."""
    rng = np.random.default_rng(5)
    count = 20_000
    days = np.datetime64("2019-01-01") + rng.integers(0, 730, count)
    a, fair = rng.integers(0, 2, count), rng.integers(0, 2, count)
    lost = rng.random(count) < np.where(a == 1, np.where(days < np.datetime64(REFORM), 0.6, 0.05), 0)
    table = pd.DataFrame({"a": a, "day": days.astype(str), "recorded": np.where(lost, 0, fair), "truth": fair})
    belief = ChangedBias("a", "day", positive=False, affected=[1])
    told = {"recorded": "recorded", "fair": "fair"}
    plan = belief.plan_audit(table.drop(columns="truth"), **told, error=0.1)
    assert any("rows of all days" in note for note in plan.notes)
    audit = None
    for _ in range(3):
        audit = plan.draw(random_state=0, rows=audit, cells=table)
        audit = audit.assign(fair=table["truth"].to_numpy()[audit["row"].astype(int)])
        found = belief.estimate(audit, **told)
        plan = found.plan_audit(table.drop(columns="truth"), **told, error=0.1, pilot=audit)
    assert found.change_point.low <= REFORM <= found.change_point.high
    assert abs(np.datetime64(found.change_point.day) - np.datetime64(REFORM)) < np.timedelta64(45, "D")
    before, after = (own.value for own in found.parameters)
    assert before == pytest.approx(0.6, abs=0.15)
    assert after == pytest.approx(0.05, abs=0.1)


def test_intervals_hold_where_the_day_was_searched_for_and_hardly_anything_changed():
    """Of the day that divides rows best both sides are taken too far apart; intervals know that it was searched."""
    held = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        a, fair, day = rng.integers(0, 2, 800), rng.integers(0, 2, 800), rng.integers(0, 730, 800)
        lost = (a == 1) & (rng.random(800) < np.where(day < 365, 0.3, 0.4))
        days = (np.datetime64("2019-01-01") + day).astype(str)
        audit = pd.DataFrame({"a": a, "day": days, "recorded": np.where(lost, 0, fair), "fair": fair})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AuditWarning)
            belief = ChangedBias("a", "day", positive=False, affected=[1])
            found = belief.estimate(audit, recorded="recorded", fair="fair")
        held += [own.low <= truth <= own.high for own, truth in zip(found.parameters, (0.3, 0.4), strict=True)]
    assert np.mean(held) >= 0.9
