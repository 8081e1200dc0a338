"""The likelihood of a record by parameters and a linear model of the fair label, both found at once.

    P(record_i) = sum over fair classes f of h_f(x_i) P(record_i | f, groups_i)

The posterior is a normal one around its mode, on the scale of logits, so that intervals stay between 0 and 1. Or the
likelihood itself is followed, where the curvature at the mode does not tell: the interval of a parameter has all values
at which the record is nearly as likely as at the best one, whatever the others are then,

    2 (max log-likelihood - max over the others of log-likelihood at this value) <= z^2

Where the record does not tell the parameter, that curve is flat up to the bound, and so is the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from scipy.optimize import minimize
from scipy.special import expit
from torch import Tensor
from torch.nn.functional import logsigmoid

from problog4fairness.audit.reading import warn_audit
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief

# log P(record | fair class), [rows, classes], as a function of the parameters.
Terms = Callable[[Tensor], Tensor]
# From a point the loss and its slopes.
Slope = Callable[[Floats], tuple[float, Floats]]

# Columns of the linear model, and those with squares and products up to which a curved one is tried.
MOST_FEATURES, MOST_CURVED = 200, 60
# A priori each parameter is Beta(1.5, 1.5), and each weight of a standardised column normal with this deviation.
PRIOR, DEVIATION = 1.5, 5.0
# For slopes of slopes; and a curvature that counts as none.
STEP, LEAST_CURVATURE = 1e-4, 1e-6
# Values at which the likelihood is looked at, as logits; beyond the last is as good as 0 and 1.
GRID = (-6.0, -3.5, -2.2, -1.2, -0.4, 0.4, 1.2, 2.2, 3.5, 6.0)
# Where the record hardly tells, the ratio is somewhat larger than a normal one: measured on simulated records.
CAUTION = 1.05
# How far out the likeliest value itself may be: beyond it, a logit says the same of any table.
FARTHEST = 15.0
# An end between two of them is found to this, in logits, in so many steps at most.
EXACT, HALVINGS = 0.02, 12


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned.

    Attributes
    ----------
    values
        ``[parameters]``.
    low, high
        Ends of their intervals.
    information
        ``[parameters, parameters]``: how sure they are together, as wide as the intervals are.
    loss
        Minus the log-likelihood at these values, with the penalty of the weights.
    """

    values: Floats
    low: Floats
    high: Floats
    information: Floats
    loss: float


def learn(terms: Terms, rows: Rows, matrix: Floats, start: Sequence[float], confidence: float) -> Learned:
    """The likeliest weights and parameters, with intervals.

    Parameters
    ----------
    terms
        log P(record | fair class) as a function of the parameters.
    rows, matrix
        Rows, whose known fair labels are used, and ``[rows, columns]`` of the linear model, the constant first.
    start
        A value of each parameter to begin with; of two explanations that mirror each other, the nearer one is found.
    confidence
        Of the intervals: all values at which the likelihood, which may have two tops, is near enough to its largest.
    """
    if len(rows.classes) != 2:
        raise P4FError("parameters are learned from the record for labels of two classes; audit some rows instead")
    record, width = _Record(terms, rows, matrix), matrix.shape[1]
    best = record.likeliest(start)
    covariance = _covariance(lambda point: record.slope(point)[1], best)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    curves = [_Curve(record.likely, best, covariance, place) for place in range(width, len(best))]
    least = min(curve.least for curve in curves)
    low, high = (expit([curve.end(least, CAUTION * z, side) for curve in curves]) for side in (-1, 1))
    # What is less than a row cannot be told from never.
    low, high = np.where(low * len(rows) < 1, 0.0, low), np.where((1 - high) * len(rows) < 1, 1.0, high)
    spread = np.maximum(high - low, 1e-9) / (2 * z)
    block = covariance[width:, width:]
    deviations = np.sqrt(np.diag(block))
    scaled = block / np.outer(deviations, deviations) * np.outer(spread, spread)
    return Learned(expit(best[width:]), low, high, np.linalg.pinv(scaled, hermitian=True), record.likely(best)[0])


