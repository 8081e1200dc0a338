"""``p4f report`` as a process on files."""

from __future__ import annotations

import json

import pytest

import problog4fairness as p4f_library
from tests.app.cli.test_program import p4f
from tests.app.report.pages import QUICK, Page

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    data = p4f_library.datasets.loans(rows=200, audited=80, new=1)
    words = {0: "no", 1: "yes"}
    loans = data.loans.assign(granted=data.loans["granted"].map(words))
    loans.to_csv(folder / "loans.csv", index=False, sep=";")
    data.audit.assign(granted=data.audit["granted"].map(words)).to_csv(folder / "audit.csv", index=False)
    belief = p4f_library.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=False)
    model = p4f_library.DebiasedClassifier(belief, **QUICK, favourable="yes")
    model.fit(loans[list(data.features)], loans["granted"], sensitive_features=loans["poor_area"])
    model.save(folder / "loans.p4f")
    return folder


def test_page_with_an_audit_that_writes_labels_in_another_way(files, tmp_path):
    run = p4f(
        "report", files / "loans.p4f", "--data", files / "loans.csv", "--audit", files / "audit.csv",
        "--fair", "repaid", "--no-comparison", "--title", "Loans & areas", "-o", tmp_path / "report.html",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == str(tmp_path / "report.html")
    assert "of people with poor_area = 1 were given granted = yes and " in run.stdout
    page = Page((tmp_path / "report.html").read_text())
    assert page.problems == []
    assert "Loans & areas" in page.words
    assert "80 audited rows" in page.words
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_json(files, tmp_path, inside):
    options = ["--no-comparison", "--no-sensitivity", "--json"]
    run = inside("report", files / "loans.p4f", "--data", files / "loans.csv", *options, "-o", tmp_path / "r.html")
    found = json.loads(run.stdout)
    assert found["report"] == str(tmp_path / "r.html")
    assert [row["group"] for row in found["changes"]] == ["poor_area = 0", "poor_area = 1", "all"]
    assert any("No audited rows" in warning for warning in found["warnings"])


def test_bad_input_is_one_line_and_status_2_and_writes_nothing(files, tmp_path, inside):
    model, data, audit = (files / name for name in ("loans.p4f", "loans.csv", "audit.csv"))
    output = tmp_path / "r.html"
    before = data.read_bytes()
    for words, message in (
        (["--data", data, "-o", data], "loans.csv"),
        (["--data", data, "--audit", audit, "-o", output], "--fair"),
        (["--data", data, "--audit", audit, "--fair", "income", "-o", output], "income"),
        (["--data", data, "--recorded", "poor_area", "-o", output], "poor_area"),
        (["--data", model, "-o", output], "loans.p4f"),
        (["--data", data, "-o", tmp_path / "no" / "r.html", "--no-comparison", "--no-sensitivity"], "folder"),
    ):
        run = inside("report", model, *words)
        assert run.returncode == 2, words
        assert message in run.stderr.splitlines()[-1]
    assert data.read_bytes() == before
    assert not output.exists()


def test_help_has_an_example(inside):
    assert "p4f report loans.p4f --data loans.csv" in " ".join(inside("report", "--help").stdout.split())
