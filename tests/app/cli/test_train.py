"""``p4f train`` and ``p4f predict`` as processes."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from problog4fairness import DebiasedClassifier, LabelBias
from problog4fairness.beliefs import belief_text
from tests.app.cli.running import fails, p4f
from tests.app.cli.tables import write_tables

TRAIN = ("train", "loans.csv", "--belief", "belief.pl", "--recorded", "granted", "--sensitive", "poor_area",
         "--no-check")  # fmt: skip
THREE = ("--learner", "network", "--epochs", "3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_tables(tmp_path_factory.mktemp("train"))
    belief = LabelBias("poor_area", {"yes": 0.4}, False, groups=("no", "yes"), affected=["yes"])
    (folder / "belief.pl").write_text(belief_text(belief))
    run = p4f(*TRAIN, *THREE, "-o", "loans.p4f", "--seed", "1", "--json", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "warning: column 'customer' identifies rows and was left out; keep by --keep COLUMN" in run.stderr
    done = json.loads(run.stdout)
    assert done["features"] == ["income", "savings", "years_at_address", "job", "children"]
    assert (done["rows"], done["rounds"], done["columns_left_out"]) == (600, 3, ["customer"])
    assert (done["learner"], done["choice"], done["calibration"], done["audited"]) == ("network", None, None, 0)
    told = "training stopped at its last epoch (3) while the loss was still falling; allow more epochs"
    assert f"warning: {told}" in run.stderr
    # Three rounds are too few to fit the others: whoever reads one line is told first that training was not done.
    first, unfit = done["training_warnings"]
    assert first == told
    assert unfit.startswith("where poor_area = no, ")
    assert "the learner is too simple" in unfit
    return folder


def test_the_model_knows_its_label_and_is_reproducible(folder):
    model = DebiasedClassifier.load(folder / "loans.p4f")
    assert model.recorded_ == "granted"
    run = p4f(*TRAIN, *THREE, "-o", "again.p4f", "--seed", "1", folder=folder)
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
    features = loans[["income", "savings", "years_at_address", "job", "children"]]
    fair = model.predict_proba(features)[:, 1]
    assert scored["fair_probability"].to_numpy() == pytest.approx(fair, abs=1e-6)
    assert (scored["fair_label"] == (fair >= 0.5)).all()
    poor = loans["poor_area"] == "yes"
    assert scored["recorded_probability"].to_numpy() == pytest.approx(fair * (1 - 0.4 * poor), abs=1e-6)
    refused = poor & (loans["granted"] == 0)
    expected = fair * 0.4 / (1 - 0.6 * fair)
    assert scored["distorted_probability"][refused].to_numpy() == pytest.approx(expected[refused], abs=1e-6)
    assert (scored["distorted_probability"][~refused] == 0).all()


def test_standard_input_and_output_without_group_and_label(folder):
    new = pd.read_csv(folder / "new.csv")[["income", "savings", "years_at_address", "job", "children"]]
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
    own = ("--belief", "own.pl", "-o", "own.p4f", "--learner", "network", "--epochs", "2")
    run = p4f("train", "loans.csv", *TRAIN[4:], *own, folder=folder)
    assert run.returncode == 0, run.stderr
    run = p4f("predict", "own.p4f", "loans.csv", "--json", folder=folder)
    rows = pd.DataFrame(json.loads(run.stdout))
    refused = rows[(rows["poor_area"] == "yes") & (rows["granted"] == 0)]
    expected = refused["fair_probability"] * 0.4 / (1 - 0.6 * refused["fair_probability"])
    assert refused["distorted_probability"].to_numpy() == pytest.approx(expected.to_numpy(), abs=2e-6)


def test_what_contradicts_the_belief_is_an_error_and_labels_turned_round_are_told(folder):
    strong = {"yes": 0.8}
    belief = LabelBias("poor_area", strong, strong, groups=("no", "yes"), affected=["yes"], favourable=1)
    (folder / "opposite.pl").write_text(belief_text(belief))
    train = ("train", "loans.csv", "--belief", "opposite.pl", "--recorded", "granted", "-o", "opposite.p4f")
    run = p4f(*train, "--learner", "network", "--epochs", "1", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "warning: where poor_area = yes, negative and positive bias sum to more than 1" in run.stderr
    assert "--favourable '0' contradicts the belief" in fails(p4f(*train, "--favourable", "0", folder=folder))
    assert "--group 'no' contradicts the belief" in fails(p4f(*train, "--group", "no", folder=folder))


def test_the_choice_of_a_learner_is_told_and_kept(folder):
    run = p4f(*TRAIN, "-o", "auto.p4f", "--json", folder=folder)
    assert run.returncode == 0, run.stderr
    done = json.loads(run.stdout)
    first, *others = done["choice"]
    assert (first["learner"], first["margin"]) == (done["learner"], 0)
    assert {own["learner"] for own in done["choice"]} == {"linear", "boosted", "network"}
    assert all(own["margin"] >= 0 and own["error"] >= 0 for own in others)
    model = DebiasedClassifier.load(folder / "auto.p4f")
    assert (model.learner, model.fitted_.chosen) == ("auto", done["learner"])
    shown = p4f(*TRAIN, "-o", "auto.p4f", folder=folder).stdout
    assert "chosen by the loss of recorded rows that were held out" in shown
    assert shown.count("behind by") == 2


def test_options_of_networks_are_for_networks(folder):
    for flag in ("--epochs", "--patience", "--batch-size", "--learning-rate"):
        line = fails(p4f(*TRAIN, "-o", "x.p4f", flag, "1", folder=folder))
        assert line == f"{flag} is an option of networks; add --learner network"


def test_audited_rows_teach(folder):
    audit = pd.read_csv(folder / "audit.csv")
    # Of some the label is written in words, and some are in the table.
    loans = pd.read_csv(folder / "loans.csv")
    audit = audit.assign(repaid=audit["repaid"].map({0: "no", 1: "yes"}), customer=audit["customer"] + len(loans))
    audit = audit[(audit["repaid"] == "yes") | (audit["granted"] == 0)]  # nobody who cannot repay is granted a loan
    audit.to_csv(folder / "checked.csv", index=False)
    both = pd.concat([loans, audit[:100].drop(columns="repaid")])
    both.to_csv(folder / "both.csv", index=False)
    train = ("train", "both.csv", *TRAIN[2:], "--audit", "checked.csv", "--fair", "repaid", "--learner", "linear")
    run = p4f(*train, "-o", "taught.p4f", "--json", folder=folder)
    assert run.returncode == 0, run.stderr
    done = json.loads(run.stdout)
    assert (done["rows"], done["audited"]) == (len(loans) + len(audit), len(audit))
    assert "repaid" not in done["features"]
    assert f", {len(audit)} audited, 0 left out" in p4f(*train, "-o", "taught.p4f", folder=folder).stdout
    line = fails(p4f("train", "both.csv", *TRAIN[2:], "--audit", "checked.csv", "-o", "x.p4f", folder=folder))
    assert line == "name the column of the fair label in the audit by --fair COLUMN"


def test_an_audit_that_the_belief_rules_out_is_one_line(folder):
    audit = pd.read_csv(folder / "audit.csv").assign(granted=1, repaid=0)
    audit.to_csv(folder / "impossible.csv", index=False)
    train = (*TRAIN, "--audit", "impossible.csv", "--fair", "repaid", "--learner", "linear", "-o", "x.p4f")
    line = fails(p4f(*train, folder=folder))
    assert "have a recorded label that the belief rules out for their known fair label" in line


def test_the_features_to_learn_from_can_be_named(folder):
    two = ("--features", "income", "--features", "customer")
    run = p4f(*TRAIN, "--learner", "linear", *two, "-o", "two.p4f", "--json", folder=folder)
    assert run.returncode == 0, run.stderr
    done = json.loads(run.stdout)
    assert done["features"] == ["income", "customer"]
    assert "savings" in done["columns_left_out"]
    assert "identifies rows" not in run.stderr
    line = fails(p4f(*TRAIN, "--features", "incme", "-o", "no.p4f", folder=folder))
    assert "--features 'incme'" in line
    assert "'income'" in line
