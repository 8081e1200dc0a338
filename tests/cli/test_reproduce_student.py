from __future__ import annotations

import subprocess
import sys

import pytest
from problog4fairness.experiments.student import study
from typer.testing import CliRunner

from problog4fairness import datasets
from problog4fairness.cli.main import app
from tests.experiments.pupils import TRAINING, pupils


@pytest.fixture
def made_up(monkeypatch):
    """The command finds made-up pupils, and trains small networks."""
    asked = []

    def load(**options):
        asked.append(options)
        return pupils(200, positive=(0.9, 0.1))

    monkeypatch.setattr(datasets, "student", load)
    monkeypatch.setattr(study, "TRAINING", TRAINING)
    return asked


def call(*arguments):
    return CliRunner().invoke(app, ["reproduce", "student", *map(str, arguments)], standalone_mode=False)


def test_a_study_leaves_its_report(tmp_path, made_up):
    result = call("--seeds", 1, "--folds", 2, "--jobs", 1, "--split", "grouped", "-o", tmp_path)
    assert result.return_value == 0, result.output
    assert made_up == [{"reading": "rank"}]
    folder = tmp_path / "student-grouped"
    assert (folder / "figure.png").exists()
    assert len(list((folder / "stacks").glob("*.json"))) == 8
    assert result.output.count("ours is ahead of") == 3
    (warning,) = [line for line in result.stderr.splitlines() if "where sex = 0" in line and "recorded labels" in line]
    assert warning.startswith("warning: ")


def test_audits(tmp_path, made_up):
    result = call("--audit", 30, "--audit", 60, "--draws", 2, "--folds", 2, "--jobs", 1, "-o", tmp_path)
    assert result.return_value == 0, result.output
    assert (tmp_path / "student-audit" / "audit.pdf").exists()


def test_missing_data_are_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "problog4fairness.cli", "reproduce", "student", "-o", str(tmp_path)],
        env={"P4F_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "calathea21/benchmark_data_analysis" in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_has_examples():
    result = CliRunner().invoke(app, ["reproduce", "student", "--help"], env={"COLUMNS": "200"})
    assert "--audit 50" in result.output
