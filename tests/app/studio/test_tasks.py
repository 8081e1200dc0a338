"""What runs in a process of its own does what the commands do, and tells how far it is."""

from __future__ import annotations

import math

import pytest

from problog4fairness import LabelBias
from problog4fairness.app.studio import tasks
from problog4fairness.app.studio.process import Work, heard
from problog4fairness.app.studio.project import AUDIT, BELIEF, MODEL, Project
from problog4fairness.app.studio.state import RESULTS, Studio
from problog4fairness.estimators import DebiasedClassifier
from problog4fairness.learners.progress import each, progress_bar
from tests.app.studio.folders import audited_project

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return audited_project(tmp_path_factory.mktemp("project"))


@pytest.mark.parametrize("learner", ["linear", "boosted", "network"])
def test_every_learner_tells_its_likelihood_and_the_time_left(project, learner):
    if learner == "boosted":
        pytest.importorskip("lightgbm")
    project.choose(learner=learner)
    told = []
    done = tasks.train(told.append, str(project.folder))
    losses = [one["loss"] for one in told if one.get("loss") is not None]
    assert losses
    assert all(map(math.isfinite, losses))
    assert all(0 < one["share"] <= 1 and "left" in one for one in told if "share" in one)
    assert done["history"], "the whole curve is shown in the end"
    assert done["audited"] == 80
    assert DebiasedClassifier.load(project.path(MODEL)).audited_ == 80


def test_what_was_not_learned_is_said(tmp_path):
    project = audited_project(tmp_path)
    project.path(AUDIT).unlink()
    project.keep_belief(LabelBias("poor_area", {1: 0.95}, False, affected=[1]).bind({}, favourable=1))
    done = tasks.train(lambda _: None, str(project.folder))
    beyond, *others = done["training_warnings"]
    assert beyond.startswith("where poor_area = 1, ")
    assert "the belief allows at most 5.0%" in beyond
    assert any("where poor_area = 1, recorded labels carry almost no signal" in own for own in others)


def test_fits_one_after_another_begin_anew():
    told = []
    with heard(told.append, "learning"):
        for _ in range(2):
            each(str, range(3), None)
        with progress_bar(2, 1, None) as bar:
            for _ in range(2):
                bar.show(1, 0.5, 0.5)
                bar.show(2, 0.4, 0.5)
    assert told[0] == {"step": "learning"}
    assert [(one["fit"], one["share"]) for one in told if one.get("share") == 1] == [(1, 1), (2, 1), (4, 1)]
    assert [one["loss"] for one in told if one.get("fit") == 3][-1] == 0.4, "the first of two in one bar"


def test_what_was_done_is_there_after_a_restart(project):
    studio = Studio(Project.open(project.folder))
    assert studio.last("train") is None
    file = project.folder / RESULTS / "train.json"
    Work("train", result={"rows": 3}, of=studio.inputs("train"), file=file).keep()
    again = Studio(Project.open(project.folder)).last("train")
    assert (again.state, again.result) == ("done", {"rows": 3})
    assert not studio.is_stale(again)
    before = project.path(BELIEF).read_text()
    project.path(BELIEF).write_text(before + "\n% another thought\n")
    assert studio.is_stale(again)
    project.path(BELIEF).write_text(before)
    assert not studio.is_stale(again), "what counts is what it says, not when it was written"


@pytest.mark.parametrize("written", ["", "[]", "{}", '{"seconds": "x", "of": {}, "result": 1, "remarks": []}'])
def test_a_damaged_result_is_as_none(tmp_path, written):
    (tmp_path / "train.json").write_text(written)
    assert Work.kept("train", tmp_path / "train.json") is None


def test_the_command_of_training_says_everything_that_was_chosen(project):
    project.choose(learner="linear", drop=("children",), use_sensitive="yes")
    command = project.command("train", "loans.csv", "--belief", BELIEF, *project.learning())
    for part in ("--audit audit.csv --fair fair", "--drop children", "--use-sensitive", "--learner linear", "--seed 0"):
        assert part in command
    project.choose(drop=(), use_sensitive="no")
