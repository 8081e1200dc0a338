"""``p4f predict`` and ``p4f estimate`` piece by piece say what they say of the whole table."""

from __future__ import annotations

import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.data import read_table
from problog4fairness.estimators import score_rows, text_columns
from tests.estimators.data import loans

ROWS = 60


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("problog4fairness.data.io.reading.ROWS", 7)
    frame, area, _, recorded = loans(300)
    belief = p4f.LabelBias("area", {"b": 0.5}, False, groups=("a", "b"), affected=["b"])
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    groups = np.where(area == 1, "b", "a")
    model.fit(frame, pd.Series(recorded, name="granted"), sensitive_features=groups).save(tmp_path / "m.p4f")
    rows = frame.assign(area=groups, granted=recorded, number=range(300), note="x").iloc[:ROWS]
    rows.to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def change(folder, column, row, value):
    table = pd.read_csv(folder / "new.csv", dtype=str, keep_default_na=False)
    table.loc[row, column] = value
    table.to_csv(folder / "new.csv", index=False)


def whole(folder):
    model = p4f.DebiasedClassifier.load(folder / "m.p4f")
    return score_rows(model, read_table(folder / "new.csv", texts=text_columns(model)))


CHANGES = {
    "nothing": (),
    "a fraction": (("number", 50, "0.5"),),
    "a text": (("number", 50, "x"),),
    "no number": (("income", 50, ""), ("q0", 3, "")),
    "no group": (("area", 40, ""),),
    "no label in the first pieces": tuple(("granted", row, "") for row in range(20)),
    "no label at all": tuple(("granted", row, "") for row in range(ROWS)),
    "no group in the first pieces": tuple(("area", row, "") for row in range(20)),
    "a label that nobody knows": (("granted", 50, "7"),),
}
WARNED = {
    "no label at all": "column 'granted' holds no value",
    "a label that nobody knows": "no distorted_probability: y has the label 7",
}


@pytest.mark.filterwarnings("always::problog4fairness.data.FileWarning")
@pytest.mark.parametrize("changes", CHANGES)
def test_every_output_is_that_of_the_whole_table(folder, inside, changes):
    for one in CHANGES[changes]:
        change(folder, *one)
    with warnings.catch_warnings(record=True) as warned:
        expected = whole(folder)
    assert [part for own in warned for part in WARNED.values() if part in str(own.message)] == (
        [WARNED[changes]] if changes in WARNED else []
    )
    scores = [name for name in expected.columns if name.endswith("probability")]
    text = expected.assign(**{name: expected[name].round(6) for name in scores}).to_csv(index=False)
    run = inside("predict", folder / "m.p4f", folder / "new.csv")
    assert (run.returncode, run.stdout) == (0, text), run.stderr
    assert run.stderr.count("no distorted_probability") == (changes == "a label that nobody knows")
    run = inside("predict", folder / "m.p4f", folder / "new.csv", "-o", folder / "s.csv", "--json")
    assert (folder / "s.csv").read_text() == text
    favourable = float((expected["fair_label"] == 1).mean())
    new = [name for name in expected.columns if name in scores or name == "fair_label"]
    told = {"scored": str(folder / "s.csv"), "rows": ROWS, "columns": new, "favourable": favourable}
    assert json.loads(run.stdout) == told
    inside("predict", folder / "m.p4f", folder / "new.csv", "-o", folder / "s.parquet")
    again = pd.read_parquet(folder / "s.parquet")
    exact = expected.to_csv(index=False)
    assert again.to_csv(index=False) == exact
    run = inside("predict", folder / "m.p4f", folder / "new.csv", "--json")
    pd.testing.assert_frame_equal(
        pd.DataFrame(json.loads(run.stdout)).fillna(np.nan), pd.read_csv(io.StringIO(exact)), check_dtype=False
    )


def test_the_row_of_an_error_is_that_of_the_table(folder, inside):
    change(folder, "income", 52, "much")
    run = inside("predict", folder / "m.p4f", folder / "new.csv", "-o", folder / "s.csv")
    assert run.returncode == 2
    assert "column 'income' has 'much' in row 53, which is not a number" in run.stderr
    assert "distorted" not in run.stderr
    assert not (folder / "s.csv").exists()


@pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")
@pytest.mark.filterwarnings("ignore::problog4fairness.audit.reading.AuditWarning")
def test_estimates_are_those_of_the_whole_table(folder, inside, monkeypatch):
    table = pd.read_csv(folder / "new.csv").assign(
        repaid=lambda rows: np.where(rows["area"] == "b", 1, rows["granted"])
    )
    table.to_csv(folder / "audit.csv", index=False)
    words = ("--sensitive", "area", "--group", "b", "--recorded", "granted", "--fair", "repaid", "--json")
    told = inside("estimate", folder / "audit.csv", *words, "-o", folder / "pieces.pl")
    assert told.returncode == 0, told.stderr
    monkeypatch.setattr("problog4fairness.data.io.reading.ROWS", 1 << 16)
    inside("estimate", folder / "audit.csv", *words, "-o", folder / "whole.pl")
    assert (folder / "pieces.pl").read_text() == (folder / "whole.pl").read_text()
    run = inside("estimate", folder / "audit.csv", *words[:-2], "paid", "-o", folder / "none.pl")
    assert "there is no such column for the fair label" in run.stderr
    assert "'income'" in run.stderr
