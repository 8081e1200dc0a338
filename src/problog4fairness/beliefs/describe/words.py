"""Words for beliefs: how the label is called, how a parameter is said, how sentences are put together."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from problog4fairness.errors import P4FError
from problog4fairness.statistics import Cell, Parameter, percent_interval, readable

if TYPE_CHECKING:
    from problog4fairness.beliefs.describing import Describing
    from problog4fairness.beliefs.templates.labels.row import RowBias


@dataclass(frozen=True)
class Label:
    """How the label is called: its column, and its values with the favourable one last.

    >>> Label("granted", (0, 1)).good
    'granted = 1'
    """

    column: str = "the label"
    values: tuple[Any, ...] = (0, 1)

    @property
    def good(self) -> str:
        """The favourable label."""
        return f"{self.column} = {self.values[-1]}"

    @property
    def bad(self) -> str:
        """The other one, or any other one."""
        return f"{self.column} = {self.values[0]}" if len(self.values) == 2 else f"another {self.column}"

    @property
    def fair(self) -> str:
        """The label that should have been there."""
        return "fair label" if self.column == Label.column else f"{self.column} (fair)"

    @property
    def recorded(self) -> str:
        """The label that is on record."""
        return "recorded label" if self.column == Label.column else f"{self.column} (recorded)"


@dataclass(frozen=True)
class Stage:
    """How a bias of the label is told: alone, or as one of several that act one after the other.

    Attributes
    ----------
    had, became
        What people had before it, and what was made of that.
    untouched
        What is said of groups that it leaves alone.
    """

    had: str = "who should have"
    became: str = "were recorded with"
    untouched: str = "recorded labels are taken as right"


def share(parameter: Parameter) -> str:
    """A parameter as a percentage with its interval."""
    if parameter.value is None:
        return "an unknown share"
    return percent_interval(parameter.value, parameter.low, parameter.high)


def joined(parts: Iterable[str], long: str, short: str) -> str:
    """Parts as one sentence, in which all but the first say ``short`` where the first says ``long``."""
    first, *rest = parts
    words = "; ".join([first, *(part.replace(long, short) for part in rest)])
    return words[0].upper() + words[1:] + "."


def program_words(columns: Iterable[str], parameters: Iterable[Parameter]) -> list[str]:
    """What can be said of any program: what it reads, and its parameters."""
    sentences = [
        "The belief is a program of its own. It says how the recorded label comes from the fair one, which the model "
        f"predicts; besides, it reads {', '.join(dict.fromkeys(columns)) or 'no column'}."
    ]
    known = [f"{parameter.name} is {share(parameter)}" for parameter in parameters if parameter.value is not None]
    return [*sentences, "Among its probabilities, " + ", ".join(known) + "."] if known else sentences


def html_of(belief: Describing) -> str:
    """What a notebook shows of a belief: its picture, what it says, and its parameters."""
    sentences = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in belief.words())
    try:
        drawn = belief.picture()._repr_svg_()
    except P4FError:
        drawn = ""
    shown = ""
    if belief.parameters:
        table = readable(belief.parameter_table()).rename(columns=lambda name: name.replace("_", " "))
        shown = table.to_html(float_format="%.4g", na_rep="–")
    return f"<div>{drawn[drawn.find('<svg') :] if drawn else ''}{sentences}{shown}</div>"


# Cells of a group that are said one by one.
MOST_SAID = 6


def row_sentences(belief: RowBias, label: Label, stage: Stage) -> list[str]:
    """What is said of each group: for each kind of bias its cells."""
    sentences = [
        f"It depends on {', '.join(value.names)}, as audited rows will tell." for value in belief.open.values()
    ]
    for level in reversed(range(len(belief.variable.levels))):
        group = belief.variable.group_text(level)
        if level not in belief.affected:
            sentences.append(f"Where {group}, {stage.untouched}.")
            continue
        for fair, recorded in belief.reads:
            cells = {
                cell: parameter
                for cell, parameter in belief.by_cell().items()
                if cell.change == (fair, recorded) and belief.group_of(cell) == level
            }
            head = f"Of the people with {group} {stage.had} {label.column} = {label.values[fair]}, "
            tail = f" {stage.became} {label.column} = {label.values[recorded]}"
            sentences.append(f"{head}{_cells(belief, cells, tail)}.")
    return sentences


def _cells(belief: RowBias, cells: dict[Cell, Parameter], tail: str) -> str:
    (first, parameter), *rest = cells.items()
    if not rest:
        return share(parameter) + tail
    if len(cells) > MOST_SAID and all(parameter.value is not None for parameter in cells.values()):
        low, high = (pick(cells, key=lambda cell: cells[cell].value or 0.0) for pick in (min, max))
        ends = [f"{share(cells[cell])} (where {belief.where(cell, 1)})" for cell in (low, high)]
        return f"from {ends[0]} to {ends[1]}{tail}, in {len(cells)} cells"
    parts = [f"{share(parameter)}{tail} where {belief.where(first, 1)}"]
    return "; ".join([*parts, *(f"{share(other)} where {belief.where(cell, 1)}" for cell, other in rest)])
