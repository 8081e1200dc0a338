"""Fairlearn's exponentiated gradient as a method among others."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from problog4fairness.errors import P4FError
from problog4fairness.evaluation.data import cells
from problog4fairness.evaluation.methods import METHODS, exponentiated_gradient
from problog4fairness.evaluation.methods.exponentiated_gradient import ExponentiatedGradient
from problog4fairness.evaluation.methods.method import Training
from problog4fairness.evaluation.run import predictions
from problog4fairness.learners import Linear
from tests.evaluation.data import loans, rows_of

PEOPLE, RECORDED, FAIR = loans(600)
DATA = rows_of(PEOPLE, RECORDED)


def disparity(chance: np.ndarray) -> float:
    return float(chance[DATA.groups == 1].mean() - chance[DATA.groups == 0].mean())


def trained(learner=None):
    method = ExponentiatedGradient(DATA.sensitive)
    method.check(DATA.rows)
    return method.fit(Training(DATA.rows, 3), learner or Linear(), progress=False)


def test_it_brings_groups_together_and_is_random_between_classifiers():
    chance = trained().proba(DATA.rows)
    np.testing.assert_allclose(chance.sum(1), 1)
    record = METHODS["recorded_only"](DATA.sensitive).fit(Training(DATA.rows, 3), Linear(), progress=False)
    before = disparity(record.proba(DATA.rows)[:, 1])
    assert before < -0.1
    assert abs(disparity(chance[:, 1])) < 0.05


def test_rates_are_equal_by_weight():
    # Those who were granted a loan in poor areas count five times, so that rates by weight hardly differ on record.
    weights = np.where((DATA.groups == 1) & (DATA.rows.recorded == 1), 5.0, 1.0)
    method, learner = ExponentiatedGradient(DATA.sensitive), Linear(penalty=1.0)
    weighted = method.fit(Training(replace(DATA.rows, weights=weights), 3), learner, progress=False)

    def by_weight(classifier) -> float:
        chance = classifier.proba(DATA.rows)[:, 1]
        rates = [np.average(chance[DATA.groups == g], weights=weights[DATA.groups == g]) for g in (1, 0)]
        return float(rates[0] - rates[1])

    assert abs(by_weight(weighted)) < 0.05
    assert abs(by_weight(trained(learner))) > 0.06


def test_it_does_beside_others_what_it_does_alone():
    alone = trained().proba(DATA.rows)
    np.testing.assert_array_equal(trained().proba(DATA.rows), alone)
    parts = cells(DATA, 1, 2)
    method = ExponentiatedGradient(DATA.sensitive)
    both = predictions(DATA, [method], parts, Linear(), progress=False)
    first = predictions(DATA, [method], parts[:1], Linear(), progress=False)
    np.testing.assert_array_equal(both.chances[method.title][0], first.chances[method.title][0])


def test_what_is_given_up_leaves_no_thread():
    steps = ExponentiatedGradient(DATA.sensitive).steps(Training(DATA.rows, 3))
    before = set(threading.enumerate())
    next(steps)
    (thread,) = set(threading.enumerate()) - before
    steps.close()
    thread.join(timeout=60)
    assert not thread.is_alive()


def test_what_fails_inside_is_told_outside(monkeypatch):
    def broken(*arguments, **options):
        raise P4FError("broken")

    monkeypatch.setattr(exponentiated_gradient, "task_through", broken)
    with pytest.raises(P4FError, match="broken"):
        trained()
