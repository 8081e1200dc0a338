"""``p4f train`` and ``p4f predict`` as processes."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from problog4fairness import DebiasedClassifier, LabelBias
from problog4fairness.mechanisms import belief_text
from tests.cli.running import fails, p4f
from tests.cli.tables import write_tables

TRAIN = ("train", "loans.csv", "--belief", "belief.pl", "--recorded", "granted", "--sensitive", "poor_area")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_tables(tmp_path_factory.mktemp("train"))
    belief = LabelBias("poor_area", {"yes": 0.4}, False, levels=("no", "yes"), groups=["yes"])
    (folder / "belief.pl").write_text(belief_text(belief))
    run = p4f(*TRAIN, "-o", "loans.p4f", "--epochs", "3", "--seed", "1", "--json", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "warning: column 'customer' identifies rows and was left out; keep with --keep COLUMN" in run.stderr
    done = json.loads(run.stdout)
    assert done["features"] == ["income", "savings", "job", "children"]
    assert (done["rows"], done["epochs"], done["columns_left_out"]) == (600, 3, ["customer"])
    return folder


def test_the_model_knows_its_label_and_is_reproducible(folder):
    model = DebiasedClassifier.load(folder / "loans.p4f")
    assert model.recorded_ == "granted"
    run = p4f(*TRAIN, "-o", "again.p4f", "--epochs", "3", "--seed", "1", folder=folder)
    assert "600 rows, 0 left out" in run.stdout
    again = DebiasedClassifier.load(folder / "again.p4f")
    assert again.history_ == model.history_
    assert (folder / "again.p4f").read_bytes() == (folder / "loans.p4f").read_bytes()


def test_rows_are_scored(folder):
    run = p4f("predict", "loans.p4f", "loans.csv", "-o", "scored.parquet", folder=folder)
    assert run.returncode == 0, run.stderr
    loans, scored = pd.read_csv(folder / "loans.csv"), pd.read_parquet(folder / "scored.parquet")
    pd.testing.assert_frame_equal(scored[loans.columns], loans, check_dtype=False)
    model = DebiasedClassifier.load(folder / "loans.p4f")
    features = loans[["income", "savings", "job", "children"]]
    fair = model.predict_proba(features)[:, 1]
    assert scored["fair_probability"].to_numpy() == pytest.approx(fair)
    assert (scored["fair_label"] == (fair >= 0.5)).all()
    poor = loans["poor_area"] == "yes"
    assert scored["recorded_probability"].to_numpy() == pytest.approx(fair * (1 - 0.4 * poor))
    refused = poor & (loans["granted"] == 0)
    expected = fair * 0.4 / (1 - 0.6 * fair)
    assert scored["distorted_probability"][refused].to_numpy() == pytest.approx(expected[refused])
    assert (scored["distorted_probability"][~refused] == 0).all()


def test_standard_input_and_output_without_group_and_label(folder):
    new = pd.read_csv(folder / "new.csv")[["income", "savings", "job", "children"]]
    new.loc[0, "job"] = "astronaut"
    new.loc[1, "income"] = None
    run = p4f("predict", "loans.p4f", "-", stdin=new.to_csv(index=False, sep=";"), folder=folder)
    assert run.stderr == ""
    scored = pd.read_csv(io.StringIO(run.stdout))
    assert list(scored.columns) == [*new.columns, "fair_probability", "fair_label"]
    assert scored["fair_probability"].between(0, 1).all()
    run = p4f("predict", "loans.p4f", "-", stdin=new.drop(columns="job").to_csv(index=False), folder=folder)
    assert fails(run) == "the table lacks the column 'job' that the model was trained on"


def test_groups_must_be_those_of_the_audit(folder):
    loans = pd.read_csv(folder / "loans.csv")
    loans.replace({"poor_area": {"no": "maybe"}}).to_csv(folder / "other.csv", index=False)
    line = fails(p4f("train", "other.csv", *TRAIN[2:], "-o", "x.p4f", folder=folder))
    assert "the value 'maybe', which the belief does not know" in line
    loans[loans["poor_area"] == "no"].to_csv(folder / "some.csv", index=False)
    line = fails(p4f("train", "some.csv", *TRAIN[2:], "-o", "x.p4f", folder=folder))
    assert "no row has poor_area = yes, a group that the belief is about" in line
    assert not (folder / "x.p4f").exists()
    assert "is the input" in fails(p4f(*TRAIN, "-o", "belief.pl", folder=folder))


def test_a_program_trains_and_says_what_was_distorted(folder):
    (folder / "own.pl").write_text("nn(h,X)::y(X). nn(g,X)::a(X). 0.4::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x).")
    own = ("--belief", "own.pl", "-o", "own.p4f", "--epochs", "2")
    run = p4f("train", "loans.csv", *TRAIN[4:], *own, folder=folder)
    assert run.returncode == 0, run.stderr
    run = p4f("predict", "own.p4f", "loans.csv", "--json", folder=folder)
    rows = pd.DataFrame(json.loads(run.stdout))
    refused = rows[(rows["poor_area"] == "yes") & (rows["granted"] == 0)]
    expected = refused["fair_probability"] * 0.4 / (1 - 0.6 * refused["fair_probability"])
    assert refused["distorted_probability"].to_numpy() == pytest.approx(expected.to_numpy())


def test_what_contradicts_the_belief_is_an_error_and_labels_turned_round_are_told(folder):
    strong = {"yes": 0.8}
    belief = LabelBias("poor_area", strong, strong, levels=("no", "yes"), groups=["yes"], favourable=1)
    (folder / "opposite.pl").write_text(belief_text(belief))
    train = ("train", "loans.csv", "--belief", "opposite.pl", "--recorded", "granted", "-o", "opposite.p4f")
    run = p4f(*train, "--epochs", "1", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "warning: where poor_area = yes, negative and positive bias sum to more than 1" in run.stderr
    assert "--favourable 0 contradicts the belief" in fails(p4f(*train, "--favourable", "0", folder=folder))
    assert "--group no contradicts the belief" in fails(p4f(*train, "--group", "no", folder=folder))
