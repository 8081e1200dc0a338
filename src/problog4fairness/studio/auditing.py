"""The audit of a project: which rows are to be looked at, what was said about them, and what that tells so far."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.beliefs.audit_table import AuditTable
from problog4fairness.beliefs.drawing import ROW
from problog4fairness.beliefs.planned_table import PlannedTable
from problog4fairness.errors import P4FError
from problog4fairness.rows import Roles, read_table, write_table
from problog4fairness.studio.project import AUDIT, REVIEWS, Project
from problog4fairness.studio.reviews import Reviews

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs import Belief
    from problog4fairness.beliefs.plan import AuditPlan


def plan(project: Project, error: float) -> AuditPlan:
    """Which rows to look at next, after those that are answered.

    Parameters
    ----------
    project
        The project; it has a belief.
    error
        Half the width of the interval of every parameter.
    """
    said, belief = project.choices, project.belief().unknown()
    table = PlannedTable(
        project.frame,
        str(said.table),
        str(said.sensitive),
        recorded=said.recorded,
        favourable=said.favourable,
        group=said.group,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the column may still be empty; what was assumed is told with the plan
        pilot = table.filled_in(read_table(project.path(AUDIT)), said.fair) if project.has(AUDIT) else None
        return belief.plan_audit(
            table.coded(belief),
            recorded=said.recorded,
            fair=table.columns(belief, said.fair),
            error=error,
            pilot=pilot,
            favourable=table.roles.favourable,
        )


def draw(project: Project, found: AuditPlan) -> None:
    """Write the next round below what is there."""
    before = read_table(project.path(AUDIT), verbatim=True) if project.has(AUDIT) else None
    rows = found.draw(random_state=project.choices.seed, rows=before, cells=project.frame)
    write_table(rows, str(project.path(AUDIT)))


@dataclass
class Audit:
    """The drawn rows of a project, and the answers about them.

    Parameters
    ----------
    project
        The project; its file of drawn rows is there.
    """

    project: Project

    def __post_init__(self) -> None:
        self.roles: Roles = self.project.roles()
        self.fair = self.project.choices.fair
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the column of the fair label may still be empty
            self.drawn: pd.DataFrame = read_table(self.project.path(AUDIT))
        if ROW not in self.drawn or self.fair not in self.drawn:
            raise P4FError(f"{AUDIT} lacks the column {ROW!r} or {self.fair!r}; p4f plan --draw {AUDIT} writes both")
        self.labels = tuple(str(label) for label in reversed(self.roles.labels))
        self.reviews = Reviews(self.project.path(REVIEWS), self.labels)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the drawn rows, in the order in which they are shown."""
        return [int(number) for number in self.drawn[ROW]]

    def next_for(self, reviewer: str) -> int | None:
        """The first row about which this reviewer said nothing yet."""
        said = self.reviews.of(reviewer)
        return next((number for number in self.numbers if number not in said), None)

    def shown(self, number: int) -> dict[str, str]:
        """What a reviewer sees of a row: everything but what was recorded, and what the plan added."""
        hidden = {self.roles.recorded, self.fair}
        row = self.drawn[self.drawn[ROW] == number].iloc[0]
        known = set(map(str, self.project.frame.columns))
        return {str(name): str(value) for name, value in row.items() if name in known and name not in hidden}

    def write(self) -> int:
        """Bring the file up to date with what reviewers agree on; how many rows have a fair label."""
        agreed = self.reviews.agreed()
        kept = read_table(self.project.path(AUDIT), verbatim=True)
        filled = kept.assign(**{self.fair: [agreed.get(number, "") for number in self.numbers]})
        write_table(filled, str(self.project.path(AUDIT)))
        return len(agreed)

    def estimate(self) -> Belief | None:
        """The belief with the parameters that the answers tell so far; None before the first one."""
        agreed = self.reviews.agreed()
        if not agreed:
            return None
        known = self.drawn.assign(**{self.fair: [agreed.get(number) for number in self.numbers]})
        said: dict[str, Any] = {"favourable": str(self.roles.favourable)}
        if self.roles.binary:
            said["group"] = str(self.roles.group)
        known = known[known[self.fair].notna()].reset_index(drop=True)
        table = AuditTable(known, AUDIT, self.roles.sensitive, self.roles.recorded, self.fair, **said)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.project.belief().unknown().estimate_table(table)

    def take(self, file: Path, reviewer: str) -> int:
        """Add the fair labels of a file with the columns of the drawn rows; how many were new."""
        given = read_table(file)
        if ROW not in given or self.fair not in given:
            raise P4FError(f"an audit has the columns {ROW!r} and {self.fair!r}, as the downloaded one")
        known = given[given[self.fair].notna()]
        written = {str(label): str(label) for label in self.labels}
        labels: dict[int, str] = {}
        for number, value in zip(known[ROW], known[self.fair], strict=True):
            text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
            if text not in written or int(number) not in set(self.numbers):
                raise P4FError(f"row {number}: {text!r} is no answer; a fair label is {' or '.join(self.labels)}")
            labels[int(number)] = text
        return self.reviews.take(labels, reviewer)
