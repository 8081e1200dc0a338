"""Bounds: the disparity over all beliefs that somebody may hold, and what it would take to close the gap."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from problog4fairness.statistics import percent, percent_interval, points

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief
    from problog4fairness.statistics import Parameter


@dataclass(frozen=True, eq=False)
class Tipping:
    """The value of one parameter at which the gap closes, all others as they are.

    Attributes
    ----------
    parameter
        The parameter.
    group
        The group that has the smaller mean fair probability where the gap is open, in words.
    value
        Where the disparity is 0; None where it is so for no value in the range.
    above
        Whether the gap is closed above the value; otherwise, below it.
    low, high
        The range that was looked at: where recorded labels still say something about fair ones.
    ends
        The disparity at both ends of it.
    """

    parameter: Parameter
    group: str
    value: float | None
    above: bool
    low: float
    high: float
    ends: tuple[float, float]

    def words(self) -> str:
        """The tipping point as a sentence."""
        own = self.parameter
        known = "stated are" if own.low is None or own.high is None else "the audit says"
        said = f"{known} {percent_interval(own.value, own.low, own.high)}"
        if self.value is not None:
            return f"The gap would close only if {_share(own, self.value, self.above)}; {said}."
        least, most = sorted(self.ends)
        first = "The gap would stay open" if most < 0 else f"There would be no gap to the disadvantage of {self.group}"
        span = f"from {percent(self.low)} to {percent(self.high)}"
        return f"{first} whatever {_any_share(own)}, {span}: {points(least)} to {points(most)} points; {said}."


@dataclass(frozen=True, eq=False)
class Bounds:
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
    fits: int
    assumed: str

    @property
    def decided(self) -> bool:
        """Whether the disparity has the same sign under all beliefs of the set."""
        return self.low > 0 or self.high < 0

    @property
    def table(self) -> pd.DataFrame:
        """The tipping points: a parameter's ``value`` and interval, ``tipping``, ``closes`` (above, below, never)."""
        known = [tip.parameter for tip in self.tipping]
        closes = ["never" if tip.value is None else "above" if tip.above else "below" for tip in self.tipping]
        return pd.DataFrame(
            {
                **{name: [getattr(own, name) for own in known] for name in ("value", "low", "high")},
                "tipping": [tip.value for tip in self.tipping],
                "closes": closes,
            },
            index=pd.Index([own.name for own in known], name="parameter"),
        ).astype(dict.fromkeys(["value", "low", "high", "tipping"], "float64"))

    def words(self) -> list[str]:
        """The bounds in sentences."""
        first = (
            f"Over all beliefs in the set, the disparity is {points(self.low)} to {points(self.high)} points; "
            f"the model's own is {points(self.value)}."
        )
        sign = "It has the same sign under all of them." if self.decided else "Its sign depends on which one is right."
        return [first, sign, *(own.words() for own in self.tipping), self.assumed]

    def __str__(self) -> str:
        return "\n".join(self.words())

    def __repr__(self) -> str:
        return f"Bounds({self.low:+.3f} to {self.high:+.3f}; {len(self.tipping)} tipping points)"

    def _repr_html_(self) -> str:
        return "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.words())


def _share(own: Parameter, value: float, above: bool) -> str:
    """That a parameter is above or below a value."""
    people = _people(own)
    if people is None:
        return f"{own.said} were {'above' if above else 'below'} {percent(value)}"
    return f"{'more' if above else 'less'} than {percent(value)} of {people[0]} had been {people[1]}"


def _any_share(own: Parameter) -> str:
    people = _people(own)
    return f"{own.said} is" if people is None else f"share of {people[0]} had been {people[1]}"


def _people(own: Parameter) -> tuple[str, str] | None:
    """Whom a parameter of the label is about, and what became of them."""
    fair, _, rest = own.meaning.removeprefix("a ").partition(" is recorded as ")
    recorded, _, where = rest.partition(" where ")
    if own.cell is None or own.cell.feature is not None or not where:
        return None
    return f"those with a {fair} where {where}", f"recorded as {recorded}"
