"""``p4f plan`` as a process."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from problog4fairness import datasets
from tests.app.cli.running import fails, p4f
from tests.app.cli.tables import write_tables

OPTIONS = ("--data", "loans.csv", "--sensitive", "poor_area", "--recorded", "granted", "--fair", "repaid")
NAMES = OPTIONS[2:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tables(tmp_path_factory.mktemp("plan"))


def fill(folder, name, part=None, words=("no", "yes")):
    """Somebody fills in rows of a file as people do: in words, with a remark beside, saved by another program."""
    todo = pd.read_csv(folder / name, dtype=str, keep_default_na=False, sep=None, engine="python")
    fair = datasets.loans(rows=600, audited=400, new=80).loans_repaid.to_numpy()
    still = todo.index[todo["repaid"] == ""][:part]
    todo.loc[still, "repaid"] = [words[fair[int(row) - 1]] for row in todo.loc[still, "row"]]
    todo["remark"] = ["NA" if int(row) % 2 else f"über {row}, 007" for row in todo["row"]]
    todo.to_csv(folder / name, index=False, sep=";")
    return todo


def test_without_data():
    found = json.loads(p4f("plan", "--error", ".1", "--confidence", ".95", "--json").stdout)
    assert (found["needed"], found["simple"]) == (185, 819)


def test_rounds_until_it_says_stop(folder):
    draw = ("--draw", "todo.csv", "--error", ".2")
    run = p4f("plan", *OPTIONS, *draw, folder=folder)
    assert run.returncode == 0, run.stderr
    assert "note: granted: 1 is favourable, 0 is not; override with --favourable VALUE" in run.stderr
    assert "note: poor_area: yes is the sensitive group, no is not; override with --group VALUE" in run.stderr
    assert "draw these 60 rows, fill them in, then ask again" in run.stdout
    assert "rows drawn at random from everybody by Hoeffding's inequality" in run.stdout
    todo, loans = pd.read_csv(folder / "todo.csv"), pd.read_csv(folder / "loans.csv")
    assert todo["repaid"].isna().all()
    assert (loans["customer"].to_numpy()[todo["row"] - 1] == todo["customer"]).all()
    part = fill(folder, "todo.csv", 30)
    for _ in range(12):
        run = p4f("plan", *OPTIONS, *draw, folder=folder)
        assert run.returncode == 0, run.stderr
        now = pd.read_csv(folder / "todo.csv", dtype=str, keep_default_na=False, sep=None, engine="python")
        # Nothing that was filled in is lost, and no row is drawn twice.
        columns = ["row", "repaid", "remark"]
        kept = now[columns][: len(part)].to_numpy().tolist()
        assert kept == part[columns].to_numpy().tolist()
        assert now["row"].is_unique
        if "stop" in run.stdout:
            break
        part = fill(folder, "todo.csv")
    assert "stop: every parameter is within 0.2" in run.stdout
    before = (folder / "todo.csv").read_bytes()
    found = json.loads(p4f("plan", *OPTIONS, *draw, "--json", folder=folder).stdout)
    assert (found["stop"], found["to_draw"]) == (True, 0)
    assert found["audited"] < found["hoeffding"]["asked"] / 2
    assert (folder / "todo.csv").read_bytes() == before
    run = p4f("estimate", "todo.csv", *NAMES, "-o", "belief.pl", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "random sample" not in run.stderr
    assert "They were drawn by group and by what was recorded" in (folder / "belief.pl").read_text()
    run = p4f("plan", *OPTIONS, "--belief", "belief.pl", folder=folder)
    assert "parameters are as stated" in run.stdout


def test_an_audit_that_does_not_say_how_it_was_drawn_is_taken_as_random(folder):
    run = p4f("estimate", "audit.csv", *NAMES, "-o", "random.pl", folder=folder)
    assert run.stderr.count("nothing says how the audited rows were sampled") == 1


def test_group_and_recorded_label_are_hidden_from_reviewers(folder):
    run = p4f("plan", *OPTIONS, "--error", ".2", "--draw", "hidden.csv", "--hide", folder=folder)
    assert run.returncode == 0, run.stderr
    todo = pd.read_csv(folder / "hidden.csv")
    assert not {"poor_area", "granted", "p4f_probability"} & set(todo.columns)
    fill(folder, "hidden.csv", words=("0", "1"))
    run = p4f("estimate", "hidden.csv", *NAMES, "--drawn-from", "loans.csv", "-o", "hidden.pl", folder=folder)
    assert run.returncode == 0, run.stderr
    assert f"{len(todo)} audited rows of hidden.csv" in (folder / "hidden.pl").read_text()
    draw = ("--error", ".2", "--draw", "hidden.csv", "--hide", "--json")
    again = json.loads(p4f("plan", *OPTIONS, *draw, folder=folder).stdout)
    assert again["audited"] == len(todo)


def test_the_papers_plan(folder):
    run = p4f("plan", *OPTIONS, "--design", "hoeffding", "--error", ".2", "--draw", "all.csv", folder=folder)
    assert run.returncode == 0, run.stderr
    todo = pd.read_csv(folder / "all.csv")
    assert f"draw these {len(todo)} rows" in run.stdout
    assert todo["row"].is_unique


def test_features_are_planned_by_what_was_recorded(folder):
    options = ("--data", "loans.csv", "--sensitive", "poor_area", "--belief", "measurement", "--feature", "job")
    run = p4f("plan", *options, "--fair-feature", "true_job", "--draw", "jobs.csv", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "true_job" in pd.read_csv(folder / "jobs.csv").columns


def test_bad_input_is_one_line(folder):
    assert "is the input" in fails(p4f("plan", *OPTIONS, "--draw", "./loans.csv", folder=folder))
    assert "write NAME=VALUE" in fails(p4f("plan", *OPTIONS, "--guess", "p1", folder=folder))
    p4f("plan", *OPTIONS, "--draw", "fine.csv", folder=folder)
    (folder / "bad.csv").write_bytes((folder / "fine.csv").read_bytes())
    fill(folder, "bad.csv", 55)
    fill(folder, "bad.csv", 5, ("maybe", "maybe"))
    line = fails(p4f("plan", *OPTIONS, "--draw", "bad.csv", folder=folder))
    assert "'repaid' of the fair label has 3 values" in line
    pd.read_csv(folder / "loans.csv")[::-1].to_csv(folder / "other.csv", index=False)
    line = fails(p4f("plan", "--data", "other.csv", *NAMES, "--draw", "fine.csv", folder=folder))
    assert "drawn from another table, not from this one; draw into a new file" in line
    fill(folder, "fine.csv").drop(columns="p4f_design").to_csv(folder / "bare.csv", index=False)
    line = fails(p4f("estimate", "bare.csv", *NAMES, "-o", "bare.pl", folder=folder))
    assert "p4f_design, are missing" in line
    run = p4f("estimate", "bare.csv", *NAMES, "-o", "bare.pl", "--drawn-from", "loans.csv", folder=folder)
    assert run.returncode == 0, run.stderr
