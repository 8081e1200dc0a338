"""``p4f plan`` as a process."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from tests.cli.running import fails, p4f
from tests.cli.tables import write_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tables(tmp_path_factory.mktemp("plan"))


def test_without_data():
    found = json.loads(p4f("plan", "--error", ".1", "--confidence", ".95", "--json").stdout)
    assert (found["needed"], found["simple"]) == (185, 819)


def test_rows_to_audit_are_drawn(folder):
    options = ("--data", "loans.csv", "--sensitive", "poor_area", "--recorded", "granted", "--error", ".2")
    run = p4f("plan", *options, "--draw", "todo.csv", "--fair", "repaid", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "47 rows of each cell" in run.stdout
    assert "note: granted: 1 is favourable, 0 is not; say otherwise by --favourable VALUE" in run.stderr
    assert "note: poor_area: yes is the sensitive group, no is not; say otherwise by --group VALUE" in run.stderr
    todo, loans = pd.read_csv(folder / "todo.csv"), pd.read_csv(folder / "loans.csv")
    assert todo["repaid"].isna().all()
    assert (loans["customer"].to_numpy()[todo["row"] - 1] == todo["customer"]).all()
    assert f"{len(todo)} rows in all, drawn from each group by itself" in run.stdout
    assert "is the input" in fails(p4f("plan", *options, "--draw", "./loans.csv", folder=folder))
