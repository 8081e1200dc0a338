from __future__ import annotations

import pytest
import torch

from problog4fairness.learners.base import Task
from problog4fairness.learners.networks import fit as fitting
from problog4fairness.learners.networks.fit import plans
from problog4fairness.learners.networks.training import Settings
from tests.learners.observations import alone, blended, data, recorded_label

SUITED = Settings().suited(500)


def numbers(jobs: list[Task], settings: Settings | None = None) -> list[list[int]]:
    return sorted(plan.numbers for plan in plans(jobs, settings or SUITED, range(len(jobs))))


def test_seeds_on_the_same_data_hold_its_inputs_and_its_rows_once():
    inputs, label = data(500)
    likelihood = recorded_label(label)
    (plan,) = plans([Task(likelihood, seed, inputs=inputs) for seed in range(25)], SUITED, range(25))
    assert plan.observation is likelihood
    assert plan.inputs.data_ptr() == inputs.data_ptr()
    assert plan.first_row == plan.first_input == [0] * 25


def test_data_variants_share_a_stack_and_know_where_they_begin():
    (a, la), (b, lb), (c, lc) = data(100), data(150, seed=1), data(100, seed=2)
    shared = recorded_label(la)
    jobs = [
        Task(shared, inputs=a),
        Task(recorded_label(lb), inputs=b),
        Task(shared, 1, inputs=a),
        Task(recorded_label(lc), inputs=a),
        Task(shared, inputs=c),
    ]
    (plan,) = plans(jobs, SUITED, range(len(jobs)))
    assert plan.numbers == [0, 1, 2, 3, 4]
    assert len(plan.inputs) == 350
    assert plan.first_input == [0, 100, 0, 0, 250]
    assert plan.first_row == [0, 100, 0, 250, 350]
    for number, job in enumerate(jobs):
        rows = plan.first_row[number] + torch.arange(len(job.observation))
        assert torch.equal(plan.inputs[plan.observation.inputs[rows, 0]], job.inputs)


def test_networks_of_different_inputs_or_outputs_get_stacks_of_their_own():
    wide, label = data(100, features=5)
    narrow, _ = data(100, features=2)
    three = recorded_label(torch.arange(100) % 3, classes=3)
    jobs = [
        Task(recorded_label(label), inputs=wide),
        Task(recorded_label(label), inputs=narrow),
        Task(three, inputs=wide),
        Task(recorded_label(label), inputs=narrow),
    ]
    assert numbers(jobs) == [[0], [1, 3], [2]]


def test_few_and_many_distinct_inputs_are_apart():
    jobs = [blended(100, distinct) for distinct in (8, 256, 257, 16)]
    found = {
        tuple(plan.numbers): plan.few for plan in plans(jobs, Settings(batch_size=64).suited(100), range(len(jobs)))
    }
    assert found == {(0, 1, 3): True, (2,): False}


def test_likelihoods_that_cannot_be_stacked_are_fitted_one_after_another_but_their_seeds_together():
    inputs, label = data(100)
    first, second = alone(label), alone(~label)
    jobs = [
        Task(first, 0, inputs=inputs),
        Task(second, 0, inputs=inputs),
        Task(first, 1, inputs=inputs),
        Task(second, 1, inputs=inputs),
    ]
    assert numbers(jobs) == [[0, 2], [1, 3]]


@pytest.mark.parametrize(
    ("limit", "value"), [("STACK_ROWS", 250), ("STACK_NUMBERS", 2300 * 2 + 100), ("STACK_ACTIVATIONS", 64 * 32 * 2)]
)
def test_a_stack_has_a_limited_size(monkeypatch, limit, value):
    monkeypatch.setattr(fitting, limit, value)
    inputs, label = data(100)
    likelihood = recorded_label(label)
    assert numbers([Task(likelihood, seed, inputs=inputs) for seed in range(5)]) == [[0, 1], [2, 3], [4]]


def test_long_jobs_do_not_make_the_stacks_of_short_ones_small(monkeypatch):
    monkeypatch.setattr(fitting, "STACK_ROWS", 1000)
    inputs, label = data(1000)
    likelihood = recorded_label(label)
    few = torch.arange(100)
    jobs = [Task(likelihood, seed, train_rows=few, inputs=inputs) for seed in range(5)] + [
        Task(likelihood, inputs=inputs)
    ]
    assert numbers(jobs) == [[0, 1, 2, 3, 4], [5]]
