"""Audited rows know how they were sampled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.errors import P4FError

DATA = p4f.datasets.loans(rows=3000, audited=1, new=1)
# A table whose index is not its row numbers.
LOANS = DATA.loans.set_axis(np.arange(3000) * 3 + 7)
FAIR = pd.Series(DATA.loans_repaid.to_numpy(), LOANS.index)
BELIEF = p4f.LabelBias("poor_area")
COLUMNS = {"recorded": "granted", "fair": "repaid"}


def planned(**options):
    """A pilot of the plan, filled in."""
    todo = BELIEF.plan_audit(LOANS, **COLUMNS).draw(**options)
    return todo.assign(repaid=FAIR[todo.index])


def test_rows_keep_the_index_of_the_table_and_take_any_value():
    todo = BELIEF.plan_audit(LOANS, **COLUMNS).draw()
    pd.testing.assert_frame_equal(LOANS.loc[todo.index], todo[LOANS.columns], check_names=False)
    assert (LOANS.loc[todo["row"], "income"].to_numpy() == todo["income"].to_numpy()).all()
    assert todo["repaid"].isna().all()
    todo.loc[todo.index[:20], "repaid"] = 1
    todo.loc[todo.index[20:], "repaid"] = "0"
    assert len(p4f.Audit.of(todo, fair="repaid", table=LOANS)) == len(todo)


def test_a_planned_audit_is_weighted_by_the_sizes_of_its_strata():
    todo = planned()
    todo.loc[todo.index[:7], "repaid"] = None  # not all are filled in
    audit = p4f.Audit.of(todo, fair="repaid", table=LOANS)
    assert audit.sampling == "stratified"
    assert len(audit) == len(todo) - 7
    assert "weighted" in audit.describe()
    kinds = LOANS.groupby(["poor_area", "granted"]).size()
    mine = audit.frame.groupby(["poor_area", "granted"]).size()
    expected = [(kinds / mine)[key] for key in zip(audit.frame["poor_area"], audit.frame["granted"], strict=True)]
    assert audit.weights == pytest.approx(np.array(expected) / np.mean(expected))
    assert audit.mean(audit.frame["granted"]).value == pytest.approx(LOANS["granted"].mean())
    assert (LOANS.index[audit.rows] == audit.frame["row"]).all()


def test_a_planned_row_without_a_group_is_named():
    todo = planned()
    todo["poor_area"] = todo["poor_area"].astype(float)
    todo.loc[todo.index[3], "poor_area"] = np.nan
    with pytest.raises(P4FError, match="1 audited rows have no group"):
        BELIEF.estimate(todo, **COLUMNS)


def test_hidden_columns_come_from_the_table():
    hidden = planned(hide=["poor_area", "granted"])
    assert not {"poor_area", "granted", "p4f_probability"} & set(hidden.columns)
    assert hidden["p4f_stratum"].is_unique  # nothing that rows of one stratum have in common
    audit, whole = (p4f.Audit.of(own, fair="repaid", table=LOANS) for own in (hidden, planned()))
    assert (audit.frame["granted"] == whole.frame["granted"]).all()
    assert audit.weights == pytest.approx(whole.weights)
    again = BELIEF.plan_audit(LOANS, pilot=hidden, **COLUMNS)
    assert again.audited == len(hidden)
    more = again.draw(hide=["poor_area", "granted"])
    assert len(more) > len(hidden)
    assert "granted" not in more.columns


def test_what_nobody_states_is_taken_as_random_with_a_warning():
    rows = LOANS.assign(repaid=FAIR).sample(200, random_state=0)
    with pytest.warns(AuditWarning, match="random sample"):
        unknown = p4f.Audit.of(rows, fair="repaid")
    assert unknown.sampling == "unknown"
    assert (unknown.weights == 1).all()
    audit = p4f.Audit.of(rows, fair="repaid", sampling="random", table=LOANS)
    assert audit.describe() == "200 rows, a random sample"
    assert (LOANS.index[audit.rows] == rows.index).all()
    estimate = audit.mean(audit.frame["repaid"])
    assert estimate.low < estimate.value == rows["repaid"].mean() < estimate.high


def test_rows_are_matched_by_index_by_identifier_or_as_equal():
    rows = LOANS.assign(repaid=FAIR, person=LOANS.index).sample(50, random_state=1)
    table = LOANS.assign(person=LOANS.index)
    for audit, options in (
        (rows, {}),
        (rows.reset_index(drop=True), {}),
        (rows[["person", "repaid"]].reset_index(drop=True), {"identifier": "person"}),
    ):
        found = p4f.Audit.of(audit, fair="repaid", table=table, sampling="random", **options)
        assert (LOANS.index[found.rows] == rows.index).all()
        assert "income" in found.frame.columns
    with pytest.warns(AuditWarning, match="none of the 50 audited rows is in the table"):
        p4f.Audit.of(rows.assign(income=-1.0), fair="repaid", table=table, sampling="random")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="p4f_stratum"), "p4f_stratum"),
        (lambda t: t.assign(p4f_stratum="x"), "p4f_stratum was changed"),
        (lambda t: t.assign(repaid=None), "no audited row is filled in"),
        (lambda t: t.drop(columns="repaid"), "repaid"),
        (lambda t: t.assign(p4f_design="{"), "cannot be read"),
    ],
)
def test_a_damaged_design_is_an_error(change, message):
    with pytest.raises(P4FError, match=message):
        p4f.Audit.of(change(planned()), fair="repaid")


def test_means_cover_by_strata_also_at_0_and_1():
    rng = np.random.default_rng(0)
    group, recorded = LOANS["poor_area"].to_numpy(), LOANS["granted"].to_numpy()
    fair, high = FAIR.to_numpy(), (LOANS["income"] > LOANS["income"].median()).to_numpy()
    sizes = LOANS.groupby(["poor_area", "granted"]).size().to_dict()
    kinds = [np.flatnonzero((group == g) & (recorded == r)) for g, r in sizes]
    values = {"fair": fair, "right": fair == recorded, "rare": (fair != recorded) & high & (group == 1)}
    everywhere = np.ones(len(fair), dtype=bool)
    targets = [(own, where) for own in values.values() for where in (everywhere, group == 1, high)]
    covered, count = np.zeros(len(targets)), 120
    for _ in range(count):
        places = np.concatenate([rng.choice(own, 25, replace=False) for own in kinds])
        audit = p4f.Audit.of(LOANS.iloc[places], strata=["poor_area", "granted"], population=sizes)
        for number, (own, where) in enumerate(targets):
            found = audit.mean(own[places], where[places])
            covered[number] += found.low <= own[where].mean() <= found.high
    assert (covered / count > 0.95 - 3 * np.sqrt(0.95 * 0.05 / count)).all()
    nothing = audit.mean(np.zeros(len(audit)))
    assert nothing.value == nothing.low == 0 < nothing.high < 0.1


def test_clusters_widen_intervals():
    rng = np.random.default_rng(1)
    officer = np.repeat(np.arange(30), 10)
    strict = rng.random(30) < 0.5
    wrong = np.where(strict[officer], rng.random(300) < 0.8, rng.random(300) < 0.1).astype(int)
    rows = pd.DataFrame({"officer": officer, "wrong": wrong})
    alone = p4f.Audit.of(rows, sampling="random").mean(wrong)
    together = p4f.Audit.of(rows, sampling="random", cluster="officer")
    found = together.mean(wrong)
    assert "30 clusters" in together.describe()
    assert found.width > 1.8 * alone.width


def test_stated_inclusion_probabilities_are_weights():
    rows = pd.DataFrame({"y": [1, 0], "p": [0.1, 0.3]})
    audit = p4f.Audit.of(rows, inclusion="p")
    assert audit.mean(rows["y"]).value == pytest.approx(0.75)
    with pytest.raises(P4FError, match="inclusion"):
        p4f.Audit.of(rows.assign(p=0), inclusion="p")


def test_estimate_weights_rows_and_knows_clusters():
    rng = np.random.default_rng(2)
    officers = np.repeat(np.arange(60), 40)
    strict = rng.random(60) < 0.3
    fair = rng.integers(0, 2, 2400)
    refused = (fair == 1) & (rng.random(2400) < np.where(strict, 0.9, 0.05)[officers])
    table = pd.DataFrame({"sex": 0, "recorded": np.where(refused, 0, fair), "fair": fair, "officer": officers})
    belief = p4f.LabelBias("sex", positive=False, affected=[0], groups=(0, 1))
    names = {"recorded": "recorded", "fair": "fair"}
    random = table.sample(400, random_state=0)
    alone = belief.estimate(p4f.Audit.of(random, sampling="random"), **names).parameters[0]
    together = belief.estimate(p4f.Audit.of(random, sampling="random", cluster="officer"), **names).parameters[0]
    assert together.value == pytest.approx(alone.value)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    # As many rows of each recorded label, which are not equally many.
    chosen = table.groupby("recorded").sample(200, random_state=0)
    weighted = p4f.Audit.of(chosen, strata="recorded", table=table)
    found = belief.estimate(weighted, **names).parameters[0]
    assert found.low < refused[fair == 1].mean() < found.high
    with pytest.warns(AuditWarning, match="nothing says how"):
        unweighted = belief.estimate(chosen, **names).parameters[0]
    assert abs(unweighted.value - found.value) > 0.02
