"""The least and the greatest disparity in a box of parameters: a search from a few starts, inside and at the ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import qmc

from problog4fairness.beliefs import LEAST_SIGNAL, Belief
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import least_signal
from problog4fairness.robustness.refits import Range

# Points all over the box for each parameter, of which the best are starts of a search.
POINTS, STARTS = 4, 2
# Beliefs that may be the extreme ones, by quick fits.
BEST = 5
# Steps of a search, as shares of the box: to the other end first.
STEPS = (1.0, 0.5, 0.25, 0.125)
# A point is better by more than this, or it is as good.
CLOSE = 1e-5
# Halvings in search of the last point where recorded labels say enough.
HALVINGS = 12

Disparities = Callable[[Sequence[Belief]], list[float]]


class BeliefBox:
    """The beliefs whose parameters are in a box, and by which recorded labels say something about fair ones.

    Parameters
    ----------
    belief
        Whose other parameters stay as they are.
    ends
        Between which values each parameter may be.
    rows
        The rows that are observed through the beliefs.
    """

    def __init__(self, belief: Belief, ends: Mapping[str, Range], rows: Rows) -> None:
        self.belief, self.names = belief, tuple(ends)
        self.low, self.high = np.array(list(ends.values()), dtype=np.float64).T
        self._kinds = belief.kinds_of(rows)
        self._least = min(LEAST_SIGNAL, least_signal(belief.observe(self._kinds)))
        values = {parameter.name: parameter.value or 0.0 for parameter in belief.probabilities}
        self.centre = np.clip([values[name] for name in self.names], self.low, self.high)
        self.cut = False
        if not self._is_informative(self.centre):
            middle = (self.low + self.high) / 2
            self.centre = next((end for end in (middle, self.low) if self._is_informative(end)), self.centre)
        if not self._is_informative(self.centre):
            raise P4FError(
                "in this box recorded labels say nothing about fair ones; leave such beliefs out, by a smaller box"
            )

    def at(self, point: Floats) -> Belief:
        """The belief at a point."""
        return self.belief.with_values(dict(zip(self.names, point.tolist(), strict=True)))

    def inside(self, point: Floats) -> Floats:
        """The point in the box, moved to its centre as far as recorded labels need to say something."""
        wanted = np.clip(point, self.low, self.high)
        if self._is_informative(wanted):
            return wanted
        self.cut = True
        near, far = 0.0, 1.0
        for _ in range(HALVINGS):
            share = (near + far) / 2
            near, far = (
                (share, far) if self._is_informative(self.centre + share * (wanted - self.centre)) else (near, share)
            )
        return np.asarray(self.centre + near * (wanted - self.centre))

    def neighbours(self, point: Floats, step: float) -> list[Floats]:
        """Where one parameter is a step further up or down."""
        size = step * (self.high - self.low)
        return [
            self.inside(point + direction * size * (np.arange(len(size)) == place))
            for place in np.flatnonzero(size > 0)
            for direction in (-1.0, 1.0)
        ]

    def _is_informative(self, point: Floats) -> bool:
        return least_signal(self.at(point).observe(self._kinds)) >= self._least - 1e-9


def extremes(box: BeliefBox, disparities: Disparities, most: int) -> tuple[list[Belief], list[Belief]]:
    """The beliefs with the least disparity, the least first, and those with the greatest, the greatest first.

    Parameters
    ----------
    box
        Where to look.
    disparities
        Of beliefs.
    most
        Points that are looked at, about.
    """
    points = _first(box, disparities)
    values, begun = disparities([box.at(point) for point in points]), len(points)
    for sign in (-1.0, 1.0):
        for place in np.argsort(-sign * np.array(values[:begun]), kind="stable")[:STARTS]:
            point, value, step = points[place], values[place], 0
            while step < len(STEPS) and len(points) < most:
                near = box.neighbours(point, STEPS[step])
                around = disparities([box.at(neighbour) for neighbour in near])
                points += near
                values += around
                best = int(np.argmax(sign * np.array(around))) if near else -1
                # To the best of them, or on to smaller steps where none is better.
                if best >= 0 and sign * (around[best] - value) > CLOSE:
                    point, value = near[best], around[best]
                else:
                    step += 1
    order = [points[place] for place in np.argsort(values, kind="stable")]
    return _distinct(box, order), _distinct(box, order[::-1])


def _distinct(box: BeliefBox, points: Sequence[Floats]) -> list[Belief]:
    """The first few different ones."""
    different = {point.tobytes(): point for point in reversed(points)}
    return [box.at(point) for point in reversed(different.values())][:BEST]


def _first(box: BeliefBox, disparities: Disparities) -> list[Floats]:
    """The centre, each end alone, the corners to which the ends point, and points all over the box."""
    size = len(box.names)
    ends = [
        box.inside(np.where(np.arange(size) == place, end, box.centre))
        for place in range(size)
        for end in (box.low, box.high)
    ]
    values = np.array(disparities([box.at(point) for point in ends]))
    rising = values[1::2] >= values[::2]
    corners = [np.where(rising, box.low, box.high), np.where(rising, box.high, box.low)]
    drawn = qmc.Sobol(size, seed=0).random_base2(int(np.ceil(np.log2(POINTS * size))))
    spread = box.low + drawn * (box.high - box.low)
    return [box.centre, *ends, *(box.inside(point) for point in (*corners, *spread))]
