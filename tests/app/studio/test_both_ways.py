"""Begun in the terminal, gone on with on the page, and back: a project is the files that commands read and write."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd

from problog4fairness import datasets
from problog4fairness.app.studio import tasks
from problog4fairness.app.studio.auditing import Audit
from problog4fairness.app.studio.project import AUDIT, BELIEF, MODEL, Project
from problog4fairness.beliefs import read_belief
from tests.app.cli.running import p4f

ROLES = ("--recorded", "granted", "--sensitive", "poor_area", "--favourable", "1", "--group", "1")


def ok(run: subprocess.CompletedProcess[str]) -> None:
    """Nothing went wrong."""
    assert run.returncode == 0, run.stderr


def fill(project: Project, rows: int) -> None:
    """Fill in the first rows as somebody does in a spreadsheet."""
    drawn = pd.read_csv(project.path(AUDIT), dtype=str, keep_default_na=False)
    drawn["repaid"] = [own if number < rows else "" for number, own in enumerate(drawn["granted"])]
    drawn.to_csv(project.path(AUDIT), index=False)


def test_from_the_terminal_to_the_page_and_back(tmp_path):
    table, audit_file, belief_file = (str(tmp_path / name) for name in ("loans.csv", AUDIT, BELIEF))
    datasets.loans(rows=400, audited=10, new=10).loans.to_csv(table, index=False)
    ok(p4f("plan", "--data", table, *ROLES, "--error", "0.2", "--draw", audit_file, "--fair", "repaid"))
    fill(Project.open(tmp_path), 20)
    ok(p4f("estimate", audit_file, *ROLES, "--fair", "repaid", "-o", belief_file))

    project = Project.open(tmp_path)
    assert project.tables() == ["loans.csv"]
    project.begin(project.path("loans.csv"))
    project.choose(recorded="granted", favourable="1", sensitive="poor_area", group="1", learner="linear")
    audit = Audit(project)
    assert audit.fair == "repaid"
    audit.reviews.take(dict.fromkeys(audit.numbers[20:30], "1"), "ana")
    assert audit.write() == 30
    estimated = audit.estimate()
    assert estimated is not None
    project.keep_belief(estimated)
    tasks.train(lambda _: None, str(tmp_path))

    ok(p4f("estimate", audit_file, *ROLES, "--fair", "repaid", "-o", str(tmp_path / "again.pl")))
    told, again = (
        [line.split(" ::")[0] for line in file.read_text().splitlines() if ":: label_" in line]
        for file in (Path(belief_file), tmp_path / "again.pl")
    )
    assert len(told) == 4
    assert told == again, "the page and the command tell the same from the same file"
    read = Project.open(tmp_path).belief()
    assert read.parameters == read_belief(tmp_path / "again.pl").parameters
    assert list(map(str, (own.used for own in read.parameters))) == again, "a file holds what is computed with"
    ok(p4f("predict", str(tmp_path / MODEL), table, "-o", str(tmp_path / "scored.csv")))
    assert len(pd.read_csv(tmp_path / "scored.csv")) == 400
