"""What the paper claims of each study, and whether it was measured so.

Numbers are differences between methods on the same people: folds of a seed are averaged, and the interval is that of
the seeds' averages. A claim holds or does not by its mean; the interval says how sure that is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from problog4fairness.metrics import summarise

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes
    ----------
    text
        What is claimed.
    measured
        The number that decides, in words.
    holds
        Whether it does.
    """

    text: str
    measured: str
    holds: bool

    @property
    def line(self) -> str:
        """The claim for a terminal."""
        return f"{'holds         ' if self.holds else 'does not hold '} {self.text}: {self.measured}"


@dataclass(frozen=True)
class Number:
    """A mean with its 95% interval, at one place on the axis."""

    x: float
    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        known = self.low == self.low
        return f"{self.mean:+.4f}" + (f" ({self.low:+.4f} to {self.high:+.4f})" if known else "") + f" at {self.x:g}"


def claims_table(found: list[Claim]) -> list[str]:
    """The claims as the lines of a Markdown table."""
    rows = [f"| {c.text} | {c.measured} | {'holds' if c.holds else '**does not hold**'} |" for c in found]
    return ["| claim | measured | |", "|---|---|---|", *rows]


class Measured:
    """The results of a study, to be asked for differences."""

    def __init__(self, results: pd.DataFrame) -> None:
        self._results = results

    def has(self, bias: str, *methods: str) -> bool:
        """Whether there are results of all these methods under this bias."""
        rows = self._results[self._results["bias"] == bias]
        return all((rows["method"] == method).any() for method in methods)

    def level(self, bias: str, metric: str, method: str) -> list[Number]:
        """A method's metric along the axis."""
        return self._numbers(self._table(bias, metric, method))

    def difference(self, bias: str, metric: str, method: str, other: str) -> list[Number]:
        """A method's metric minus that of another along the axis."""
        one, two = self._table(bias, metric, method), self._table(bias, metric, other)
        both = one.merge(two, on=["x", "seed", "fold"], suffixes=("", "_other"))
        return self._numbers(both.assign(value=both["value"] - both["value_other"]))

    def from_place(self, bias: str, metric: str, method: str, place: float) -> list[Number]:
        """A method's metric along the axis minus the same at one place of it."""
        table = self._table(bias, metric, method)
        there = table[(table["x"] - place).abs() < TOLERANCE].drop(columns="x")
        both = table.merge(there, on=["seed", "fold"], suffixes=("", "_other"))
        return self._numbers(both.assign(value=both["value"] - both["value_other"]))

    def _table(self, bias: str, metric: str, method: str) -> pd.DataFrame:
        rows = self._results
        rows = rows[(rows["bias"] == bias) & (rows["metric"] == metric) & (rows["method"] == method)]
        return rows[["x", "seed", "fold", "value"]]

    def _numbers(self, table: pd.DataFrame) -> list[Number]:
        if not len(table):
            return []
        found = summarise(table, by=["x"])
        return [Number(*map(float, row)) for row in found[["x", "mean", "low", "high"]].to_numpy()]


def claims(study: str, results: pd.DataFrame) -> list[Claim]:
    """The claims of a study that its results can decide; none for a study of one's own."""
    make = {"bias-sweep": _bias_sweep, "dependent": _dependent, "assumption": _assumption}.get(study)
    return [] if make is None or not len(results) else make(Measured(results))


