"""The file of drawn rows is people's work: whoever wrote what stands in it, the page keeps it."""

from __future__ import annotations

import asyncio

import pandas as pd
import pytest

from problog4fairness import LabelBias, datasets
from problog4fairness.app.studio.auditing import Audit, draw, plan
from problog4fairness.app.studio.project import AUDIT, Project
from problog4fairness.errors import P4FError


@pytest.fixture
def project(tmp_path):
    project = Project.open(tmp_path / "loans")
    datasets.loans(rows=300, audited=10, new=10).loans.to_csv(project.path("loans.csv"), index=False)
    project.begin(project.path("loans.csv"))
    project.choose(recorded="granted", favourable="1", sensitive="poor_area", group="1")
    project.keep_belief(LabelBias("poor_area"))
    draw(project, plan(project, 0.2))
    return project


def cells(project, fair="fair"):
    return pd.read_csv(project.path(AUDIT), dtype=str, keep_default_na=False).set_index("row")[fair].to_dict()


def test_what_was_filled_in_elsewhere_stays_and_counts(project):
    drawn = pd.read_csv(project.path(AUDIT), dtype=str, keep_default_na=False)
    drawn["fair"] = ["1", "0", *[""] * (len(drawn) - 2)]
    drawn.to_csv(project.path(AUDIT), index=False)
    audit = Audit(project)
    one, two, three, *_ = audit.numbers
    assert audit.write() == 2
    assert (cells(project)[str(one)], cells(project)[str(two)]) == ("1", "0")
    assert audit.estimate() is not None
    audit.reviews.answer(two, "ana", "1")
    audit.reviews.answer(three, "ana", "1")
    audit.reviews.undo("ana")
    assert audit.write() == 2
    assert [cells(project)[str(row)] for row in (one, two, three)] == ["1", "1", ""]


def test_a_round_that_another_page_drew_is_kept(project):
    audit = Audit(project)
    audit.reviews.take({row: str(row % 2) for row in audit.numbers}, "ana")
    audit.write()
    first = len(audit.numbers)
    draw(project, plan(project, 0.1))
    both = len(cells(project))
    assert both > first
    assert len(audit.numbers) == both, "a page that is open shows the new round"
    audit.reviews.undo("ana")
    assert audit.write() == first - 1
    assert len(cells(project)) == both, "the page that knew the first round alone loses no row"
    assert audit.estimate() is not None


def test_the_fair_label_may_have_the_name_that_a_command_gave_it(project):
    drawn = pd.read_csv(project.path(AUDIT), dtype=str, keep_default_na=False)
    drawn.rename(columns={"fair": "repaid"}).to_csv(project.path(AUDIT), index=False)
    audit = Audit(project)
    audit.reviews.answer(audit.numbers[0], "ana", "1")
    audit.write()
    assert cells(project, "repaid")[str(audit.numbers[0])] == "1"
    assert Project.open(project.folder).choices.fair == "repaid"


def test_rows_that_nobody_drew_are_told(project):
    pd.read_csv(project.path(AUDIT)).drop(columns="row").to_csv(project.path(AUDIT), index=False)
    with pytest.raises(P4FError, match=r"audit.csv lacks the column 'row': p4f plan did not draw it"):
        Audit(project)


def test_numbers_that_are_used_are_those_of_all_answers(project):
    """Also of those that came after the page last showed any."""
    pytest.importorskip("nicegui", reason="the extra studio is not installed")
    from problog4fairness.app.studio.screens.audit import Results

    audit, went = Audit(project), []
    results = Results(audit, went.append)
    audit.reviews.take(dict.fromkeys(audit.numbers[:10], "1"), "ana")
    results.belief = audit.estimate()
    audit.reviews.take(dict.fromkeys(audit.numbers[10:], "0"), "ana")
    asyncio.run(results._keep())
    assert went == ["check"]
    assert project.belief().parameter_table()["rows"].sum() > results.belief.parameter_table()["rows"].sum()
    assert project.belief().parameter_table()["value"].tolist() == audit.estimate().parameter_table()["value"].tolist()
    assert len([label for label in cells(project).values() if label]) == len(audit.numbers)


@pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")
@pytest.mark.parametrize("number", ["x", "", "inf", "1.5", "9" * 5000])
def test_rows_that_are_no_numbers_are_refused(project, tmp_path, number):
    drawn = pd.read_csv(project.path(AUDIT), dtype=str, keep_default_na=False)
    drawn.assign(fair="1", row=number).to_csv(tmp_path / "given.csv", index=False)
    audit = Audit(project)
    with pytest.raises(P4FError):
        audit.take(tmp_path / "given.csv", "ana")
    (tmp_path / "given.csv").replace(project.path(AUDIT))
    with pytest.raises(P4FError):
        audit.write()
    drawn.drop(columns="fair").to_csv(project.path(AUDIT), index=False)
    with pytest.raises(P4FError):
        audit.write()
