"""Selective labels: a missing label is an outcome, by group, by who decided, and where only the accepted were kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs.templates.chains import chain
from problog4fairness.beliefs.templates.features.measurement import MeasurementBias
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.beliefs.templates.records.selective import SelectiveLabels
from problog4fairness.errors import P4FError
from tests.beliefs.contract import BeliefContract, distorted_labels

GOOD, BAD = {1: 0.5, 0: 0.8}, {1: 0.1, 0: 0.3}


class TestSelectiveLabels(BeliefContract):
    def make(self):
        return SelectiveLabels("poor_area")

    def known(self):
        return {"s(1,1)": 0.5, "s(1,0)": 0.8, "s(0,1)": 0.2, "s(0,0)": 0.3}

    def harmless(self):
        return dict.fromkeys(self.known(), 1.0)

    def simulate(self, belief, rows, rng):
        groups, fair = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
        recorded = np.array([0, 1, np.nan])[distorted_labels(belief, fair, groups, rng)]
        return pd.DataFrame({"poor_area": groups, "paid": recorded, "would": fair}), {
            "recorded": "paid",
            "fair": "would",
        }


class TestWhoDecided(BeliefContract):
    def make(self):
        return SelectiveLabels("a", decided_by={"officer": ("ann", "bob", "cleo")})

    def known(self):
        names = [own.name for own in self.make().parameters]
        return dict(zip(names, (0.9, 0.5, 0.7, 0.8, 0.4, 0.6, 0.5, 0.1, 0.2, 0.4, 0.1, 0.3), strict=True))

    def harmless(self):
        return dict.fromkeys(self.known(), 1.0)

    def simulate(self, belief, rows, rng):
        strata, fair = rng.integers(0, 6, rows), rng.integers(0, 2, rows)
        frame = pd.DataFrame({"a": strata // 3, "officer": np.array(["ann", "bob", "cleo"])[strata % 3]})
        recorded = np.array([0, 1, np.nan])[distorted_labels(belief, fair, strata, rng)]
        return frame, {"recorded": recorded, "fair": fair}


class TestOnlyAcceptedKept(TestSelectiveLabels):
    without = ("estimator",)

    def make(self):
        return SelectiveLabels("poor_area", kept="accepted")

    def tables(self, belief):
        return [SelectiveLabels._keeping(belief, "all").label_table()]

    def simulate(self, belief, rows, rng):
        return super().simulate(belief._keeping("all"), rows, rng)


class TestInAChain(TestSelectiveLabels):
    """What is recorded of the accepted is, besides, mistaken at times."""

    def make(self):
        return chain(LabelBias("old", 0.1, 0.05, affected=[1]), SelectiveLabels("poor_area")).bind(None)

    def known(self):
        stages = {"s_poor_area(1,1)": 0.5, "s_poor_area(1,0)": 0.8, "s_poor_area(0,1)": 0.2, "s_poor_area(0,0)": 0.3}
        return {"p1_old": 0.2, "p3_old": 0.1, **stages}

    def harmless(self):
        return {name: float(name.startswith("s")) for name in self.known()}

    def simulate(self, belief, rows, rng):
        groups, fair = rng.integers(0, 4, rows), rng.integers(0, 2, rows)
        frame = pd.DataFrame({"old": groups // 2, "poor_area": groups % 2})
        return frame, {"recorded": np.array([0, 1, np.nan])[distorted_labels(belief, fair, groups, rng)], "fair": fair}


def loans(rows: int, seed: int, deciders: tuple[float, ...] = (1.0,)) -> pd.DataFrame:
    """People of whom some are granted a loan; a decider of leniency l accepts l times as many."""
    rng = np.random.default_rng(seed)
    income, noise = rng.normal(size=(2, rows))
    poor, officer = rng.integers(0, 2, rows), rng.integers(0, len(deciders), rows)
    would = (rng.random(rows) < 1 / (1 + np.exp(-2 * income))).astype(int)
    chance = np.where(would, np.where(poor, GOOD[1], GOOD[0]), np.where(poor, BAD[1], BAD[0]))
    granted = rng.random(rows) < chance * np.array(deciders)[officer]
    frame = {"income": income, "noise": noise, "poor_area": poor, "officer": officer}
    return pd.DataFrame(frame | {"paid": np.where(granted, would, np.nan), "would": would})


def test_the_record_itself_tells_who_was_accepted():
    covered = []
    for seed in range(8):
        found = SelectiveLabels("poor_area").estimate(loans(3000, seed), recorded="paid", features=["income", "noise"])
        truth = (0.5, 0.8, 0.1, 0.3)
        covered += [own.low < value < own.high for own, value in zip(found.parameters, truth, strict=True)]
    assert np.mean(covered) >= 0.85


def test_deciders_of_different_leniency_tell_without_a_word_about_x():
    data = loans(6000, 0, deciders=(0.4, 1.2))
    belief = SelectiveLabels("poor_area", decided_by={"officer": (0, 1)})
    found = belief.estimate(data, recorded="paid", features=["income"]).parameter_table()["value"]
    assert found["s(1,1,0)"] == pytest.approx(0.4 * 0.5, abs=0.07)
    assert found["s(1,0,1)"] == pytest.approx(1.2 * 0.8, abs=0.1)


@pytest.mark.parametrize("kept", ["all", "accepted"])
def test_a_classifier_knows_those_who_were_turned_down(kept):
    data, new = loans(4000, 0), loans(4000, 1)
    belief = SelectiveLabels("poor_area", GOOD, BAD, kept=kept)
    rows = data if kept == "all" else data[data["paid"].notna()]
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    model.fit(rows[["income", "noise"]], rows["paid"], sensitive_features=rows["poor_area"])
    cases = data[data["paid"].notna()]
    plain = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(cases[["income", "noise"]], cases["paid"])
    off = [abs(own.predict_proba(new[["income", "noise"]])[:, 1].mean() - 0.5) for own in (model, plain)]
    assert off[0] < 0.04
    assert off[1] > 0.12


def test_rows_without_a_label_are_explained_too():
    data = loans(1500, 0)
    features, belief = data[["income", "poor_area"]], SelectiveLabels("poor_area", GOOD, BAD)
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(features, data["paid"])
    found = model.explain(features, data["paid"])
    assert found.recorded.shape == (1500, 3)
    np.testing.assert_allclose(found.recorded.sum(axis=1), 1)
    assert np.isnan(found.distorted[data["paid"].isna()]).all()
    np.testing.assert_allclose(found.distorted[data["paid"].notna()], 0, atol=1e-9)


def test_who_decided_is_not_learned_from():
    data = loans(800, 0, deciders=(0.4, 1.2))
    belief = SelectiveLabels("poor_area", 0.8, 0.2, decided_by={"officer": (0, 1)})
    model = p4f.DebiasedClassifier(belief, "linear", use_sensitive=True, random_state=0)
    model.fit(data[["income", "poor_area", "officer"]], data["paid"])
    assert model.columns_ == ["income", "poor_area"]


def test_missing_labels_without_such_a_belief_are_refused():
    data = loans(100, 0)
    with pytest.raises(P4FError, match=r"y has \d+ missing values; drop those rows"):
        p4f.DebiasedClassifier(LabelBias("poor_area", 0.1, 0.1), "linear").fit(
            data[["income", "poor_area"]], data["paid"]
        )
    rows = p4f.data.Rows(data, ("income",), (0, 1), data["paid"].fillna(-1).astype(int).to_numpy())
    with pytest.raises(P4FError, match="rows have no recorded label, and the belief does not say when that happens"):
        LabelBias("poor_area", 0.1, 0.1).observe(rows)


def test_words():
    words = SelectiveLabels("poor_area", GOOD, BAD, kept="accepted").words(p4f.beliefs.Label("paid"))
    assert words[0].endswith("The others are not in the table.")
    assert words[1] == (
        "Of the people with poor_area = 1 who should have paid = 1, 50% were accepted; of those who should have "
        "paid = 0, 10%."
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SelectiveLabels("a", 0, 0), r"s\(1,1\) and s\(0,1\) 0 would mean that no label is ever recorded"),
        (lambda: SelectiveLabels("a", kept="some"), "kept must be 'all' or 'accepted', not 'some'"),
        (lambda: SelectiveLabels("a", {5: 0.1}), "good names 5, which is not among 0, 1"),
        (lambda: chain(SelectiveLabels("a"), LabelBias("a")), "in a chain, SelectiveLabels comes last"),
        (
            lambda: chain(MeasurementBias("f", "a"), SelectiveLabels("a", kept="accepted")),
            "a chain with MeasurementBias needs all rows",
        ),
        (
            lambda: SelectiveLabels("a").estimate(
                pd.DataFrame({"a": [0, 1], "r": [0, 1], "f": [0, 1]}), recorded="r", fair="f"
            ),
            "every audited row has a recorded label; audit people who were not accepted, too",
        ),
        (lambda: SelectiveLabels("a").estimate(pd.DataFrame(), recorded="r"), "name the audited column by fair="),
    ],
)
def test_impossible(call, message):
    with pytest.raises(P4FError, match=message):
        call()


def test_a_group_of_which_nobody_was_accepted_is_named():
    data = pd.DataFrame({"poor_area": [0, 0, 1, 1] * 5, "x": range(20), "paid": [0, 1, None, None] * 5})
    with pytest.raises(P4FError, match=r"no label is recorded where poor_area = 1; the record does not tell of it"):
        SelectiveLabels("poor_area").estimate(data, recorded="paid", features=["x"])


def test_class_weights_need_labels():
    data = loans(100, 0)
    model = p4f.DebiasedClassifier(SelectiveLabels("poor_area", GOOD, BAD), "linear", class_weight="balanced")
    with pytest.raises(P4FError, match="class_weight needs one recorded label for each row"):
        model.fit(data[["income", "poor_area"]], data["paid"])


@pytest.mark.filterwarnings("ignore::problog4fairness.data.FileNote")
def test_the_command_line_keeps_rows_without_a_label(tmp_path):
    from problog4fairness.app.cli import app

    loans(1500, 0).drop(columns=["would", "officer"]).to_csv(tmp_path / "loans.csv", index=False)
    loans(1500, 1).drop(columns="officer").to_csv(tmp_path / "audit.csv", index=False)
    columns = ("--recorded", "paid", "--sensitive", "poor_area")
    commands = [
        ("estimate", "audit.csv", *columns, "--fair", "would", "--belief", "selective", "-o", "belief.pl"),
        ("train", "loans.csv", *columns, "--belief", "belief.pl", "--learner", "linear", "-o", "loans.p4f", "--json"),
        ("predict", "loans.p4f", "loans.csv", "-o", "scored.csv"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        results = [CliRunner().invoke(app, command, catch_exceptions=False) for command in commands]
    assert [result.exit_code for result in results] == [0, 0, 0], results[-1].output
    assert '"rows": 1500, "rows_left_out": 0' in results[1].stdout
    assert 0.4 < pd.read_csv(tmp_path / "scored.csv")["fair_probability"].mean() < 0.6


def by_score(seed: int, strength: float, rows: int = 1_500) -> tuple[pd.DataFrame, Any]:
    """People who were accepted by x, and whether each should have been."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"A": rng.integers(0, 2, rows), "x": rng.normal(size=rows)})
    fair = (rng.random(rows) < 1 / (1 + np.exp(-1.5 * frame["x"]))).astype(int)
    accepted = rng.random(rows) < 1 / (1 + np.exp(-strength * frame["x"] - 0.5))
    return frame.assign(rec=np.where(accepted, fair, np.nan)), fair


