"""Beliefs that are audited in a spreadsheet."""

from __future__ import annotations

import numpy as np
import pytest

from problog4fairness import datasets
from problog4fairness.app.studio.auditing import features_in_a_sheet, from_sheet, sheet
from problog4fairness.app.studio.belief_form import Form
from problog4fairness.app.studio.project import Project
from problog4fairness.app.studio.tasks import train
from problog4fairness.errors import P4FError


@pytest.fixture
def project(tmp_path):
    project = Project.open(tmp_path)
    loans = datasets.loans(rows=600, audited=5, new=5).loans
    loans = loans.assign(rich=(loans["income"] > 2000) * 1, thrifty=(loans["savings"] > 5000) * 1)
    loans.to_csv(project.path("loans.csv"), index=False)
    project.begin(project.path("loans.csv"))
    project.choose(recorded="granted", favourable="1", sensitive="poor_area", group="1", learner="linear")
    return project


def believe(project, form):
    project.keep_belief(form.belief(project, project.roles()))


def filled_in(project, **fair):
    """The sheet as somebody gives it back, with some rows left out."""
    rows = sheet(project).assign(**fair)
    rows.loc[rows.index[::5], list(fair)] = None
    file = project.path("filled.csv")
    rows.to_csv(file, index=False)
    return file


def test_numbers_are_found_out_in_a_spreadsheet(project):
    believe(project, Form("NumericMeasurementBias", {"features": ["income"], "affected": True}))
    rows = sheet(project)
    assert rows["poor_area"].value_counts().tolist() == [100, 100]
    assert (project.frame["income"].to_numpy()[rows["row"] - 1] == rows["income"]).all()
    noise = np.random.default_rng(0).normal(0, 50, len(rows))
    found = from_sheet(project, filled_in(project, fair_income=lambda rows: (rows["income"] - noise) / 0.8))
    told = {own.name.partition("(")[0]: own for own in found.parameters}
    assert told["factor"].rows == pytest.approx(80, abs=15)
    assert told["factor"].value == pytest.approx(0.8, abs=0.05)
    project.keep_belief(found)
    assert train(lambda _: None, str(project.folder))["rows"] == 600


def test_features_that_go_together_are_found_out_in_a_spreadsheet(project):
    believe(project, Form("MeasurementBias", {"features": ["rich", "thrifty"], "joint": ["rich", "thrifty"]}))
    assert features_in_a_sheet(project, project.belief()) == ("rich", "thrifty")
    file = filled_in(project, fair_rich=1, fair_thrifty=lambda rows: rows["thrifty"])
    project.keep_belief(from_sheet(project, file))
    assert all(own.value is not None for own in project.belief().parameters)
    assert Form.of(project.belief(), project, project.roles()).answers["joint"]


def test_what_is_wrong_with_a_sheet_is_one_line(project):
    believe(project, Form("NumericMeasurementBias", {"features": ["income"]}))
    file = project.path("filled.csv")
    sheet(project).to_csv(file, index=False)
    with pytest.raises(P4FError, match="no row of the sheet has a value in fair_income"):
        from_sheet(project, file)
    sheet(project).drop(columns="fair_income").to_csv(file, index=False)
    with pytest.raises(P4FError, match="no column 'fair_income'; fill in the one that was downloaded"):
        from_sheet(project, file)


def test_one_feature_with_two_values_is_reviewed_on_the_page(project):
    believe(project, Form("MeasurementBias", {"features": ["rich"]}))
    assert features_in_a_sheet(project, project.belief()) == ()
    believe(project, Form())
    assert features_in_a_sheet(project, project.belief()) == ()


def test_fair_features_are_not_taken_for_fair_labels(project):
    believe(project, Form("MeasurementBias", {"features": ["rich"]}, {f"p{n}(rich)": 0.1 for n in (1, 2, 3, 4)}))
    audit = project.frame.head(40).assign(row=range(1, 41), fair=1)
    audit.to_csv(project.path("audit.csv"), index=False)
    assert not project.is_audited
    assert "--audit" not in project.learning()
    assert train(lambda _: None, str(project.folder))["audited"] == 0
    believe(project, Form(values={f"p{n}": 0.1 for n in (1, 2, 3, 4)}))
    assert project.is_audited
