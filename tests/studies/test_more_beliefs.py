"""The study of further beliefs: its grid, numbers, claims and figure."""

from __future__ import annotations

import numpy as np
import pytest

from studies.belief_cases import CASES, people
from studies.engine.run import run
from studies.more_beliefs import METHODS, MoreBeliefs, covered, more_beliefs
from studies.more_beliefs_figure import ROWS, draw

TINY = MoreBeliefs(strengths=(0.4,), seeds=(0,), rows=1_000, tested=3_000)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    outcome = run(TINY, tmp_path_factory.mktemp("stacks"), jobs=1)
    assert not outcome.failures
    return outcome.results


def test_the_grid():
    full, quick = more_beliefs(), more_beliefs(quick=True)
    assert len(full.stacks()) == len(CASES) * 3
    assert (len(full.seeds), len(quick.seeds)) == (5, 2)
    assert "complete cases" in " ".join(full.about())


def test_every_method_has_its_numbers(results):
    assert len(results) == sum(2 * (len(METHODS) + len(case.tools)) + 1 for case in CASES.values())
    wide = results.pivot_table(index="case", columns=["method", "metric"], values="value")
    assert wide[list(METHODS)].notna().all(axis=None)
    # Who takes the record for true turns one group down; the beliefs do so less.
    assert (wide["record", "disparity"] < -0.03).all()
    assert (wide["belief", "disparity"].abs() < wide["record", "disparity"].abs()).all()


def test_claims_and_figure(results):
    claims = TINY.claims(results)
    assert len(claims) == sum(2 * (1 + len(case.tools)) + 1 for case in CASES.values())
    assert len(draw(results).axes) == len(CASES) * len(ROWS)


@pytest.mark.filterwarnings("ignore::problog4fairness.beliefs.AuditWarning")
@pytest.mark.parametrize("name", CASES)
def test_the_record_is_made_by_the_true_parameters(name):
    case, rng = CASES[name], np.random.default_rng(0)
    truth = case.true(0.4)
    assert all(own.value is not None for own in truth.probabilities)
    found = case.estimated(case.made(people(3_000, rng), 0.4, rng))
    assert covered(found, truth) >= 0.5
    assert max(abs(a.value - b.value) for a, b in zip(found.probabilities, truth.probabilities, strict=True)) < 0.2
