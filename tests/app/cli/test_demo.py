"""``p4f demo``, and the commands that it shows: ``p4f compare`` and ``p4f report``."""

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest

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


def test_commands_that_it_shows_do_the_same(made, tmp_path, inside):
    folder, run = made
    shown = [line.removeprefix("$ p4f ") for line in run.stdout.splitlines() if line.startswith("$ ")]
    assert [command.split()[0] for command in shown] == ["estimate", "train", "compare", "report"]
    for command, files in ((shown[2], ("comparison.csv", "summary.csv", "figure.png")), (shown[3], ("report.html",))):
        words = shlex.split(command)
        target = words.index("-o") + 1
        words[target] = str(tmp_path / words[target].rsplit("/", 1)[-1])
        again = inside(*words)
        assert again.returncode == 0, again.stderr
        place = tmp_path / "out" if files[0] == "comparison.csv" else tmp_path
        for name in files:
            assert (place / name).read_bytes() == (folder / name).read_bytes()


def test_demo_as_json(tmp_path, inside):
    found = json.loads(inside("demo", "--rows", "200", "--seed", "3", "--json", "-o", tmp_path / "d").stdout)
    assert [row["method"] for row in found["result"]] == METHODS
    assert found["verdict"].startswith(VERDICT)
    assert found["report"] == str(tmp_path / "d" / "report.html")
