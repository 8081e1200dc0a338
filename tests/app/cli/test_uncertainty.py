"""``p4f uncertainty`` and ``p4f bounds`` on files."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import problog4fairness as p4f


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("intervals")
    data = p4f.datasets.loans(rows=400, audited=200, new=1)
    data.loans.to_csv(folder / "loans.csv", index=False)
    data.audit.to_csv(folder / "audit.csv", index=False)
    belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
    belief = belief.estimate(data.audit, recorded="granted", fair="repaid")
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    model.fit(data.loans[list(data.features)], data.loans["granted"], sensitive_features=data.loans["poor_area"])
    model.save(folder / "loans.p4f")
    (folder / "belief.pl").write_text(p4f.beliefs.belief_text(belief.bind({"p1": 0.2})))
    return folder


def test_bands_say_themselves_and_write_people_and_a_figure(files, tmp_path, inside):
    people, figure = tmp_path / "people.csv", tmp_path / "bands.png"
    run = inside(
        "uncertainty", files / "loans.p4f", files / "loans.csv", "--draws", "10", "-o", people, "--figure", figure
    )
    assert run.returncode == 0, run.stderr
    assert "95% intervals from 10 posterior draws" in run.stdout
    assert "disparity: " in run.stdout
    assert figure.stat().st_size > 0
    table = pd.read_csv(people)
    assert len(table) == 400
    assert set(table["decision"]) == {"stable", "uncertain"}


def test_accuracy_where_fair_labels_are_there_and_json(files, inside):
    run = inside(
        "uncertainty", files / "loans.p4f", files / "audit.csv", "--fair", "repaid", "--draws", "10", "--json"
    )  # fmt: skip
    found = json.loads(run.stdout)
    assert [row["quantity"] for row in found["table"]][-1] == "accuracy"


def test_bounds_of_the_audit_of_a_box_and_of_beliefs(files, inside):
    run = inside("bounds", files / "loans.p4f", files / "loans.csv")
    assert "Over all beliefs in the set, the disparity is " in run.stdout
    assert "of those with a fair 1 where poor_area = 1 had been recorded as 0" in run.stdout
    run = inside("bounds", files / "loans.p4f", files / "loans.csv", "--box", "p1=0.1:0.6", "--json")
    assert json.loads(run.stdout)["tipping"][0]["parameter"] == "p1"
    run = inside("bounds", files / "loans.p4f", files / "loans.csv", "--other", files / "belief.pl")
    assert "beliefs that were named" in run.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bounds", "--box", "p1=much"], "--box p1=much: write NAME=LOW:HIGH, such as p1=0.2:0.6"),
        (["bounds", "--box", "p7=0:1"], "the belief has no parameter 'p7'; it has p1"),
        (["uncertainty", "--recorded", "given"], "given"),
        (["uncertainty", "--fair", "paid"], "paid"),
    ],
)
def test_bad_input_is_one_line(files, inside, words, message):
    command, *options = words
    run = inside(command, files / "loans.p4f", files / "loans.csv", *options)
    assert run.returncode == 2
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_table_without_the_sensitive_column_is_one_line(files, inside, tmp_path):
    pd.read_csv(files / "loans.csv").drop(columns="poor_area").to_csv(tmp_path / "loans.csv", index=False)
    for command in ("uncertainty", "bounds"):
        run = inside(command, files / "loans.p4f", tmp_path / "loans.csv")
        assert run.returncode == 2
        assert "lacks the column 'poor_area'" in run.stderr
