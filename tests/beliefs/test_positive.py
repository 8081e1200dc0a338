"""Positive and unlabelled data: the propensity by group and by columns, and the three ways to know it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs.templates.chains import chain
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.beliefs.templates.records.positive import PositiveUnlabelled
from problog4fairness.errors import P4FError
from tests.beliefs.contract import BeliefContract, distorted_labels

TRUTH = {1: 0.3, 0: 0.6}


class TestPositiveUnlabelled(BeliefContract):
    def make(self):
        return PositiveUnlabelled("poor_area")

    def known(self):
        return {"e(1)": 0.3, "e(0)": 0.6}

    def harmless(self):
        return dict.fromkeys(self.known(), 1.0)

    def simulate(self, belief, rows, rng):
        groups, fair = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
        recorded = distorted_labels(belief, fair, groups, rng)
        return pd.DataFrame({"poor_area": groups, "seen": recorded, "ill": fair}), {"recorded": "seen", "fair": "ill"}


class TestByColumns(BeliefContract):
    def make(self):
        return PositiveUnlabelled("sex", by={"hospital": ("north", "south", "west")}, groups=("f", "m"))

    def known(self):
        names = [own.name for own in self.make().parameters]
        return dict(zip(names, (0.3, 0.5, 0.7, 0.9, 0.4, 0.6), strict=True))

    def harmless(self):
        return dict.fromkeys(self.known(), 1.0)

    def simulate(self, belief, rows, rng):
        strata, fair = rng.integers(0, 6, rows), rng.integers(0, 2, rows)
        frame = pd.DataFrame({"sex": np.array(["f", "m"])[strata // 3]})
        frame["hospital"] = np.array(["north", "south", "west"])[strata % 3]
        return frame, {"recorded": distorted_labels(belief, fair, strata, rng), "fair": fair}


class TestInAChain(TestPositiveUnlabelled):
    """Some of the fair 1s are missed by a test, and some of what it finds is not written down."""

    def make(self):
        return chain(LabelBias("old", positive=False, affected=[1]), PositiveUnlabelled("poor_area"))

    def known(self):
        return {"p1_old": 0.2, "e_poor_area(1)": 0.3, "e_poor_area(0)": 0.6}

    def harmless(self):
        return {"p1_old": 0.0, "e_poor_area(1)": 1.0, "e_poor_area(0)": 1.0}

    def simulate(self, belief, rows, rng):
        groups, fair = rng.integers(0, 4, rows), rng.integers(0, 2, rows)
        frame = pd.DataFrame({"old": groups // 2, "poor_area": groups % 2})
        return frame, {"recorded": distorted_labels(belief, fair, groups, rng), "fair": fair}


def patients(rows: int, seed: int, spread: float = 3.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, poor = rng.normal(size=(rows, 2)), rng.integers(0, 2, rows)
    ill = (rng.random(rows) < 1 / (1 + np.exp(-spread * x[:, 0]))).astype(int)
    seen = ill * (rng.random(rows) < np.where(poor, TRUTH[1], TRUTH[0]))
    return pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "poor_area": poor, "seen": seen, "ill": ill})


def values(belief):
    return [own.value for own in belief.parameters]


def test_the_propensity_by_a_stated_share_of_fair_ones():
    data = patients(4000, 0)
    share = {group: data["ill"][data["poor_area"] == group].mean() for group in (0, 1)}
    found = PositiveUnlabelled("poor_area").estimate(data, recorded="seen", positives=share)
    assert values(found) == pytest.approx([0.3, 0.6], abs=0.05)
    assert all(own.low < truth < own.high for own, truth in zip(found.parameters, (0.3, 0.6), strict=True))
    assert found.parameters[0].source.startswith("given that")


def test_the_propensity_learned_without_an_audit_covers_the_truth():
    covered = []
    for seed in range(10):
        found = PositiveUnlabelled("poor_area").estimate(patients(2000, seed), recorded="seen", features=["x", "z"])
        covered += [own.low < truth < own.high for own, truth in zip(found.parameters, (0.3, 0.6), strict=True)]
    assert np.mean(covered) >= 0.85
    assert "learned from the record" in found.parameters[0].source


def test_where_nobody_is_surely_positive_it_says_that_the_record_does_not_tell():
    with pytest.warns(AuditWarning, match="audit some rows, or state it") as told:
        PositiveUnlabelled("poor_area").estimate(patients(1000, 3, spread=0.2), recorded="seen", features=["x"])
    assert "the record hardly tells e(" in str(told[0].message)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_where_the_record_hardly_tells_intervals_hold_the_truth_and_draws_are_as_wide():
    """By the curvature at the mode, three in four did."""
    covered, spread = [], []
    for seed in range(5):
        found = PositiveUnlabelled("poor_area").estimate(patients(400, seed, 0.2), recorded="seen", features=["x"])
        covered += [own.low <= truth <= own.high for own, truth in zip(found.parameters, (0.3, 0.6), strict=True)]
        drawn = np.array([values(own) for own in found.draws(200, random_state=0)])
        widths = np.array([own.high - own.low for own in found.parameters])
        spread += (np.quantile(drawn, 0.975, axis=0) - np.quantile(drawn, 0.025, axis=0) > 0.4 * widths).tolist()
    assert np.mean(covered) >= 0.9
    assert all(spread)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_some_audited_rows_help_to_learn_it():
    widths = np.zeros((3, 2))
    for seed in range(3):
        data = patients(1000, seed, spread=0.5)
        data["known"] = data["ill"].astype(float).where(np.arange(1000) < 200)
        for number, fair in enumerate((None, "known")):
            found = PositiveUnlabelled("poor_area").estimate(data, recorded="seen", fair=fair, features=["x", "z"])
            widths[seed, number] = found.parameters[0].high - found.parameters[0].low
    assert widths[:, 1].mean() < 0.5 * widths[:, 0].mean()


def test_a_classifier_through_it_finds_the_unlabelled_positives():
    data, new = patients(2000, 2), patients(2000, 3)
    belief = PositiveUnlabelled("poor_area", TRUTH)
    fits = [
        p4f.DebiasedClassifier(own, "linear", random_state=0).fit(
            data[["x", "z"]], data["seen"], sensitive_features=data["poor_area"]
        )
        for own in (belief, None)
    ]
    right = [(own.predict(new[["x", "z"]]) == new["ill"]).mean() for own in fits]
    assert right[0] > 0.8
    assert right[1] < right[0] - 0.1


def test_words():
    belief = PositiveUnlabelled("poor_area", by={"hospital": (0, 1)})
    assert "who should have the label = 1, an unknown share were recorded with it" in belief.words()[1]
    assert "unlabelled, which does not mean the label = 0" in belief.words()[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PositiveUnlabelled("a", 0), r"e\(1\) 0 would mean that no label is ever recorded where a = 1"),
        (lambda: PositiveUnlabelled("a", {2: 0.1}), "propensity names 2, which is not among 0, 1"),
        (lambda: PositiveUnlabelled("a", by={"a": (0, 1)}), "column 'a' is the sensitive variable already"),
        (lambda: PositiveUnlabelled("a", by={"b": (1,)}), "two or more different groups"),
        (lambda: PositiveUnlabelled("a", 1.5), "probability 1.5"),
        (lambda: PositiveUnlabelled("a", by={f"c{i}": (0, 1) for i in range(14)}), "more than 10,000; name fewer"),
    ],
)
def test_impossible_beliefs(call, message):
    with pytest.raises(P4FError, match=message):
        call()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "name the audited column by fair=.*features=.*or the share of fair 1s by positives="),
        ({"positives": 0.1}, r"50% of the rows with a = 1 are recorded as 1, more than the 10%"),
        ({"positives": {1: 0.9}}, "positives does not say how many have a fair 1 where a = 0"),
        ({"features": ["nope"]}, "no column 'nope' for features"),
    ],
)
def test_impossible_estimates(arguments, message):
    data = pd.DataFrame({"a": [0, 1] * 20, "seen": [0, 1, 1, 0] * 10})
    with pytest.raises(P4FError, match=message):
        PositiveUnlabelled("a").estimate(data, recorded="seen", **arguments)


def test_a_group_of_which_nothing_is_recorded_is_named():
    data = patients(300, 0).assign(seen=lambda own: own["seen"].where(own["poor_area"] == 0, 0))
    with pytest.raises(P4FError, match=r"no label is recorded where poor_area = 1; the record does not tell of it"):
        PositiveUnlabelled("poor_area").estimate(data, recorded="seen", features=["x"])


def test_a_group_without_a_row_is_named():
    data = pd.DataFrame({"a": [0, 0], "seen": [0, 1]})
    with pytest.raises(P4FError, match="no row has a = 1; leave that group out"):
        PositiveUnlabelled("a").estimate(data, recorded="seen", positives=0.5)


def test_a_curved_fair_label_is_seen_in_the_record() -> None:
    """A linear model of it would take up in the propensities what it leaves over."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"A": rng.integers(0, 2, 2_000), "x": rng.normal(size=2_000), "z": rng.normal(size=2_000)})
    fair = rng.random(2_000) < 1 / (1 + np.exp(3 - 3 * frame["x"] ** 2 - 1.5 * frame["z"]))
    frame["rec"] = (fair & (rng.random(2_000) < np.where(frame["A"] == 1, 0.4, 0.8))).astype(int)
    with pytest.warns(AuditWarning, match="linear in the features"):
        found = PositiveUnlabelled("A").estimate(frame, recorded="rec", features=["x", "z"])
    assert found.parameter_table()["value"].tolist() == pytest.approx([0.4, 0.8], abs=0.1)
