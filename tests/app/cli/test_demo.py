"""``p4f demo``, which runs the commands that it shows."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pandas as pd
import pytest

from problog4fairness.app.cli.tour import Loans
from tests.app.cli.test_program import p4f
from tests.app.report.pages import Page

pytestmark = pytest.mark.filterwarnings(
    "ignore::problog4fairness.data.FileWarning", "ignore::problog4fairness.audit.AuditWarning"
)


METHODS = ["oracle (fair labels)", "trained on recorded labels", "without the sensitive column", "this model"]
VERDICT = "Against leaving the column out: "


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "out"
    return folder, p4f("demo", "--rows", "400", "-o", folder)


def test_demo_tells_each_step_and_ends_with_a_table_and_the_report(made):
    folder, run = made
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert [line[0] for line in lines if line[1:3] == ". "] == list("1234567")
    assert lines[-1] == str(folder / "report.html")
    table = {name: line.split() for line in lines[-12:] for name in METHODS if line.startswith(name)}
    assert list(table) == METHODS
    assert all(0 <= float(row[-3]) <= 1 for row in table.values())
    verdict = next(line for line in lines if line.startswith(VERDICT))
    assert " points of accuracy (" in verdict
    assert "; of 400 people, " in verdict
    assert " who should have a loan get it (" in verdict
    assert " who should not have it get it (" in verdict
    assert Page((folder / "report.html").read_text()).problems == []


def test_audit_is_a_part_of_the_loans(made):
    folder, _ = made
    loans, audit = pd.read_csv(folder / "loans.csv"), pd.read_csv(folder / "audit.csv")
    assert len(loans) == 400
    assert len(audit) == 200
    assert len(audit.drop(columns="repaid").merge(loans.drop_duplicates())) == 200
    assert "repaid" not in loans


def test_it_shows_the_commands_that_it_runs(made):
    folder, run = made
    shown = [line.removeprefix("$ p4f ") for line in run.stdout.splitlines() if line.startswith("$ ")]
    assert [command.split()[0] for command in shown] == ["estimate", "train", "compare", "report"]
    for command in shown:
        words = shlex.split(command)
        target = Path(words[words.index("-o") + 1])
        assert target.exists()
        assert folder in (target, target.parent)


def test_demo_as_json(tmp_path, inside):
    found = json.loads(inside("demo", "--rows", "200", "--seed", "3", "--json", "-o", tmp_path / "d").stdout)
    assert [row["method"] for row in found["result"]] == METHODS
    assert found["verdict"].startswith(VERDICT)
    assert found["report"] == str(tmp_path / "d" / "report.html")
    assert found["steps"]["Estimate"]["kind"] == "LabelBias"
    assert found["steps"]["Train"]["rows"] == 200


def test_somebody_elses_files_are_left_alone(tmp_path, inside):
    (tmp_path / "audit.csv").write_text("my,own,audit\n")
    run = inside("demo", "--rows", "200", "-o", tmp_path)
    assert "audit.csv is there already and is not a demo's; choose another folder" in run.stderr
    assert (tmp_path / "audit.csv").read_text() == "my,own,audit\n"
    assert [path.name for path in tmp_path.iterdir()] == ["audit.csv"]


def test_an_earlier_demo_is_replaced(tmp_path):
    written = []
    for seed in (1, 2, 1):
        Loans(tmp_path / "new", rows=200, seed=seed).write()
        written.append((tmp_path / "new" / "loans.csv").read_bytes())
    assert written[0] != written[1]
    assert written[0] == written[2]
