"""How many rows to audit of each stratum, so that every value is known well enough and the rows are few (Neyman)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.audit.estimation.stratified import PRIOR, Design, Target
from problog4fairness.audit.strata import LABEL
from problog4fairness.data import Floats

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief

STEPS = 100
# Imagined rows of each stratum, and the value of a parameter of which nothing is known.
IMAGINED, USUAL = 4, 0.2
# The part of the missing rows that is drawn at once, and the smallest round.
PART, SMALLEST = 0.6, 10


def allocate(spreads: Floats, goals: Floats, sizes: Floats) -> Floats:
    """The fewest rows of each stratum with which every variance is at most its goal.

    A value that depends on the shares q of the strata has the variance

        sum_s spread_s (1 / n_s - 1 / N_s),   spread_s = (d value / d q_s)^2 q_s (1 - q_s)

    if n of the N rows of each stratum are audited. For one value the rows are fewest where n_s is proportional to the
    root of its spread; for several, to the root of a weighted sum of theirs, and the weights are found step by step: a
    value that is known less well than it should be gets more weight.

    The shapes are ``[..., values, strata]`` of spreads, ``[..., values]`` of goals and ``[strata]`` of sizes.
    """
    weights = np.ones_like(goals)
    for step in range(STEPS):
        rows = _rows(weights, spreads, sizes)
        # Full steps first, then smaller ones that settle.
        weights = weights * (variances(spreads, rows, sizes) / goals) ** (1.5 / (1 + step / 25))
        weights = np.clip(weights, 1e-30, 1e30)
    rows = _rows(weights, spreads, sizes)
    excess = np.maximum((variances(spreads, rows, sizes) / goals).max(-1, initial=0.0), 1e-9)
    return np.asarray(np.minimum(rows * np.maximum(excess, 1.0)[..., None], sizes))


def variances(spreads: Floats, rows: Floats, sizes: Floats) -> Floats:
    """``[..., values]``: the variance of each value with so many rows of each stratum."""
    left = np.maximum(1 / np.maximum(rows, 1e-9) - 1 / np.maximum(sizes, 1e-9), 0.0)
    return np.asarray((spreads * left[..., None, :]).sum(-1))


def _rows(weights: Floats, spreads: Floats, sizes: Floats) -> Floats:
    return np.asarray(np.minimum(np.sqrt((weights[..., None] * spreads).sum(-2)), sizes))


def wanted_rows(
    targets: Sequence[Target],
    counts: Sequence[Floats],
    imagined: Sequence[Floats],
    sizes: Floats,
    halves: Floats,
    error: float,
    confidence: float,
) -> Floats:
    """``[..., strata]``: rows in all with which every interval is expected to be short enough.

    Parameters
    ----------
    targets
        What is to be known.
    counts, imagined
        For each audited thing ``[..., strata, fair values]``, the rows so far, and imagined ones from which shares are
        guessed where there are few.
    sizes
        Rows of each stratum in the table.
    halves
        ``[..., targets]``: half the widths of the intervals so far. They say by how much an interval is wider than
        the square root of a variance promises, which is taken to stay.
    error, confidence
        Half the width to reach, and the confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from problog4fairness.audit import Design, wanted_rows
    >>> from problog4fairness.beliefs import LabelBias
    >>> sizes, counts = np.full(4, 1000.0), np.full((4, 2), 5.0)  # two groups, two recorded labels
    >>> targets = Design(("",), (2, 2), sizes, (counts,)).targets(LabelBias("a", positive=False).parameters)
    >>> rows = wanted_rows(targets, [counts], [counts], sizes, np.array([0.3, 0.3]), error=0.1, confidence=0.95)
    >>> bool((rows > 10).all())
    True
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rows = np.asarray(counts[0].sum(-1))
    spreads = []
    for target in targets:
        guess = counts[target.thing] + imagined[target.thing]
        spreads.append(target.spread(guess[..., target.fair] / guess.sum(-1)))
    spread = np.stack(spreads, axis=-2)
    promised = z * np.sqrt(variances(spread, rows, sizes))
    known = np.stack([(rows[..., target.used] > 0).all(-1) for target in targets], axis=-1)
    wider = np.where(known, np.maximum(halves / np.maximum(promised, 1e-9), 0.5), 1.0)
    return allocate(spread, (error / z / wider) ** 2, sizes)


