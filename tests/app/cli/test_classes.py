"""A label with three classes, from an audit to the report."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from tests.app.cli.running import fails

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")

SAID = ["--recorded", "grade", "--sensitive", "area"]


def made(rows: int, seed: int) -> pd.DataFrame:
    """Grades A, B and C by income; of poor areas 40% of the As were recorded as B, the rest is right."""
    rng = np.random.default_rng(seed)
    poor, income = rng.integers(0, 2, rows), rng.normal(size=rows)
    fair = np.select([income > 0.5, income > -0.5], ["A", "B"], "C")
    lost = (poor == 1) & (fair == "A") & (rng.random(rows) < 0.4)
    return pd.DataFrame(
        {
            "income": income.round(3),
            "area": np.where(poor, "poor", "rich"),
            "grade": np.where(lost, "B", fair),
            "fair": fair,
        }
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    made(400, 0).drop(columns="fair").to_csv(folder / "rows.csv", index=False)
    made(320, 1).to_csv(folder / "audit.csv", index=False)
    return folder


@pytest.fixture
def belief(files, inside):
    said = [*SAID, "--fair", "fair", "--group", "poor", "--only-group"]
    run = inside("estimate", files / "audit.csv", *said, "--favourable", "A", "-o", files / "belief.pl")
    assert run.returncode == 0, run.stderr
    # Each parameter is a sentence, and its name, which says the same in ProbLog, is for the program.
    assert "flip(" not in run.stdout
    assert "a fair A is recorded as B where area = poor" in run.stdout
    return files / "belief.pl"


@pytest.fixture
def model(files, belief, inside):
    options = ["--belief", belief, "--learner", "linear", "--no-check", "-o", files / "grades.p4f"]
    run = inside("train", files / "rows.csv", *SAID, *options)
    assert run.returncode == 0, run.stderr
    return files / "grades.p4f"


def test_the_favourable_class_is_asked_for(files, inside, tmp_path):
    said = [*SAID, "--fair", "fair", "--group", "poor", "-o", tmp_path / "b.pl"]
    told = fails(inside("estimate", files / "audit.csv", *said))
    assert (
        "'grade' of the recorded label has 3 values ('A', 'B', 'C'); say which one is favourable by --favourable"
        in told
    )
    assert "two labels" in fails(inside("estimate", files / "audit.csv", *said, "--favourable", "A", "--noise"))


def test_estimated_strengths_are_those_of_the_data(belief):
    found = p4f.beliefs.read_belief(belief)
    assert (found.record.classes, found.favourable) == (("B", "C", "A"), "A")
    values = found.parameter_table()["value"]
    assert 0.3 < values["flip(poor,'A','B')"] < 0.55
    assert (values.drop("flip(poor,'A','B')") == 0).all()
    said = found.words(p4f.beliefs.Label("grade", found.record.classes))[1]
    assert "who should have grade = A" in said
    assert said.count("grade = C") == 0  # what does not happen is said in one word
    assert "any other change happened to 0%, or" in said


def test_predictions_have_a_column_for_each_class(model, files, inside):
    run = inside("predict", model, files / "rows.csv", "-o", files / "scored.csv")
    assert run.returncode == 0, run.stderr
    scored = pd.read_csv(files / "scored.csv")
    chances = scored[[f"fair_probability_{name}" for name in "BCA"]]
    assert np.allclose(chances.sum(axis=1), 1, atol=2e-6)
    assert (chances.idxmax(axis=1).str[-1] == scored["fair_label"]).all()
    lost = (scored["area"] == "poor") & (scored["grade"] == "B") & (scored["income"] > 0.8)
    assert (scored.loc[lost, "distorted_probability"] > 0.5).all()
    assert f"{(scored['fair_label'] == 'A').mean():.1%} with the favourable fair label" in run.stdout
    assert "--threshold 0.7 is for two labels" in fails(
        inside("predict", model, files / "rows.csv", "--threshold", "0.7")
    )


def test_compared_by_all_classes_and_reported_by_the_favourable_one(model, belief, files, inside):
    audit = ["--audit", files / "audit.csv", "--fair", "fair"]
    options = [
        "--belief",
        belief,
        *audit,
        "--learner",
        "linear",
        "--seeds",
        "1",
        "--folds",
        "2",
        "-o",
        files / "compared",
    ]
    run = inside("compare", files / "rows.csv", *SAID, *options, "--json")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    fair = {(row["method"], row["metric"]): row["mean"] for row in found["summary"] if row["labels"] == "fair"}
    assert fair["this model", "accuracy"] > fair["trained on recorded labels", "accuracy"]
    assert set(found["left_out"]) == {"massaging", "threshold optimizer"}
    assert found["left_out"]["massaging"] == "it is for two labels; there are 3"
    audited = pd.read_csv(files / "audit.csv")
    rates = (audited["fair"] == "A").groupby(audited["area"]).mean()
    assert found["data_disparity"]["fair"] == pytest.approx(rates["poor"] - rates["rich"])
    shown = ["--comparison", files / "compared", "-o", files / "page.html"]
    run = inside("report", model, "--data", files / "rows.csv", *audit, *shown, "--json")
    assert run.returncode == 0, run.stderr
    page = json.loads(run.stdout)
    recorded = pd.read_csv(files / "rows.csv")
    changed = {row["group"]: row for row in page["changes"]}
    assert changed["area = poor"]["recorded"] == pytest.approx(
        (recorded.query("area == 'poor'")["grade"] == "A").mean()
    )
    assert page["audited"][-1]["accuracy"] > 0.9
    assert page["audited"][-1]["record_right"] == pytest.approx((audited["grade"] == audited["fair"]).mean())
    assert "should have grade = A get it" in page["summary"][-1]
    words = (files / "page.html").read_text()
    assert "flip(poor" not in words
    assert "within the intervals, how often a fair A is recorded as B where area = poor moves it most" in words


def test_a_belief_for_two_labels_says_so(files, inside, tmp_path):
    (tmp_path / "two.pl").write_text(p4f.beliefs.belief_text(p4f.LabelBias("area", 0.2, 0.1, groups=("rich", "poor"))))
    options = ["--belief", tmp_path / "two.pl", "--favourable", "A", "-o", tmp_path / "m.p4f"]
    told = fails(inside("train", files / "rows.csv", *SAID, *options))
    assert told == "the belief is for 2 classes; the label has 3: 'B', 'C', 'A'"
