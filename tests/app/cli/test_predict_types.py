"""``p4f predict``: what a column is, the model says, not each file."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from problog4fairness import DebiasedClassifier, LabelBias
from problog4fairness.learners import Network
from tests.estimators.data import loans

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.errors.LearningWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models for a table with codes that are texts, and for the same table with codes that are numbers."""
    folder = tmp_path_factory.mktemp("types")
    frame, area, _, recorded = loans(300)
    belief = LabelBias("area", {"01": 0.5}, False, groups=("00", "01", "2B"), affected=["01"])
    groups = np.where(np.arange(300) % 9 == 0, "2B", np.where(area == 1, "01", "00"))
    codes = np.array(["1", "02", "7A"])[np.arange(300) % 3]
    flags = np.array([True, False, None])[np.arange(300) % 3]
    rows = frame[["income"]].assign(code=codes, flag=flags)
    label = pd.Series(np.where(recorded == 1, "1", "no"), name="granted")
    model = DebiasedClassifier(belief, favourable="1", learner=Network(max_epochs=1), random_state=0)
    model.fit(rows, label, sensitive_features={"area": groups}).save(folder / "texts.p4f")
    rows.assign(area=groups, granted=label).to_csv(folder / "all.csv", index=False)
    model = DebiasedClassifier(learner=Network(max_epochs=1), random_state=0)
    model.fit(rows[["income"]].assign(code=np.arange(300) % 3), label).save(folder / "numbers.p4f")
    return folder


def scored(inside, folder, *words):
    run = inside("predict", folder / words[0], folder / words[1])
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    return pd.read_csv(io.StringIO(run.stdout), dtype={"code": str, "area": str, "granted": str})


@pytest.mark.parametrize(
    ("column", "values"), [("code", ["1", "02"]), ("area", ["00", "01"]), ("granted", ["1"]), ("flag", ["True"])]
)
def test_rows_have_the_same_scores_whatever_else_is_in_the_file(inside, folder, column, values):
    table = pd.read_csv(folder / "all.csv", dtype=str, keep_default_na=False)
    some = table[table[column].isin(values)]
    some.to_csv(folder / "some.csv", index=False)
    everything, part = scored(inside, folder, "texts.p4f", "all.csv"), scored(inside, folder, "texts.p4f", "some.csv")
    assert "distorted_probability" in part
    pd.testing.assert_frame_equal(part, everything.loc[some.index].reset_index(drop=True), check_dtype=False)


def test_a_text_where_training_saw_numbers_is_one_line(inside, folder):
    (folder / "new.csv").write_text("income,code\n1.5,1\n2.5,2\n0.5,7A\n")
    run = inside("predict", folder / "numbers.p4f", folder / "new.csv")
    assert run.returncode == 2
    assert run.stderr.splitlines() == [
        "column 'code' has '7A' in row 3, which is not a number, and the model was trained on numbers there; "
        "correct it, or leave it empty"
    ]


def test_a_number_that_is_too_large_gets_no_label(inside, folder):
    (folder / "new.csv").write_text("income,code\n1.5,1\n1e308,2\n")
    run = inside("predict", folder / "numbers.p4f", folder / "new.csv")
    assert (run.returncode, run.stdout) == (2, "")
    assert "column 'income' has 1e+308 in row 2, which is too large" in run.stderr
