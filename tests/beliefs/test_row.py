"""Bias that depends on the row: cells of columns, drawn to each other, and scores."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.belief import Belief as General
from problog4fairness.beliefs.describe.files import belief_text, read_belief
from problog4fairness.beliefs.templates.chains import chain
from problog4fairness.beliefs.templates.labels.dependence import depends_on
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.beliefs.templates.labels.row import RowBias
from problog4fairness.data import Rows
from problog4fairness.errors import MissingValueError, P4FError
from problog4fairness.statistics import shrunk
from tests.beliefs.contract import BeliefContract, distorted_labels

OFFICERS = ("ann", "bob", "cleo")


class TestRowBias(BeliefContract):
    def make(self):
        return RowBias("poor_area", depends_on({"officer": OFFICERS[:2]}), depends_on({"officer": OFFICERS[:2]}))

    def known(self):
        names = [own.name for own in self.make().parameters]
        values = (0.6, 0.1, 0.3, 0.2, 0.1, 0.15, 0.05, 0.1, 0.05, 0.02, 0.2, 0.1)
        return dict(zip(names, values, strict=True))

    def simulate(self, belief, rows, rng):
        cells, fair = rng.integers(0, 6, rows), rng.integers(0, 2, rows)
        frame = pd.DataFrame({"poor_area": cells // 3, "officer": np.array(["ann", "bob", "new"])[cells % 3]})
        return frame, {"recorded": distorted_labels(belief, fair, cells, rng), "fair": fair}


class TestOnlyOneKindDepends(BeliefContract):
    """Three groups; the negative bias depends on two columns, the positive one on the group."""

    def make(self):
        negative = depends_on({"officer": OFFICERS[:1], "shift": (0,)})
        return RowBias("area", negative, groups=("north", "south", "west"), affected=["south", "west"])

    def known(self):
        names = [own.name for own in self.make().parameters]
        return {name: 0.05 + 0.06 * (number % 8) for number, name in enumerate(names)}

    def simulate(self, belief, rows, rng):
        cells, fair = rng.integers(0, 12, 3 * rows), rng.integers(0, 2, 3 * rows)
        frame = pd.DataFrame({"area": np.array(["north", "south", "west"])[cells // 4]})
        frame["officer"], frame["shift"] = np.array(["ann", "x"])[cells // 2 % 2], cells % 2
        return frame, {"recorded": distorted_labels(belief, fair, cells, rng), "fair": fair}


class TestInAChain(TestRowBias):
    def make(self):
        return chain(
            LabelBias("old", positive=False, affected=[1]),
            RowBias("poor_area", depends_on({"officer": ("ann",)}), False),
        )

    def known(self):
        inside = ("1,ann", "1,other", "0,ann", "0,other")
        return {"p1_old": 0.2} | {f"neg_poor_area({own})": 0.1 + 0.1 * i for i, own in enumerate(inside)}

    def simulate(self, belief, rows, rng):
        cells, fair = rng.integers(0, 8, rows), rng.integers(0, 2, rows)
        frame = pd.DataFrame({"old": cells // 4, "poor_area": cells // 2 % 2})
        frame["officer"] = np.array(["ann", "new"])[cells % 2]
        return frame, {"recorded": distorted_labels(belief, fair, cells, rng), "fair": fair}


def loans(rows: int, seed: int, officers: int = 12, spread: float = 4.0) -> pd.DataFrame:
    """Officers differ: some turn down most applicants from poor areas who would repay."""
    rng, truth = np.random.default_rng(seed), np.random.default_rng(99).beta(0.4 * spread, 0.6 * spread, officers)
    officer, poor = rng.integers(0, officers, rows), rng.integers(0, 2, rows)
    income, age = rng.normal(size=rows), rng.normal(size=rows)
    fair = (rng.random(rows) < 1 / (1 + np.exp(-3 * income))).astype(int)
    lost = rng.random(rows) < np.where(poor == 1, truth[officer], 0.05)
    frame = pd.DataFrame({"income": income, "age": age, "poor_area": poor})
    frame["officer"], frame["truth"] = [f"o{own}" for own in officer], truth[officer]
    return frame.assign(granted=fair * ~lost, repaid=fair)


def estimated(belief, audit, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        return belief.estimate(audit, recorded="granted", fair="repaid", **options)


def test_its_own_way_to_observe_rows_gives_the_numbers_of_its_program():
    belief = TestRowBias().bound()
    frame = TestRowBias().people(belief, 40, np.random.default_rng(0))
    rows = Rows(frame, ("skill", "other"), (0, 1), np.random.default_rng(1).integers(0, 2, 40))
    logits = torch.randn(len(belief.observe(rows).table), 1).double()
    ours, general = belief.observe(rows), General._observation(belief, rows)
    torch.testing.assert_close(ours.log_likelihood(logits), general.log_likelihood(logits))


def test_values_are_taken_from_the_audit_and_the_ones_it_lacks_get_the_mean():
    audit = loans(600, 0)
    audit = audit[audit["officer"] != "o3"]
    belief = RowBias("poor_area", depends_on("officer"), False, affected=[1])
    with pytest.raises(MissingValueError, match="how the bias depends on officer is not known"):
        belief.bind({"neg(1)": 0.2}).observe(Rows(audit, ()))
    found = estimated(belief, audit)
    table = found.parameter_table()
    assert "neg(1,o3)" not in table.index
    others = table.drop(index="neg(1,other)")
    assert table.loc["neg(1,other)", "rows"] == 0
    assert table.loc["neg(1,other)", "value"] == pytest.approx(others["value"].mean(), abs=0.08)
    new = pd.DataFrame({"poor_area": [1, 1, 1], "officer": ["o1", "o3", None]})
    given = found.observe(Rows(new, ())).recorded_given().numpy()[:, 1, 0]
    assert given[1] == given[2] == pytest.approx(table.loc["neg(1,other)", "value"])
    assert given[0] == pytest.approx(table.loc["neg(1,o1)", "value"])


def test_cells_are_nearer_to_the_truth_than_their_own_shares_and_their_intervals_hold():
    rng, off, plain, held = np.random.default_rng(0), [], [], []
    for _ in range(12):
        truth = rng.beta(2.4, 5.6, 25)
        rows = rng.integers(2, 12, 25).astype(float)
        hits = rng.binomial(rows.astype(int), truth).astype(float)
        found = shrunk(hits, rows, 0.95)
        off.append(np.mean([(own.value - true) ** 2 for own, true in zip(found, truth, strict=True)]))
        plain.append(np.mean((hits / rows - truth) ** 2))
        held += [own.low <= true <= own.high for own, true in zip(found, truth, strict=True)]
    assert np.mean(off) < 0.6 * np.mean(plain)
    assert np.mean(held) >= 0.93


def test_cells_that_are_alike_are_taken_together_and_others_are_not():
    alike = shrunk(np.array([6.0, 6, 6, 6]), np.array([20.0, 20, 20, 20]), 0.95)
    assert alike[0].value == pytest.approx(0.3, abs=0.02)
    assert alike[0].high - alike[0].low < 0.35
    apart = shrunk(np.array([2.0, 198, 10, 190]), np.full(4, 200.0), 0.95)
    assert [own.value for own in apart] == pytest.approx([0.01, 0.99, 0.05, 0.95], abs=0.01)


def test_it_beats_one_number_for_all_officers_and_comes_near_to_the_truth():
    audit, new = loans(1200, 2), loans(2000, 3)
    off = {}
    for name, belief in (
        ("row", RowBias("poor_area", depends_on("officer"), False)),
        ("label", LabelBias("poor_area", positive=False)),
    ):
        found = estimated(belief, audit)
        given = found.observe(Rows(new[["poor_area", "officer"]], ())).recorded_given().numpy()[:, 1, 0]
        off[name] = np.abs(given - np.where(new["poor_area"] == 1, new["truth"], 0.05)).mean()
    assert off["row"] < 0.6 * off["label"]


def test_a_score_where_the_audit_supports_it_and_one_number_where_it_does_not():
    audit = loans(1500, 4)
    lost = np.random.default_rng(0).random(1500) < 1 / (1 + np.exp(-2 * audit["age"]))
    audit["granted"] = audit["repaid"] * ~lost
    belief = RowBias("poor_area", depends_on(model=["age", "income"]), False, affected=[1])
    found = estimated(belief, audit)
    values = found.parameter_table()["value"].tolist()
    assert len(values) == 5
    assert values == sorted(values)
    assert values[0] < 0.25
    assert values[-1] > 0.75
    assert "age" in found.parameters[0].meaning
    assert set(found.columns.withheld) == set()
    again = Belief.from_json(json.loads(json.dumps(found.to_json())))
    assert again == found
    assert read_belief(belief_text(found)) == found
    audit["granted"] = audit["repaid"] * (np.random.default_rng(1).random(1500) > 0.3)
    with pytest.warns(AuditWarning, match="does not show that the bias depends on age, income"):
        found = belief.estimate(audit, recorded="granted", fair="repaid")
    assert [own.name for own in found.parameters] == ["neg(1)"]


def test_a_score_is_found_where_there_is_none_in_about_one_audit_of_twenty():
    found = 0
    for seed in range(50):
        audit = loans(200, seed)
        audit["granted"] = audit["repaid"] * (np.random.default_rng(seed).random(200) > 0.3)
        found += len(estimated(RowBias("poor_area", depends_on(model="age"), False), audit).variables) > 1
    assert found <= 7


def test_who_decided_is_not_learned_from_and_models_come_back_from_their_files(tmp_path):
    data, audit = loans(1200, 5), loans(400, 6)
    belief = estimated(RowBias("poor_area", depends_on("officer"), False, affected=[1]), audit)
    table = data[["income", "age", "officer", "poor_area"]]
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(table, data["granted"])
    assert model.columns_ == ["income", "age"]
    model.save(tmp_path / "model.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "model.p4f")
    assert again.belief_ == belief
    np.testing.assert_allclose(again.predict_proba(table), model.predict_proba(table))


def test_an_audit_is_planned_by_group_and_its_rows_are_weighted():
    data = loans(3000, 7, officers=3)
    belief = RowBias("poor_area", depends_on("officer"), False)
    plan = belief.plan_audit(data.drop(columns="repaid"), recorded="granted", fair="repaid", error=0.05)
    todo = plan.draw(random_state=0)
    todo["repaid"] = data["repaid"].to_numpy()[todo["row"].astype(int)]
    todo = belief.plan_audit(data.drop(columns="repaid"), recorded="granted", fair="repaid", error=0.05, pilot=todo)
    todo = todo.draw(random_state=0)
    todo["repaid"] = data["repaid"].to_numpy()[todo["row"].astype(int)]
    found = estimated(belief, todo)
    # An audit by stratum is about this very table.
    able = data[(data["poor_area"] == 1) & (data["repaid"] == 1)]
    truth = 1 - able.groupby("officer")["granted"].mean()
    assert len(found.parameters) == 8
    assert all(found.parameter_table().loc[f"neg(1,{name})", "low"] <= own for name, own in truth.items())
    assert all(found.parameter_table().loc[f"neg(1,{name})", "high"] >= own for name, own in truth.items())


def test_draws_are_as_wide_as_the_intervals():
    belief = estimated(RowBias("poor_area", depends_on("officer"), False, affected=[1]), loans(500, 8))
    drawn = np.array([[own.value for own in one.parameters] for one in belief.draws(400, random_state=0)])
    widths = np.array([own.high - own.low for own in belief.parameters])
    ratio = (np.quantile(drawn, 0.975, axis=0) - np.quantile(drawn, 0.025, axis=0)) / widths
    assert ratio.min() > 0.8
    assert ratio.max() < 1.2


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: depends_on(), "needs the name of a column"),
        (lambda: depends_on("a", model="a"), "in depends_on\\(...\\) and in model"),
        (lambda: depends_on("a", {"a": (1,)}), "'a' twice"),
        (lambda: RowBias("g", False, False), "there is no bias"),
        (lambda: RowBias("g", depends_on(model="g")), "the sensitive variable already"),
        (lambda: RowBias("g", depends_on({"o": range(6000)})), "12,002 cells"),
        (lambda: chain(RowBias("g", depends_on("o"))), "how the bias depends on o is not known"),
        (lambda: LabelBias("g", depends_on("o")), "RowBias"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(make, match):
    with pytest.raises(P4FError, match=match) as told:
        make()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("said", "change", "match"),
    [
        (depends_on("boss"), {}, "no column 'boss'"),
        (depends_on(model="officer"), {}, "'o\\d+', which is no number; name the column in depends_on\\('officer'\\)"),
        (depends_on("officer"), {"officer": np.nan}, "no value in the audited rows"),
        (depends_on("officer"), {"poor_area": 0}, "no audited row is with a fair 1 where poor_area = 1"),
    ],
)
def test_audits_that_say_nothing_are_told_in_one_line(said, change, match):
    audit = loans(100, 0).assign(**change)
    with pytest.raises(P4FError, match=match) as told:
        RowBias("poor_area", said, False).estimate(audit, recorded="granted", fair="repaid")
    assert "\n" not in str(told.value)


def test_three_classes_are_refused():
    frame = pd.DataFrame({"poor_area": [0, 1], "officer": ["ann", "bob"]})
    with pytest.raises(P4FError, match="label of two classes, not of 3"):
        TestRowBias().bound().observe(Rows(frame, (), (0, 1, 2)))


def test_numbers_that_come_back_as_texts_are_the_same_values():
    officer = RowBias("g", depends_on({"officer": [1, 2]}), False).variables[1]
    assert officer.positions(pd.DataFrame({"officer": ["1", "2", "7", None]})).tolist() == [0, 1, 2, 2]


@pytest.mark.parametrize(("said", "words"), [(5, "takes names of columns"), ({"officer": "ann"}, "are a list")])
def test_by_says_what_it_takes(said, words):
    with pytest.raises(P4FError, match=words):
        depends_on(said)


def test_by_takes_numbers_of_numpy_and_each_value_once():
    assert depends_on({"officer": np.array([2, 1, 2])}).columns == (("officer", (2, 1)),)


def test_a_column_that_waits_for_an_audit_is_in_the_picture():
    belief = RowBias("poor_area", depends_on("officer"))
    nodes = {node.name: node.observed for node in belief.picture().nodes}
    assert nodes["officer"]
    assert "officer" in belief._repr_html_()


@pytest.mark.parametrize("label", ["recorded", "fair"])
def test_a_bias_does_not_depend_on_a_label(label):
    audit = pd.DataFrame({"a": [0, 1, 1, 1], "recorded": [0, 0, 1, 0], "fair": [0, 1, 1, 1]})
    with pytest.raises(P4FError, match=f"column '{label}' is a label of the audit"):
        RowBias("a", depends_on(label)).estimate(audit, recorded="recorded", fair="fair")


def test_officers_that_are_all_unseen_are_told():
    rng = np.random.default_rng(0)
    audit = pd.DataFrame(
        {"poor": 1, "officer": rng.choice(["ann", "bob"], 200), "due": 1, "got": rng.integers(0, 2, 200)}
    )
    listed = RowBias("poor", depends_on({"officer": ("cleo", "dan", "eve", "finn")}), False, affected=[1])
    message = "no audited row with a fair 1 has officer = cleo, officer = dan, officer = eve or 1 more: what is said of"
    with pytest.warns(AuditWarning, match=message):
        listed.estimate(audit, recorded="got", fair="due")
    belief = RowBias("poor", depends_on("officer"), False, affected=[1]).estimate(audit, recorded="got", fair="due")
    table = pd.DataFrame({"x": rng.normal(size=50), "poor": rng.integers(0, 2, 50), "officer": "Ann"})
    with pytest.warns(AuditWarning, match=r"no row has a value of 'officer' that the belief knows \('ann', 'bob'\)"):
        p4f.DebiasedClassifier(belief, "linear").fit(table, rng.integers(0, 2, 50))
