from __future__ import annotations

import hashlib

import numpy as np
import pytest

from problog4fairness import LabelBias
from problog4fairness.audit import AuditWarning
from problog4fairness.errors import P4FError
from studies.data import student
from studies.data.student import FEATURES, LABELS, MATHS
from tests.studies.data.pupils import write_files


@pytest.fixture(scope="module", params=["rank", "grade"])
def data(request, student_folder):
    return student(student_folder, reading=request.param)


def test_the_rows(data):
    assert len(data.features) == 856
    assert tuple(data.features.columns) == FEATURES
    assert not data.features.isna().any(axis=None)
    assert data.sensitive.value_counts().to_dict() == {0: 428, 1: 428}
    for column in (data.sensitive, data.fair, data.recorded):
        assert set(column) == {0, 1}
    assert ((data.fair == 0) & (data.sensitive == 0)).sum() == 67
    assert ((data.fair == 0) & (data.sensitive == 1)).sum() == 82
    assert data.primed.value_counts().to_dict() == {"Statistics": 320, "CaseBased": 272, "": 264}


def test_annotators_and_pupils(data):
    assert data.participant.value_counts().to_dict() == dict.fromkeys(range(1, 108), 8)
    assert data.pupil.nunique() == 586
    assert (data.sensitive.groupby(data.pupil).nunique() == 1).all()


FACTS = {
    "rank": {1: (105, 7), 0: (54, 17)},
    "grade": {1: (79, 44), 0: (42, 56)},
}
SHARES = {  # P(fair = 1), P(recorded = 1), P(recorded = 0 given fair = 1), P(recorded = 1 given fair = 0)
    "rank": {1: (0.808, 0.579, 0.303, 0.085), 0: (0.843, 0.757, 0.150, 0.254)},
    "grade": {1: (0.808, 0.727, 0.228, 0.537), 0: (0.843, 0.876, 0.116, 0.836)},
}


@pytest.mark.parametrize("group", [0, 1])
def test_how_labels_were_distorted(data, group):
    fair, recorded = (column[data.sensitive == group] for column in (data.fair, data.recorded))
    denied, favoured = ((fair == 1) & (recorded == 0)).sum(), ((fair == 0) & (recorded == 1)).sum()
    assert (denied, favoured) == FACTS[data.reading][group]
    found = fair.mean(), recorded.mean(), denied / (fair == 1).sum(), favoured / (fair == 0).sum()
    assert np.round(found, 3).tolist() == pytest.approx(SHARES[data.reading][group])


def test_disparities(data):
    def gap(label):
        return label[data.sensitive == 1].mean() - label[data.sensitive == 0].mean()

    assert round(gap(data.fair), 3) == -0.035
    assert round(gap(data.recorded), 3) == {"rank": -0.178, "grade": -0.150}[data.reading]


def test_the_grade_reading_has_no_signal_for_girls(student_folder):
    data = student(student_folder, reading="grade")
    audit = data.sensitive.to_frame().assign(recorded=data.recorded, fair=data.fair)
    with pytest.warns(AuditWarning, match=r"sex = 0, recorded labels carry almost no signal .* = 0\.048"):
        LabelBias("sex").estimate(audit, recorded="recorded", fair="fair")


def test_raw_columns_are_those_of_the_same_pupil(student_folder):
    data = student(student_folder, subject=True, raw=True)
    assert data.raw.shape == (856, 33)
    assert ((data.raw["sex"] == "M") == (data.sensitive == 1)).all()
    assert ((data.raw["G3"] >= 10) == (data.fair == 1)).all()
    assert (data.raw["reason"] == data.features["reason"]).all()
    assert data.features["subject"].value_counts().to_dict() == {"portuguese": 542, "maths": 314}
    # The label table groups what the pupils answered; a finer answer never falls into two groups.
    for name in ("studytime", "freetime", "Walc", "goout", "absences"):
        assert (data.features[name].groupby(data.raw[name]).nunique() == 1).all()
    assert (data.raw[["Medu", "Fedu"]].max(axis=1).clip(lower=1) == data.features["Parents_edu"]).all()


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """Files of the published layout that the loader takes for the published ones."""
    files = write_files(tmp_path / "student")
    monkeypatch.setitem(student.__globals__, "FILES", files)
    return tmp_path / "student"


def test_made_up_files(made_up, monkeypatch):
    monkeypatch.setenv("P4F_DATA", str(made_up.parent))
    rank, grade = student(raw=True, subject=True), student(made_up, reading="grade")
    # Exams, places and predicted grades of a boy, a boy, a girl, a boy and the second one again.
    assert rank.raw["G3"].tolist() == [10, 9, 11, 12, 8]
    assert rank.sensitive.tolist() == [1, 1, 0, 1, 1]
    assert rank.fair.tolist() == [1, 0, 1, 1, 0]
    assert rank.recorded.tolist() == [0, 1, 1, 0, 0]  # places 7, 1, 3, 8 and 6
    assert grade.recorded.tolist() == [1, 0, 1, 0, 1]  # 12.5, 4, 10, 9.5 and 11
    assert rank.primed.tolist() == ["", "CaseBased", "", "Statistics", ""]
    assert rank.features["subject"].tolist() == ["portuguese", "maths", "portuguese", "maths", "portuguese"]
    assert grade.raw is None
    assert "subject" not in grade.features


def test_a_pupil_of_both_subjects(made_up):
    data = student(made_up, raw=True)
    assert data.raw["age"].tolist() == [21, 16, 15, 17, 16]
    assert data.pupil.nunique() == 4
    assert data.pupil[1] == data.pupil[4]


def test_files_that_do_not_fit_each_other(made_up, monkeypatch):
    text = (made_up / MATHS).read_text().replace("course", "home")
    (made_up / MATHS).write_text(text)
    publisher, _ = student.__globals__["FILES"][MATHS]
    digest = hashlib.sha256(text.encode()).hexdigest()
    monkeypatch.setitem(student.__globals__["FILES"], MATHS, (publisher, digest))
    with pytest.raises(P4FError, match="rows of the same pupil differ"):
        student(made_up)


def test_missing_files(tmp_path, monkeypatch):
    monkeypatch.delenv("P4F_DATA", raising=False)
    with pytest.raises(P4FError, match=r"10\.24432/C5TG7T.*calathea21/benchmark_data_analysis.*set P4F_DATA"):
        student()
    monkeypatch.setenv("P4F_DATA", str(tmp_path))
    with pytest.raises(P4FError, match=r"student/Port.*xlsx is missing; get .* from the GitHub repository"):
        student()


def test_one_missing_file(made_up):
    (made_up / MATHS).unlink()
    with pytest.raises(P4FError, match=r"student-mat\.csv is missing; get student-mat\.csv from UCI data set 320"):
        student(made_up)


def test_a_changed_file_is_not_parsed(made_up):
    file = made_up / LABELS
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    with pytest.raises(P4FError, match=r"is not the file that was published .*get Portuguese.* again from"):
        student(made_up)


def test_a_folder_in_place_of_a_file(tmp_path):
    (tmp_path / LABELS).mkdir()
    with pytest.raises(P4FError, match="cannot be read"):
        student(tmp_path)


def test_unknown_reading(tmp_path):
    with pytest.raises(P4FError, match="reading must be 'rank' or 'grade', not 'mark'"):
        student(tmp_path, reading="mark")
