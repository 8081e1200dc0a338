"""Whether the data contradict a belief."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.checks.finding import holm
from problog4fairness.errors import MissingValueError, P4FError
from tests.checks.people import belief, people

LABELS = {"recorded": "granted", "fair": "repaid"}
pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")


@pytest.fixture(scope="module")
def data():
    return people()


@pytest.fixture(scope="module")
def right(data):
    estimated = belief().bind(None).estimate(data.audit, **LABELS)
    return estimated.check(data.table, audit=data.audit, **LABELS)


@pytest.fixture(scope="module")
def swapped(data):
    return belief(neg=(0.4, 0.1)).check(data.table, audit=data.audit, **LABELS)


def test_a_belief_from_the_audit_is_not_contradicted_by_it(right):
    assert not right.contradicted
    assert right.table["p"].notna().sum() == 7
    assert "do not contradict the belief (7 checks on 1,500 recorded rows and 300 audited rows)" in right.verdict
    assert "does not confirm" in right.verdict
    assert right.words() == [right.verdict, right.power]
    for name in ("group consistency", "class-conditional", "calibration", "independence", "parameters"):
        assert f"{name} {right[name].least}" in right.power
        assert "points" in right[name].least


def test_swapped_groups_are_contradicted_with_rows_and_advice(swapped, data):
    assert swapped.contradicted
    against = set(swapped.table.index[swapped.table["contradicts"]])
    assert {"group consistency", "parameters"} <= against
    told = swapped["parameters"]
    assert "by the audit" in told.finding
    assert "estimate" in told.advice.lower()
    assert (told.rows.index == -1).all()  # these people are in the audit only
    region = swapped["range"].rows
    assert region["area"].eq(0).all()  # believed to lose 40%, which they do not
    there = data.table.loc[region.index]
    assert (there["granted"].to_numpy() == region["granted"].to_numpy()).all()
    assert (there["income"].to_numpy() == region["income"].to_numpy()).all()


def test_recorded_rows_alone_refute_a_belief_where_there_is_no_bias():
    data = people(neg=(0, 0), pos=(0, 0))
    checked = belief(neg=(0, 0.4), pos=(0, 0)).check(data.table, recorded="granted")
    assert checked["range"].contradicts
    assert "the belief allows at most 60%" in checked["range"].finding
    assert checked["plain learner"].contradicts
    for name in ("class-conditional", "calibration", "independence", "parameters", "impossible outcomes"):
        assert (checked[name].p, checked[name].finding) == (None, "not done: there is no audit")


def test_a_bias_that_moves_with_a_feature_is_found_and_the_feature_named():
    data = people(audited=600, moving=0.3, neg=(0.3, 0.4))
    estimated = belief().bind(None).estimate(data.audit, **LABELS)
    checked = estimated.check(data.table, audit=data.audit, **LABELS)["class-conditional"]
    assert checked.contradicts
    assert "where age is high" in checked.finding
    assert "RowBias(..., depends_on(model=['age']))" in checked.advice


def test_a_flip_that_the_belief_rules_out_was_seen(data):
    result = p4f.LabelBias("area", {0: 0.1, 1: 0.4}, False).check(data.table, audit=data.audit, **LABELS)
    checked = result["impossible outcomes"]
    seen = data.audit[(data.audit["granted"] == 1) & (data.audit["repaid"] == 0)]
    assert checked.contradicts
    assert checked.finding.startswith(f"{len(seen)} of ")
    assert len(checked.rows) == len(seen)


def test_few_audited_rows_give_no_p_value(data):
    checked = belief().check(data.table, audit=data.audit[:9], **LABELS)
    audited = ["class-conditional", "calibration", "independence", "parameters", "impossible outcomes"]
    assert checked.table.loc[audited, "p"].isna().all()
    assert (checked.table.loc[audited, "finding"] == "not done: fewer than 10 audited rows").all()
    few = belief().check(data.table[:99], audit=data.audit[:9], **LABELS)
    assert few.table["p"].isna().all()
    assert few["range"].finding == "not done: fewer than 100 recorded rows"
    assert not few.contradicted
    assert few.verdict == "No check of the belief could be done."


def test_p_values_are_never_below_their_resolution_and_never_fall_by_correction(swapped):
    done = swapped.table.dropna(subset="p")
    assert (done["p"] >= 1 / 20_000).all()
    assert (done["corrected"] >= done["p"]).all()


def test_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_seed_decides(data):
    first, again, other = (belief().check(data.table, recorded="granted", random_state=k).table["p"] for k in (0, 0, 1))
    assert first.equals(again)
    assert not first.equals(other)


def test_a_program_of_ones_own_is_tested_as_the_template_is(data):
    program_belief = p4f.ProgramBelief(belief().text(), columns={"a": "area"})
    options = {"audit": data.audit, **LABELS}
    program, template = (
        program_belief.check(data.table, **options).table["p"],
        belief().check(data.table, **options).table["p"],
    )
    np.testing.assert_allclose(program.drop("parameters"), template.drop("parameters"), atol=1e-3)
    # The numbers are in the program: it has no parameters of its own.
    assert np.isnan(program["parameters"])


def test_an_audit_may_be_a_column_of_the_table(data):
    table = data.table.assign(repaid=np.nan)
    table.loc[:99, "repaid"] = data.table.loc[:99, "granted"]
    checked = belief().check(table, **LABELS)
    assert checked.audited == 100
    assert checked["parameters"].contradicts  # nobody was wronged by this audit
    assert set(checked["parameters"].rows.index) <= set(range(100))


def test_rows_and_frames_are_the_same(data):
    features = ("income", "age", "job")
    table, audit = (
        p4f.data.Rows(frame, features, (0, 1), frame["granted"].to_numpy(), frame.get("repaid"))
        for frame in (data.table, data.audit)
    )
    frames = belief().check(data.table, audit=data.audit, **LABELS)
    assert belief().check(table, audit=audit).table["p"].equals(frames.table["p"])


def test_dependence_on_the_group_is_allowed_where_it_is_said(data):
    checked = belief().check(data.table, audit=data.audit, use_sensitive=True, **LABELS)
    assert checked["group consistency"].p is None
    assert checked["independence"].p is None
    assert "use_sensitive=True" in checked["independence"].finding


def test_a_fair_label_that_depends_on_the_group_is_found():
    data = people(audited=600)
    worse = data.audit["area"].eq(1) & (np.arange(600) % 2 == 0)
    audit = data.audit.assign(repaid=data.audit["repaid"].where(~worse, 0))
    checked = belief().check(data.table, audit=audit, **LABELS)["independence"]
    assert checked.contradicts
    assert "use_sensitive=True" in checked.advice


def test_it_shows_itself(swapped):
    html = swapped._repr_html_()
    assert swapped.verdict in html
    assert "<b>" in html
    assert str(swapped).startswith(swapped.verdict)
    labels = [label.get_text() for label in swapped.plot().axes[0].get_yticklabels()]
    assert labels == list(reversed(swapped.table.index))
    plain = swapped.to_dict()
    assert plain["contradicted"] is True
    assert {entry["test"] for entry in plain["tests"]} == set(swapped.table.index)


def test_what_cannot_be_checked_is_one_line(data):
    with pytest.raises(MissingValueError, match="estimate from audited rows"):
        belief().bind(None).check(data.table, recorded="granted")
    with pytest.raises(P4FError, match="name the column of the recorded label"):
        belief().check(data.table)
    with pytest.raises(P4FError, match="did you mean 'granted'"):
        belief().check(data.table, recorded="grantd")
    with pytest.raises(P4FError, match="fair label in the audit by fair="):
        belief().check(data.table, recorded="granted", audit=data.audit)
    with pytest.raises(P4FError, match="'other'"):
        belief().check(data.table, audit=data.audit.assign(repaid="other"), **LABELS)
    with pytest.raises(P4FError, match="a data frame or Rows, not list"):
        belief().check([1, 2], recorded="granted")


def test_an_audit_that_was_drawn_by_recorded_label_is_not_taken_as_a_random_one(data):
    refused = people(audited=2000, seed=5).audit.query("granted == 0")[:300]
    checked = belief().check(data.table, audit=refused, **LABELS)
    for name in ("parameters", "calibration", "independence"):
        assert "other recorded labels than the table" in checked[name].finding
    assert not checked.contradicted


def test_recorded_rows_that_the_belief_rules_out_contradict_it(data):
    checked = p4f.LabelBias("area", {0: 0.1, 1: 1.0}, False).check(data.table, recorded="granted")
    assert checked["range"].contradicts
    impossible = data.table.query("area == 1 and granted == 1")
    assert checked["range"].rows.index.tolist() == impossible.index.tolist()
    assert f"{len(impossible)} rows cannot have been recorded as they were" in checked["range"].finding
    assert "rules recorded rows out" in checked["plain learner"].finding


def test_groups_may_be_uncertain(data):
    table = data.table.assign(area=np.where(data.table["area"] == 1, 0.9, 0.1))
    rows = p4f.data.Rows(table, ("income", "age", "job"), (0, 1), table["granted"].to_numpy())
    soft = p4f.ProgramBelief(belief().text(), columns={"a": "area"}).check(rows)
    assert soft["range"].p is not None
    assert soft["plain learner"].p is not None
