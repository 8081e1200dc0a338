"""The parameters of cells, counted in audited rows and drawn to each other."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.audit.columns import tell
from problog4fairness.data import Category, Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Estimate, Parameter, Shrunk, equal_rows, interval, shrunk

if TYPE_CHECKING:
    from problog4fairness.audit.estimation.stratified import Stratified
    from problog4fairness.beliefs import Change, RowBias

# How a parameter says that it was drawn to others.
SHRUNK = "drawn to the other cells of its group"
FEW_ROWS = 30


def counted_cells(
    belief: RowBias, rows: Rows, confidence: float, strata: Stratified | None = None
) -> tuple[Parameter, ...]:
    """The share of each cell, drawn to those of the same group; one with a prior of its own is counted by itself."""
    found: dict[str, Parameter] = {}
    for change in belief.reads:
        hits, total = _counts(belief, change, rows, strata, confidence)
        _tell_unseen(belief, change, total.reshape(belief.shape(change)))
        of_change = [own for cell, own in belief.by_cell().items() if (cell.fair, cell.recorded) == change]
        for group in belief.affected:
            own = [one for one in of_change if one.cell is not None and belief.place(one.cell)[0] == group]
            places = [one.cell.group for one in own if one.cell is not None]
            k, n = hits[places], total[places]
            _warn_few(belief, change, group, float(n.sum()))
            told = shrunk(k, n, confidence) if len(own) > 1 else [None]
            for one, cell, *counts in zip(own, told, k.tolist(), n.tolist(), strict=True):
                found[one.name] = _estimated(one, cell, counts[0], counts[1], confidence)
    return tuple(found[own.name] for own in belief.parameters)


def _estimated(own: Parameter, told: Shrunk | None, hits: float, rows: float, confidence: float) -> Parameter:
    """A parameter by what its cell and the others tell; alone, by what it says itself."""
    if told is None or own.prior is not None:
        value = float(hits / rows) if rows else float("nan")
        return own.estimated(Estimate(value, *interval(value, rows, confidence), round(rows)), confidence=confidence)
    estimate = Estimate(told.value, told.low, told.high, round(rows))
    return replace(own, prior=told.prior).estimated(estimate, SHRUNK)


def _counts(
    belief: RowBias, change: Change, rows: Rows, strata: Stratified | None, confidence: float
) -> tuple[Floats, Floats]:
    """For each cell how many rows with the fair class were recorded as the other one, and how many there are.

    Rows that were drawn by stratum are those of a random sample that would tell as much.
    """
    if rows.fair is None or rows.recorded is None:
        raise P4FError("audited rows have a recorded and a fair label")
    places, cells = belief.positions(change, rows), math.prod(belief.shape(change))
    acting = (rows.fair == change[0]).astype(np.float64)
    if strata is not None:
        hits, total = np.zeros(cells), np.zeros(cells)
        # A cell whose rows were all audited is known; that is worth as many rows as the table has.
        most = float(strata.design.sizes.sum())
        for cell in range(cells) if places.ndim == 2 else np.unique(places[acting > 0]).tolist():
            inside = acting * (places[:, cell] if places.ndim == 2 else places == cell)
            share = strata.share(inside, change[1], confidence)
            if share.rows:
                total[cell] = min(equal_rows(share.value, share.low, share.high, confidence), most)
                hits[cell] = share.value * total[cell]
        return hits, total
    weight = acting if rows.weights is None else acting * rows.weights

    def summed(values: Floats) -> Floats:
        own = np.bincount(places.astype(np.int64), values, cells) if places.ndim == 1 else values @ places
        return np.asarray(own, dtype=np.float64)

    return summed(weight * (rows.recorded == change[1])), summed(weight)


def _warn_few(belief: RowBias, change: Change, group: int, rows: float) -> None:
    where = f"with a fair {change[0]} where {belief.variable.group_text(group)}"
    if rows == 0:
        raise P4FError(f"no audited row is {where}; audit some, or leave that group out of affected=[...]")
    if rows < FEW_ROWS:
        tell(f"only {rows:.0f} audited rows are {where}; its cells rest on them")


def _tell_unseen(belief: RowBias, change: Change, total: Floats) -> None:
    """Say of which values and periods that the belief names no row was audited; ``total`` is by group and value."""
    for axis, variable in enumerate(belief._read(change)[1:], start=1):
        others = tuple(own for own in range(total.ndim) if own != axis)
        rows = np.take(total, belief.affected, axis=0).sum(axis=others)
        named = rows[:-1] if isinstance(variable, Category) else rows
        unseen = [variable.group_text(level) for level in np.flatnonzero(named == 0).tolist()]
        if not unseen:
            continue
        more = f" or {len(unseen) - 3} more" if len(unseen) > 3 else ""
        # What was drawn to others without a row of its own is what they are.
        tell(
            f"no audited row with a fair {change[0]} has {', '.join(unseen[:3])}{more}: what is said of "
            f"{'it' if len(unseen) == 1 else 'them'} comes from the other rows; audit some"
        )
