"""The study of bands: its grid, numbers, claims and figure."""

from __future__ import annotations

import pytest

from studies.band_stacks import AUDITS, MEASURES, QUANTITIES, truth
from studies.bands import CONTRAST, BandStudy, band_study
from studies.engine.run import run

TINY = BandStudy((0, 1), 300, 60, 10)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    outcome = run(TINY, tmp_path_factory.mktemp("stacks"))
    assert not outcome.failures
    return outcome.results


def test_the_grid():
    assert len(band_study().seeds) == 300
    assert len(band_study(quick=True).seeds) == 20
    assert sum(stack.cells for stack in band_study().stacks()) == 300 + CONTRAST
    assert truth()["disparity"] == pytest.approx(truth()["mean, group"] - truth()["mean, others"])


def test_every_audit_has_its_numbers(results):
    assert len(results) == 2 * len(AUDITS) * len(QUANTITIES) * len(MEASURES)
    covered = results[results["metric"].str.endswith("covered")]["value"]
    assert set(covered) <= {0.0, 1.0}
    width = results[results["metric"] == "mean, group width"].groupby("doubt")["value"].mean()
    assert width["audited"] > width["as if certain"]


def test_claims_tables_and_figure(results):
    claims = TINY.claims(results)
    assert len(claims) == len(QUANTITIES)
    assert "at least 93% of audits" in claims[0].text
    assert "of 2 (" in claims[0].measured
    assert list(TINY.tables(results)["coverage"].columns) == ["metric", *AUDITS]
    TINY.figures(results)["figure"].canvas.draw()
