"""The disparity over all beliefs in a set, and where the gap would close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.beliefs import Belief, as_belief
from problog4fairness.data import Grouping, Rows
from problog4fairness.errors import P4FError, UnknownNameError, among
from problog4fairness.estimators import Refits, fair_proba, least_signal
from problog4fairness.metrics import selected
from problog4fairness.robustness.box import BeliefBox, Range, checked_box, extremes, possible, range_of
from problog4fairness.robustness.result import Result, draw_bounds
from problog4fairness.statistics import Parameter, check_known, percent, percent_interval, points, probabilities

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from problog4fairness.estimators import DebiasedClassifier

# Values of a parameter at which the gap is looked at, and then again between the two where it closes.
GRID, FINE = 9, 5
MOST_FITS = 1000
# A named belief by which recorded labels say less than this about fair ones cannot be fitted.
NO_SIGNAL = 0.01
SEARCHED = (
    "The ends come from a search of the box from several starts; between the beliefs that were looked at the disparity "
    "may go a little further."
)
CUT = (
    " Beliefs of the box by which recorded labels say almost nothing about fair ones were left out: audit more rows to "
    "exclude them."
)
NAMED = "These are the beliefs that were named; nothing is said about others between them."


@dataclass(frozen=True, eq=False)
class Tipping:
    """The value of one parameter at which the gap closes, all others as they are.

    It was looked for from ``low`` to ``high``, where recorded labels still say something about fair ones.
    """

    parameter: Parameter
    group: str  # that which has the smaller mean fair probability where the gap is open, in words
    value: float | None  # where the disparity is 0; None where it is so nowhere in the range
    above: bool  # whether the gap is closed above the value; otherwise, below it
    low: float
    high: float
    ends: tuple[float, float]  # the disparity at both ends of the range

    @property
    def closes(self) -> str:
        """On which side of the value the gap is closed."""
        return "never" if self.value is None else "above" if self.above else "below"

    def words(self) -> str:
        """The tipping point as a sentence."""
        parameter, people = self.parameter, _people(self.parameter)
        source = "stated are" if parameter.low is None or parameter.high is None else "the audit says"
        known = f"{source} {percent_interval(parameter.value, parameter.low, parameter.high)}"
        if self.value is not None:
            condition = f"{parameter.description} were {self.closes} {percent(self.value)}"
            if people is not None:
                more = "more" if self.above else "less"
                condition = f"{more} than {percent(self.value)} of {people[0]} had been {people[1]}"
            return f"The gap would close only if {condition}; {known}."
        least, most = sorted(self.ends)
        first = "The gap would stay open" if most < 0 else f"There would be no gap to the disadvantage of {self.group}"
        share = f"{parameter.description} is" if people is None else f"share of {people[0]} had been {people[1]}"
        span = f"from {percent(self.low)} to {percent(self.high)}"
        return f"{first} whatever {share}, {span}: {points(least)} to {points(most)} points; {known}."


def _people(parameter: Parameter) -> tuple[str, str] | None:
    """Whom a parameter of the label is about, and what became of them."""
    fair, _, rest = parameter.meaning.removeprefix("a ").partition(" is recorded as ")
    recorded, _, where = rest.partition(" where ")
    if parameter.cell is None or parameter.cell.feature is not None or not where:
        return None
    return f"those with a {fair} where {where}", f"recorded as {recorded}"


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Result):
    """The disparity over all beliefs in a set.

    Attributes
    ----------
    value
        The disparity of the model itself.
    low, high
        The least and the greatest in the set.
    at_low, at_high
        The beliefs that give them.
    tipping
        For each parameter that was varied, where the gap closes.
    table
        The tipping points: a parameter's ``value`` and interval, ``tipping``, ``closes`` (above, below, never).
    fits
        How many classifiers were fitted.
    assumed
        What is taken for granted, in words.
    """

    value: float
    low: float
    high: float
    at_low: Belief
    at_high: Belief
    tipping: tuple[Tipping, ...]
    table: pd.DataFrame
    fits: int
    assumed: str

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"Disparity from {points(self.low)} to {points(self.high)} points over the beliefs of the set"

    @property
    def decided(self) -> bool:
        """Whether the disparity has the same sign under all beliefs of the set."""
        return self.low > 0 or self.high < 0

    def words(self) -> list[str]:
        """The bounds in sentences."""
        first = (
            f"Over all beliefs in the set, the disparity is {points(self.low)} to {points(self.high)} points; "
            f"the model's own is {points(self.value)}."
        )
        sign = "It has the same sign under all of them." if self.decided else "Its sign depends on which one is right."
        return [first, sign, *(tip.words() for tip in self.tipping), self.assumed]

    def __repr__(self) -> str:
        return f"Bounds({self.low:+.3f} to {self.high:+.3f}; {len(self.tipping)} tipping points)"

    def plot(self) -> Figure:
        """The disparity over the set, and each parameter's interval with the value at which the gap closes."""
        return draw_bounds(self)


