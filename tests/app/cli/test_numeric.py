"""Measurement bias of numbers on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from problog4fairness.beliefs import NumericMeasurementBias, read_belief
from tests.app.cli.running import fails, p4f

ESTIMATE = ("estimate", "audit.csv", "--belief", "numeric", "--sensitive", "renter", "--feature", "score")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("numeric")
    fair, renter, z = rng.normal(50, 10, 900), rng.integers(0, 2, 900), rng.normal(size=900)
    once, again = (
        np.where(renter == 1, 0.8 * fair - 2 + 5 * rng.normal(size=900), fair + 2 * rng.normal(size=900))
        for _ in range(2)
    )
    repaid = (rng.random(900) < 1 / (1 + np.exp(-(0.25 * (fair - 50) - z)))).astype(int)
    table = pd.DataFrame({"score": once, "z": z, "renter": renter, "repaid": repaid})
    table[:600].to_csv(folder / "loans.csv", index=False)
    table[600:].assign(true_score=fair[600:], second=again[600:]).to_csv(folder / "audit.csv", index=False)
    run = p4f(*ESTIMATE, "--fair-feature", "true_score", "-o", "belief.pl", folder=folder)
    assert run.returncode == 0, run.stderr
    return folder


def test_from_the_audit_to_predictions_and_a_report(folder):
    belief = read_belief(folder / "belief.pl")
    assert isinstance(belief, NumericMeasurementBias)
    assert belief.parameter_table().loc["factor(score,1)", "value"] == pytest.approx(0.8, abs=0.15)
    fit = ("--recorded", "repaid", "--learner", "linear", "--group-free", "-o", "model.p4f")
    run = p4f("train", "loans.csv", "--belief", "belief.pl", *fit, folder=folder)
    assert run.returncode == 0, run.stderr
    assert "features: score, z\n" in run.stdout
    run = p4f("predict", "model.p4f", "loans.csv", "-o", "found.csv", folder=folder)
    assert run.returncode == 0, run.stderr
    assert pd.read_csv(folder / "found.csv")["fair_probability"].between(0, 1).all()
    run = p4f("report", "model.p4f", "--data", "loans.csv", "--no-comparison", "-o", "page.html", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "the recorded score is the fair one times" in (folder / "page.html").read_text()


def test_other_methods_read_the_numbers_as_numbers(folder):
    options = ("--recorded", "repaid", "--learner", "linear", "--group-free", "--seeds", "1", "--json")
    run = p4f("compare", "loans.csv", "--belief", "belief.pl", *options, folder=folder)
    assert run.returncode == 0, run.stderr
    found = {(own["method"], own["metric"]): own["mean"] for own in json.loads(run.stdout)["summary"]}
    assert found["trained on recorded labels", "accuracy"] > 0.7


def test_a_second_measurement_tells_of_the_noise(folder):
    run = p4f(*ESTIMATE, "--again", "second", "--only-group", "-o", "again.pl", folder=folder)
    assert run.returncode == 0, run.stderr
    found = read_belief(folder / "again.pl").parameter_table()["value"]
    assert list(found.index) == ["noise(score,1)", "mean(score,1)", "spread(score,1)"]
    assert found["noise(score,1)"] == pytest.approx(5, abs=1)


def test_an_audit_of_numbers_is_planned_in_rounds(folder):
    options = ("plan", "--data", "loans.csv", "--belief", "numeric", "--sensitive", "renter", "--feature", "score")
    run = p4f(*options, "--fair-feature", "true_score", "--draw", "todo.csv", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "draw these 30 rows" in run.stdout
    todo = pd.read_csv(folder / "todo.csv")
    todo.assign(true_score=(todo["score"] + 2) / 0.8 + todo["z"]).to_csv(folder / "todo.csv", index=False)
    run = p4f(*options, "--fair-feature", "true_score", "--draw", "todo.csv", "--error", "0.5", folder=folder)
    assert "stop: every parameter is within 0.5, after 30 audited rows" in run.stdout
    assert fails(p4f(*options, "--design", "hoeffding", folder=folder)).startswith("design must be 'neyman'")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--again", "second", "--fair-feature", "true_score"), "name either the audited columns"),
        ((), "there are 1 --feature COLUMN and 0 --fair-feature"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(folder, options, words):
    assert words in fails(p4f(*ESTIMATE, *options, "-o", "x.pl", folder=folder))
