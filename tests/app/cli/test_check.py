"""``p4f check``, and the tests that ``p4f train`` does."""

from __future__ import annotations

import json

import pytest

from problog4fairness import LabelBias
from problog4fairness.beliefs import belief_text
from tests.app.cli.running import p4f
from tests.app.cli.tables import write_tables

AUDIT = ("--audit", "audit.csv", "--fair", "repaid")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_tables(tmp_path_factory.mktemp("check"))
    for name, negative in (("right", {"yes": 0.4, "no": 0.01}), ("wrong", {"yes": 0.01, "no": 0.4})):
        belief = LabelBias("poor_area", negative, False, groups=("no", "yes"))
        (folder / f"{name}.pl").write_text(belief_text(belief))
    return folder


def doubt(folder, belief, *words):
    run = p4f("check", "loans.csv", "--belief", f"{belief}.pl", "--recorded", "granted", *words, folder=folder)
    assert run.returncode == 0, run.stderr
    return run


def test_a_wrong_belief_is_contradicted_in_words_numbers_and_a_picture(folder):
    run = doubt(folder, "wrong", *AUDIT, "--figure", "doubts.png")
    assert "The data contradict the belief: " in run.stdout
    assert "Estimate the parameters from this audit" in run.stdout
    assert run.stdout.rstrip().endswith("doubts.png")
    assert (folder / "doubts.png").read_bytes().startswith(b"\x89PNG")


def test_json(folder):
    found = json.loads(doubt(folder, "right", "--json").stdout)
    assert found["contradicted"] is False
    tests = {own["test"]: own for own in found["tests"]}
    assert tests["range"]["p"] > 0
    assert (tests["parameters"]["p"], tests["parameters"]["finding"]) == (None, "not done: there is no audit")


def test_training_tests_the_belief(folder):
    train = (
        "train",
        "loans.csv",
        "--belief",
        "wrong.pl",
        "--recorded",
        "granted",
        "--learner",
        "linear",
        "-o",
        "m.p4f",
    )
    run = p4f(*train, folder=folder)
    assert run.returncode == 0, run.stderr
    assert "The data contradict the belief: " in run.stdout
    assert run.stderr.count("identifies rows") == 1
    done = json.loads(p4f(*train, "--json", "--no-check", folder=folder).stdout)
    assert done["check"] is None


def test_bad_input_is_one_line(inside, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = ("check", "loans.csv", "--belief", "right.pl", "--recorded", "granted")
    run = inside(*words, "--audit", "audit.csv")
    assert run.returncode == 2
    assert "name the column of the fair label in the audit by --fair" in run.stderr
    run = inside(*words, "--feature", "income")
    assert "each --feature has one --fair-feature" in run.stderr


def test_columns_are_kept_and_named_as_in_training(folder):
    assert "keep by --keep COLUMN" in doubt(folder, "right").stderr
    assert "identifies rows" not in doubt(folder, "right", "--keep", "customer").stderr
    assert "identifies rows" not in doubt(folder, "right", "--features", "income").stderr