def design_matrix(belief: Belief, rows: Rows, features: Sequence[str], use_sensitive: bool) -> Floats:
    """The linear model of the fair label: a constant, the features standardised, and the groups if they are used."""
    parts = [np.ones((len(rows), 1)), *(_encoded(rows.column(name, "features"), name) for name in features)]
    if use_sensitive:
        parts += [rows.shares(variable)[:, 1:] for variable in belief.variables if variable.people]
    matrix = np.concatenate(parts, axis=1)
    if matrix.shape[1] > MOST_FEATURES:
        raise P4FError(f"features make {matrix.shape[1]} columns, more than {MOST_FEATURES}; name fewer of them")
    return matrix


def _encoded(column: pd.Series[Any], name: str) -> Floats:
    """A column as numbers: standardised, or an indicator for each value but the first."""
    missing = int(column.isna().sum())
    if missing:
        raise P4FError(f"feature {name!r} has {missing} missing values; drop these rows, or name other features")
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=np.float64).reshape(-1, 1)
        return np.asarray((values - values.mean()) / (values.std() or 1.0))
    return np.asarray(pd.get_dummies(column, drop_first=True), dtype=np.float64)


def adequate_matrix(terms: Terms, rows: Rows, matrix: Floats, start: Sequence[float]) -> Floats:
    """The matrix itself, or with squares and products of its columns, where the record is likelier by these (BIC).

    A model of the fair label that is too simple makes parameters take up what it leaves over.
    """
    columns = [column for column in matrix.T[1:] if np.ptp(column) > 0]
    pairs = [(a * b) for place, a in enumerate(columns) for b in columns[place:] if len(np.unique(a * b)) > 2]
    if not pairs or matrix.shape[1] + len(pairs) > MOST_CURVED:
        return matrix
    products = np.stack(pairs, axis=1)
    curved = np.concatenate([matrix, (products - products.mean(axis=0)) / (products.std(axis=0) + 1e-12)], axis=1)
    records = _Record(terms, rows, matrix), _Record(terms, rows, curved)
    straight, free = (record.likely(record.likeliest(start))[0] for record in records)
    if 2 * (straight - free) <= len(pairs) * np.log(len(rows)):
        return matrix
    warn_audit(
        "the record contradicts that the fair label is linear in the features: squares and products of them are taken, "
        "too; audit some rows where it may be more curved than that"
    )
    return curved


class _Record:
    """The loss of a point: weights of the linear model, then parameters as logits."""

    def __init__(self, terms: Terms, rows: Rows, matrix: Floats) -> None:
        self._terms, self._x, self._width = terms, torch.from_numpy(matrix), matrix.shape[1]
        # The constant may be far from 0 where one class is rare.
        self._scale = torch.full((self._width,), DEVIATION, dtype=torch.float64)
        self._scale[0] *= 4
        self._ruled = None
        if rows.fair is not None:
            fair = torch.from_numpy(rows.fair).unsqueeze(1)
            self._ruled = (fair >= 0) & (fair != torch.arange(2))

    def likeliest(self, start: Sequence[float]) -> Floats:
        """The point with the least loss, from values of the parameters to begin with."""
        first = np.concatenate([np.zeros(self._width), np.log(np.divide(start, np.subtract(1, start)))])
        options = {"maxiter": 2000, "ftol": 1e-12, "gtol": 1e-6}
        return np.asarray(minimize(self.slope, first, jac=True, method="L-BFGS-B", options=options).x)

    def slope(self, point: Floats) -> tuple[float, Floats]:
        """The loss with the priors of weights and parameters, and its slopes."""
        return self._sloped(point, PRIOR - 1)

    def likely(self, point: Floats) -> tuple[float, Floats]:
        """The same without the priors of the parameters."""
        return self._sloped(point, 0.0)

    def _sloped(self, point: Floats, prior: float) -> tuple[float, Floats]:
        at = torch.from_numpy(point.copy()).requires_grad_()
        weights, logits = at[: self._width], at[self._width :]
        z = self._x @ weights
        joint = torch.stack([logsigmoid(-z), logsigmoid(z)], dim=1) + self._terms(logits.sigmoid())
        joint = joint if self._ruled is None else joint.masked_fill(self._ruled, -1e30)
        value = 0.5 * ((weights / self._scale) ** 2).sum() - joint.logsumexp(1).sum()
        value = value - prior * (logsigmoid(logits) + logsigmoid(-logits)).sum()
        (gradient,) = torch.autograd.grad(value, at)
        return float(value.detach()), gradient.numpy()


