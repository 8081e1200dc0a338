"""A plan for an audit: how many rows to check by hand, of which kind, and which ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.beliefs.samples import required_samples, rows_to_draw
from problog4fairness.errors import P4FError
from problog4fairness.rows.problems import FileWarning, TableError, warn
from problog4fairness.rows.roles import Roles

if TYPE_CHECKING:
    import pandas as pd

ROW = "row"


@dataclass(frozen=True)
class AuditPlan:
    """How many rows an audit needs.

    Attributes
    ----------
    error, confidence
        Each parameter is to be known within ``error`` with ``confidence``.
    needed
        Rows needed of each cell: of each group and each fair label.
    cells
        A row for each cell: its group and fair label, its ``share`` of all people, rows ``needed``, and how many
        rows ``to_draw`` at random from everybody to get them.
    groups
        A row for each group: its ``rows`` in the data where there are data, and how many ``to_draw`` from this group to
        get both of its cells.
    simple
        Rows to draw at random from everybody, so that all cells are large enough.
    stratified
        Rows to draw if each group is drawn from by itself. Usually fewer.
    assumed
        What was assumed about the shares, in words.
    """

    error: float
    confidence: float
    needed: int
    cells: pd.DataFrame
    groups: pd.DataFrame
    simple: int
    stratified: int
    assumed: str

    def draw(
        self, frame: pd.DataFrame, roles: Roles, *, fair: str = "fair", seed: int = 0, by_group: bool = True
    ) -> pd.DataFrame:
        """The rows to check by hand, with their number in the table and an empty column for the fair label.

        Rows are drawn at random within each group, or from everybody. They are never drawn by their recorded label: how
        often a fair label was recorded wrongly can be counted only among rows that were drawn whatever was recorded.

        Parameters
        ----------
        frame
            The table as it was read.
        roles
            Which of its columns is what.
        fair
            The name of the empty column.
        seed
            The same seed draws the same rows.
        by_group
            Whether to draw from each group by itself.
        """
        taken = [name for name in (ROW, fair) if name in frame.columns]
        if taken:
            way = "name another one by fair=..." if taken[0] == fair else "rename it"
            raise TableError(f"the table already has a column {taken[0]!r}; {way}")
        narrow = frame[[roles.sensitive, roles.recorded]].assign(**{ROW: np.arange(len(frame))})
        with warnings.catch_warnings():
            # Rows without a group or a label were told of when the plan was made.
            warnings.simplefilter("ignore", FileWarning)
            known = roles.clean(narrow)
        codes, rows = roles.group_codes(known), known[ROW].to_numpy()
        rng = np.random.default_rng(seed)
        if by_group:
            wanted = self.groups["to_draw"].tolist()
            drawn = [_some(rng, rows[codes == level], count) for level, count in enumerate(wanted)]
            chosen = np.sort(np.concatenate(drawn))
        else:
            chosen = np.sort(_some(rng, rows, self.simple))
        table = frame.iloc[chosen].reset_index(drop=True)
        table.insert(0, ROW, chosen + 1)
        return table.assign(**{fair: ""})


def audit_plan(
    error: float = 0.1,
    confidence: float = 0.95,
    *,
    frame: pd.DataFrame | None = None,
    roles: Roles | None = None,
    positive_rate: float | None = None,
    group_share: float = 0.5,
) -> AuditPlan:
    """Plan an audit.

    Every parameter of a label bias is about one cell: a group and a fair label. Before the audit nobody knows fair
    labels, so the shares of the recorded ones stand in for them, or ``positive_rate``.

    Parameters
    ----------
    error, confidence
        As in :func:`required_samples`.
    frame, roles
        The data from which rows will be drawn, clean (:meth:`Roles.clean`), and which of their columns is what.
    positive_rate
        The share of favourable fair labels, in every group; by default that of the recorded ones in the data.
    group_share
        Without data: the share of the sensitive group.

    Examples
    --------
    >>> plan = audit_plan(error=0.1, confidence=0.95, positive_rate=0.5)
    >>> plan.needed, plan.simple, plan.stratified
    (185, 819, 804)
    """
    needed = required_samples(error, confidence)
    if positive_rate is not None and not 0 < positive_rate < 1:
        raise P4FError(f"the positive parameter {positive_rate:g} is not between 0 and 1")
    if not 0 < group_share < 1:
        raise P4FError(f"the group's share {group_share:g} is not between 0 and 1")
    if frame is not None and roles is not None:
        return _from_data(error, confidence, needed, frame, roles, positive_rate)
    names = ("other", "sensitive")
    shares = (1 - group_share, group_share)
    probabilities = [0.5 if positive_rate is None else positive_rate] * 2
    assumed = (
        f"the sensitive group is {group_share:.0%} of all, {probabilities[0]:.0%} of each group have a fair label of 1"
    )
    return _plan(error, confidence, needed, names, shares, probabilities, None, ("0", "1"), assumed)


def _from_data(
    error: float, confidence: float, needed: int, frame: pd.DataFrame, roles: Roles, positive_rate: float | None
) -> AuditPlan:
    groups, labels = roles.group_codes(frame), roles.label_codes(frame)
    counts = np.bincount(groups, minlength=len(roles.levels))
    positive = np.bincount(groups, weights=labels, minlength=len(roles.levels))
    names = [f"{roles.sensitive} = {level}" for level in roles.levels]
    probabilities = [float(p) / max(1, int(n)) for p, n in zip(positive, counts, strict=True)]
    assumed = "shares of fair labels are those of the recorded ones, for want of better; say positive_rate=... if not"
    if positive_rate is not None:
        probabilities = [positive_rate] * len(probabilities)
        assumed = f"{positive_rate:.0%} of each group have the favourable fair label"
    shares = [float(n) / len(frame) for n in counts]
    texts = (str(roles.labels[0]), str(roles.labels[1]))
    return _plan(error, confidence, needed, names, shares, probabilities, counts.tolist(), texts, assumed)


def _plan(
    error: float,
    confidence: float,
    needed: int,
    names: Any,
    shares: Any,
    probabilities: Any,
    rows: list[int] | None,
    labels: tuple[str, str],
    assumed: str,
) -> AuditPlan:
    import pandas as pd

    cells, groups = [], []
    for i, (name, share, parameter) in enumerate(zip(names, shares, probabilities, strict=True)):
        largest = 0
        for label, part in ((labels[1], parameter), (labels[0], 1 - parameter)):
            if share * part <= 0:
                warn(f"no row has {name} and the label {label}: how many rows to draw for that cell cannot be said")
                cells.append({"group": name, "fair": label, "share": 0.0, "needed": needed, "to_draw": None})
                continue
            largest = max(largest, rows_to_draw(needed, part, confidence))
            drawn = rows_to_draw(needed, share * part, confidence)
            cells.append({"group": name, "fair": label, "share": share * part, "needed": needed, "to_draw": drawn})
        there = None if rows is None else rows[i]
        if there is not None and there < largest:
            warn(f"{largest} rows with {name} are needed, and there are {there}; all of them are taken")
            largest = there
        groups.append({"group": name, "rows": there, "to_draw": largest})
    cell_table = pd.DataFrame(cells).astype({"to_draw": "Int64"})
    group_table = pd.DataFrame(groups).astype({"rows": "Int64", "to_draw": "int64"})
    simple = int(cell_table["to_draw"].max()) if cell_table["to_draw"].notna().any() else 0
    if rows is not None and sum(rows) < simple:
        warn(f"{simple} rows drawn from everybody are needed, and there are {sum(rows)}")
        simple = sum(rows)
    return AuditPlan(
        error, confidence, needed, cell_table, group_table, simple, int(group_table["to_draw"].sum()), assumed
    )


def _some(rng: np.random.Generator, rows: Any, count: int) -> Any:
    return rng.choice(rows, size=min(count, len(rows)), replace=False)
