"""The study of uncertainty: its grid, numbers, claims and figure."""

from __future__ import annotations

import pytest

from studies.engine.run import run
from studies.uncertainty import CONTRAST, UncertaintyStudy, uncertainty_study
from studies.uncertainty_stacks import AUDITS, MEASURES, QUANTITIES, truth

TINY = UncertaintyStudy((0, 1), 300, 60, 10)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    outcome = run(TINY, tmp_path_factory.mktemp("stacks"))
    assert not outcome.failures
    return outcome.results


def test_the_grid():
    assert len(uncertainty_study().seeds) == 300
    assert len(uncertainty_study(quick=True).seeds) == 20
    assert sum(stack.cells for stack in uncertainty_study().stacks()) == 300 + CONTRAST
    assert truth()["disparity"] == pytest.approx(truth()["mean, group"] - truth()["mean, others"])


def test_every_audit_has_its_numbers(results):
    assert len(results) == 2 * len(AUDITS) * len(QUANTITIES) * len(MEASURES)
    covered = results[results["metric"].str.endswith("covered")]["value"]
    assert set(covered) <= {0.0, 1.0}
    width = results[results["metric"] == "mean, group width"].groupby("carried")["value"].mean()
    assert width["audited"] > width["as if certain"]


def test_claims_tables_and_figure(results):
    claims = TINY.claims(results)
    assert len(claims) == len(QUANTITIES)
    assert "at least 93% of audits" in claims[0].text
    assert "of 2 (" in claims[0].measured
    assert list(TINY.tables(results)["coverage"].columns) == ["metric", *AUDITS]
    TINY.figures(results)["figure"].canvas.draw()
