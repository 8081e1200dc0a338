"""The audit of a project: which rows are to be looked at, what was said about them, and what that tells so far."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.app.studio.columns import cell
from problog4fairness.app.studio.project import AUDIT, REVIEWS, Project
from problog4fairness.app.studio.reviews import Reviews
from problog4fairness.audit import OWN, ROW, AuditTable
from problog4fairness.beliefs import Belief, estimate_on_table
from problog4fairness.data import Roles, read_table, write_table
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import AuditPlan

IN_A_SHEET = f"this belief is audited in a spreadsheet, not row by row; take {AUDIT} out of the folder to get one"
SHEET = "sheet.csv"
# Rows of each group that are drawn for a sheet.
SHEET_ROWS = 100
# Seconds after which a page asks whether somebody answered.
LOOK = 0.5
# Held by who changes the file of drawn rows, which several pages may have open.
_CHANGING = threading.Lock()


@dataclass(frozen=True)
class Asked:
    """What reviewers are asked for: the fair label, or the fair value of a feature.

    ``column`` is where the recorded one stands, ``labels`` what it may be, the favourable or higher one first.
    """

    column: str
    labels: tuple[str, ...]
    feature: bool = False

    @property
    def keys(self) -> dict[str, str]:
        """The key of each label: 1 and 0 where there are two."""
        keys = "10" if len(self.labels) == 2 else "123456789"
        return dict(zip(keys, self.labels, strict=False))

    @classmethod
    def of(cls, project: Project, belief: Belief) -> Asked:
        """What the parameters of a belief are about."""
        if features_in_a_sheet(project, belief):
            raise P4FError(IN_A_SHEET)
        if belief.columns.numbers:
            raise P4FError(
                "this page reviews labels; p4f plan --belief numeric --feature ... --draw audit.csv draws rows to be "
                "measured, p4f estimate reads them"
            )
        if not belief.columns.audited:
            roles = project.roles()
            return cls(roles.recorded, tuple(map(str, reversed(roles.labels))))
        (feature,) = belief.columns.audited
        low, high = map(str, project.values(feature))
        return cls(feature, (high, low), feature=True)


def _audit_table(
    project: Project,
    frame: pd.DataFrame,
    name: str,
    *,
    features: Mapping[str, str],
    fair: str | None = None,
    planned: bool = False,
) -> AuditTable:
    """Rows with the roles of the project: the recorded label, or recorded features with the audited column of each."""
    roles = project.roles()
    return AuditTable(
        frame,
        name,
        roles.sensitive,
        recorded=None if features else roles.recorded,
        fair=fair,
        favourable=None if features else str(roles.favourable),
        group=str(roles.group) if roles.binary else None,
        answers={"features": list(features), "fair_features": list(features.values())},
        planned=planned,
    )


def plan(project: Project, error: float | None = None) -> AuditPlan:
    """Which rows to look at next, after those that are answered; ``error`` as it was chosen by default."""
    choices, belief = project.choices, project.belief().bind(None)
    asked = Asked.of(project, belief)
    features = {asked.column: choices.fair} if asked.feature else {}
    table = _audit_table(project, project.frame, str(choices.table), features=features, planned=True)
    pilot = project.read(AUDIT) if project.has(AUDIT) else None
    with warnings.catch_warnings(action="ignore"):  # what was assumed is said with the plan
        return table.plan(belief, choices.fair, pilot, error=choices.error if error is None else error)


def draw(project: Project, plan_made: AuditPlan) -> None:
    """Write the next round below what is there."""
    with _CHANGING:
        before = read_table(project.path(AUDIT), verbatim=True) if project.has(AUDIT) else None
        rows = plan_made.draw(random_state=project.choices.seed, rows=before, cells=project.frame)
        write_table(rows, str(project.path(AUDIT)))


def tells_itself(belief: Belief) -> bool:
    """Whether a table can tell parameters of this belief without an audit: to estimate them needs no fair label."""
    needed = signature(belief.estimate).parameters
    return "fair" not in needed or needed["fair"].default is None


def from_table(project: Project) -> Belief:
    """The belief with what the table itself tells: votes that agree, or rows of which the group is known."""
    belief, roles = project.belief().bind(None), project.roles()
    if not tells_itself(belief):
        raise P4FError("this belief cannot be estimated from the table alone; draw rows and look at them")
    known = {"recorded": roles.recorded, "favourable": roles.favourable}
    needed = signature(belief.estimate).parameters
    return belief.estimate(
        project.frame, **{name: known[name] for name in known if name in needed and needed[name].default is not None}
    )


class Audit:
    """The drawn rows of a project, whose file is there, and the answers about them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.roles: Roles = project.roles()
        self._drawn: tuple[int, pd.DataFrame] | None = None
        self.fair = self._fair_column()
        if ROW not in self.drawn:
            raise P4FError(f"{AUDIT} lacks the column {ROW!r}: p4f plan did not draw it; p4f estimate takes it so")
        self.asked = Asked.of(project, project.belief())
        self.labels = self.asked.labels
        self.reviews = Reviews(project.path(REVIEWS), self.labels)

    def _fair_column(self) -> str:
        """The column of the fair label: as it was chosen, or the one that a command added under another name."""
        if self.project.choices.fair not in self.drawn:
            added = set(map(str, self.drawn.columns)) - set(map(str, self.project.frame.columns)) - set(OWN)
            if len(added) != 1:
                raise P4FError(f"{AUDIT} has no column {self.project.choices.fair!r} for the fair label")
            self.project.choose(fair=added.pop())
        return self.project.choices.fair

    @property
    def drawn(self) -> pd.DataFrame:
        """The drawn rows, read again where the file has changed: others may draw a round, or fill it in."""
        if not self.project.has(AUDIT):
            raise P4FError(f"there is no {AUDIT} any more; draw rows on the audit's screen")
        changed = self.project.path(AUDIT).stat().st_mtime_ns
        if self._drawn is None or self._drawn[0] != changed:
            self._drawn = changed, self.project.read(AUDIT)
        return self._drawn[1]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the drawn rows, in the order in which they are shown."""
        return _row_numbers(self.drawn)

    def next_for(self, reviewer: str) -> int | None:
        """The first row about which this reviewer said nothing yet."""
        answered = self.reviews.of(reviewer)
        return next((number for number in self.numbers if number not in answered), None)

    def shown(self, number: int) -> dict[str, str]:
        """What a reviewer sees of a row: everything but what was recorded, and what the plan added."""
        hidden = {self.roles.recorded, self.asked.column, self.fair}
        row = self.drawn[self.drawn[ROW] == number].iloc[0]
        known = set(map(str, self.project.frame.columns))
        return {str(name): cell(value) for name, value in row.items() if name in known and name not in hidden}

    def write(self) -> int:
        """Bring the file up to date with what reviewers agree on; how many rows have a fair label."""
        with _CHANGING:
            kept, labels = self._known()
            filled = kept.assign(**{self.fair: labels})
            if not filled.equals(kept):
                write_table(filled, str(self.project.path(AUDIT)))
        return sum(label != "" for label in labels)

    def _known(self) -> tuple[pd.DataFrame, list[str]]:
        """The file as it is now, and its fair labels: a row of which no reviewer spoke keeps what it says."""
        kept = read_table(self.project.path(AUDIT), verbatim=True)
        if self.fair not in kept:
            raise P4FError(f"{AUDIT} has no column {self.fair!r} any more; draw into a new file")
        agreed, spoken_of = self.reviews.agreed(), self.reviews.spoken_of()
        written = zip(_row_numbers(kept), map(str, kept[self.fair]), strict=True)
        return kept, [agreed.get(row, "") if row in spoken_of else label for row, label in written]

    def estimate(self) -> Belief | None:
        """The belief with the parameters that the answers tell so far; None before the first one."""
        kept, labels = self._known()
        if not any(labels):
            return None
        by_row = {row: label or None for row, label in zip(_row_numbers(kept), labels, strict=True)}
        known = self.drawn.assign(**{self.fair: [by_row.get(row) for row in self.numbers]})
        known = known[known[self.fair].notna()].reset_index(drop=True)
        features, fair = {}, self.fair
        if self.asked.feature:
            values = {str(value): value for value in self.project.values(self.asked.column)}
            known[fair] = known[fair].map(values)
            features = {self.asked.column: fair}
        table = _audit_table(self.project, known, AUDIT, features=features, fair=None if features else fair)
        with warnings.catch_warnings(action="ignore"):
            return estimate_on_table(self.project.belief().bind(None), table)

    def answers(self) -> pd.DataFrame:
        """Every answer that stands, with its note."""
        import pandas as pd

        names = {"row": ROW, "reviewer": "reviewer", "label": self.fair, "note": "note", "at": "at"}
        return pd.DataFrame([vars(answer) for answer in self.reviews.answers()], columns=pd.Index(names)).rename(
            columns=names
        )

    def take(self, file: Path, reviewer: str) -> int:
        """Add the fair labels of a file with the columns of the drawn rows; how many were new."""
        given = read_table(file)
        if ROW not in given or self.fair not in given:
            raise P4FError(f"an audit has the columns {ROW!r} and {self.fair!r}, as the downloaded one")
        known = given[given[self.fair].notna()]
        drawn = set(self.numbers)
        labels: dict[int, str] = {}
        for number, value in zip(_row_numbers(known), known[self.fair], strict=True):
            text = cell(value)
            if text not in self.labels or number not in drawn:
                raise P4FError(f"row {number}: {text!r} is no answer; a fair label is {' or '.join(self.labels)}")
            labels[number] = text
        return self.reviews.take(labels, reviewer)


def _row_numbers(frame: pd.DataFrame) -> list[int]:
    """The numbers of rows in a file that anybody may have changed."""
    try:
        return [int(cell(number)) for number in frame[ROW]]
    except (KeyError, ValueError):
        raise P4FError(
            f"the column {ROW!r} of {AUDIT} does not hold the numbers of rows; draw into a new file"
        ) from None


def features_in_a_sheet(project: Project, belief: Belief) -> tuple[str, ...]:
    """The features that are looked at in a spreadsheet; none where rows are reviewed on the page."""
    features = belief.columns.audited
    by_key = len(features) == 1 and not belief.columns.numbers and len(project.values(features[0])) == 2
    return () if by_key else features


def fair_column(feature: str) -> str:
    """Where the fair value of a feature is filled in."""
    return f"fair_{feature}"


def sheet(project: Project) -> pd.DataFrame:
    """Rows of each group, drawn at random, with columns to fill in."""
    frame, sensitive = project.frame, project.roles().sensitive
    groups = frame[frame[sensitive].notna()].groupby(sensitive, group_keys=False, observed=True)
    size = int(min(SHEET_ROWS, groups.size().min()))
    drawn = groups.sample(size, random_state=project.choices.seed).sort_index()
    drawn.insert(0, ROW, drawn.index + 1)
    features = features_in_a_sheet(project, project.belief())
    return drawn.assign(**{fair_column(name): "" for name in features})


def from_sheet(project: Project, file: Path) -> Belief:
    """The belief with what a sheet tells of it; rows that are not filled in do not count."""
    belief, roles = project.belief().bind(None), project.roles()
    fair = {name: fair_column(name) for name in features_in_a_sheet(project, belief)}
    with warnings.catch_warnings(action="ignore"):  # columns may be empty
        filled = read_table(file)
        for name in (roles.sensitive, *fair, *fair.values()):
            if name not in filled:
                raise P4FError(f"the sheet has no column {name!r}; fill in the one that was downloaded")
        filled = filled[filled[list(fair.values())].notna().all(axis=1)].reset_index(drop=True)
        if filled.empty:
            raise P4FError(f"no row of the sheet has a value in {' and '.join(fair.values())}")
        if belief.columns.numbers:
            recorded: dict[str, Any] = {"recorded": {name: name for name in fair}, "fair": fair}
            return belief.estimate(filled, **recorded, favourable=roles.favourable)
        return estimate_on_table(belief, _audit_table(project, filled, file.name, features=fair))
