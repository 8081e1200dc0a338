"""What the paper claims of a study, and whether it was measured so.

Numbers are differences between methods on the same people: folds of a seed are averaged, and the interval is that of
the seeds' averages. A claim holds or does not by its mean; the interval says how sure that is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pandas as pd

from problog4fairness.metrics import summarise

# A value for each seed at each place on an axis, indexed by ``x`` and ``seed``; x is NaN where there is no axis.
Values: TypeAlias = "pd.Series[float]"


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
    """A mean over seeds with its 95% interval, at one place on the axis; the interval is NaN for one seed."""

    x: float
    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f" ({self.low:+.4f} to {self.high:+.4f})"
        return f"{self.mean:+.4f}{interval}" + ("" if math.isnan(self.x) else f" at {self.x:g}")


class Measured:
    """The results of a study, to be asked for values by seed."""

    def __init__(self, results: pd.DataFrame) -> None:
        self._results = results

    def __call__(self, **where: str) -> Values:
        """The mean over folds of the rows that have these values in these columns; empty where there are none."""
        rows = self._results
        for column, value in where.items():
            rows = rows[rows[column] == value]
        x = rows["x"] if "x" in rows.columns else math.nan
        return rows.assign(x=x).groupby(["x", "seed"], dropna=False, sort=False)["value"].mean().dropna()


def numbers(values: Values) -> list[Number]:
    """The mean over seeds at each place."""
    if not len(values):
        return []
    table = values.rename("value").reset_index()
    places = table["x"].isna().all()
    found = summarise(table.fillna({"x": 0.0}), by=["x"])[["x", "mean", "low", "high"]].astype(float)
    return [Number(math.nan if places else x, *rest) for x, *rest in found.to_numpy().tolist()]


def everywhere(text: str, values: Values, room: Callable[[Number], float], detail: str = "") -> list[Claim]:
    """A claim on every place: the one with the least room decides. None where nothing was measured.

    Parameters
    ----------
    text
        What is claimed.
    values
        What decides, by place and seed.
    room
        From a number to how far it is on the right side: above 0 where the claim holds.
    detail
        Further words for what was measured.
    """
    found = numbers(values)
    if not found:
        return []
    worst = min(found, key=room)
    return [Claim(text, f"{'' if math.isnan(worst.x) else 'worst '}{worst}{detail}", room(worst) > 0)]


def above(text: str, values: Values, detail: str = "") -> list[Claim]:
    """A claim that something is above 0 everywhere."""
    return everywhere(text, values, lambda number: number.mean, detail)


def within(text: str, values: Values, bound: float) -> list[Claim]:
    """A claim that something is no further from 0 than a bound."""
    return everywhere(text, values, lambda number: bound - abs(number.mean))


def claims_table(found: list[Claim]) -> list[str]:
    """The claims as the lines of a Markdown table."""
    rows = [f"| {c.text} | {c.measured} | {'holds' if c.holds else '**does not hold**'} |" for c in found]
    return ["| claim | measured | |", "|---|---|---|", *rows]
