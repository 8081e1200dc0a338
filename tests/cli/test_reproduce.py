from __future__ import annotations

import pytest
from problog4fairness.experiments import Method
from typer.testing import CliRunner

from problog4fairness import experiments
from problog4fairness.cli.main import app
from tests.experiments.studies import constant, failing, tiny


@pytest.fixture
def studies(monkeypatch):
    asked = {}

    def make(**options):
        asked.update(options)
        return tiny(methods=(Method("one", asked.pop("method", constant)),))

    monkeypatch.setitem(experiments.STUDIES, "bias-sweep", make)
    return asked


def test_a_study_leaves_its_report(tmp_path, studies):
    result = CliRunner().invoke(app, ["reproduce", "bias-sweep", "--quick", "--jobs", "1", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert studies == {"quick": True, "seeds": None, "folds": None}
    assert str(tmp_path / "bias-sweep") in result.output.replace("\n", "")
    assert (tmp_path / "bias-sweep" / "figure.png").exists()
    assert len(list((tmp_path / "bias-sweep" / "stacks").glob("*.json"))) == 6


def test_failures_are_named(tmp_path, studies):
    studies["method"] = failing
    result = CliRunner().invoke(
        app, ["reproduce", "bias-sweep", "--jobs", "1", "-o", str(tmp_path)], standalone_mode=False
    )
    assert result.return_value == 1
    assert "failed: one at label 0.6: ValueError: no such thing" in result.output


def test_unknown_study():
    assert CliRunner().invoke(app, ["reproduce", "everything"]).exit_code == 2
