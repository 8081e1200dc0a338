"""What is guessed of shares before rows are audited: from guesses of a belief's parameters, turned round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.audit.estimation.stratified import PRIOR, Design
from problog4fairness.audit.strata import LABEL
from problog4fairness.data import Floats

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief

# A guess counts as much as this many audited rows of each stratum.
GUESSED = 4
# What is guessed of a parameter of which nothing is known.
USUAL = 0.2


@dataclass(frozen=True, eq=False)
class Guessed:
    """Imagined rows.

    Attributes
    ----------
    rows
        For each audited thing ``[strata, fair values]``.
    stated
        Whether somebody guessed, so that no pilot is needed.
    note
        What was assumed, in words.
    """

    rows: tuple[Floats, ...]
    stated: bool
    note: str


def guessed_rows(belief: Belief, audit: Design, guesses: Mapping[str, float]) -> Guessed:
    """Imagined rows of each stratum, from guesses of parameters by name."""
    parameters = {
        own.cell: guesses.get(own.name, USUAL)
        for own in belief.parameters
        if belief._counted and own.cell is not None and not audit.is_ruled(own.cell)
    }
    stated = any(own.name in guesses for own in belief.parameters if own.cell in parameters)
    if audit.rows.any() and not stated:
        return Guessed(tuple(np.full_like(own, PRIOR) for own in audit.counts), False, "")
    rows = []
    for thing, counts in zip(audit.things, audit.counts, strict=True):
        chances = np.zeros((audit.shape[0], counts.shape[1], counts.shape[1]))
        for cell, value in parameters.items():
            if (cell.feature or LABEL) == thing:
                first, second = (cell.fair, cell.recorded) if thing == LABEL else (cell.recorded, cell.fair)
                chances[cell.group, first, second] = value
        if not belief._counted:
            chances[:] = USUAL / max(1, counts.shape[1] - 1)
        shares = _turned(chances, audit) if thing == LABEL else _spread(_whole(chances), audit, thing)
        rows.append(GUESSED * np.clip(shares, 0.01, 0.99))
    said = "parameters are as guessed" if stated else f"every parameter is {USUAL:g}, until a first round tells"
    return Guessed(tuple(rows), stated, f"assumed for the number of rows: {said}")


def _whole(chances: Floats) -> Floats:
    """With the probability that nothing changes, ``[groups, from, to]``."""
    same = np.arange(chances.shape[1])
    chances[:, same, same] = 0
    chances[:, same, same] = np.clip(1 - chances.sum(-1), 0, 1)
    return chances


def _turned(chances: Floats, audit: Design) -> Floats:
    """P(fair | recorded, group) by stratum, from P(recorded | fair, group) and the recorded shares."""
    chances = _whole(chances)
    recorded = audit.sizes.reshape(audit.shape)
    found = []
    for table, seen in zip(chances, recorded, strict=True):
        total = max(float(seen.sum()), 1.0)
        fair = np.clip(np.linalg.lstsq(table.T, seen / total, rcond=None)[0], 0.01, None)
        joint = (fair / fair.sum())[:, None] * table
        found.append((joint / np.maximum(joint.sum(axis=0), 1e-12)).T)
    return np.concatenate(found)


def _spread(chances: Floats, audit: Design, feature: str) -> Floats:
    """P(fair | recorded, group) of a feature, for each stratum."""
    places = np.indices(audit.shape).reshape(len(audit.shape), -1)
    return np.asarray(chances[places[0], places[1 + audit.things.index(feature)]])