@pytest.mark.parametrize("strength", [2.0, 8.0])
def test_acceptance_by_a_score_is_found_by_likelihood(strength: float) -> None:
    table, _ = by_score(1, strength)
    with pytest.warns(AuditWarning, match="follows x"):
        found = SelectiveLabels("A").estimate(table, recorded="rec", features=["x"], favourable=1)
    good, bad = found.parameters[:2], found.parameters[2:]
    assert [own.value for own in good] == [own.value for own in bad]
    assert "beyond the features" in found.limitations()[0]
    stated = SelectiveLabels("A").estimate(table, recorded="rec", features=["x"], acceptance="features")
    assert stated.parameter_table()["value"].tolist() == found.parameter_table()["value"].tolist()


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_extreme_acceptance_have_ends(seed: int) -> None:
    """Where the likeliest logit was beyond the grid, there was no interval, and ends were those of the grid."""
    table, _ = by_score(seed, 8.0, 600)
    found = SelectiveLabels("A").estimate(table, recorded="rec", features=["x"], favourable=1, acceptance="label")
    known = found.parameter_table()
    assert (known["low"] <= known["value"]).all()
    assert (known["value"] <= known["high"]).all()
    grid = 1 / (1 + np.exp(-np.array([-6.0, -3.5, -2.2, -1.2, -0.4, 0.4, 1.2, 2.2, 3.5, 6.0])))
    assert not np.isclose(known[["low", "high"]].to_numpy()[..., None], grid, atol=1e-6).any()


def test_acceptance_by_the_label_stays_where_deciders_knew_it() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"A": rng.integers(0, 2, 3_000), "x": rng.normal(size=3_000)})
    fair = (rng.random(3_000) < 1 / (1 + np.exp(-2 * frame["x"]))).astype(int)
    accepted = rng.random(3_000) < np.where(fair == 1, 0.8, 0.2)
    table = frame.assign(rec=np.where(accepted, fair, np.nan))
    found = SelectiveLabels("A").estimate(table, recorded="rec", features=["x"], favourable=1)
    assert found.parameter_table()["value"].tolist() == pytest.approx([0.8, 0.8, 0.2, 0.2], abs=0.1)


def test_acceptance_is_one_of_three() -> None:
    with pytest.raises(P4FError, match="'score'"):
        SelectiveLabels("A").estimate(by_score(0, 1.0)[0], recorded="rec", features=["x"], acceptance="score")
