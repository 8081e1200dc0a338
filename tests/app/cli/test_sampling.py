"""How audited rows were sampled, as it is stated on the command line."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from problog4fairness import LabelBias
from problog4fairness.beliefs import belief_text
from tests.app.cli.running import p4f
from tests.app.cli.tables import write_tables

DATA = ("--recorded", "granted")
AUDIT = ("--audit", "audit.csv", "--fair", "repaid")
COMMANDS = {
    "estimate": ("audit.csv", "--sensitive", "poor_area", *DATA, "--fair", "repaid", "-o", "out.pl"),
    "train": ("loans.csv", "--belief", "b.pl", *DATA, *AUDIT, "--learner", "linear", "--no-check", "-o", "out.p4f"),
    "check": ("loans.csv", "--belief", "b.pl", *DATA, *AUDIT),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_tables(tmp_path_factory.mktemp("sampling"))
    belief = LabelBias("poor_area", {"yes": 0.4, "no": 0.01}, False, groups=("no", "yes"))
    (folder / "b.pl").write_text(belief_text(belief))
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_the_warning_names_the_option_that_answers_it(folder, command):
    run = p4f(command, *COMMANDS[command], folder=folder)
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("--sampling random") == 1
    assert "p4f.Audit" not in run.stderr
    answered = p4f(command, *COMMANDS[command], "--sampling", "random", folder=folder)
    assert answered.returncode == 0, answered.stderr
    assert "sampl" not in answered.stderr
    assert answered.stdout == run.stdout


def test_clusters_widen_intervals_of_estimates(folder):

    rows = pd.read_csv(folder / "audit.csv")
    pd.concat([rows, rows]).to_csv(folder / "twice.csv", index=False)
    words = ("--sensitive", "poor_area", *DATA, "--fair", "repaid", "--sampling", "random", "--json", "-o", "c.pl")
    runs = [p4f("estimate", "twice.csv", *words, *more, folder=folder) for more in ((), ("--cluster", "customer"))]
    assert [run.returncode for run in runs] == [0, 0], runs[1].stderr
    widths = [pd.DataFrame(json.loads(run.stdout)["parameters"]) for run in runs]
    assert ((widths[1]["high"] - widths[1]["low"]) > 1.2 * (widths[0]["high"] - widths[0]["low"])).all()


def test_a_random_plan_says_itself_how_it_was_drawn(folder):
    data = ("--data", "loans.csv", "--sensitive", "poor_area", *DATA, "--fair", "repaid")
    plan = p4f("plan", *data, "--design", "random", "--draw", "todo.csv", folder=folder)
    assert plan.returncode == 0, plan.stderr
    todo = pd.read_csv(folder / "todo.csv")
    todo.assign(repaid=todo["granted"]).to_csv(folder / "done.csv", index=False)
    run = p4f("estimate", "done.csv", *COMMANDS["estimate"][1:], folder=folder)
    assert run.returncode == 0, run.stderr
    assert "--sampling" not in run.stderr
