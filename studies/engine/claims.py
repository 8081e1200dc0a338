"""What the paper claims of a study, and whether it was measured so.

Numbers are differences between methods on the same people: folds of a seed are averaged, and the interval is that of
the seeds' averages. A claim *holds* where the whole interval is on its side, *fails* where the whole interval is on the
other side, and is *undecided* otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import pandas as pd
from scipy.stats import binomtest

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
        Whether the number is on the claim's side.
    sure
        Whether all of its interval is on that side.
    """

    text: str
    measured: str
    holds: bool
    sure: bool = True

    @property
    def verdict(self) -> str:
        """``holds``, ``undecided`` or ``fails``."""
        return "undecided" if not self.sure else "holds" if self.holds else "fails"

    @property
    def line(self) -> str:
        """The claim for a terminal."""
        return f"{self.verdict:<9} {self.text}: {self.measured}"


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
    holds = room(worst) > 0
    open_places = [own for own in found if not on_side(own, room)]
    sure = not open_places if holds else any(off_side(own, room) for own in found)
    if holds and open_places:
        worst = min(open_places, key=room)  # the place that leaves the claim open
    return [Claim(text, f"{'' if math.isnan(worst.x) else 'worst '}{worst}{detail}", holds, sure)]


def on_side(number: Number, room: Callable[[Number], float]) -> bool:
    """Whether the whole interval is on the right side; of one seed nobody knows."""
    return all(room(replace(number, mean=end)) > 0 for end in (number.low, number.high))


def off_side(number: Number, room: Callable[[Number], float]) -> bool:
    """Whether the whole interval is on the wrong side."""
    ends = [room(replace(number, mean=end)) < 0 for end in (number.low, number.high)]
    return room(number) < 0 and all(ends) and (number.low > 0) == (number.high > 0)


def above(text: str, values: Values, detail: str = "") -> list[Claim]:
    """A claim that something is above 0 everywhere."""
    return everywhere(text, values, lambda number: number.mean, detail)


def within(text: str, values: Values, bound: float) -> list[Claim]:
    """A claim that something is no further from 0 than a bound."""
    return everywhere(text, values, lambda number: bound - abs(number.mean))


def often(text: str, happened: pd.Series[float], goal: float, *, detail: str = "", rarely: bool = False) -> Claim:
    """A claim that something happens in at least a share of all simulations, by Wilson's interval.

    Parameters
    ----------
    text
        What is claimed.
    happened
        1 for each simulation in which it did, else 0.
    goal
        The share.
    detail
        Further words for what was measured.
    rarely
        Whether it is to happen in at *most* this share instead.
    """
    low, high = binomtest(int(happened.sum()), len(happened)).proportion_ci(method="wilson")
    share = float(happened.mean())
    holds = share <= goal if rarely else share >= goal
    return Claim(text, f"{share:.1%} of {len(happened):,} ({low:.1%} to {high:.1%}){detail}", holds,
                 sure=not low <= goal <= high)  # fmt: skip


def counted(found: list[Claim]) -> str:
    """``13 of 15 claims hold, 1 is undecided, 1 fails``."""
    number = {kind: sum(claim.verdict == kind for claim in found) for kind in ("holds", "undecided", "fails")}
    parts = [f"{number['holds']} of {len(found)} claims hold"]
    if number["undecided"]:
        parts.append(f"{number['undecided']} {'is' if number['undecided'] == 1 else 'are'} undecided")
    if number["fails"]:
        parts.append(f"{number['fails']} {'fails' if number['fails'] == 1 else 'fail'}")
    return ", ".join(parts)


def claims_table(found: list[Claim], said: Callable[[str], str] = lambda _: "") -> list[str]:
    """The claims as the lines of a Markdown table, each beside what the paper ``said``."""
    words = [said(claim.text) for claim in found]
    marks = {"holds": "holds", "undecided": "*undecided*", "fails": "**fails**"}
    rows = [f"| {c.text} | {c.measured} | {marks[c.verdict]} |" for c in found]
    head = ["| claim | measured | |", "|---|---|---|"]
    if any(words):
        rows = [f"{row} {own} |" for row, own in zip(rows, words, strict=True)]
        head = ["| claim | measured | | the paper |", "|---|---|---|---|"]
    told = (
        "A claim *holds* where its whole 95% interval is on the claim's side, *fails* where all of it is on the other "
        "side, and is *undecided* otherwise."
    )
    if not any(words):
        told += " The paper has none of these claims: they and their numbers were set here."
    return [told, "", *head, *rows]
