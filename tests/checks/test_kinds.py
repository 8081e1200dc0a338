"""Tests of beliefs about many classes, about features, and about several inputs."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.checks.case import is_uncertain
from problog4fairness.errors import P4FError
from problog4fairness.statistics import proportion
from tests.checks.people import belief

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")


def test_three_classes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=1500), "g": rng.integers(0, 2, 1500)})
    classes = np.array(["low", "middle", "high"])
    fair = np.digitize(frame["x"] + rng.normal(size=1500) / 2, [-0.5, 0.5])
    lowered = (rng.random(1500) < 0.3) & (frame["g"] == 1)
    recorded = np.where(lowered, np.maximum(fair - 1, 0), fair)
    frame = frame.assign(mark=classes[recorded], true=classes[fair])
    frame.loc[400:, "true"] = None
    made = p4f.ClassBias("g", classes=("low", "middle", "high"))
    right = made.estimate(frame[:400], recorded="mark", fair="true")
    found = right.check(frame, recorded="mark", fair="true")
    assert not found.contradicted
    assert found["group consistency"].finding == "not done: the label has more than two classes"
    # Nobody was believed to be lowered, and a third of a group was.
    none = made.bind({parameter.name: 0.0 for parameter in made.parameters}).check(frame, recorded="mark", fair="true")
    assert none["impossible outcomes"].contradicts


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(1)
    g, truth = rng.integers(0, 2, 1200), rng.integers(0, 2, (1200, 2))
    linked = rng.random(1200) < 0.35
    frame = pd.DataFrame({"z": rng.normal(size=1200), "g": g})
    for name, lowered in (("a", linked), ("b", rng.random(1200) < 0.35), ("c", linked)):
        true = truth[:, 0] if name == "a" else truth[:, 1]
        frame[f"{name}_fair"] = true
        frame[name] = np.where(lowered & (g == 1), 0, true)
    frame["y"] = (rng.random(1200) < 0.2 + 0.3 * truth.sum(axis=1)).astype(int)
    return frame


def checked(measured, *names):
    made = p4f.MeasurementBias(list(names), "g", positive=False, affected=[1])
    fair = {name: f"{name}_fair" for name in names}
    estimated = made.estimate(measured, recorded={name: name for name in names}, fair=fair)
    unused = [column for column in measured.columns if column not in (*names, "z", "g", "y", *fair.values())]
    table = measured.drop(columns=unused)
    return estimated.check(table, recorded="y", fair=fair), estimated, table, fair


def test_features_that_are_distorted_independently_are_not_contradicted(measured):
    found, _, _, _ = checked(measured, "a", "b")
    assert found["feature independence"].p is not None
    assert found["parameters"].p is not None
    assert not found.contradicted


def test_features_that_are_distorted_together_contradict_feature_tables(measured):
    found, estimated, table, fair = checked(measured, "a", "c")
    assert found["feature independence"].contradicts
    assert "the fair a goes with" in found["feature independence"].finding
    wrong = estimated.bind({parameter.name: 0.9 for parameter in estimated.parameters})
    assert wrong.check(table, recorded="y", fair=fair)["parameters"].contradicts
    with pytest.raises(P4FError, match="does not distort 'z'; it distorts a, c"):
        estimated.check(table, recorded="y", fair={"z": "a_fair"})


def test_labels_of_a_fair_world_are_not_compared_with_recorded_ones(measured):
    made = p4f.HistoricalBias(["a"], "g", {0: 0.1, 1: 0.3}, False)
    table = measured[["a", "z", "g", "y"]].assign(fair=1 - measured["y"])
    found = made.check(table, recorded="y", fair="fair")
    assert "another world" in found["impossible outcomes"].finding


def test_the_range_of_a_program_with_several_inputs_is_that_of_all_certain_answers():
    program = p4f.ProgramBelief(
        "nn(h,X) :: y(X). nn(a,X) :: a(X). 0.3 :: n(X). 0.2 :: m(X).\n"
        "r(X) :- y(X), \\+n(X). r(X) :- a(X), y(x_(1)), m(X). query(r(x)).",
        features=["f"],
    )
    rows = p4f.data.Rows(pd.DataFrame({"f": [0, 1, 0], "a": [0, 1, 1]}), ("f",))
    observation = program.observe(rows)
    low, high = observation.recorded_range()
    seen = []
    for certain in itertools.product((-1e4, 1e4), repeat=len(observation.table)):
        logs = torch.nn.functional.logsigmoid(torch.tensor([[-c, c] for c in certain], dtype=torch.float64))
        seen.append(observation.recorded_proba(logs))
    torch.testing.assert_close(low, torch.stack(seen).amin(0))
    torch.testing.assert_close(high, torch.stack(seen).amax(0))
    assert high[1, 1].item() == pytest.approx(1 - 0.3 * 0.8)


def test_the_range_under_label_bias_is_that_of_the_parameters():
    rows = p4f.data.Rows(pd.DataFrame({"x": [0.0, 1.0], "area": [0, 1]}), ("x",))
    low, high = belief(neg=(0.1, 0.4), pos=(0.2, 0.05)).observe(rows).recorded_range()
    assert low[:, 1].tolist() == pytest.approx([0.2, 0.05])
    assert high[:, 1].tolist() == pytest.approx([0.9, 0.6])


def test_a_stated_parameter_is_certain_and_an_estimate_as_uncertain_as_its_interval():
    (stated, *_) = belief().parameters
    assert not is_uncertain(stated)
    assert is_uncertain(stated.estimated(proportion(30, 100)))


def test_a_program_whose_bias_depends_on_a_column_is_compared_within_its_values():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=2000), "clerk": rng.integers(0, 2, 2000)})
    frame["x"] += frame["clerk"]  # who decides has to do with the features
    fair = (rng.random(2000) < 1 / (1 + np.exp(-frame["x"]))).astype(int)
    lost = rng.random(2000) < np.where(frame["clerk"] == 1, 0.6, 0.05)
    frame["y"] = np.where(lost, 0, fair)
    frame["fair"] = fair
    frame.loc[600:, "fair"] = np.nan
    rules = "nn(h,X) :: y(X). nn(clerk,X) :: c(X). 0.6 :: hard(X). 0.05 :: mild(X).\n"
    told = rules + "lost(X) :- c(X), hard(X). lost(X) :- \\+c(X), mild(X). r(X) :- y(X), \\+lost(X). query(r(x))."
    found = p4f.ProgramBelief(told).check(frame, recorded="y", fair="fair")
    assert found["class-conditional"].p > 0.05
    assert not found.contradicted
    # One number for all clerks, which is right on average only.
    same = rules + "lost(X) :- hard(X), c(X). lost(X) :- hard(X), \\+c(X). r(X) :- y(X), \\+lost(X). query(r(x))."
    assert p4f.ProgramBelief(same).check(frame, recorded="y", fair="fair").contradicted


def test_a_program_that_says_when_nothing_is_recorded_is_tested():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "g": rng.integers(0, 2, 400)})
    fair = (frame["x"] + rng.normal(size=400) > 0).astype(float)
    text = "nn(h,X) :: y(X). nn(g,X) :: g(X). 0.5 :: s(X). a(X) :- y(X), s(X). b(X) :- \\+y(X), s(X). n(X) :- \\+s(X)."
    selective = p4f.ProgramBelief(text + " query(b(x)). query(a(x)). query(n(x)).")
    assert selective.record.gaps
    for share, contradicted in ((0.5, False), (0.9, True)):
        seen = frame.assign(y=fair.where(rng.random(400) < share))
        assert selective.check(seen, recorded="y").contradicted is contradicted


def numbers(seed, bend=0.0, growth=0.0, skew=False):
    rng = np.random.default_rng(seed)
    g, noise = rng.integers(0, 2, 400), rng.normal(size=400)
    fair = rng.lognormal(1.5, 0.5, 400) if skew else rng.normal(5, 1, 400)
    moved = 0.8 * fair - 1 - bend * (fair - 5) ** 2 + 0.5 * np.exp(growth * (fair - 5)) * noise
    frame = pd.DataFrame({"score": np.where(g == 1, moved, fair), "g": g, "z": rng.normal(size=400), "fair": fair})
    return frame.assign(y=(rng.random(400) < 1 / (1 + np.exp(5 - fair))).astype(int))


@pytest.mark.parametrize(
    ("wrong", "sentence", "advice"),
    [
        ({}, None, None),
        ({"bend": 0.3}, "score bends away from a line", "such as logarithms"),
        ({"growth": 0.5}, "there is more noise of score where the fair one is high", "take the logarithm of both"),
        ({"skew": True}, "the fair score is lopsided", "believe in MeasurementBias"),
    ],
)
def test_numbers_that_are_no_line_with_normal_noise_are_told(wrong, sentence, advice):
    frame = numbers(0, **wrong)
    made = p4f.NumericMeasurementBias("score", "g", affected=[1]).estimate(frame, recorded="score", fair="fair")
    doubts = made.check(frame, recorded="y", fair={"score": "fair"})
    assert doubts.notes[-1].startswith("What identifies measurement bias of numbers: rows whose fair numbers")
    found = doubts["measurement model"]
    assert found.p is not None
    assert found.contradicts == (sentence is not None)
    if sentence is not None:
        assert "Where g = 1" in found.finding
        assert sentence in found.finding
        assert advice in found.advice
