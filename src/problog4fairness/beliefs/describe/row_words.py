"""A bias that depends on the row, in words: cell by cell, or where there are many, from the least to the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from problog4fairness.beliefs.describe.words import Label, Stage, share
from problog4fairness.statistics import Cell, Parameter

if TYPE_CHECKING:
    from problog4fairness.beliefs.templates.labels.row import RowBias

# Cells of a group that are said one by one.
MOST_SAID = 6


def row_sentences(belief: RowBias, label: Label, told: Stage) -> list[str]:
    """What is said of each group: for each kind of bias its cells."""
    found = [f"It depends on {', '.join(value.names)}, as audited rows will tell." for value in belief.open.values()]
    for level in reversed(range(len(belief.variable.levels))):
        group = belief.variable.group_text(level)
        if level not in belief.affected:
            found.append(f"Where {group}, {told.untouched}.")
            continue
        for fair, recorded in belief.reads:
            cells = {
                cell: parameter
                for cell, parameter in belief.by_cell().items()
                if (cell.fair, cell.recorded) == (fair, recorded) and belief.place(cell)[0] == level
            }
            head = f"Of the people with {group} {told.had} {label.column} = {label.values[fair]}, "
            tail = f" {told.became} {label.column} = {label.values[recorded]}"
            found.append(f"{head}{_cells(belief, cells, tail)}.")
    return found


def _cells(belief: RowBias, cells: dict[Cell, Parameter], tail: str) -> str:
    (first, own), *rest = cells.items()
    if not rest:
        return share(own) + tail
    if len(cells) > MOST_SAID and all(parameter.value is not None for parameter in cells.values()):
        low, high = (pick(cells, key=lambda cell: cells[cell].value or 0.0) for pick in (min, max))
        ends = [f"{share(cells[cell])} (where {belief.where(cell, 1)})" for cell in (low, high)]
        return f"from {ends[0]} to {ends[1]}{tail}, in {len(cells)} cells"
    parts = [f"{share(own)}{tail} where {belief.where(first, 1)}"]
    return "; ".join([*parts, *(f"{share(one)} where {belief.where(cell, 1)}" for cell, one in rest)])
