"""The methods of the studies against the library's classifier and plain formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.datasets import SyntheticSettings
from problog4fairness.errors import P4FError
from studies.cells import Cell, People
from studies.methods import METHODS
from studies.synthetic_cells import Point, SyntheticStack
from studies.table_stack import one_network
from tests.studies.tiny import TRAINING

BIASES = ("label", "measurement", "historical")


def stack_of(method, bias, strength=0.6, dependent=False, settings=None):
    settings = settings or SyntheticSettings.of_paper(bias, strength, dependent=dependent)
    return SyntheticStack(method, (0, 1), 2, TRAINING, points=(Point(bias, strength, settings),), rows=240)


def cells_of(stack):
    return [stack.cell(0, seed, fold) for seed in stack.seeds for fold in range(stack.folds)]


def predictions(stack):
    return METHODS[stack.method].predict(cells_of(stack), one_network(TRAINING))


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_predicts_every_cell(method, bias, dependent):
    found = predictions(stack_of(method, bias, dependent=dependent))
    assert [len(chance) for chance in found] == [120] * 4
    assert all(((chance >= 0) & (chance <= 1)).all() for chance in found)


@pytest.mark.parametrize("bias", BIASES)
def test_features_with_three_values(bias):
    settings = SyntheticSettings(n_q=2, n_values=3, label_bias=0.3, label_noise=0.1, measurement_bias=0.3)
    for method in METHODS:
        assert [len(chance) for chance in predictions(stack_of(method, bias, settings=settings))] == [120] * 4


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("dependent", [False, True])
def test_ours_is_what_the_classifier_predicts(bias, dependent):
    """The paper's results are those of the pipeline that users run: the same rows, belief, learner and seed."""
    cell = replace(stack_of("ours", bias, dependent=dependent), rows=800).cell(0, 1, 1)
    learner = one_network(TRAINING)
    (found,) = METHODS["ours"].predict([cell], learner)
    people = cell.people
    frame = people.recorded_frame.iloc[cell.train].reset_index(drop=True)
    rows = p4f.data.Rows(frame, people.features(cell.aware), (0, 1), people.recorded[cell.train])
    fitted = learner.fit(cell.belief, rows, seed=cell.random_state, progress=False)
    model = p4f.DebiasedClassifier(cell.belief, learner, use_sensitive=dependent, random_state=0)
    model.fit(frame, people.recorded[cell.train])
    model.fitted_ = fitted  # a classifier draws its seed from random_state
    expected = model.predict_proba(people.tested_frame.iloc[cell.test].reset_index(drop=True))[:, 1]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_cells_are_trained_alike_alone_and_together():
    cells, learner = cells_of(stack_of("ours", "measurement")), one_network(TRAINING)
    together = METHODS["ours"].predict(cells, learner)
    for cell, expected in zip(cells, together, strict=True):
        (alone,) = METHODS["ours"].predict([cell], learner)
        np.testing.assert_allclose(alone, expected, atol=1e-5)


def test_no_bias_and_no_noise_is_plain_training():
    ours, lower = (
        predictions(stack_of(name, "label", settings=SyntheticSettings())) for name in ("ours", "unawareness")
    )
    np.testing.assert_allclose(ours, lower, atol=1e-5)


def test_upper_knows_the_fair_people_only():
    stacks = [stack_of("upper", bias) for bias in BIASES]
    assert len({stack.cell(0, 0, 0) for stack in stacks}) == 1
    people = stacks[2].cell(0, 0, 0).people
    assert people.tested_frame.equals(people.fair_frame)
    np.testing.assert_array_equal(people.fair, people.recorded)


def test_folds_are_a_partition():
    first, second = cells_of(stack_of("lower", "label"))[:2]
    assert sorted(np.concatenate([first.test, second.test])) == list(range(240))
    assert not set(first.train) & set(first.test)


def people(rows=80, units=None):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"f": rng.normal(size=rows), "a": np.arange(rows) % 2})
    recorded, fair = rng.integers(0, 2, (2, rows))
    return People(frame, frame, frame, "a", recorded, fair, kinds=frame["a"].to_numpy() * 2 + recorded, units=units)


def test_kinds_are_spread_evenly():
    own = people()
    for fold in range(4):
        test = Cell(own, 0, fold, 4).test
        counts = np.bincount(own.kinds[test], minlength=4) - np.bincount(own.kinds, minlength=4) / 4
        assert np.abs(counts).max() <= 1


def test_units_are_never_on_both_sides():
    own = people(units=np.arange(80) // 4)
    cells = [Cell(own, 0, fold, 4) for fold in range(4)]
    assert sorted(np.concatenate([cell.test for cell in cells])) == list(range(80))
    for cell in cells:
        assert not set(own.units[cell.train]) & set(own.units[cell.test])


def test_parity_needs_both_labels_in_each_group():
    own = people()
    own.recorded[own.groups == 1] = 0
    with pytest.raises(P4FError, match=r"a = 1 .*\(seed 0, fold 0\)"):
        METHODS["parity"].predict([Cell(own, 0, 0, 2)], one_network(TRAINING))
