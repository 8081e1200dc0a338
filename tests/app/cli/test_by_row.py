"""Beliefs about officers and periods on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.beliefs import ChangedBias, RowBias, read_belief
from tests.app.cli.running import fails, p4f

COLUMNS = ("--sensitive", "poor_area", "--recorded", "granted", "--fair", "repaid", "--no-positive", "--only-group")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("by_row")
    income, poor, officer = rng.normal(size=1200), rng.integers(0, 2, 1200), rng.choice(["ann", "bob"], 1200)
    day = np.datetime64("2020-01-01") + rng.integers(0, 600, 1200)
    repaid = rng.random(1200) < 1 / (1 + np.exp(-3 * income))
    chance = np.where(officer == "bob", 0.6, 0.1) * (day < np.datetime64("2021-01-01"))
    granted = repaid & ~((poor == 1) & (rng.random(1200) < chance))
    table = pd.DataFrame({"income": income, "poor_area": poor, "officer": officer, "day": day.astype(str)})
    table = table.assign(granted=granted.astype(int), repaid=repaid.astype(int))
    table[:500].to_csv(folder / "audit.csv", index=False)
    table[500:].drop(columns="repaid").to_csv(folder / "loans.csv", index=False)
    return folder


def test_by_officer_from_the_audit_to_predictions(folder):
    run = p4f("estimate", "audit.csv", *COLUMNS, "--belief", "row", "--by", "officer", "-o", "row.pl", folder=folder)
    assert run.returncode == 0, run.stderr
    belief = read_belief(folder / "row.pl")
    assert isinstance(belief, RowBias)
    assert (
        belief.parameter_table().loc["neg(1,bob)", "value"] > belief.parameter_table().loc["neg(1,ann)", "value"] + 0.15
    )
    fit = ("--recorded", "granted", "--learner", "linear", "--drop", "day", "-o", "model.p4f", "--group-free")
    run = p4f("train", "loans.csv", "--belief", "row.pl", *fit, folder=folder)
    assert run.returncode == 0, run.stderr
    assert "features: income\n" in run.stdout
    run = p4f("predict", "model.p4f", "loans.csv", "-o", "found.csv", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "distorted_probability" in pd.read_csv(folder / "found.csv").columns


def test_by_period(folder):
    options = ("--belief", "changed", "--when", "day", "--by", "officer", "-o", "changed.pl")
    run = p4f("estimate", "audit.csv", *COLUMNS, *options, folder=folder)
    assert run.returncode == 0, run.stderr
    belief = read_belief(folder / "changed.pl")
    assert isinstance(belief, ChangedBias)
    assert "2020-10" <= belief.change_point.day <= "2021-03"


def test_an_audit_is_planned_before_the_day_is_known(folder):
    loans = ("--data", "loans.csv", *COLUMNS, "--belief", "changed", "--when", "day")
    run = p4f("plan", *loans, "--draw", "todo.csv", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "rows of all days" in run.stdout
    assert {"day", "repaid"} <= set(pd.read_csv(folder / "todo.csv").columns)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--belief", "row"), "name a column that the bias depends on"),
        (("--belief", "changed"), "name the column with the day of each row"),
        (("--belief", "changed", "--when", "officer"), "'ann', which is no day"),
        (("--belief", "changed", "--when", "day", "--changed", "soon"), "is no day; write 2020-03-01"),
    ],
)
def test_what_is_missing_is_said_in_one_line(folder, options, words):
    assert words in fails(p4f("estimate", "audit.csv", *COLUMNS, *options, "-o", "x.pl", folder=folder))


def test_any_field_that_a_belief_declares_is_answered(folder):
    table = pd.read_csv(folder / "audit.csv")
    table["granted"] = table["repaid"].where((table["officer"] == "ann") | (table["income"] > 0))
    table.to_csv(folder / "accepted.csv", index=False)
    columns = ("--sensitive", "poor_area", "--recorded", "granted", "--fair", "repaid", "--belief", "selective")
    answers = ("--answer", "decided_by=officer", "--answer", "kept=all")
    run = p4f("estimate", "accepted.csv", *columns, *answers, "-o", "selective.pl", folder=folder)
    assert run.returncode == 0, run.stderr
    assert read_belief(folder / "selective.pl").field_values()["decided_by"] == {"officer": ["ann", "bob"]}
    for answer, fact in (
        ("kep=all", "'kept'"),
        ("kept=some", "'some'"),
        ("decided_by=nobody", "'nobody'"),
        ("kept", "FIELD=VALUE"),
    ):
        said = fails(p4f("estimate", "accepted.csv", *columns, "--answer", answer, "-o", "no.pl", folder=folder))
        assert fact in said
