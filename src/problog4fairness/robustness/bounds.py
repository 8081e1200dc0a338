"""The disparity over all beliefs in a set, and where the gap would close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from problog4fairness.beliefs import Belief, as_belief
from problog4fairness.data import Grouping, Rows
from problog4fairness.errors import P4FError, UnknownNameError, among
from problog4fairness.estimators import (
    LEAST_SIGNAL,
    fair_proba,
    learner_of,
    least_signal,
    possible,
    predicted,
    predicts_from,
    settled,
)
from problog4fairness.learners import Boosted, Calibrated, Task, fit_again
from problog4fairness.metrics import selected
from problog4fairness.robustness.bounds_result import Bounds, Tipping
from problog4fairness.robustness.extremes import BeliefBox, extremes
from problog4fairness.statistics import Parameter

if TYPE_CHECKING:
    from problog4fairness.estimators import DebiasedClassifier

Box = Mapping[str, tuple[float, float]]

# Values of a parameter at which the gap is looked at, and then again between the two where it closes.
GRID, FINE = 9, 5
MOST_FITS = 1000
SEARCHED = (
    "The ends come from a search of the box from several starts; between the beliefs that were looked at the disparity "
    "may go a little further."
)
CUT = (
    " Beliefs of the box by which recorded labels say almost nothing about fair ones were left out: audit more rows to "
    "exclude them."
)
NAMED = "These are the beliefs that were named; nothing is said about others between them."


def bounds_of(
    model: DebiasedClassifier,
    rows: Rows,
    *,
    box: Box | None,
    beliefs: Sequence[Any] | None,
    by: str | None,
    progress: bool | None,
) -> Bounds:
    """See :meth:`DebiasedClassifier.bounds`; ``rows`` are recorded ones."""
    if box is not None and beliefs is not None:
        raise P4FError("give a box or beliefs, not both: a box is around the model's own belief")
    way = _way(model, rows, by)
    fits = _Fits(model, rows, way, progress)
    own = way.disparity(selected(fair_proba(model, rows)))
    if beliefs is not None:
        others = [_as_known(belief) for belief in beliefs]
        if not others:
            raise P4FError("beliefs is empty; name at least one")
        found = fits.disparities(others, whole=True)
        low, high = int(np.argmin(found)), int(np.argmax(found))
        return Bounds(own, found[low], found[high], others[low], others[high], (), fits.count, NAMED)
    chosen = {name: possible(*ends, rows) for name, ends in checked_box(model.belief_, box).items()}
    if 22 * len(chosen) > MOST_FITS:
        raise P4FError(f"the box has {len(chosen)} parameters, which takes too many fits; name fewer of them")
    space = BeliefBox(model.belief_, chosen, rows)
    lowest, highest = extremes(space, fits.disparities, MOST_FITS)
    ends = fits.disparities([*lowest, *highest], whole=True)
    low, high = int(np.argmin(ends)), int(np.argmax(ends))
    at_low, at_high = ([*lowest, *highest][place] for place in (low, high))
    tipping = _tipping(model.belief_, list(chosen), rows, way, fits)
    return Bounds(
        own, ends[low], ends[high], at_low, at_high, tipping, fits.count, SEARCHED + (CUT if space.cut else "")
    )


def checked_box(belief: Belief, box: Box | None) -> dict[str, tuple[float, float]]:
    """Between which values each parameter may be; by default the intervals of those that have one."""
    known = {own.name: own for own in belief.parameters}
    if box is None:
        found = {
            own.name: (min(own.low, own.value or 0.0), max(own.high, own.value or 0.0))
            for own in known.values()
            if own.low is not None and own.high is not None
        }
        if not found:
            raise P4FError(
                "the belief's numbers were stated, without intervals; say what may be: box={'p1': (0.2, 0.6)}"
            )
        return found
    if not hasattr(box, "items") or not box:
        raise P4FError("box must be a mapping such as {'p1': (0.2, 0.6)}")
    for name, ends in box.items():
        if name not in known:
            raise UnknownNameError(f"the belief has no parameter {name!r}; {among(name, known, 'it has')}")
        if not _is_range(ends):
            raise P4FError(f"the box of {name} is {ends!r}; give two numbers between 0 and 1, the smaller one first")
    return {name: (float(ends[0]), float(ends[1])) for name, ends in box.items()}


def _is_range(ends: Any) -> bool:
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        return False
    return 0 <= low <= high <= 1


class _Fits:
    """The disparity under other beliefs: the learner fitted again through each, on the same rows and from one seed."""

    def __init__(self, model: DebiasedClassifier, rows: Rows, way: Grouping, progress: bool | None) -> None:
        self._model, self._rows, self._way, self._progress = model, rows, way, progress
        self._learner = settled(learner_of(model.learner), model.fitted_)
        self._weights = None if rows.weights is None else torch.from_numpy(rows.weights.astype(np.float32))
        self._known: dict[tuple[str, bool], float] = {}
        self.count = 0

    def disparities(self, beliefs: Sequence[Belief], whole: bool = False) -> list[float]:
        """The disparity of decisions under each; what was fitted once is not fitted again.

        Parameters
        ----------
        beliefs
            One for each fit.
        whole
            Whether trees are fitted as the model was: several times as slow as the quick ones of a search.
        """
        whole = whole and type(self._learner) is Boosted
        keys = [(str(belief), whole) for belief in beliefs]
        new = {key: belief for key, belief in zip(keys, beliefs, strict=True) if key not in self._known}
        tasks = [self._task(belief) for belief in new.values()]
        model = self._model
        if whole:
            fitted = self._learner.fit_many(tasks, self._progress)
            if isinstance(first := model.fitted_, Calibrated):
                fitted = [Calibrated(own, first.slope, first.shifts, first.gain, first.error) for own in fitted]
        else:
            fitted = fit_again(self._learner, model.fitted_, tasks, self._progress)
        for (key, belief), own in zip(new.items(), fitted, strict=True):
            chance = predicted(belief, own, self._rows, predicts_from(model))
            self._known[key] = self._way.disparity(selected(chance))
        self.count += len(tasks)
        return [self._known[key] for key in keys]

    def _task(self, belief: Belief) -> Task:
        observation = belief.observe(self._rows)
        if least_signal(observation) < min(LEAST_SIGNAL, 0.01):
            numbers = ", ".join(f"{own.name} = {own.value or 0:.3g}" for own in belief.parameters)
            raise P4FError(
                f"with {numbers} recorded labels say nothing about fair ones; leave such beliefs out, by a smaller box"
            )
        return Task(observation, self._model.seed_, weights=self._weights)


def _way(model: DebiasedClassifier, rows: Rows, by: str | None) -> Grouping:
    """The groups between which the disparity is."""
    ways: dict[str, Grouping] = {way.name: way for way in model.belief_.groupings(rows)}
    if not ways:
        raise P4FError("there are no groups; pass sensitive_features, or X with the sensitive column")
    if by is not None and by not in ways:
        raise UnknownNameError(f"there are no groups by {by!r}; {among(by, ways)}")
    if by is None and len(ways) > 1:
        raise P4FError(f"there are several groupings; say which one by by=...: {', '.join(ways)}")
    way = ways[by] if by is not None else next(iter(ways.values()))
    way.require_two()
    return way


def _as_known(belief: Any) -> Belief:
    found = as_belief(belief)
    found.require_known()
    return found


def _tipping(belief: Belief, names: Sequence[str], rows: Rows, way: Grouping, fits: _Fits) -> tuple[Tipping, ...]:
    """Where the gap closes, for each parameter; of two groups only."""
    if len(way.groups) != 2:
        return ()
    chosen = [own for own in belief.parameters if own.name in names]
    ranges = [possible(*belief.admissible(own, rows), rows) for own in chosen]
    grids = [np.linspace(low, high, GRID) for low, high in ranges]
    coarse = _along(belief, chosen, grids, fits)
    places = [_crossing(values, grid, own) for values, grid, own in zip(coarse, grids, chosen, strict=True)]
    finer = [
        np.linspace(grid[0 if place is None else place], grid[-1 if place is None else place + 1], FINE)
        for grid, place in zip(grids, places, strict=True)
    ]
    crossed = [number for number, place in enumerate(places) if place is not None]
    closer = _along(belief, [chosen[i] for i in crossed], [finer[i] for i in crossed], fits)
    fine = dict(zip(crossed, closer, strict=True))
    found = []
    for number, (own, (low, high)) in enumerate(zip(chosen, ranges, strict=True)):
        values = coarse[number]
        tip, above = None, values[-1] >= values[0]
        if number in fine:
            tip, above = _root(finer[number], fine[number], own)
        found.append(Tipping(own, way.groups[1], tip, above, low, high, (values[0], values[-1])))
    return tuple(found)


def _along(belief: Belief, chosen: Sequence[Parameter], grids: Sequence[Any], fits: _Fits) -> list[list[float]]:
    """The disparity at the values of each parameter, all of them fitted together, and trees as the model's were."""
    beliefs = [
        belief.with_values({own.name: float(value)}) for own, grid in zip(chosen, grids, strict=True) for value in grid
    ]
    found = iter(fits.disparities(beliefs, whole=True))
    return [[next(found) for _ in grid] for grid in grids]


def _crossing(values: Sequence[float], grid: Any, own: Parameter) -> int | None:
    """The step of a grid in which the sign changes; the one nearest to the parameter's own value."""
    signs = np.sign(values)
    places = np.flatnonzero(signs[:-1] != signs[1:])
    if not len(places):
        return None
    middles = (grid[:-1] + grid[1:])[places] / 2
    return int(places[np.abs(middles - (own.value or 0.0)).argmin()])


def _root(grid: Any, values: Sequence[float], own: Parameter) -> tuple[float, bool]:
    """Where the disparity is 0, by a straight line between two values; and whether it rises there."""
    place = _crossing(values, grid, own) or 0
    first, second = values[place], values[place + 1]
    part = 0.5 if first == second else -first / (second - first)
    return float(grid[place] + part * (grid[place + 1] - grid[place])), second >= first
