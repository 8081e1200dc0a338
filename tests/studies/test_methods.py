"""The methods of the studies against the library's estimators and plain formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from problog4fairness.experiments import METHODS, Point
from problog4fairness.experiments.cells import Memo, Stack
from problog4fairness.experiments.measure import measure
from problog4fairness.experiments.networks import all_inputs, belief_job, fair_chances, plain_job, positions
from problog4fairness.experiments.networks import belief as belief_of

from problog4fairness import metrics
from problog4fairness.datasets import SyntheticSettings
from tests.experiments.studies import TRAINING

BIASES = ("label", "measurement", "historical")


def stack_of(bias, strength=0.6, dependent=False):
    tested = "recorded" if bias == "historical" else "fair"
    point = Point(bias, strength, SyntheticSettings.of_paper(bias, strength, dependent=dependent), tested_on=tested)
    return Stack((point,), (0, 1), 2, 240, TRAINING, Memo())


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_predicts_every_cell(method, bias, dependent):
    stack = stack_of(bias, dependent=dependent)
    predictions = method.predict(stack)
    assert [len(chance) for chance in predictions] == [120] * 4
    assert all(((chance >= 0) & (chance <= 1)).all() for chance in predictions)
    again = method.predict(stack_of(bias, dependent=dependent))
    for one, two in zip(predictions, again, strict=True):
        np.testing.assert_allclose(one, two)


@pytest.mark.parametrize("bias", BIASES)
def test_features_with_three_values(bias):
    settings = SyntheticSettings(n_q=2, n_values=3, label_bias=0.3, label_noise=0.1, measurement_bias=0.3)
    stack = Stack((Point(bias, 0.3, settings, tested_on="recorded"),), (0,), 2, 240, TRAINING, Memo())
    for method in METHODS:
        assert [len(chance) for chance in method.predict(stack)] == [120, 120]


def test_folds_are_a_partition():
    cells = stack_of("label").cells
    assert sorted(np.concatenate([cells[0].test, cells[1].test])) == list(range(240))
    assert not set(cells[0].train) & set(cells[0].test)


@pytest.mark.parametrize("values", [2, 3])
@pytest.mark.parametrize("aware", [False, True])
def test_positions_find_the_inputs(values, aware):
    rng = np.random.default_rng(0)
    features, a = rng.integers(0, values, (20, 3)), rng.integers(0, 2, 20)
    place = positions(features, a if aware else None, values)
    expected = features / (values - 1)
    expected = np.column_stack([a, expected]) if aware else expected
    np.testing.assert_allclose(all_inputs(values, 3, aware)[place], expected)


def test_fair_chances_are_the_sum_over_fair_vectors():
    cell = stack_of("historical").cells[0]
    belief = belief_of(cell.point)
    logits = torch.randn(16, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = fair_chances(cell, logits, belief, False)
    tables = [table.numpy() for table in belief.feature_tables().values()]
    h = torch.sigmoid(logits[:, 0]).numpy()
    for i, row in enumerate(cell.test[:20]):
        a, x = cell.sensitive[row], cell.data.recorded_features.to_numpy()[row]
        expected = sum(
            h[number] * np.prod([t[a, c, v] for t, c, v in zip(tables, x, vector, strict=True)])
            for number, vector in enumerate(itertools.product((0, 1), repeat=4))
        )
        assert found[i] == pytest.approx(expected)


def test_no_bias_and_no_noise_is_plain_training():
    point = Point("label", 0.0, SyntheticSettings())
    stack = Stack((point,), (0,), 2, 240, TRAINING, Memo())
    cell = stack.cells[0]
    job = belief_job(stack, cell, belief_of(point), False)
    plain = plain_job(cell, cell.data.recorded_features.to_numpy(), cell.recorded_label, False)
    logits = torch.randn(240, 1, 1, dtype=torch.float64)
    rows = torch.arange(240)
    torch.testing.assert_close(job.likelihood(logits, rows), plain.likelihood(logits, rows))


def test_measures_are_the_library_s():
    cell = stack_of("label").cells[0]
    chance = np.random.default_rng(0).random(len(cell.test))
    fair, a = cell.data.fair_label.to_numpy()[cell.test], cell.sensitive[cell.test]
    decision = (chance > 0.5).astype(int)
    assert measure(cell, chance, randomised=False) == pytest.approx(
        {
            "accuracy": metrics.accuracy(fair, decision),
            "disparity": metrics.statistical_disparity(chance, sensitive_features=a),
            "f1": metrics.f1(fair, decision),
            "equalized_odds": metrics.equalized_odds_difference(fair, decision, sensitive_features=a),
        }
    )
    drawn = np.random.default_rng(1).random((4000, len(chance))) < chance
    assert measure(cell, chance, randomised=True)["accuracy"] == pytest.approx((drawn == fair).mean(), abs=0.005)
