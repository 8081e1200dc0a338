"""The study of learners: its grid, numbers, claims and figure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from studies.engine.run import identity_of, run
from studies.learner_stacks import LEARNERS, MEASURES, calibration_error
from studies.learners import BIASES, LearnerStudy, learner_study
from studies.learners_figure import ROWS, draw
from tests.studies.pupils import pupils

TINY = LearnerStudy(pupils(), (0.6,), (0, 1), 400, 400, 2, ("linear", "boosted"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    outcome = run(TINY, tmp_path_factory.mktemp("stacks"))
    assert not outcome.failures
    return outcome.results


def test_the_grid():
    full, quick = learner_study(), learner_study(quick=True)
    assert (full.betas, len(full.seeds), full.learners) == ((0.0, 0.3, 0.6, 0.9), 5, LEARNERS)
    assert len(full.stacks()) == len(BIASES) * 3 * 5
    assert len(quick.seeds) < 5
    assert any("student data were not there" in line for line in full.about())
    assert len(TINY.stacks()) == 4 * 3 * 2


def test_every_trial_has_its_numbers(results):
    assert len(results) == 4 * 2 * 2 * sum(map(len, MEASURES.values()))
    wide = results.pivot_table(index=["data", "learner", "seed"], columns=["method", "metric"], values="value")
    assert wide.notna().all(axis=None)
    label = wide.loc["label"]
    # Who believes the record turns down the sensitive group; who knows how it came about does not.
    assert (label["record", "disparity"] < label["belief", "disparity"] - 0.05).all()
    assert (label["upper", "accuracy"] > 0.6).all()
    assert (wide["belief", "likelihood"] < 0).all()


def test_claims_and_figure(results):
    texts = [claim.text for claim in TINY.claims(results)]
    assert "label, linear: accuracy at most .01 below its own upper" in texts
    assert len(texts) == 3 * 2 * 2
    auto = results[results["learner"] == "linear"].assign(learner="auto")
    (claim,) = (own for own in TINY.claims(pd.concat([results, auto])) if own.text.startswith("student: auto"))
    assert "-0.0" in claim.measured or "+0.0" in claim.measured
    assert len(draw(results).axes) == 4 * len(ROWS)


def test_calibration_error():
    assert calibration_error(np.array([0, 1, 1, 1]), np.array([0.05, 0.05, 0.95, 1.0])) == pytest.approx(0.2375)


def test_everything_that_matters_is_in_the_identity():
    stack = TINY.stacks()[0]
    changes = ({"learner": "boosted"}, {"method": "upper"}, {"seeds": (0,)}, {"rows": 300}, {"bias": "historical"})
    found = [identity_of(stack), *(identity_of(replace(stack, **change)) for change in changes)]
    assert all(found.count(one) == 1 for one in found)
