"""The paper's plan for an audit: rows by Hoeffding's inequality, drawn whatever was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.data import Codes, Floats, Roles, warn
from problog4fairness.errors import P4FError
from problog4fairness.statistics import required_samples, rows_to_draw

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Hoeffding:
    """How many rows an audit needs that is drawn at random, by Hoeffding's inequality.

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
    asked
        The same, whether there are as many or not.
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
    asked: int
    stratified: int
    assumed: str


def hoeffding_plan(
    error: float = 0.1,
    confidence: float = 0.95,
    *,
    frame: pd.DataFrame | None = None,
    roles: Roles | None = None,
    positive_rate: float | None = None,
    group_share: float = 0.5,
) -> Hoeffding:
    """Plan an audit that is drawn at random, as the paper does; :meth:`Belief.plan_audit` needs far fewer rows.

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
    >>> plan = hoeffding_plan(error=0.1, confidence=0.95, positive_rate=0.5)
    >>> plan.needed, plan.simple, plan.stratified
    (185, 819, 804)
    """
    needed = required_samples(error, confidence)
    if positive_rate is not None and not 0 < positive_rate < 1:
        raise P4FError(f"the positive parameter {positive_rate:g} is not between 0 and 1")
    if not 0 < group_share < 1:
        raise P4FError(f"the group's share {group_share:g} is not between 0 and 1")
    if frame is not None and roles is not None:
        sizes = np.zeros((len(roles.levels), 2), dtype=np.int64)
        np.add.at(sizes, (roles.group_codes(frame), roles.label_codes(frame)), 1)
        groups = [f"{roles.sensitive} = {level}" for level in roles.levels]
        return of_table(error, confidence, groups, [str(label) for label in roles.labels], sizes, positive_rate)
    rate = 0.5 if positive_rate is None else positive_rate
    assumed = f"the sensitive group is {group_share:.0%} of all, {rate:.0%} of each group have a fair label of 1"
    shares = (1 - group_share, group_share)
    label_shares = np.tile([1 - rate, rate], (2, 1))
    return _plan(error, confidence, needed, ("other", "sensitive"), shares, label_shares, None, ("0", "1"), assumed)


def of_table(
    error: float,
    confidence: float,
    groups: Sequence[str],
    labels: Sequence[str],
    sizes: Codes,
    positive_rate: float | None = None,
) -> Hoeffding:
    """The plan for a table with ``sizes`` rows, ``[groups, recorded labels]``."""
    needed = required_samples(error, confidence)
    counts = sizes.sum(axis=1)
    shares = sizes / np.maximum(counts, 1)[:, None]
    assumed = "shares of fair labels are those of the recorded ones, for want of better; say positive_rate=... if not"
    if positive_rate is not None:
        if len(labels) != 2:
            raise P4FError(f"positive_rate is for two labels; there are {len(labels)}")
        shares = np.tile([1 - positive_rate, positive_rate], (len(groups), 1))
        assumed = f"{positive_rate:.0%} of each group have the favourable fair label"
    parts = (counts / max(1, int(counts.sum()))).tolist()
    return _plan(error, confidence, needed, groups, parts, shares, counts.tolist(), labels, assumed)


def _plan(
    error: float,
    confidence: float,
    needed: int,
    names: Sequence[str],
    shares: Sequence[float],
    label_shares: Floats,
    rows: Sequence[int] | None,
    labels: Sequence[str],
    assumed: str,
) -> Hoeffding:
    import pandas as pd

    cells, groups = [], []
    for i, (name, share) in enumerate(zip(names, shares, strict=True)):
        largest = 0
        for label, part in reversed(list(zip(labels, label_shares[i].tolist(), strict=True))):
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
    asked = simple
    if rows is not None and sum(rows) < simple:
        warn(f"{simple} rows drawn from everybody are needed, and there are {sum(rows)}")
        simple = sum(rows)
    stratified = int(group_table["to_draw"].sum())
    return Hoeffding(error, confidence, needed, cell_table, group_table, simple, asked, stratified, assumed)
