"""``python -m studies``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from studies import data, student, synthetic
from studies.commands import app
from tests.studies.pupils import TRAINING, pupils
from tests.studies.stacks import Failing, Sum, Sums

ROOT = Path(__file__).parents[2]


def call(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture
def sums(monkeypatch):
    asked = {"stack": Sum()}

    def make(**options):
        asked.update(options)
        return Sums(asked["stack"])

    monkeypatch.setitem(synthetic.STUDIES, "bias-sweep", make)
    return asked


def test_a_study_leaves_its_report(tmp_path, sums):
    result = call("bias-sweep", "--quick", "--jobs", 1, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert {name: sums[name] for name in ("quick", "seeds", "folds")} == {"quick": True, "seeds": None, "folds": None}
    assert str(tmp_path / "sums") in result.output.replace("\n", "")
    assert "undecided the sum is above 0: worst +0.4167" in result.output
    assert (tmp_path / "sums" / "figure.png").exists()
    assert len(list((tmp_path / "sums" / "stacks").glob("*.json"))) == 4


def test_failures_are_named(tmp_path, sums):
    sums["stack"] = Failing()
    result = call("bias-sweep", "--jobs", 1, "-o", tmp_path)
    assert result.exit_code == 1
    assert "failed: failing at 2: ValueError: no such thing" in result.output


@pytest.fixture
def made_up(monkeypatch):
    """The command finds made-up pupils, and trains small networks."""
    asked = []

    def load(**options):
        asked.append(options)
        return pupils(200, positive=(0.9, 0.1))

    monkeypatch.setattr(data, "student", load)
    monkeypatch.setattr(student, "TRAINING", TRAINING)
    return asked


def test_pupils(tmp_path, made_up):
    result = call("student", "--seeds", 1, "--folds", 2, "--jobs", 1, "--split", "grouped", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert made_up == [{"reading": "rank"}]
    folder = tmp_path / "student-grouped"
    assert (folder / "figure.png").exists()
    assert len(list((folder / "stacks").glob("*.json"))) == 8
    assert result.output.count("ours is ahead of") == 3
    (warning,) = [line for line in result.stderr.splitlines() if "where sex = 0" in line and "recorded labels" in line]
    assert warning.startswith("warning: ")


def test_audits_of_pupils(tmp_path, made_up):
    result = call("student", "--audit", 30, "--audit", 60, "--draws", 2, "--folds", 2, "--jobs", 1, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "student-audit" / "audit.pdf").exists()


def test_missing_data_are_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "studies", "student", "-o", str(tmp_path)],
        cwd=ROOT,
        env={"P4F_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "calathea21/benchmark_data_analysis" in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_has_examples():
    assert "--audit 50" in CliRunner().invoke(app, ["student", "--help"], env={"COLUMNS": "200"}).output
