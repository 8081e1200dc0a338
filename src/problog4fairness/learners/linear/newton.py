"""The exact maximum of a penalised likelihood that is linear in its inputs.

    minimise over w and b:   loss(X w + b) + penalty / 2 sum_j (scale_j w_j)²

in float64, the intercept b without a penalty. Where each row needs one input and the label has two classes, by Fisher
scoring, which takes a handful of steps; otherwise by L-BFGS.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize

from problog4fairness.data import Floats
from problog4fairness.learners.derivatives import BinarySlopes, Slopes

# The largest component of the gradient at the end, relative to the total weight of the rows; and where rows are so many
# that a part of them is enough to begin with and to tell the curvature from. Chance alone moves it far more than that.
TOLERANCE, TOLERANCE_MANY, TOLERANCE_PART = 1e-9, 1e-5, 1e-3
MANY, PART = 20_000, 10_000
MAX_STEPS, MAX_HALVINGS = 100, 30
# By how much a loss may seem to rise, relative to it, where only rounding tells: there the gradient still says where to
# go, and shorter steps would say no more.
ROUNDING = 1e-14
# Where a step makes the gradient smaller by this factor, the curvature is good enough for the next one.
QUICK = 8


def minimise(
    slopes: Slopes, matrix: Floats, scales: Floats, penalty: float, start: Floats, tolerance: float = TOLERANCE
) -> tuple[Floats, list[float]]:
    """The coefficients ``[width + 1, outputs]``, the intercept last; and the mean loss after each step.

    From ``start``, until the largest component of the gradient, relative to the total weight of the rows, is below the
    tolerance.
    """
    ridge = penalty * scales**2
    if isinstance(slopes, BinarySlopes) and slopes.alone:
        numbers, losses = _scoring(slopes, matrix, ridge, start[:, 0], tolerance)
        return numbers[:, None], losses
    return _descent(slopes, matrix, ridge, start, tolerance)


def _scoring(
    slopes: BinarySlopes, matrix: Floats, ridge: Floats, start: Floats, tolerance: float
) -> tuple[Floats, list[float]]:
    """Newton's method with the expected information in place of the curvature, which may be negative."""
    part, sample, curvature, before = None, matrix, None, np.inf
    if len(matrix) > max(MANY, 20 * matrix.shape[1]):
        tolerance = max(tolerance, TOLERANCE_MANY)
        part, inputs = slopes.sample(max(PART, len(matrix) // 20))
        sample = matrix[inputs]
        start, _ = _scoring(part, sample, ridge, start, TOLERANCE_PART)
    w, z = start, _logits(matrix, start)
    value, slope, information = _penalised(slopes, z, w, ridge)
    losses = [value / slopes.total]
    for _ in range(MAX_STEPS):
        gradient = np.append(slope @ matrix + ridge * w[:-1], slope.sum())
        largest = float(np.abs(gradient).max())
        if largest <= tolerance * slopes.total:
            break
        if part is None and largest > before / QUICK:
            curvature = None
        before = largest
        if curvature is None:
            known = information if part is None else part.informed(_logits(sample, w)[:, None])[2]
            curvature = _information(sample, known, ridge)
        step = _solve(curvature, gradient)
        change = _logits(matrix, step)
        size = 1.0
        for _ in range(MAX_HALVINGS):
            tried = _penalised(slopes, z - size * change, w - size * step, ridge)
            if tried[0] <= value + ROUNDING * abs(value):
                break
            size /= 2
        else:
            break  # as good as rounding allows
        if size < 1:
            curvature = None  # no longer right
        w, z = w - size * step, z - size * change
        value, slope, information = tried
        losses.append(value / slopes.total)
    return w, losses


def _penalised(slopes: BinarySlopes, z: Floats, w: Floats, ridge: Floats) -> tuple[float, Floats, Floats]:
    loss, slope, information = slopes.informed(z[:, None])
    return loss + 0.5 * float(ridge @ w[:-1] ** 2), slope, information


def _information(matrix: Floats, information: Floats, ridge: Floats) -> Floats:
    width = matrix.shape[1]
    rooted = matrix * np.sqrt(information)[:, None]
    full = np.empty((width + 1, width + 1))
    full[:width, :width] = rooted.T @ rooted
    full[:width, width] = full[width, :width] = matrix.T @ information
    full[width, width] = information.sum()
    # Columns that the rows tell nothing about, without a penalty: the least bit that makes the matrix regular.
    full[np.arange(width), np.arange(width)] += ridge
    full[np.diag_indices(width + 1)] += 1e-12 * max(1e-12, float(full.diagonal().max()))
    return full


def _solve(curvature: Floats, gradient: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(curvature, gradient, rcond=None)[0], dtype=np.float64)


def _descent(
    slopes: Slopes, matrix: Floats, ridge: Floats, start: Floats, tolerance: float
) -> tuple[Floats, list[float]]:
    shape = start.shape
    losses: list[float] = []

    def value(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(shape)
        loss, slope = slopes.gradient(matrix @ w[:-1] + w[-1])
        gradient = np.vstack([matrix.T @ slope + ridge[:, None] * w[:-1], slope.sum(0)])
        total = loss + 0.5 * float((ridge[:, None] * w[:-1] ** 2).sum())
        return total / slopes.total, gradient.reshape(-1) / slopes.total

    def note(intermediate_result: Any) -> None:
        losses.append(float(intermediate_result.fun))

    options = {"maxiter": 1000, "maxcor": 20, "ftol": 1e-15, "gtol": tolerance}
    optimum = scipy.optimize.minimize(
        value, start.reshape(-1), jac=True, method="L-BFGS-B", callback=note, options=options
    )
    return optimum.x.reshape(shape), losses


def _logits(matrix: Floats, w: Floats) -> Floats:
    z: Floats = matrix @ w[:-1]
    z += w[-1]
    return z
