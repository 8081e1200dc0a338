"""Bands: how far what an audit and the rows leave open reaches into what a model says."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from problog4fairness.statistics import count, percent, percent_interval, points_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRM, OPEN = "firm", "open"
DISPARITY, SELECTED, CHANCE, ACCURACY = "disparity", "selection rate", "mean fair probability", "accuracy"


@dataclass(frozen=True, eq=False)
class Bands:
    """What a model says of people, with a band for all of it.

    Attributes
    ----------
    summary
        A row for each quantity (and group): ``quantity``, ``group``, the model's own ``value``, and the ends of the
        band ``low`` and ``high``. Quantities, about the favourable label: the ``disparity`` of decisions,
        by group the ``mean fair probability`` and the ``selection rate``; and ``accuracy`` where fair labels are known.
    people
        A row for each person, with the index of X: ``fair_probability`` (of the favourable label; with more classes,
        of the likeliest), ``low``, ``high``, ``label``, and ``decision``: ``firm`` where the whole band is on one side
        of the threshold and a learner of another form decides alike, ``open`` elsewhere.
    draws
        How many beliefs were drawn, and fits made.
    confidence
        Of the bands.
    threshold
        From which fair probability on the label is favourable.
    notes
        What a reader should know.
    """

    summary: pd.DataFrame
    people: pd.DataFrame
    draws: int
    confidence: float
    threshold: float
    notes: tuple[str, ...] = ()

    @property
    def open(self) -> int:
        """How many decisions are open."""
        return int((self.people["decision"] == OPEN).sum())

    def __getitem__(self, quantity: str) -> pd.DataFrame:
        """The rows of the summary about one quantity."""
        return self.summary[self.summary["quantity"] == quantity]

    def words(self) -> list[str]:
        """The bands in sentences."""
        found = [f"{_name(row)}: {_amount(row)}." for row in self.summary.to_dict("records")]
        total, open_ = len(self.people), self.open
        if total:
            are = "is" if open_ == 1 else "are"
            found.append(
                f"{count(open_)} of {count(total, 'decision')} ({percent(open_ / total)}) {are} open: their band holds "
                f"the threshold {self.threshold:g}, or a learner of another form decides otherwise."
            )
        return [*found, *self.notes]

    def __str__(self) -> str:
        head = f"{percent(self.confidence)} bands from {self.draws} draws"
        return "\n".join([head, *(f"  {sentence}" for sentence in self.words())])

    def __repr__(self) -> str:
        return f"Bands({self.draws} draws: {self.open} of {len(self.people)} decisions open)"

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td style='text-align:left'>{html.escape(_name(row))}</td><td>{html.escape(_amount(row))}</td></tr>"
            for row in self.summary.to_dict("records")
        )
        rest = self.words()[len(self.summary) :]
        below = "".join(f"<div>{html.escape(sentence)}</div>" for sentence in rest)
        head = f"{percent(self.confidence)} bands from {self.draws} draws"
        return f"<div><b>{head}</b><table>{cells}</table>{below}</div>"

    def plot(self) -> Figure:
        """On the left the quantities with their bands, on the right people by their fair probability."""
        from problog4fairness.robustness.bands_figure import draw

        return draw(self)


def _name(row: dict[str, Any]) -> str:
    quantity, group = str(row["quantity"]), str(row["group"])
    return quantity if not group else f"{quantity} by {group}" if quantity == DISPARITY else f"{quantity}, {group}"


def _amount(row: dict[str, Any]) -> str:
    ends = row["value"], row["low"], row["high"]
    return f"{points_interval(*ends)} points" if row["quantity"] == DISPARITY else percent_interval(*ends)
