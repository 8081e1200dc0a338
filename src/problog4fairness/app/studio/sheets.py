"""Audits in a spreadsheet: of numbers and of several features, which no key on the page could answer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.app.studio.project import Project
from problog4fairness.audit import ROW, AuditTable
from problog4fairness.beliefs import Belief, HistoricalBias, MeasurementBias, NumericMeasurementBias
from problog4fairness.data import read_table
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

SHEET = "sheet.csv"
# Rows of each group that are drawn.
DRAWN = 100


def features_in_a_sheet(project: Project, belief: Belief) -> tuple[str, ...]:
    """The features that are looked at in a spreadsheet; none where rows are reviewed on the page."""
    if isinstance(belief, HistoricalBias) and belief.label is None:
        belief = belief.measurement
    if isinstance(belief, NumericMeasurementBias):
        return belief.features
    several = isinstance(belief, MeasurementBias) and len(belief.features) > 1
    many = isinstance(belief, MeasurementBias) and len(project.values(belief.features[0])) != 2
    return belief.features if several or many else ()


def fair_column(feature: str) -> str:
    """Where the fair value of a feature is filled in."""
    return f"fair_{feature}"


def sheet(project: Project) -> pd.DataFrame:
    """Rows of each group, drawn at random, with columns to fill in."""
    frame, sensitive = project.frame, project.roles().sensitive
    groups = frame[frame[sensitive].notna()].groupby(sensitive, group_keys=False, observed=True)
    size = int(min(DRAWN, groups.size().min()))
    drawn = groups.sample(size, random_state=project.choices.seed).sort_index()
    drawn.insert(0, ROW, drawn.index + 1)
    features = features_in_a_sheet(project, project.belief())
    return drawn.assign(**{fair_column(name): "" for name in features})


def told_by_sheet(project: Project, file: Path) -> Belief:
    """The belief with what a sheet tells of it; rows that are not filled in do not count."""
    belief, roles = project.belief().unknown(), project.roles()
    features = features_in_a_sheet(project, belief)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns may be empty
        filled = read_table(file)
    fair = {name: fair_column(name) for name in features}
    for name in (roles.sensitive, *fair, *fair.values()):
        if name not in filled:
            raise P4FError(f"the sheet has no column {name!r}; fill in the one that was downloaded")
    filled = filled[filled[list(fair.values())].notna().all(axis=1)].reset_index(drop=True)
    if filled.empty:
        raise P4FError(f"no row of the sheet has a value in {' and '.join(fair.values())}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(belief, NumericMeasurementBias):
            return belief.estimate(
                filled, recorded={name: name for name in features}, fair=fair, favourable=roles.favourable
            )
        said: dict[str, Any] = {"group": str(roles.group)} if roles.binary else {}
        said["answers"] = {"features": list(features), "fair_features": list(fair.values())}
        return belief.estimate_table(AuditTable(filled, file.name, roles.sensitive, **said))
