"""The groups that people are compared by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.data.sensitive import Sensitive
from problog4fairness.data.types import Floats
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.data.rows import Rows


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

    @classmethod
    def of(cls, variable: Sensitive, rows: Rows) -> Grouping:
        """The rows divided by a sensitive variable."""
        groups = tuple(variable.group_text(level) for level in range(len(variable.levels)))
        return cls(", ".join(variable.columns), groups, rows.shares(variable))

    @property
    def certain(self) -> bool:
        """Whether the group of every row is known."""
        return bool(((self.shares == 0) | (self.shares == 1)).all())

    def require_two(self) -> None:
        """Raise the error that says that there is nobody to compare people with."""
        there = [name for name, people in zip(self.groups, self.shares.sum(axis=0), strict=True) if people > 0]
        if len(there) < 2:
            said = f"all have {there[0]}" if there else "there are none"
            raise P4FError(f"rows of two or more groups by {self.name} are needed to compare them; {said}")

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
