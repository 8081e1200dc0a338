"""A kind of belief that the library does not know, defined in the documentation, goes the whole way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

import problog4fairness as p4f
from problog4fairness.beliefs import Belief, admissible_values, read_belief
from problog4fairness.beliefs.convert import known_kinds
from problog4fairness.data import Rows
from tests.beliefs.contract import BeliefContract

TRUTH = 0.4
QUICK = p4f.learners.Network(max_epochs=15)
COLUMNS = ("--recorded", "granted", "--sensitive", "poor_area")
pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileNote")


EXAMPLE = Path(__file__).parents[2] / "docs" / "contribute" / "examples" / "add_a_belief.py"


def written_in_the_documentation() -> type[Belief]:
    """The belief that the page on adding one defines, in its first part."""
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(EXAMPLE.read_text().partition("# %%")[0], str(EXAMPLE), "exec"), space)
    return known_kinds().pop("Overlooked")


Overlooked = written_in_the_documentation()


@pytest.fixture(scope="module", autouse=True)
def _known(_no_new_kinds_of_beliefs):
    """The belief is known while it is tested, and other modules of tests do not see it."""
    known_kinds()["Overlooked"] = Overlooked


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    income, poor = rng.normal(size=rows), rng.integers(0, 2, rows)
    repaid = (income + 0.3 * rng.normal(size=rows) > 0).astype(int)
    granted = np.where((poor == 1) & (rng.random(rows) < TRUTH), 0, repaid)
    return pd.DataFrame({"income": income, "age": rng.normal(size=rows), "poor_area": poor, "granted": granted,
                         "repaid": repaid})  # fmt: skip


DATA, AUDIT, NEW = table(1200, 0), table(800, 1), table(300, 2)
X, Y = DATA[["income", "age"]], DATA["granted"]


@pytest.fixture(scope="module")
def belief():
    return Overlooked("poor_area").estimate(AUDIT, recorded="granted", fair="repaid")


@pytest.fixture(scope="module")
def model(belief):
    return p4f.DebiasedClassifier(belief, QUICK, random_state=0).fit(X, Y, sensitive_features=DATA["poor_area"])


class TestOverlooked(BeliefContract):
    def make(self):
        return Overlooked("poor_area")

    def known(self):
        return {"overlooked": TRUTH}

    def simulate(self, belief, rows, rng):
        return table(rows, int(rng.integers(1000))), {"recorded": "granted", "fair": "repaid"}

    def tables(self, belief):
        rows = Rows(pd.DataFrame({"poor_area": [0, 1]}), ())
        sure = torch.tensor([[0.0, -1e4], [-1e4, 0.0]], dtype=torch.float64)
        seen = belief.observe(rows)
        return [torch.stack([seen.recorded_proba(own.expand(len(seen.table), -1)) for own in sure], dim=1)]


def test_it_is_estimated_through_its_program(belief):
    own = belief.parameters[0]
    poor = AUDIT[(AUDIT["poor_area"] == 1) & (AUDIT["repaid"] == 1)]
    assert own.value == pytest.approx(1 - poor["granted"].mean(), abs=0.01)
    assert own.low < TRUTH < own.high
    assert own.source == "likelihood penalised by 1 per unit"
    assert own.rows == len(poor)
    assert belief.favourable == 1


def test_it_says_itself(belief):
    words = " ".join(belief.words())
    assert "called overlooked" in words
    assert "a fair 1 is recorded as 0 where poor_area = 1" in words
    assert any(node.classifier for node in belief.picture().nodes)
    low, high = admissible_values(belief, belief.parameters[0], Rows(DATA, ("income",)))
    assert (low, high) == (0, pytest.approx(0.95))


def test_it_is_trained_through(model):
    new = NEW[["income", "age"]]
    assert (model.predict(new) == NEW["repaid"]).mean() > 0.85
    plain = p4f.DebiasedClassifier(None, QUICK, random_state=0).fit(X, Y)
    off = [abs(own.predict_proba(new)[:, 1].mean() - NEW["repaid"].mean()) for own in (model, plain)]
    assert off[0] < 0.05 < off[1]
    distorted = model.distortion_proba(X, Y, sensitive_features=DATA["poor_area"])
    assert (distorted[(DATA["poor_area"] == 0) | (Y == 1)] < 1e-9).all()
    wrong = DATA["granted"] != DATA["repaid"]
    assert distorted[wrong].mean() > 0.5 > distorted[~wrong].mean()


def test_it_is_saved_with_a_model(model, tmp_path):
    model.save(tmp_path / "loans.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "loans.p4f")
    assert again.belief_ == model.belief_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_its_parameters_are_doubted(model):
    from problog4fairness.robustness import sensitivity

    found = sensitivity(model, X, Y, sensitive_features=DATA["poor_area"], values=5, progress=False)
    assert set(found.frame["parameter"]) == {"overlooked"}


def test_it_is_compared(belief):
    options = {"methods": ["recorded_only"], "seeds": 1, "folds": 2}
    found = p4f.compare(AUDIT, belief, recorded="granted", fair="repaid", **options)
    assert len(found.methods) == 2


def test_it_is_reported(model):
    page = p4f.report(model, DATA.drop(columns="repaid"), audit=AUDIT, fair="repaid", comparison=False)
    assert "called overlooked" in page.html
    assert "a fair 1 is recorded as 0 where poor_area = 1" in page.html


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("overlooked")
    for name, frame in (("loans", DATA.drop(columns="repaid")), ("audit", AUDIT), ("new", NEW)):
        frame.to_csv(place / f"{name}.csv", index=False)
    return place


@pytest.fixture(scope="module")
def run(folder):
    from problog4fairness.app.cli import app

    def run(*arguments: str) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


@pytest.fixture(scope="module")
def trained(run):
    run("estimate", "audit.csv", *COLUMNS, "--fair", "repaid", "--belief", "overlooked", "-o", "belief.pl")
    network = ("--learner", "network", "--epochs", "10")
    run("train", "loans.csv", *COLUMNS, "--belief", "belief.pl", *network, "-o", "loans.p4f")


def test_the_command_line_estimates_trains_and_predicts(run, trained, folder, belief):
    assert read_belief(folder / "belief.pl") == belief
    run("predict", "loans.p4f", "new.csv", "-o", "scored.csv")
    scored = pd.read_csv(folder / "scored.csv")
    assert (scored["fair_label"] == scored["repaid"]).mean() > 0.8


@pytest.mark.filterwarnings("ignore:none of the 800 audited rows:problog4fairness.audit.AuditWarning")
def test_the_command_line_compares(run, trained):
    options = ("--audit", "audit.csv", "--fair", "repaid", "--seeds", "1", "--folds", "2", "--json")
    assert json.loads(run("compare", "loans.csv", *COLUMNS, "--belief", "belief.pl", *options))


def test_the_command_line_reports(run, trained, folder):
    data = ("--data", "loans.csv", "--audit", "audit.csv", "--fair", "repaid", "--no-comparison", "--no-sensitivity")
    run("report", "loans.p4f", *data, "-o", "report.html")
    assert "called overlooked" in (folder / "report.html").read_text()