def bounds_of(
    model: DebiasedClassifier,
    rows: Rows,
    *,
    box: Mapping[str, Range] | None,
    beliefs: Sequence[Any] | None,
    by: str | None,
    progress: bool | None,
) -> Bounds:
    """See :meth:`DebiasedClassifier.bounds`; ``rows`` are recorded ones."""
    if box is not None and beliefs is not None:
        raise P4FError("give a box or beliefs, not both: a box is around the model's own belief")
    grouping = _grouping(model, rows, by)
    disparities = _Disparities(Refits(model, rows, progress), grouping)
    value = grouping.disparity(selected(fair_proba(model, rows)))
    tipping: tuple[Tipping, ...] = ()
    if beliefs is not None:
        if not beliefs:
            raise P4FError("beliefs is empty; name at least one")
        candidates = [as_belief(belief) for belief in beliefs]
        for belief in candidates:
            check_known(belief.parameters)
        assumed = NAMED
    else:
        ranges = {name: possible(*ends, rows) for name, ends in checked_box(model.belief_, box).items()}
        if 22 * len(ranges) > MOST_FITS:
            raise P4FError(f"the box has {len(ranges)} parameters, which takes too many fits; name fewer of them")
        space = BeliefBox(model.belief_, ranges, rows)
        lowest, highest = extremes(space, disparities, MOST_FITS)
        candidates = [*lowest, *highest]
        assumed = SEARCHED + (CUT if space.cut else "")
    values = disparities(candidates, whole_trees=True)
    if beliefs is None:
        tipping = _tipping(model.belief_, list(ranges), rows, grouping, disparities)
    low, high = int(np.argmin(values)), int(np.argmax(values))
    ends = values[low], values[high], candidates[low], candidates[high]
    return Bounds(value, *ends, tipping, _table(tipping), disparities.refits.count, assumed)


class _Disparities:
    """The disparity of decisions under other beliefs; what was fitted once is not fitted again."""

    def __init__(self, refits: Refits, grouping: Grouping) -> None:
        self.refits, self._grouping = refits, grouping
        self._known: dict[tuple[str, bool], float] = {}

    def __call__(self, beliefs: Sequence[Belief], whole_trees: bool = False) -> list[float]:
        whole_trees = whole_trees and self.refits.boosted
        keys = [(str(belief), whole_trees) for belief in beliefs]
        new = {key: belief for key, belief in zip(keys, beliefs, strict=True) if key not in self._known}
        observations = [belief.observe(self.refits.rows) for belief in new.values()]
        for belief, observation in zip(new.values(), observations, strict=True):
            if least_signal(observation) < NO_SIGNAL:
                numbers = ", ".join(
                    f"{probability.name} = {probability.value or 0:.3g}"
                    for probability in probabilities(belief.parameters)
                )
                raise P4FError(
                    f"with {numbers} recorded labels say nothing about fair ones; leave such beliefs out, by a "
                    "smaller box"
                )
        fits = self.refits.near(observations, whole_trees)
        for (key, belief), fitted in zip(new.items(), fits, strict=True):
            self._known[key] = self._grouping.disparity(selected(self.refits.fair_proba(belief, fitted)))
        return [self._known[key] for key in keys]


