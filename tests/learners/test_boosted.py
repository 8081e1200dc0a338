"""Boosted trees through a belief."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.boosted import Boosted, FittedBoosted
from problog4fairness.learners.trees import Trees, trees_of
from tests.learners.contract import LABEL, LearnerContract, people, recorded, rows_of


class TestBoosted(LearnerContract):
    margin = 0.04

    def make(self):
        return Boosted(learning_rate=0.2)


def fitted(rows: int = 600) -> tuple[FittedBoosted, pd.DataFrame]:
    rng = np.random.default_rng(0)
    frame, fair = people(rows, 0)
    frame = frame.assign(kind=[f"t{i}" for i in rng.integers(0, 40, rows)])
    label = np.where(frame["kind"].str[1:].astype(int) % 3 == 0, 1, fair)
    return Boosted(max_trees=15, min_rows=5, leaves=12, validation=0).fit(LABEL, rows_of(frame, label)), frame


def test_without_a_belief_it_is_lightgbms_own_objective():
    import lightgbm

    frame, fair = people(800, 0)
    frame = frame[["x", "first", "a"]]
    learner = Boosted(max_trees=20, validation=0)
    found = learner.fit(p4f.NoBias(), p4f.data.Rows(frame, ("x", "first"), recorded=fair))
    parameters = {**learner.parameters(0), "objective": "binary"}
    data = lightgbm.Dataset(frame[["x", "first"]].to_numpy(float), fair)
    expected = lightgbm.train(parameters, data, 20).predict(frame[["x", "first"]].to_numpy(float))
    np.testing.assert_allclose(found.log_proba(frame).exp()[:, 1], expected, atol=1e-6)


def test_it_stops_where_held_out_rows_become_less_likely():
    frame, fair = people(500, 0)
    model = Boosted(patience=7).fit(LABEL, rows_of(*recorded("label", frame, fair)))
    losses = model.history["validation"]
    assert len(losses) == len(model.trees.leaves) + 7
    assert np.argmin(losses) + 1 == len(model.trees.leaves)
    assert len(Boosted(validation=0, max_trees=12).fit(LABEL, rows_of(frame, fair)).trees.leaves) == 12


def test_trees_of_sets_of_categories_come_back_as_lightgbm_wrote_them():
    model, frame = fitted()
    assert model.trees.sets.sum() > 0
    tensors, plain = model.state()
    again = FittedBoosted.from_state(tensors, plain)
    assert torch.equal(again.log_proba(frame), model.log_proba(frame))


def test_a_label_that_nothing_explains_is_a_constant():
    frame = pd.DataFrame({"x": np.zeros(60)})
    model = Boosted().fit(p4f.NoBias(), p4f.data.Rows(frame, ("x",), recorded=np.arange(60) % 3 // 2))
    assert model.log_proba(frame).exp()[0, 1] == pytest.approx(1 / 3, abs=0.03)
    tensors, plain = model.state()
    assert torch.equal(FittedBoosted.from_state(tensors, plain).log_proba(frame), model.log_proba(frame))


def test_numbers_of_a_stranger_are_trees_or_refused():
    """No change of a number reaches LightGBM unless what is there is still a tree."""
    model, frame = fitted()
    tensors, plain = model.state()
    names = ["leaves", "sets", "feature", "decision", "left", "right", "threshold", "bounds", "bits"]
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        changed = {name: value.clone() for name, value in tensors.items()}
        name = names[rng.integers(len(names))]
        place = int(rng.integers(len(changed[name])))
        value = [-1, 0, 1, 2, 5, 11, 12, 1000, -1000, 2**31, 2**40, -(2**62), int(rng.integers(-40, 40))]
        changed[name][place] = value[rng.integers(len(value))]
        try:
            again = FittedBoosted.from_state(changed, plain)
        except ValueError:
            refused += 1
        else:
            assert bool(again.log_proba(frame).isfinite().all())
    assert refused > 100


def test_a_circle_and_a_leaf_with_two_parents_are_refused():
    for left, right in (([0, -1], [-2, -3]), ([1, 0], [-1, -2]), ([1, -1], [-1, -2]), ([1, -4], [-1, -2])):
        trees = Trees(
            leaves=np.array([3]), sets=np.array([0]), feature=np.array([0, 1]), threshold=np.zeros(2),
            decision=np.array([2, 2]), left=np.array(left), right=np.array(right), value=np.zeros(3),
            bounds=np.zeros(0, int), bits=np.zeros(0, int),
        )  # fmt: skip
        with pytest.raises(ValueError, match="tree"):
            trees_of(trees.tensors()).check(4)


@pytest.mark.parametrize(
    "change",
    [
        {"leaves": np.array([2**62, 2**62, 2**62, 2**62 + 3])},
        {"leaves": np.array([2**63 - 1, 2**63 - 1, 5])},
        {"leaves": np.array([5, -2])},
        {"sets": np.array([2**62])},
        {"bounds": np.array([0, 2**63 - 1, -(2**63), -1, 0]), "sets": np.array([4])},
    ],
)
def test_counts_that_wrap_are_refused_before_anything_is_built(change):
    """The sums of these counts agree with the arrays, because they overflow."""
    none = np.zeros(0, int)
    whole = {
        "leaves": np.array([3]), "sets": np.array([0]), "feature": np.array([0, 1]), "threshold": np.zeros(2),
        "decision": np.array([2, 2]), "left": np.array([1, -1]), "right": np.array([-2, -3]), "value": np.zeros(3),
        "bounds": none, "bits": none,
    }  # fmt: skip
    Trees(**whole).check(4)
    with pytest.raises(ValueError, match=r"leaves|sets"):
        trees_of(Trees(**{**whole, **change}).tensors()).check(4)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("leaves", 1, "leaves=1 is not a whole number of at least 2"),
        ("max_trees", 0, "max_trees=0 is not a whole number"),
        ("learning_rate", 2, "learning_rate=2 is not a number above 0"),
        ("validation", 1, "validation=1 is not a number"),
        ("penalty", -1, "penalty=-1 is not a number of at least 0"),
    ],
)
def test_bad_options_are_named(option, value, message):
    with pytest.raises(TrainingError, match=message):
        Boosted(**{option: value}).check_options()


def test_without_lightgbm_it_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    frame, fair = people(50, 0)
    with pytest.raises(
        P4FError, match=r"boosted trees need the package lightgbm, which cannot be imported \("
    ) as caught:
        Boosted().fit(LABEL, rows_of(frame, fair))
    assert "\n" not in str(caught.value)


def test_rows_that_share_few_inputs_are_still_split():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (2000, 3)), columns=["x", "y", "z"])
    label = (frame.sum(axis=1) + rng.normal(size=2000) > 1.5).astype(int).to_numpy()
    model = Boosted().fit(p4f.NoBias(), p4f.data.Rows(frame, ("x", "y", "z"), recorded=label))
    kinds = frame.assign(label=label).groupby(["x", "y", "z"])["label"].mean()
    found = model.log_proba(kinds.index.to_frame(index=False)).exp()[:, 1]
    np.testing.assert_allclose(found, kinds, atol=0.06)


def test_few_rows_choose_additive_trees_where_nothing_interacts():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 2, (3000, 4)), columns=["x", "y", "z", "u"])
    chance = 1 / (1 + np.exp(1.6 - 0.8 * frame.to_numpy().sum(axis=1)))
    added = Boosted(learning_rate=0.3).fit(
        p4f.NoBias(), p4f.data.Rows(frame, tuple(frame), recorded=(rng.random(3000) < chance).astype(int))
    )
    assert set(added.trees.leaves.tolist()) == {2}
    assert np.abs(added.log_proba(frame).exp()[:, 1].numpy() - chance).mean() < 0.02
    either = frame["x"] ^ frame["y"]
    crossed = Boosted(learning_rate=0.3).fit(
        p4f.NoBias(), p4f.data.Rows(frame, tuple(frame), recorded=either.to_numpy())
    )
    assert crossed.trees.leaves.max() > 2


def test_a_bar_counts_trees(monkeypatch):
    import io

    from problog4fairness.learners import progress

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(progress, "_PAUSE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", terminal)
    frame, fair = people(200, 0)
    Boosted(max_trees=4, validation=0).fit(LABEL, rows_of(frame, fair), progress=None)
    assert "1/1 boosted" in terminal.getvalue()
    assert "tree 4/4" in terminal.getvalue()
