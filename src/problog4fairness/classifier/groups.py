"""The groups that people are compared by: those of the belief, or of the columns that its program reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.custom import ProgramBelief
from problog4fairness.rows.sensitive import Sensitive

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Grouping:
    """One way to divide the rows.

    Attributes
    ----------
    name
        The sensitive columns: ``poor_area``.
    groups
        Each group in plain words: ``poor_area = 0``, ``poor_area = 1``. Of two, the second is the sensitive one.
    shares
        ``[rows, groups]``: the probability of each group, 0 or 1 where it is recorded.
    """

    name: str
    groups: tuple[str, ...]
    shares: Floats

    @property
    def certain(self) -> bool:
        """Whether the group of every row is known."""
        return bool(((self.shares == 0) | (self.shares == 1)).all())

    def means(self, values: Floats) -> Floats:
        """Mean of ``values`` in each group; NaN for a group without rows."""
        total = self.shares.sum(axis=0)
        with np.errstate(invalid="ignore"):
            return np.asarray(values @ self.shares / total)

    def disparity(self, values: Floats) -> float:
        """Of two groups, the mean of the sensitive one minus that of the other; of more, the largest difference."""
        means = self.means(values)
        if len(means) == 2:
            return float(means[1] - means[0])
        return float(np.nanmax(means) - np.nanmin(means))


def groupings(belief: Belief | None, frame: pd.DataFrame) -> list[Grouping]:
    """A grouping for each sensitive variable of which ``frame`` has the columns."""
    if belief is None:
        return []
    variables = [*belief.variables]
    if isinstance(belief, ProgramBelief):
        known = {column: belief.values.get(network) for network, column in belief.columns.items()}
        columns = [column for column in belief.sensitive_columns if column in frame.columns]
        variables = [_of_column(column, known.get(column), frame) for column in columns]
    return [
        Grouping(
            ", ".join(variable.columns),
            tuple(variable.group_text(level) for level in range(len(variable.levels))),
            variable.shares(frame),
        )
        for variable in variables
        if set(variable.columns) <= set(frame.columns)
    ]


def _of_column(column: str, pair: tuple[Any, ...] | None, frame: pd.DataFrame) -> Sensitive:
    """The groups of a column that a program of one's own reads: those that it names, 0 and 1, or all that occur."""
    if pair is not None:
        return Sensitive((column,), tuple(pair))
    values = frame[column].unique().tolist()
    if all(isinstance(value, int | float) and 0 <= value <= 1 for value in values):
        return Sensitive((column,))
    return Sensitive((column,), tuple(sorted(values, key=str)))