def _grouping(model: DebiasedClassifier, rows: Rows, by: str | None) -> Grouping:
    """The groups between which the disparity is."""
    groupings: dict[str, Grouping] = {grouping.name: grouping for grouping in model.belief_.groupings(rows)}
    if not groupings:
        raise P4FError("there are no groups; pass sensitive_features, or X with the sensitive column")
    if by is not None and by not in groupings:
        raise UnknownNameError(f"there are no groups by {by!r}; {among(by, groupings)}")
    if by is None and len(groupings) > 1:
        raise P4FError(f"there are several groupings; say which one by by=...: {', '.join(groupings)}")
    grouping = groupings[by] if by is not None else next(iter(groupings.values()))
    grouping.require_two()
    return grouping


def _tipping(
    belief: Belief, names: Sequence[str], rows: Rows, grouping: Grouping, disparities: _Disparities
) -> tuple[Tipping, ...]:
    """Where the gap closes, for each parameter; of two groups only."""
    if len(grouping.groups) != 2:
        return ()

    def along(parameters: Sequence[Parameter], grids: Sequence[Any]) -> list[list[float]]:
        """The disparity at the values of each parameter, all of them fitted together."""
        pairs = [(parameter.name, value) for parameter, grid in zip(parameters, grids, strict=True) for value in grid]
        beliefs = [belief.bind({name: float(value)}) for name, value in pairs]
        values = iter(disparities(beliefs, whole_trees=True))
        return [[next(values) for _ in grid] for grid in grids]

    chosen = [parameter for parameter in probabilities(belief.parameters) if parameter.name in names]
    ranges = [range_of(belief, parameter, rows, (0.0, 1.0)) for parameter in chosen]
    grids = [np.linspace(low, high, GRID) for low, high in ranges]
    coarse = along(chosen, grids)
    places = [_crossing(values, grid, parameter) for values, grid, parameter in zip(coarse, grids, chosen, strict=True)]
    finer = {
        number: np.linspace(grids[number][place], grids[number][place + 1], FINE)
        for number, place in enumerate(places)
        if place is not None
    }
    closer = along([chosen[number] for number in finer], list(finer.values()))
    fine = {number: (grid, values) for (number, grid), values in zip(finer.items(), closer, strict=True)}
    tipping = []
    for number, (parameter, (low, high)) in enumerate(zip(chosen, ranges, strict=True)):
        first, *_, last = coarse[number]
        value, above = None, last >= first
        if number in fine:
            value, above = _root(*fine[number], parameter)
        tipping.append(Tipping(parameter, grouping.groups[1], value, above, low, high, (first, last)))
    return tuple(tipping)


def _crossing(values: Sequence[float], grid: Any, parameter: Parameter) -> int | None:
    """The step of a grid in which the sign changes; the one nearest to the parameter's own value."""
    signs = np.sign(values)
    places = np.flatnonzero(signs[:-1] != signs[1:])
    if not len(places):
        return None
    middles = (grid[:-1] + grid[1:])[places] / 2
    return int(places[np.abs(middles - (parameter.value or 0.0)).argmin()])


def _root(grid: Any, values: Sequence[float], parameter: Parameter) -> tuple[float, bool]:
    """Where the disparity is 0, by a straight line between two values; and whether it rises there."""
    place = _crossing(values, grid, parameter) or 0
    first, second = values[place], values[place + 1]
    part = 0.5 if first == second else -first / (second - first)
    return float(grid[place] + part * (grid[place + 1] - grid[place])), second >= first


def _table(tipping: Sequence[Tipping]) -> pd.DataFrame:
    numbers = [
        (tip.parameter.name, tip.parameter.value, tip.parameter.low, tip.parameter.high, tip.value) for tip in tipping
    ]
    table = pd.DataFrame(numbers, columns=["parameter", "value", "low", "high", "tipping"]).set_index("parameter")
    return table.astype("float64").assign(closes=[tip.closes for tip in tipping])
