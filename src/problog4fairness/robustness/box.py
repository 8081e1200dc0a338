"""Boxes of parameters: between which values they may be, and where in a box the disparity is least and greatest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import qmc

from problog4fairness.beliefs import LEAST_SIGNAL, Belief, admissible_values
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import least_signal
from problog4fairness.statistics import Parameter, named_parameters, probabilities

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

# The smallest value of a parameter, where audited rows teach.
LEAST = 0.001

Range = tuple[float, float]
Disparities = Callable[[Sequence[Belief]], list[float]]


def interval_of(parameter: Parameter) -> Range:
    """The interval of a parameter that has a value; the value alone where it was stated."""
    value = 0.0 if parameter.value is None else parameter.value
    if parameter.low is None or parameter.high is None:
        return value, value
    return min(parameter.low, value), max(parameter.high, value)


def range_of(belief: Belief, parameter: Parameter, rows: Rows, limits: Range) -> Range:
    """The part of a range in which recorded labels stay informative, and fair ones that are known possible."""
    floor, ceiling = admissible_values(belief, parameter, rows)
    return possible(max(limits[0], floor), min(limits[1], ceiling), rows)


def possible(low: float, high: float, rows: Rows) -> Range:
    """A range of a parameter, kept off 0 and 1 where fair labels are known: there one distorted row is impossible."""
    least = 0.0 if rows.fair is None or (rows.fair < 0).all() else LEAST
    return float(np.clip(low, least, 1 - least)), float(np.clip(high, least, 1 - least))


def checked_box(belief: Belief, box: Mapping[str, Range] | None) -> dict[str, Range]:
    """Between which values each parameter may be; by default the intervals of those that have one."""
    if box is None:
        known = [
            probability
            for probability in probabilities(belief.parameters)
            if probability.low is not None and probability.high is not None
        ]
        if not known:
            raise P4FError(
                "the belief's numbers were stated, without intervals; say what may be: box={'p1': (0.2, 0.6)}"
            )
        return {parameter.name: interval_of(parameter) for parameter in known}
    if not hasattr(box, "items") or not box:
        raise P4FError("box must be a mapping such as {'p1': (0.2, 0.6)}")
    named_parameters(probabilities(belief.parameters), box)
    for name, ends in box.items():
        if not _is_range(ends):
            raise P4FError(f"the box of {name} is {ends!r}; give two numbers between 0 and 1, the smaller one first")
    return {name: (float(ends[0]), float(ends[1])) for name, ends in box.items()}


def _is_range(ends: Any) -> bool:
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        return False
    return 0 <= low <= high <= 1


class BeliefBox:
    """The beliefs whose parameters are in a box, and by which recorded labels of rows say something about fair ones.

    Parameters that ``ends`` does not name stay as they are.
    """

    def __init__(self, belief: Belief, ends: Mapping[str, Range], rows: Rows) -> None:
        self.belief, self.names = belief, tuple(ends)
        self.low, self.high = np.array(list(ends.values()), dtype=np.float64).T
        self._kinds = belief.columns.distinct(rows)
        self._least = min(LEAST_SIGNAL, least_signal(belief.observe(self._kinds)))
        values = {parameter.name: parameter.value or 0.0 for parameter in probabilities(belief.parameters)}
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
        return self.belief.bind(dict(zip(self.names, point.tolist(), strict=True)))

    def inside(self, point: Floats) -> Floats:
        """The point in the box, moved to its centre as far as recorded labels need to say something."""
        target = np.clip(point, self.low, self.high)
        if self._is_informative(target):
            return target
        self.cut = True
        near, far = 0.0, 1.0
        for _ in range(HALVINGS):
            share = (near + far) / 2
            if self._is_informative(self.centre + share * (target - self.centre)):
                near = share
            else:
                far = share
        return np.asarray(self.centre + near * (target - self.centre))

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

    About ``most`` points are looked at: a search from a few starts, inside the box and at its ends.
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
