"""``p4f compare`` as a process on files."""

from __future__ import annotations

import json

import pytest

import problog4fairness as p4f_library
from problog4fairness.beliefs import belief_text
from tests.app.cli.test_program import p4f

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    data = p4f_library.datasets.loans(rows=200, audited=80, new=1)
    data.loans.to_csv(folder / "loans.csv", index=False)
    # The audit writes its label in words; half of its rows are among the loans.
    audit = data.audit.assign(repaid=data.audit["repaid"].map({0: "no", 1: "yes"}))
    audit.to_csv(folder / "audit.csv", index=False)
    with (folder / "loans.csv").open("a") as file:
        audit[:40].drop(columns="repaid").to_csv(file, index=False, header=False)
    belief = p4f_library.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=0.0)
    (folder / "belief.pl").write_text(belief_text(belief))
    return folder


def arguments(files, *more):
    options = ["--recorded", "granted", "--sensitive", "poor_area", "--favourable", "1", "--seeds", "1", "--folds", "2"]
    return ["compare", files / "loans.csv", "--belief", files / "belief.pl", *options, *more]


def test_tables_figure_and_csv(files, tmp_path):
    audit = ["--audit", files / "audit.csv", "--fair", "repaid"]
    run = p4f(*arguments(files, *audit, "-o", tmp_path / "out"))
    assert run.returncode == 0, run.stderr
    # 200 loans, 40 of the audit among them as well, and 40 that were added.
    assert "On fair labels, 80 rows" in run.stdout
    assert "On recorded labels, 280 rows" in run.stdout
    for method in (
        "this model",
        "trained on recorded labels",
        "without the sensitive column",
        "massaging",
        "threshold optimizer",
    ):
        assert method in run.stdout
    assert (tmp_path / "out" / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "out" / "comparison.csv").read_text().startswith("method,seed,fold,labels,metric,value")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "comparison.csv", "comparison.json", "figure.pdf", "figure.png", "summary.csv"
    ]  # fmt: skip


def test_json_without_an_audit(files, inside):
    found = json.loads(inside(*arguments(files, "--json")).stdout)
    assert found["rows"] == 240
    assert found["audited"] == 0
    assert {row["labels"] for row in found["summary"]} == {"recorded"}
    assert found["files"] == []


def test_bad_input_is_one_line_and_status_2(files, inside):
    for more, message in (
        (["--audit", files / "audit.csv"], "--fair"),
        (["--audit", files / "audit.csv", "--fair", "repayed"], "did you mean 'repaid'"),
        (["--audit", files / "none.csv", "--fair", "repaid"], "none.csv"),
        (["--fair", "granted"], "cannot be both"),
    ):
        run = inside(*arguments(files, *more))
        assert run.returncode == 2
        assert message in run.stderr.splitlines()[-1]


def test_help_has_an_example(inside):
    assert "p4f compare loans.csv" in " ".join(inside("compare", "--help").stdout.split())
