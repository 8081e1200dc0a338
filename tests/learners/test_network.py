"""Networks through a belief, averaged."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from problog4fairness.errors import TrainingError
from problog4fairness.learners.base import Task
from problog4fairness.learners.networks.network import Network
from tests.learners.contract import LABEL, LearnerContract, people, recorded, rows_of


class TestNetwork(LearnerContract):
    margin = 0.04

    def make(self):
        return Network(hidden=(16,), learning_rate=0.02, batch_size=64, max_epochs=25, patience=5, networks=2)


def test_networks_are_averaged_in_probability_and_the_first_is_the_one_alone():
    frame, fair = people(300, 0)
    observation = LABEL.observe(rows_of(*recorded("label", frame, fair)))
    options = {"hidden": (8,), "max_epochs": 4}
    many = Network(**options, networks=3).fit(observation, seed=5)
    alone = Network(**options, networks=1).fit(observation, seed=5)
    torch.testing.assert_close(many.networks[0].state_dict(), alone.networks[0].state_dict(), rtol=1e-4, atol=1e-5)
    parts = [type(many)(many.encoder, [own], {}).log_proba(frame).exp() for own in many.networks]
    torch.testing.assert_close(many.log_proba(frame).exp(), torch.stack(parts).mean(0))
    assert not torch.allclose(parts[0], parts[1])
    for name, losses in alone.history.items():
        assert many.history[name] == pytest.approx(losses, rel=1e-4)


def test_tasks_of_several_networks_share_a_stack_and_come_back_in_order():
    frame, fair = people(200, 0)
    observation = LABEL.observe(rows_of(*recorded("label", frame, fair)))
    learner = Network(hidden=(8,), max_epochs=3, networks=2)
    together = learner.fit_many([Task(observation, seed=1), Task(observation, seed=2, train_rows=torch.arange(150))])
    apart = [learner.fit(observation, seed=1), learner.fit_many([Task(observation, 2, torch.arange(150))])[0]]
    for found, expected in zip(together, apart, strict=True):
        np.testing.assert_allclose(found.log_proba(frame), expected.log_proba(frame), atol=1e-4)


def test_bad_options_are_named():
    with pytest.raises(TrainingError, match="networks=0 is not a whole number of at least 1"):
        Network(networks=0).check_options()
