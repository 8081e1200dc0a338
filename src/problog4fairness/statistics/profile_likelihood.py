"""Intervals by the likelihood itself, where a parameter is so uncertain that the curvature at the mode does not tell.

The interval of a parameter has all values at which the record is nearly as likely as at the best one, whatever the
others are then:

    2 (max log-likelihood - max over the others of log-likelihood at this value) <= z^2

Where the record does not tell the parameter, that curve is flat up to the bound, and so is the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from problog4fairness.data import Floats

# From a point the loss and its slopes.
Slope = Callable[[Floats], tuple[float, Floats]]

# Values at which the likelihood is looked at, as logits; beyond the last is as good as 0 and 1.
GRID = (-6.0, -3.5, -2.2, -1.2, -0.4, 0.4, 1.2, 2.2, 3.5, 6.0)
# Where the record hardly tells, the ratio is somewhat larger than a normal one: measured on simulated records.
CAUTION = 1.05
# How far out the likeliest value itself may be: beyond it, a logit says the same of any table.
FARTHEST = 15.0
# An end between two of them is found to this, in logits, in so many steps at most.
EXACT, STEPS = 0.02, 12


def profiled(slope: Slope, best: Floats, spread: Floats, places: Sequence[int], z: float) -> list[tuple[float, float]]:
    """For each of some places of a point, which are logits, the ends of its interval; infinite where it has none.

    Parameters
    ----------
    slope
        Minus the log-likelihood of a point, and its slopes.
    best, spread
        The likeliest point that is known, and the covariance around it.
    places
        Which are asked for.
    z
        Standard deviations of a normal interval with the same confidence.
    """
    curves = [_Curve(slope, best, spread, place) for place in places]
    least = min(curve.least for curve in curves)
    return [(curve.end(least, CAUTION * z, -1), curve.end(least, CAUTION * z, 1)) for curve in curves]


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
        for _ in range(STEPS):
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
