"""The paper's plan for an audit: rows by Hoeffding's inequality, drawn whatever was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from problog4fairness.data import Codes, Floats, warn
from problog4fairness.errors import P4FError
from problog4fairness.statistics import required_samples, rows_to_draw


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
    error: float = 0.1, confidence: float = 0.95, *, positive_rate: float = 0.5, group_share: float = 0.5
) -> Hoeffding:
    """Plan an audit that is sampled at random, as the paper does; :meth:`Belief.plan_audit` needs far fewer rows.

    Every parameter of a label bias is about one cell: a group and a fair label.

    Parameters
    ----------
    error, confidence
        As in :func:`required_samples`.
    positive_rate, group_share
        The shares of favourable fair labels in every group, and of the sensitive group.

    Examples
    --------
    >>> plan = hoeffding_plan(error=0.1, confidence=0.95, positive_rate=0.5)
    >>> plan.needed, plan.simple, plan.stratified
    (185, 819, 804)
    """
    for name, value in (("positive_rate", positive_rate), ("group_share", group_share)):
        if not 0 < value < 1:
            raise P4FError(f"{name} {value:g} is not between 0 and 1")
    assumed = (
        f"the sensitive group is {group_share:.0%} of all, {positive_rate:.0%} of each group have a fair label of 1"
    )
    shares = (1 - group_share, group_share)
    label_shares = np.tile([1 - positive_rate, positive_rate], (2, 1))
    return _plan(error, confidence, ("other", "sensitive"), shares, label_shares, None, ("0", "1"), assumed)


def of_table(error: float, confidence: float, groups: Sequence[str], labels: Sequence[str], sizes: Codes) -> Hoeffding:
    """The plan for a table with ``sizes`` rows, ``[groups, recorded labels]``, whose shares stand in for fair ones."""
    counts = sizes.sum(axis=1)
    parts = (counts / max(1, int(counts.sum()))).tolist()
    assumed = "shares of fair labels are those of the recorded ones"
    label_shares = sizes / np.maximum(counts, 1)[:, None]
    return _plan(error, confidence, groups, parts, label_shares, counts.tolist(), labels, assumed)


def _plan(
    error: float,
    confidence: float,
    names: Sequence[str],
    shares: Sequence[float],
    label_shares: Floats,
    rows: Sequence[int] | None,
    labels: Sequence[str],
    assumed: str,
) -> Hoeffding:
    needed = required_samples(error, confidence)
    cells, groups = [], []
    for i, (name, share) in enumerate(zip(names, shares, strict=True)):
        largest = 0
        for label, part in reversed(list(zip(labels, label_shares[i].tolist(), strict=True))):
            to_draw = None
            if share * part > 0:
                largest = max(largest, rows_to_draw(needed, part, confidence))
                to_draw = rows_to_draw(needed, share * part, confidence)
            else:
                warn(f"no row has {name} and the label {label}: how many rows to draw for that cell cannot be said")
            cells.append({"group": name, "fair": label, "share": share * part, "needed": needed, "to_draw": to_draw})
        if rows is not None and rows[i] < largest:
            warn(f"{largest} rows with {name} are needed, and there are {rows[i]}; all of them are taken")
            largest = rows[i]
        groups.append({"group": name, "rows": None if rows is None else rows[i], "to_draw": largest})
    cell_table = pd.DataFrame(cells).astype({"to_draw": "Int64"})
    group_table = pd.DataFrame(groups).astype({"rows": "Int64", "to_draw": "int64"})
    asked = int(cell_table["to_draw"].max()) if cell_table["to_draw"].notna().any() else 0
    simple = asked if rows is None else min(asked, sum(rows))
    if simple < asked:
        warn(f"{asked} rows drawn from everybody are needed, and there are {simple}")
    stratified = int(group_table["to_draw"].sum())
    return Hoeffding(error, confidence, needed, cell_table, group_table, simple, asked, stratified, assumed)