def next_round(wanted: Floats, rows: Floats, least: Floats) -> Floats:
    """``[..., strata]``: rows for the next round: a part of those that are missing, as they may turn out to be fewer.

    Parameters
    ----------
    wanted
        Rows in all that are expected to be enough.
    rows
        Rows so far.
    least
        Rows that every stratum gets at once.

    Examples
    --------
    >>> import numpy as np
    >>> from problog4fairness.audit import next_round
    >>> bool((next_round(np.array([100.0, 20.0]), np.array([0.0, 20.0]), np.array([10.0, 10.0])) <= [100, 0]).all())
    True
    """
    missing = np.maximum(np.ceil(wanted) - rows, 0)
    total = missing.sum(-1, keepdims=True)
    part = np.where(total > 2 * SMALLEST, PART, np.maximum(1.0, SMALLEST / np.maximum(total, 1)))
    return np.asarray(np.maximum(np.ceil(missing * part), least - rows))


@dataclass(frozen=True, eq=False)
class ImaginedRows:
    """Rows from which shares are guessed where few were audited.

    Attributes
    ----------
    rows
        For each audited thing ``[strata, fair values]``.
    stated
        Whether the belief states values, so that no pilot is needed.
    note
        What was assumed, in words.
    """

    rows: tuple[Floats, ...]
    stated: bool
    note: str


def imagined_rows(belief: Belief, audit: Design, values: Mapping[str, float]) -> ImaginedRows:
    """Imagined rows of each stratum, from known values of parameters by name."""
    counted = belief.audit_rules.counted
    parameters = {
        parameter.cell: values.get(parameter.name, USUAL)
        for parameter in belief.parameters
        if counted and parameter.cell is not None and not audit.is_ruled(parameter.cell)
    }
    stated = any(parameter.name in values for parameter in belief.parameters if parameter.cell in parameters)
    if audit.rows.any() and not stated:
        return ImaginedRows(tuple(np.full_like(counts, PRIOR) for counts in audit.counts), False, "")
    rows = []
    for number, (thing, counts) in enumerate(zip(audit.things, audit.counts, strict=True)):
        size = counts.shape[1]
        chances = np.zeros((audit.shape[0], size, size))
        for cell, value in parameters.items():
            if (cell.feature or LABEL) == thing:
                first, second = (cell.fair, cell.recorded) if thing == LABEL else (cell.recorded, cell.fair)
                chances[cell.group, first, second] = value
        if not counted:
            chances[:] = USUAL / max(1, size - 1)
        # The probability that nothing changes is the rest.
        same = np.arange(size)
        chances[:, same, same] = 0
        chances[:, same, same] = np.clip(1 - chances.sum(-1), 0, 1)
        if thing == LABEL:
            shares = _inverted(chances, audit)
        else:
            places = np.indices(audit.shape).reshape(len(audit.shape), -1)
            shares = chances[places[0], places[1 + number]]
        rows.append(IMAGINED * np.clip(shares, 0.01, 0.99))
    values_used = "as stated" if stated else f"{USUAL:g} each, until a first round tells"
    return ImaginedRows(tuple(rows), stated, f"assumed for the number of rows: parameters are {values_used}")


def _inverted(chances: Floats, audit: Design) -> Floats:
    """P(fair | recorded, group) by stratum, from P(recorded | fair, group) and the recorded shares."""
    shares = []
    for table, sizes in zip(chances, audit.sizes.reshape(audit.shape), strict=True):
        recorded = sizes / max(float(sizes.sum()), 1.0)
        fair = np.clip(np.linalg.lstsq(table.T, recorded, rcond=None)[0], 0.01, None)
        joint = (fair / fair.sum())[:, None] * table
        shares.append((joint / np.maximum(joint.sum(axis=0), 1e-12)).T)
    return np.concatenate(shares)
