"""The study of further beliefs: its grid, numbers, claims and figure."""

from __future__ import annotations

import numpy as np
import pytest

from studies.engine.run import run
from studies.feature_cases import FEATURE_CASES
from studies.more_beliefs import CASES, MEASURES, METHODS, MoreBeliefs, covered, more_beliefs
from studies.more_beliefs_figure import METRICS, draw

TINY = MoreBeliefs(strengths=(0.4,), seeds=(0,), rows=1_000, tested=3_000)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    outcome = run(TINY, tmp_path_factory.mktemp("stacks"), jobs=1)
    assert not outcome.failures
    return outcome.results


def test_the_grid():
    full, quick = more_beliefs(), more_beliefs(quick=True)
    assert len(full.stacks()) == len(CASES) * 3
    assert (len(full.seeds), len(quick.seeds)) == (50, 2)
    assert "complete cases" in " ".join(full.about())


def test_every_method_has_its_numbers(results):
    assert len(results) == sum(2 * (len(METHODS) + len(case.tools)) + 1 + len(case.also) for case in CASES.values())
    wide = results.pivot_table(index="case", columns=["method", "metric"], values="value")
    assert wide[[(method, measure) for method in METHODS for measure in MEASURES]].notna().all(axis=None)
    # Who takes the record for true turns one group down; the beliefs do so less.
    features = [case.name for case in FEATURE_CASES]
    assert (wide["record", "disparity"].drop(features) < -0.03).all()
    # Who takes recorded features for right makes up for them, too much where they are right.
    assert (wide["record", "disparity"][features] > 0.02).all()
    assert (wide["belief", "disparity"].abs() < wide["record", "disparity"].abs()).all()


def test_claims_and_figure(results):
    claims = TINY.claims(results)
    assert len(claims) == sum(2 * (1 + len(case.tools)) + 1 + len(case.also) for case in CASES.values())
    assert sum(axes.get_visible() for axes in draw(results).axes) == len(CASES) * len(METRICS)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
@pytest.mark.parametrize("name", CASES)
def test_the_record_is_made_by_the_true_parameters(name):
    case, rng = CASES[name], np.random.default_rng(0)
    truth = case.true(0.4)
    found = case.estimated(case.made(case.people(3_000, rng), 0.4, rng))
    audited = found.parameter_table().index[found.parameter_table()["rows"] > 0]
    assert truth.parameter_table().loc[audited, "value"].notna().all()
    assert covered(found, truth) >= 0.5
    # What hardly any row tells about is known by its wide interval alone.
    known = found.parameter_table()[~(found.parameter_table()["rows"] < 25)]
    assert (known["value"] - truth.parameter_table()["value"]).abs().max() < 0.2
