"""Fits at many values of the parameters, so that others can be asked about without fitting again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.special import expit
from scipy.stats import qmc
from sklearn.utils.validation import check_is_fitted

from problog4fairness.beliefs import Belief
from problog4fairness.data import Floats, Grouping, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import (
    fair_proba,
    learner_of,
    least_signal,
    possible,
    predicted,
    predicts_from,
    recorded_rows,
    settled,
)
from problog4fairness.learners import Task, fit_again
from problog4fairness.metrics import decide, selected
from problog4fairness.robustness.bounds import checked_box
from problog4fairness.robustness.sensitivity_analysis import interval_of
from problog4fairness.robustness.what_if_result import WhatIf, terms
from problog4fairness.statistics import Parameter

if TYPE_CHECKING:
    from problog4fairness.estimators import DebiasedClassifier

MOST_ROWS = 20_000
# Fits for each term of the polynomial, about.
FITS_PER_TERM = 2.0
MOST_PARAMETERS = 8
# Values by which recorded labels say less than this about fair ones (1 - negative - positive) are left out: fits there
# are mostly chance.
LEAST_SIGNAL = 0.15
# Probabilities nearer to 0 and 1 than this are as good as certain.
CERTAIN = 1e-6


def what_if(
    model: DebiasedClassifier,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    fair: Any = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    beyond: float = 0.15,
    progress: bool | None = None,
) -> WhatIf:
    """Fit a model again with many values of its belief's parameters, to be asked about any others in milliseconds.

    All parameters move at once, over their intervals and beyond, apart from values by which recorded labels say almost
    nothing about fair ones.

    Parameters
    ----------
    model
        A fitted classifier of two classes, whose belief has parameters and names groups.
    X, y, sensitive_features
        Recorded data, such as those that it was trained on; of more than 20,000 rows, so many evenly spaced ones.
    fair
        Fair labels, missing where nobody looked: for the accuracy, and to learn from where the model did.
    box
        How far parameters may go, ``{"p1": (0.2, 0.6)}``; those that are not named, their intervals and ``beyond``.
    beyond
        How far to go outside the interval, or from a value that was stated.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=50, new=1)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, groups=[1])
    >>> X, y, poor = data.loans[list(data.features)], data.loans["granted"], data.loans["poor_area"]
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(X, y, sensitive_features=poor)
    >>> moves = p4f.robustness.what_if(model, X, y, sensitive_features=poor)
    >>> moves.at({"p1": 0.5}).disparity > moves.at({"p1": 0.3}).disparity
    True
    """
    if not 0 <= beyond <= 1:
        raise P4FError(f"beyond={beyond!r} is not between 0 and 1")
    check_is_fitted(model)
    rows = recorded_rows(model, X, y, sensitive_features, fair)
    place = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(np.int64))
    rows = rows.take(place)
    belief: Belief = model.belief_
    ways = belief.groupings(rows)
    parameters = [own for own in belief.parameters if own.value is not None]
    if len(rows.classes) != 2 or not ways or not parameters:
        raise P4FError("this needs a label of two classes, and a belief with parameters and groups")
    ways[0].require_two()
    if len(parameters) > MOST_PARAMETERS:
        raise P4FError(f"the belief has {len(parameters)} parameters, more than {MOST_PARAMETERS} that move at once")
    names, values = tuple(own.name for own in parameters), np.array([own.value for own in parameters])
    learned = rows if model.audited_ else replace(rows, fair=None)
    wanted = {} if box is None else checked_box(belief, box)
    ranges = np.array([_range(belief, own, learned, wanted.get(own.name), beyond) for own in parameters])
    points, tasks, beliefs = _design(model, learned, names, values, ranges)
    fitted = fit_again(settled(learner_of(model.learner), model.fitted_), model.fitted_, tasks, progress)
    source = predicts_from(model)
    found = [_log_odds(predicted(own, fit, rows, source)) for own, fit in zip(beliefs, fitted, strict=True)]
    own = _log_odds(fair_proba(model, rows))
    basis, moves = terms(points[1:], values, ranges), np.stack(found[1:]) - found[0]
    spread: Floats = np.linalg.pinv(basis.T @ basis, rcond=1e-8).astype(np.float64)
    surface = spread @ (basis.T @ moves)
    leverage = ((basis @ spread) * basis).sum(axis=1)
    errors = _errors(own, moves, moves - basis @ surface, leverage, ways[0])
    return WhatIf(
        names,
        tuple(one.meaning for one in parameters),
        values,
        ranges,
        own.astype(np.float32),
        surface.astype(np.float32),
        spread,
        ways[0].groups,
        ways[0].shares.astype(np.float32),
        np.full(len(rows), -1, dtype=np.int8) if rows.fair is None else rows.fair.astype(np.int8),
        rows.standing().astype(np.float32),
        place,
        len(tasks),
        float(leverage.max()),
        *errors,
    )


def _range(
    belief: Belief, own: Parameter, rows: Rows, wanted: tuple[float, float] | None, beyond: float
) -> tuple[float, float]:
    """How far a parameter may go."""
    value = own.value or 0.0
    floor, ceiling = belief.admissible(own, rows)
    if wanted is None:
        low, high = interval_of(own)
        wanted = low - beyond, high + beyond
    low, high = possible(max(wanted[0], floor), min(wanted[1], ceiling), rows)
    return min(low, value), max(high, value)


def _design(
    model: DebiasedClassifier, rows: Rows, names: Sequence[str], values: Floats, ranges: Floats
) -> tuple[Floats, list[Task], list[Belief]]:
    """Where to fit: at the values themselves, both ends of each parameter, and all over the box, more at its edges."""
    size = len(values)
    ends = np.repeat(values[None], 2 * size, axis=0)
    for number in range(size):
        ends[2 * number : 2 * number + 2, number] = ranges[number]
    wanted = int(FITS_PER_TERM * terms(values[None], values, ranges).shape[1]) + 2 * size
    drawn = qmc.Sobol(size, seed=0).random_base2(int(np.ceil(np.log2(8 * wanted))))
    inside = ranges[:, 0] + (1 - np.cos(np.pi * drawn)) / 2 * (ranges[:, 1] - ranges[:, 0])
    least = min(LEAST_SIGNAL, least_signal(model.belief_.observe(rows)))
    points: list[Floats] = []
    tasks: list[Task] = []
    beliefs: list[Belief] = []
    weights = None if rows.weights is None else torch.from_numpy(rows.weights.astype(np.float32))
    audited = None if rows.fair is None or (rows.fair < 0).all() else torch.from_numpy(rows.fair >= 0)
    for point in (values, *ends, *inside):
        belief = model.belief_.with_values(dict(zip(names, map(float, point), strict=True)))
        observation = belief.observe(rows)
        if points and least_signal(observation) < least:
            continue
        points.append(point)
        beliefs.append(belief)
        tasks.append(Task(observation, model.seed_, weights=weights, audited=audited))
        if len(tasks) == 1 + wanted:
            break
    return np.stack(points), tasks, beliefs


def _log_odds(chance: Floats) -> Floats:
    favourable = np.clip(chance[:, 1], CERTAIN, 1 - CERTAIN)
    return np.log(favourable) - np.log1p(-favourable)


def _errors(own: Floats, moves: Floats, rest: Floats, leverage: Floats, way: Grouping) -> tuple[float, float, float]:
    """How far the disparity of a fit that is predicted from the others is off, typically and at most; its decisions."""
    off, changed = [0.0], [0.0]
    for move, missed, weight in zip(moves, rest, leverage, strict=True):
        if weight > 1 - 1e-6:
            continue  # nothing but this fit tells about its place
        true, said = (expit(own + there) for there in (move, move - missed / (1 - weight)))
        off.append(abs(way.disparity(selected(true)) - way.disparity(selected(said))))
        changed.append(float((decide(true) != decide(said)).mean()))
    return float(np.sqrt(np.mean(np.square(off)))), max(off), float(np.mean(changed))
