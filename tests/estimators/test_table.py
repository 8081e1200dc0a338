"""From a table to a trained model, and from a model to a scored table."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.data import FileNote, FileWarning
from problog4fairness.errors import P4FError
from problog4fairness.estimators.prediction import score_rows
from problog4fairness.estimators.training_table import belief_for, train_on_table, training_rows
from tests.estimators.data import loans, quick

BELIEF = p4f.LabelBias("area", {"F": 0.5}, False, groups=("M", "F"), affected=["F"])
OWN = "nn(h,X)::y(X). nn(a,X)::a(X). 0.5::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."
pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileNote")
LABELS = {"favourable": "good", "fair": "repaid"}


def table(rows=400):
    frame, area, fair, recorded = loans(rows)
    return frame.assign(area=np.where(area == 1, "F", "M"), granted=np.where(recorded == 1, "good", "bad"), repaid=fair)


def test_columns_are_sorted():
    data = table().assign(number=range(400), here="x")
    data.loc[3, "granted"] = None
    data.loc[[5, 6], "area"] = None
    with pytest.warns(FileWarning) as told:
        rows = training_rows(data, BELIEF, recorded="granted", **LABELS, drop=["q2"], use_sensitive=False)
    assert list(rows.features.columns) == ["q0", "q1", "income", "job"]
    assert rows.left_out == ["q2", "repaid", "number", "here"]
    assert (rows.dropped, len(rows.features), rows.label.name, rows.favourable) == (3, 397, "granted", "good")
    assert [str(t.message).split(";")[0] for t in told][:3] == [
        "repaid: 1 is favourable, 0 is not",  # the fair label is read, so how it is written is told
        "column 'granted' has 1 missing values",
        "column 'area' has 2 missing values",
    ]
    using = training_rows(
        table(), BELIEF, recorded="granted", favourable="good", fair="repaid", use_sensitive=True, sensitive="area"
    )
    assert "area" in using.features.columns


def test_a_belief_about_another_column_is_refused():
    with pytest.raises(P4FError, match="the belief is about 'area', not about the column 'job'"):
        training_rows(table(), BELIEF, recorded="granted", favourable="good", sensitive="job")
    with pytest.raises(P4FError, match="sensitive='area': there is no such column"):
        training_rows(table().drop(columns="area"), BELIEF, recorded="granted", favourable="good")


def test_a_program_needs_to_know_the_group(tmp_path):
    path = tmp_path / "own.pl"
    path.write_text(OWN)
    data = table()
    with pytest.raises(P4FError, match=r"by group=\.\.\."):
        training_rows(data, belief_for(path, data, sensitive="area"), recorded="granted", favourable="good")
    belief = belief_for(path, data, sensitive="area", group="f")
    assert belief.values == {"a": ("M", "F")}
    assert len(training_rows(data, belief, recorded="granted", favourable="good").features) == 400


@pytest.fixture(scope="module", params=["template", "program"])
def trained(request):
    belief = BELIEF if request.param == "template" else p4f.ProgramBelief(
        OWN, columns={"a": "area"}, values={"a": ("M", "F")}
    )  # fmt: skip
    roles = {"recorded": "granted", "favourable": "good", "fair": "repaid"}
    return train_on_table(table(), belief, **roles, **quick(max_epochs=4))[0]


def test_scores_follow_from_the_belief(trained, tmp_path):
    trained.save(tmp_path / "m.p4f")
    model = p4f.DebiasedClassifier.load(tmp_path / "m.p4f")
    assert model.recorded_ == "granted"
    data = table().drop(columns="repaid")
    scored = score_rows(model, data)
    fair, poor = scored["fair_probability"], data["area"] == "F"
    assert set(scored["fair_label"]) <= {"good", "bad"}
    np.testing.assert_allclose(scored["recorded_probability"], fair * np.where(poor, 0.5, 1), rtol=1e-6)
    refused = poor & (data["granted"] == "bad")
    expected = np.where(refused, 0.5 * fair / (1 - 0.5 * fair), 0)
    np.testing.assert_allclose(scored["distorted_probability"], expected, atol=1e-6)


def test_rows_without_group_or_label_are_scored_as_far_as_they_go(trained):
    data = table(50)
    data.loc[0, "area"] = None
    data.loc[1, "granted"] = None
    scored = score_rows(trained, data)
    assert scored["fair_probability"].notna().all()
    assert scored["recorded_probability"].isna().tolist()[:3] == [True, False, False]
    assert scored["distorted_probability"].isna().tolist()[:3] == [True, True, False]
    plain = score_rows(trained, data.drop(columns=["area", "granted"]))
    assert [name for name in plain.columns if name not in data.columns] == ["fair_probability", "fair_label"]
    strange = data.assign(granted="good").assign(granted=lambda f: f["granted"].where(f.index != 7, "awful"))
    with pytest.warns(FileWarning, match="no distorted_probability: y has the label 'awful'"):
        assert "distorted_probability" not in score_rows(trained, strange)


def test_a_table_that_does_not_fit_is_one_line(trained):
    with pytest.raises(P4FError, match="lacks the columns 'q0', 'income' that the model was trained on"):
        score_rows(trained, table(50).drop(columns=["q0", "income"]))
    with pytest.raises(P4FError, match="already has the column 'fair_label'"):
        score_rows(trained, table(50).assign(fair_label=1))


def test_a_label_that_cannot_have_been_recorded_is_scored_but_for_its_distortion():
    belief = p4f.LabelBias("area", {"F": 1.0}, False, groups=("M", "F"), affected=["F"])
    data = table().assign(granted=lambda f: f["granted"].where(f["area"] == "M", "bad"))
    model, _ = train_on_table(data, belief, recorded="granted", favourable="good", fair="repaid", **quick(max_epochs=1))
    scored = score_rows(model, data.head(20).assign(granted="good"))
    assert scored["recorded_probability"].notna().all()
    assert (scored["distorted_probability"].isna() == (scored["area"] == "F")).all()


def test_conventions_are_said():
    with pytest.warns(FileNote, match="granted: 1 is favourable"):
        training_rows(
            table().assign(granted=lambda f: (f["granted"] == "good").astype(int)), BELIEF, recorded="granted"
        )