def _bias_sweep(measured: Measured) -> list[Claim]:
    found: list[Claim] = []
    if measured.has("label", "ours", "upper", "lower"):
        accuracy = measured.difference("label", "accuracy", "ours", "upper")
        disparity = measured.difference("label", "disparity", "ours", "upper")
        loss = measured.difference("label", "accuracy", "lower", "upper")
        found += _within("label: accuracy within .006 of upper at every β", accuracy, 0.006)
        found += _within("label: disparity within .01 of upper at every β", disparity, 0.01)
        found += _all(
            "label: lower loses more than .15 of accuracy at β = .6", _at(loss, 0.6), lambda n: -n.mean - 0.15
        )
    if measured.has("measurement", "ours", "upper", "lower", "unawareness"):
        accuracy = measured.difference("measurement", "accuracy", "ours", "upper")
        disparity = measured.difference("measurement", "disparity", "ours", "upper")
        found += _within("measurement: accuracy within .012 of upper at every β", accuracy, 0.012)
        found += _within("measurement: disparity within .01 of upper at every β", disparity, 0.01)
        found += _ahead(measured, "measurement")
    if measured.has("historical", "ours", "lower", "unawareness"):
        level = measured.level("historical", "disparity", "ours")
        found += _within("historical: absolute disparity below .015 at every β", level, 0.015)
        found += _ahead(measured, "historical")
    return found


def _ahead(measured: Measured, bias: str) -> list[Claim]:
    found: list[Claim] = []
    for other in ("lower", "unawareness"):
        numbers = [n for n in measured.difference(bias, "accuracy", "ours", other) if n.x >= 0.3 - TOLERANCE]
        found += _all(f"{bias}: accuracy above {other} from β = .3 on", numbers, lambda n: n.mean)
    return found


def _dependent(measured: Measured) -> list[Claim]:
    found: list[Claim] = []
    if measured.has("label", "ours", "upper"):
        numbers = [n for n in measured.difference("label", "disparity", "ours", "upper") if n.x <= 0.8 + TOLERANCE]
        found += _within("disparity within .02 of upper's for β ≤ .8", numbers, 0.02)
        level = measured.level("label", "disparity", "upper")
        found += _all("upper's own disparity is about -.16 (within .02)", level, lambda n: 0.02 - abs(n.mean + 0.16))
    for method in ("massaging", "parity"):
        if measured.has("label", method):
            level = measured.level("label", "disparity", method)
            found += _within(f"{method} goes to a disparity of about 0 (within .05)", level, 0.05)
    return found


def _assumption(measured: Measured, truth: float = 0.3) -> list[Claim]:
    found: list[Claim] = []
    for bias in ("label", "measurement"):
        if not measured.has(bias, "ours", "upper"):
            continue
        accuracy = measured.level(bias, "accuracy", "ours")
        distance = measured.difference(bias, "disparity", "ours", "upper")
        best = max(accuracy, key=lambda n: n.mean)
        nearest = min(distance, key=lambda n: abs(n.mean))
        found += [
            Claim(
                f"{bias}: best accuracy within .1 of the true β = {truth:g}",
                f"best accuracy {best}",
                abs(best.x - truth) <= 0.1 + TOLERANCE,
            ),
            Claim(
                f"{bias}: disparity nearest to upper's within .1 of the true β = {truth:g}",
                f"nearest, ours minus upper, {nearest}",
                abs(nearest.x - truth) <= 0.1 + TOLERANCE,
            ),
        ]
        near = [n for n in measured.from_place(bias, "accuracy", "ours", truth) if abs(n.x - truth) <= 0.1 + TOLERANCE]
        text = f"{bias}: within ±.1 of the true β accuracy loses less than .01"
        found += _all(text, near, lambda n: 0.01 + n.mean)
    return found


def _at(numbers: list[Number], place: float) -> list[Number]:
    return [number for number in numbers if abs(number.x - place) < TOLERANCE]


def _within(text: str, numbers: list[Number], bound: float) -> list[Claim]:
    return _all(text, numbers, lambda number: bound - abs(number.mean))


def _all(text: str, numbers: list[Number], room: Callable[[Number], float]) -> list[Claim]:
    """A claim on every place: the one with the least room decides. None where nothing was measured."""
    if not numbers:
        return []
    worst = min(numbers, key=room)
    return [Claim(text, f"worst {worst}", room(worst) > 0)]
