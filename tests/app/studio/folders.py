"""Projects that are ready for a screen."""

from __future__ import annotations

from pathlib import Path

from problog4fairness import LabelBias, datasets
from problog4fairness.app.studio.project import AUDIT, Project


def audited_project(folder: Path, rows: int = 300, audited: int = 80) -> Project:
    """Loans, of which some are audited, and the belief that they give; nothing is trained yet."""
    project = Project.open(folder)
    truth = datasets.loans(rows=1, audited=rows, new=1).audit
    truth.drop(columns="repaid").to_csv(project.path("loans.csv"), index=False)
    project.begin(project.path("loans.csv"))
    project.choose(recorded="granted", favourable="1", sensitive="poor_area", group="1", learner="linear", seeds=2)
    drawn = truth.sample(audited, random_state=0)
    drawn = drawn.assign(row=drawn.index + 1, fair=drawn["repaid"]).drop(columns="repaid")
    drawn.to_csv(project.path(AUDIT), index=False)
    belief = LabelBias("poor_area", positive=False, affected=[1])
    project.keep_belief(belief.estimate(drawn, recorded="granted", fair="fair").bind({}, favourable=1))
    return project