def _covariance(gradient: Callable[[Floats], Floats], best: Floats) -> Floats:
    """The covariance from the curvature; large in directions in which there is none."""
    steps = STEP * np.eye(len(best))
    curvature = np.stack([(gradient(best + step) - gradient(best - step)) / (2 * STEP) for step in steps])
    sizes, directions = np.linalg.eigh((curvature + curvature.T) / 2)
    return np.asarray(directions / np.maximum(sizes, LEAST_CURVATURE) @ directions.T)


class _Curve:
    """How likely the record can be at each value of one place of the point.

    The curve may have two tops, so it is walked both ways, from each value to the next.
    """

    def __init__(self, slope: Slope, best: Floats, spread: Floats, place: int) -> None:
        self._slope, self._place = slope, place
        self._others = np.delete(np.arange(len(best)), place)
        part = spread[np.ix_(self._others, self._others)]
        # In steps that are about as long in every direction, few are enough.
        self._steps = np.linalg.cholesky(part + 1e-9 * np.diag(np.diag(part)))
        start = float(np.clip(best[place], -FARTHEST, FARTHEST))
        values, point = sorted({*GRID, start}), best
        middle = values.index(start)
        self._points: dict[float, tuple[float, Floats]] = {}
        for value in (*values[middle:], *values[::-1], *values[:middle]):
            loss, point = self._at(value, point)
            if value not in self._points or loss < self._points[value][0]:
                self._points[value] = loss, point
            point = self._points[value][1]
        self.least = min(loss for loss, _ in self._points.values())

    def _at(self, value: float, near: Floats) -> tuple[float, Floats]:
        """The least loss with the value fixed, and the point, from one that is near it."""

        def moved(steps: Floats) -> Floats:
            point = near.copy()
            point[self._others] += self._steps @ steps
            point[self._place] = value
            return point

        def sloped(steps: Floats) -> tuple[float, Floats]:
            loss, slopes = self._slope(moved(steps))
            return loss, self._steps.T @ slopes[self._others]

        start = np.zeros(len(self._others))
        least = minimize(sloped, start, jac=True, method="BFGS", options={"gtol": 0.03, "maxiter": 60})
        return float(least.fun), moved(least.x)

    def end(self, least: float, z: float, side: int) -> float:
        """The outermost value to one side at which the likelihood has not fallen further than the confidence allows."""

        def beyond(loss: float) -> float:
            return float(np.sqrt(2 * max(0.0, loss - least))) - z

        values = sorted(self._points, key=lambda value: side * value)
        # Where the search for the others did not get as far as that of another curve, from the best of this one.
        likeliest = min(range(len(values)), key=lambda number: self._points[values[number]][0])
        near_best = (number for number, value in enumerate(values) if beyond(self._points[value][0]) <= 0)
        inside = max(near_best, default=likeliest)
        if inside + 1 == len(values):
            return side * float(np.inf)
        low, high = values[inside : inside + 2]
        point, near, far = self._points[low][1], beyond(self._points[low][0]), beyond(self._points[high][0])
        for _ in range(HALVINGS):
            if abs(high - low) < EXACT or near >= 0:
                break
            # Between a straight line and half way: either alone may keep one end where it is.
            part = float(np.clip(-near / (far - near), 0.1, 0.9))
            middle = low + part * (high - low)
            loss, point = self._at(middle, point)
            distance = beyond(loss)
            if distance <= 0:
                # The outer end weighs less each time that it stays, as in the Illinois method.
                low, near, far = middle, distance, far / 2
            else:
                high, far, near = middle, distance, near / 2
        return high
