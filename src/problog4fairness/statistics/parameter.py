"""The parameters of a belief: what each means, its value, and how well it is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple

from problog4fairness.errors import P4FError, ProbabilityError
from problog4fairness.program import comment, number
from problog4fairness.statistics.proportions import Beta, Estimate, required_samples

# Jeffreys' prior: half a row for each thing that may happen.
HALF = 0.5

# The meaning of a parameter of somebody's own program.
UNSAID = "as named in the program"


def called(name: str, meaning: str) -> str:
    """How a sentence calls a parameter: by its name, or by its meaning where the name spells out that.

    >>> called("p1", "a fair 1 is recorded as 0"), called("flip(1,high,low)", "a fair high is recorded as low")
    ('p1', 'how often a fair high is recorded as low')
    """
    return f"how often {meaning}" if "," in name and meaning != UNSAID else name


class Cell(NamedTuple):
    """The rows that a parameter is about, and what became of them; groups, classes and values by position.

    Attributes
    ----------
    group
        The group of the belief's sensitive variable.
    fair, recorded
        The fair and the recorded class of the label, or value of the feature.
    feature
        The feature; None for the label.

    Examples
    --------
    >>> from problog4fairness.statistics import Cell
    >>> from problog4fairness.beliefs import LabelBias
    >>> LabelBias("poor_area", positive=False, affected=[1]).parameters[0].cell  # fair 1s of group 1 that became 0
    Cell(group=1, fair=1, recorded=0, feature=None)
    """

    group: int
    fair: int
    recorded: int
    feature: str | None = None

    @property
    def change(self) -> tuple[int, int]:
        """The fair and the recorded class: the kind of bias."""
        return self.fair, self.recorded


@dataclass(frozen=True)
class Parameter:
    """A number in a belief: a probability, or where other bounds are named a factor, shift, mean, standard deviation.

    Attributes
    ----------
    name
        Its name in the program: ``p1``, ``p1(income)``.
    meaning
        What it is the probability of, or what it is, in plain words.
    value
        Its value, or None while it is unknown.
    low, high, rows
        The interval and the number of rows behind an estimate; None for a value that was stated.
    cell
        The rows that it is counted in, where it can be counted.
    source
        How an estimate was made, where it was not counted: ``likelihood penalised by 1 per unit``.
    prior
        What was known of it before the audit, where somebody said so.
    information
        Where it was estimated together with others: its row of their information matrix, by name.
    bounds
        Between which its value lies.
    confidence
        Of its interval.

    Examples
    --------
    >>> from problog4fairness.statistics import Parameter
    >>> known = Parameter("p1", "a fair 1 is recorded as 0", 0.3)
    >>> known.weight, known.stated(None).weight
    ('0.3', 'p1')
    """

    name: str
    meaning: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    rows: int | None = None
    cell: Cell | None = None
    source: str | None = None
    prior: Beta | None = None
    information: tuple[tuple[str, float], ...] | None = None
    bounds: tuple[float, float] = (0.0, 1.0)
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.value is None or (math.isfinite(self.value) and self.bounds[0] <= self.value <= self.bounds[1]):
            return
        if self.is_probability:
            raise ProbabilityError(f"probability {self.value:g} of {self.name} ({self.meaning}) is not between 0 and 1")
        low, high = self.bounds
        allowed = " and ".join([f"{low:g} or more"] * math.isfinite(low) + [f"{high:g} or less"] * math.isfinite(high))
        raise P4FError(f"{self.name} = {self.value:g} ({self.meaning}) must be {allowed or 'a finite number'}")

    @property
    def is_probability(self) -> bool:
        """Whether it is a probability, as all but those of recorded numbers are."""
        return self.bounds == (0, 1)

    @property
    def without_rows(self) -> bool:
        """Whether an audit was to tell it, and none of its rows did."""
        return self.rows == 0 and self.value is None

    @property
    def at_boundary(self) -> bool:
        """Whether an audit estimated it as exactly 0 or 1, which a finite number of rows cannot show."""
        return self.is_probability and self.rows is not None and self.value in (0, 1)

    @property
    def used(self) -> float | None:
        """The value that the program computes with: the estimate, or its posterior mean where that is exactly 0 or 1.

        Only what somebody states is impossible; what was never seen in n rows has the probability 0.5 / (n + 1), by
        Jeffreys' prior. n is read off the interval, which knows how the rows were sampled.
        """
        if not self.at_boundary or self.value is None:
            return self.value
        rare = HALF / (self.equal_rows + 1)
        return rare if self.value == 0 else 1 - rare

    @property
    def equal_rows(self) -> float:
        """Of an estimate of 0 or 1: the rows of a random sample whose Wilson interval is as long as this one's."""
        beyond = self.high if self.value == 0 else None if self.low is None else 1 - self.low
        if beyond is None or not 0 < beyond < 1:
            return float(self.rows or 0)
        return NormalDist().inv_cdf((1 + self.confidence) / 2) ** 2 * (1 / beyond - 1)

    @property
    def weight(self) -> str:
        """What stands in front of ``::`` in the program: the number, or the name while it is unknown."""
        return self.name if self.used is None else number(self.used)

    @property
    def remark(self) -> str:
        """The comment that follows the rule in the program."""
        if self.value is None:
            return "  " + comment(f"{self.meaning}: to be estimated")
        if self.low is None or self.high is None:
            return "  " + comment(f"{self.name}, {self.meaning}: stated")
        interval = f"{100 * self.confidence:g}% {self.low:.3f} to {self.high:.3f}"
        text = f"{self.name}, {self.meaning}: {interval}, from {self.rows} rows"
        text += f", {self.source}" if self.source else ""
        text += f"; estimated as {self.value:g}, used as its posterior mean" if self.at_boundary else ""
        return "  " + comment(text)

    @property
    def called(self) -> str:
        """See :func:`called`."""
        return called(self.name, self.meaning) if self.is_probability else self.name

    @property
    def description(self) -> str:
        """The name with its meaning: ``p1 (a fair 1 is recorded as 0)``, or the meaning alone, as in ``called``."""
        return f"{self.name} ({self.meaning})" if self.called == self.name and self.meaning != UNSAID else self.called

    def fact(self, head: str, body: str = "") -> str:
        """The probabilistic fact or rule that it is the probability of, as a line of the program."""
        return f"{self.weight} :: {head}{' :- ' if body else ''}{body}.{self.remark}"

    def stated(self, value: float | None) -> Parameter:
        """The same parameter with a value that somebody states, or None to be estimated."""
        return Parameter(self.name, self.meaning, value, cell=self.cell, bounds=self.bounds)

    def renamed(self, names: Mapping[str, str]) -> Parameter:
        """The same parameter where the parameters of the belief have other names."""
        known = self.information
        known = None if known is None else tuple((names.get(name, name), value) for name, value in known)
        return replace(self, name=names[self.name], information=known)

    def with_prior(self, prior: Beta) -> Parameter:
        """The same parameter with a prior, which alone says its value as long as no row does."""
        if not self.is_probability:
            raise P4FError(f"{self.name} is no probability, so that a Beta distribution cannot be its prior")
        if self.rows is None:
            return replace(self, prior=prior).estimated(Estimate(math.nan, 0.0, 1.0, 0))
        if self.prior is not None or self.information is not None or self.source is not None:
            raise P4FError(f"{self.name} was not simply counted; give its prior to estimate(..., prior=...)")
        counted = Estimate(self.value or 0.0, self.low or 0.0, self.high or 1.0, self.rows)
        return replace(self, prior=prior).estimated(counted)

    def estimated(self, estimate: Estimate, source: str | None = None) -> Parameter:
        """The same parameter with an estimate for its value; unknown where the estimate rests on no row and no prior.

        Counts and a prior are combined here; a ``source`` says that the estimate is made with the prior already.
        """
        if self.prior is not None and source is None:
            posterior = self.prior.after(estimate.value * estimate.rows if estimate.rows else 0.0, estimate.rows)
            value, (low, high), source = posterior.mean, posterior.interval(self.confidence), f"prior {self.prior}"
        elif estimate.rows == 0 and self.prior is None:
            return replace(self, value=None, low=0.0, high=1.0, rows=0, source=source)
        else:
            value, low, high = estimate.value, estimate.low, estimate.high
        return replace(self, value=value, low=low, high=high, rows=estimate.rows, source=source)

    @property
    def half_width(self) -> float | None:
        """Half the width of its interval: by it, and nothing else, a parameter is known well enough or not."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2

    def is_wide(self, error: float) -> bool:
        """Whether more rows are to be audited: half its width is above ``error`` and half the value, or 1 less it."""
        if self.value is None:
            return False
        scale = min(self.value, 1 - self.value) if self.is_probability else abs(self.value)
        return (self.half_width or 0.0) > max(error, scale / 2)

    def still_needed(self, error: float, confidence: float = 0.95) -> int:
        """Rows still missing to know it within ``error``, half the width of its interval.

        From the width of the interval that it has, which shrinks with the root of the rows; where it has none, rows of
        its cell by Hoeffding's inequality.
        """
        if self.value is not None and self.rows is None:
            return 0
        if self.value is None or not self.rows or self.low is None or self.high is None:
            return required_samples(error, confidence)
        if (self.low, self.high) == (0, 1):
            return max(0, required_samples(error, confidence) - self.rows)
        half = self.half_width or 0.0
        return 0 if half <= error else math.ceil(self.rows * ((half / error) ** 2 - 1))
