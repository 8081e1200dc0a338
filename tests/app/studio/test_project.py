"""A project is a folder that a person can read."""

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest

from problog4fairness import LabelBias
from problog4fairness.app.studio.project import AUDIT, BELIEF, CHOICES, DRAFT, MODEL, REPORT, REVIEWS, Choices, Project
from problog4fairness.data import TableError
from problog4fairness.errors import P4FError


@pytest.fixture
def project(tmp_path):
    project = Project.open(tmp_path / "loans")
    pd.DataFrame({"area": ["poor", "rich"] * 4, "granted": [1, 0] * 4, "x": range(8)}).to_csv(
        project.path("table.csv"), index=False
    )
    project.choose(table="table.csv", recorded="granted", sensitive="area", group="poor")
    return project


def test_what_was_chosen_is_there_again(project):
    again = Project.open(project.folder)
    assert again.choices == project.choices
    assert again.roles().levels == ("rich", "poor")


def test_the_belief_is_a_file_of_the_commands(project):
    project.keep_belief(LabelBias("area", {"poor": 0.4}, False, groups=("rich", "poor"), affected=["poor"]))
    assert "0.4" in project.path(BELIEF).read_text()
    assert [own.value for own in Project.open(project.folder).belief().parameters] == [0.4]


def test_what_is_still_to_be_chosen_is_said(tmp_path):
    project = Project.open(tmp_path)
    with pytest.raises(TableError, match="choose the recorded label and the sensitive column"):
        project.roles()
    with pytest.raises(P4FError, match="there is no table yet"):
        _ = project.frame
    with pytest.raises(P4FError, match="there is no belief yet"):
        project.belief()


@pytest.mark.parametrize(
    "written",
    [
        "",
        "[]",
        "{}",
        '{"format": 2}',
        '{"format": 1, "evil": 1}',
        '{"format": 1, "seed": "0"}',
        '{"format": 1, "table": 3}',
    ],
)
def test_a_file_that_is_no_project_is_named(tmp_path, written):
    (tmp_path / CHOICES).write_text(written)
    with pytest.raises(P4FError, match=CHOICES):
        Project.open(tmp_path)


def test_the_command_can_be_typed(project):
    project.choose(recorded="was it granted?")
    command = project.command("train", "table.csv")
    assert command == "p4f train table.csv --recorded 'was it granted?' --sensitive area --group poor"


def test_another_table_is_read_anew(project):
    assert len(project.frame) == 8
    pd.DataFrame({"a": [1], "b": [2]}).to_csv(project.path("other.csv"), index=False)
    project.choose(table="other.csv")
    assert list(project.frame.columns) == ["a", "b"]


def test_choices_are_plain_json(project):
    said = json.loads((project.folder / CHOICES).read_text())
    assert said.pop("format") == 1
    assert set(said) == set(vars(Choices()))


@pytest.mark.parametrize("name", [BELIEF, DRAFT, AUDIT, REVIEWS, MODEL, REPORT, CHOICES])
def test_a_link_is_neither_read_nor_written(project, tmp_path, name):
    target = tmp_path / "precious"
    target.write_text("precious")
    project.path(name).unlink(missing_ok=True)
    project.path(name).symlink_to(target)
    writers = [
        lambda: project.path(name),
        lambda: project.keep_belief(LabelBias("area")) if name == BELIEF else project.path(name),
        lambda: project.choose(seed=3) if name == CHOICES else project.path(name),
    ]
    for write in writers:
        with pytest.raises(P4FError, match="is a link"):
            write()
    assert target.read_text() == "precious"


@pytest.mark.parametrize("table", ["/etc/passwd", "../precious.csv", "sub/../../precious.csv", ".", "-o", "a\0b"])
def test_a_table_elsewhere_is_refused(project, tmp_path, table):
    (tmp_path / "precious.csv").write_text("a,b\n1,2\n")
    said = json.loads((project.folder / CHOICES).read_text())
    (project.folder / CHOICES).write_text(json.dumps({**said, "table": table}))
    with pytest.raises(P4FError):
        _ = Project.open(project.folder).frame


def test_a_link_to_a_table_elsewhere_is_refused(project, tmp_path):
    (tmp_path / "precious.csv").write_text("a,b\n1,2\n")
    project.path("table.csv").unlink()
    (project.folder / "table.csv").symlink_to(tmp_path / "precious.csv")
    with pytest.raises(P4FError):
        _ = Project.open(project.folder).frame


HOSTILE = "$(touch x)`touch x`'; touch x #\n\"\\"


def test_names_are_quoted_in_what_is_typed(project):
    project.choose(recorded=HOSTILE, favourable=HOSTILE, drop=(HOSTILE,), fair=HOSTILE, learner=HOSTILE, group=HOSTILE)
    words = shlex.split(project.command("train", HOSTILE, *project.learning()))
    assert words[:3] == ["p4f", "train", HOSTILE]
    assert words.count(HOSTILE) == 6
    assert not any("touch" in word for word in words if word != HOSTILE)
