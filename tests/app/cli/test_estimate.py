"""``p4f estimate`` as a process."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from problog4fairness.beliefs import Annotators, MeasurementBias, belief_text, read_belief
from tests.app.cli.running import fails, p4f
from tests.app.cli.tables import write_tables

COLUMNS = ("--sensitive", "poor_area", "--recorded", "granted", "--fair", "repaid")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tables(tmp_path_factory.mktemp("estimate"))


def test_label_bias_from_an_audit(folder):
    run = p4f("estimate", "audit.csv", *COLUMNS, "--no-positive", "-o", "belief.pl", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "p1" in run.stdout
    assert "p3" not in run.stdout
    audit = pd.read_csv(folder / "audit.csv")
    cell = audit[(audit["poor_area"] == "yes") & (audit["repaid"] == 1)]
    belief = read_belief(folder / "belief.pl")
    assert belief.parameters[0].value == pytest.approx(1 - cell["granted"].mean())
    assert belief.variables[0].levels == ("no", "yes")
    text = (folder / "belief.pl").read_text()
    assert text.startswith("% Estimated from 400 audited rows of audit.csv.\n")
    assert f"poor_area = yes: {int(cell['granted'].sum())} fair 1 recorded as 1" in text
    checked = p4f("lint", folder / "belief.pl", "--json")
    assert json.loads(checked.stdout)["warnings"] == []


def test_warnings_are_lines(folder):
    few = pd.read_csv(folder / "audit.csv").head(30).assign(granted=lambda f: f["granted"].map({0: "bad", 1: "good"}))
    few.to_csv(folder / "few.csv", index=False, sep=";")
    refused = fails(p4f("estimate", "few.csv", *COLUMNS, "-o", "few.pl", folder=folder))
    assert "state which one is favourable" in refused
    assert "--favourable VALUE" in refused
    assert not (folder / "few.pl").exists()
    run = p4f("estimate", "few.csv", *COLUMNS, "--favourable", "good", "-o", "few.pl", "--json", folder=folder)
    assert json.loads(run.stdout)["kind"] == "LabelBias"
    assert "warning: only " in run.stderr
    assert "Warning" not in run.stderr
    run = p4f("estimate", "few.csv", *COLUMNS, "--favourable", "good", "-o", "few.pl", folder=folder)
    assert "a fair good is recorded as bad where poor_area = yes" in run.stdout
    assert "fair 1" not in run.stdout + run.stderr


def test_measurement_bias_and_programs(folder):
    audit = pd.read_csv(folder / "audit.csv")
    seen = audit.assign(rich=(audit["income"] > 2000).astype(int))
    seen["noted"] = seen["rich"].where((seen["poor_area"] == "no") | (seen["customer"] % 3 > 0), 0)
    seen.to_parquet(folder / "seen.parquet")
    run = p4f(
        *("estimate", "seen.parquet", "--sensitive", "poor_area", "--belief", "measurement"),
        *("--feature", "noted", "--fair-feature", "rich", "--no-positive", "-o", "m.pl"),
        folder=folder,
    )
    assert run.returncode == 0, run.stderr
    belief = read_belief(folder / "m.pl")
    assert isinstance(belief, MeasurementBias)
    poor = seen[(seen["poor_area"] == "yes") & (seen["noted"] == 0)]
    assert belief.parameter_table()["value"]["p1(noted)"] == pytest.approx(poor["rich"].mean())
    run = p4f(
        *("estimate", "seen.parquet", *COLUMNS, "--belief", "historical"),
        *("--feature", "noted", "--fair-feature", "rich", "--no-positive", "-o", "w.pl", "--json"),
        folder=folder,
    )
    assert json.loads(run.stdout)["kind"] == "HistoricalBias"
    assert read_belief(folder / "w.pl").parameter_table()["value"]["p1(noted)"] == pytest.approx(poor["rich"].mean())
    assert read_belief(folder / "w.pl").label is not None
    own = folder / "own.pl"
    own.write_text("nn(h,X)::y(X). nn(g,X)::a(X). p1::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x).")
    run = p4f("estimate", "audit.csv", *COLUMNS, "--belief", "own.pl", "-o", "done.pl", folder=folder)
    assert run.returncode == 0, run.stderr
    done = read_belief(folder / "done.pl")
    assert done.network_columns == {"g": "poor_area"}
    assert done.values == {"g": ("no", "yes")}
    poor = audit[(audit["poor_area"] == "yes") & (audit["repaid"] == 1)]
    assert done.parameters[0].value == pytest.approx(1 - poor["granted"].mean(), abs=0.01)
    assert "is the input" in fails(
        p4f("estimate", "audit.csv", *COLUMNS, "--belief", "own.pl", "-o", "own.pl", folder=folder)
    )


@pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")
def test_votes_of_several_annotators_are_read_as_the_file_of_the_belief_says(inside, tmp_path):
    rng = np.random.default_rng(0)
    fair, poor = rng.integers(0, 2, (2, 400))
    said = {f"vote{i}": np.where(rng.random(400) < 0.1 + 0.2 * poor, 1 - fair, fair) for i in range(3)}
    audit = pd.DataFrame({"area": poor, **said, "fair": fair})
    audit.to_csv(tmp_path / "votes.csv", index=False)
    belief = Annotators(list(said), "area")
    (tmp_path / "stated.pl").write_text(belief_text(belief))
    options = ["--sensitive", "area", "--recorded", "vote0", "--fair", "fair"]
    run = inside(
        "estimate", tmp_path / "votes.csv", "--belief", tmp_path / "stated.pl", *options, "-o", tmp_path / "b.pl"
    )
    assert run.returncode == 0, run.stderr
    found = read_belief(tmp_path / "b.pl").parameter_table()["value"]
    here = belief.estimate(audit, fair="fair", favourable=1).parameter_table()["value"]
    pd.testing.assert_series_equal(found, here, rtol=1e-6)
    assert "Votes: vote0, vote1, vote2. Fair label: fair." in (tmp_path / "b.pl").read_text()
    told = fails(
        inside("estimate", tmp_path / "votes.csv", "--belief", "annotators", *options, "-o", tmp_path / "c.pl")
    )
    assert told.startswith("Annotators is stated in Python")
