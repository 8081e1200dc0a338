"""The sensitive variable: which columns, which groups, and to which group each row belongs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.errors import P4FError, among
from problog4fairness.rows.types import Codes, Floats, Level

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Sensitive:
    """A sensitive variable A.

    Attributes
    ----------
    columns
        The columns that it is read from: one, or several whose values together make a group.
    levels
        The groups. With two, the second one is the sensitive group (A = 1).
    name
        Its name in the program.
    people
        Whether people are compared by it; False for what a bias merely depends on, such as who decided.
    """

    columns: tuple[str, ...]
    levels: tuple[Level, ...] = (0, 1)
    name: str = "a"
    people: bool = True

    @classmethod
    def of(cls, sensitive: str | Sequence[str], levels: Sequence[Level], name: str = "a") -> Sensitive:
        """From what a user writes: a column's name or several, and the groups."""
        columns = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
        levels = tuple(levels)
        if not columns:
            raise P4FError("name at least one sensitive column")
        if len(levels) < 2 or len(set(levels)) != len(levels):
            raise P4FError(f"levels must be two or more different groups, not {list(levels)}")
        if len(columns) > 1 and any(not isinstance(v, tuple) or len(v) != len(columns) for v in levels):
            raise P4FError(f"with the columns {', '.join(columns)} each level must be a tuple of {len(columns)} values")
        return cls(columns, levels, name)

    @property
    def binary(self) -> bool:
        """Whether there are two groups."""
        return len(self.levels) == 2

    def group_text(self, level: int) -> str:
        """The group at position ``level``, in plain words."""
        value = self.levels[level]
        values = value if isinstance(value, tuple) else (value,)
        return " and ".join(f"{column} = {v}" for column, v in zip(self.columns, values, strict=True))

    def positions(self, frame: pd.DataFrame) -> Codes | Floats:
        """The group of each row by position, ``[rows]``; where it is uncertain, probabilities ``[rows, groups]``.

        Two groups 0 and 1 may be given softly, by a column of probabilities P(A = 1).
        """
        for column in self.columns:
            if column not in frame.columns:
                raise P4FError(f"no column {column!r} for the sensitive variable; {among(column, frame.columns)}")
            missing = int(frame[column].isna().sum())
            if missing:
                raise P4FError(
                    f"column {column!r} has {missing} missing values; drop those rows, "
                    "or pass P(A=1) between 0 and 1 instead"
                )
        if self.levels == (0, 1) and len(self.columns) == 1:
            return self._soft(frame[self.columns[0]])
        return self._hard(frame)

    def _soft(self, column: pd.Series[Any]) -> Codes | Floats:
        try:
            values = column.to_numpy().astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            seen = ", ".join(repr(v) for v in list(dict.fromkeys(column))[:5])
            raise P4FError(
                f"column {column.name!r} has the values {seen}; name the groups by levels=(other, sensitive)"
            ) from None
        outside = values[(values < 0) | (values > 1)]
        if len(outside):
            raise P4FError(
                f"column {column.name!r} has the value {outside[0]:g}, which is not between 0 and 1; "
                "name the groups by levels=(other, sensitive)"
            )
        if ((values == 0) | (values == 1)).all():
            return np.asarray(values, dtype=np.int64)
        return np.column_stack([1 - values, values])

    def _hard(self, frame: pd.DataFrame) -> Codes:
        import pandas as pd

        place = {(level if isinstance(level, tuple) else (level,)): i for i, level in enumerate(self.levels)}
        # Groups are looked up once for each combination of values that occurs, not for each row.
        combination = np.zeros(len(frame), dtype=np.int64)
        for column in self.columns:
            codes, found = pd.factorize(frame[column])
            combination = pd.factorize(combination * (len(found) + 1) + codes)[0]
        _, first = np.unique(combination, return_index=True)
        examples = zip(*(frame[column].iloc[first].tolist() for column in self.columns), strict=True)
        levels = np.empty(len(first), dtype=np.int64)
        for number, key in enumerate(examples):
            if key not in place:
                name, value = (self.columns[0], key[0]) if len(key) == 1 else (self.columns, key)
                groups = ", ".join(repr(level) for level in self.levels)
                raise P4FError(f"column {name!r} has the value {value!r}, which is not among the groups {groups}")
            levels[number] = place[key]
        return levels[combination]


def as_shares(positions: Codes | Floats, groups: int) -> Floats:
    """For each row the probability of each group, ``[rows, groups]``, from :meth:`Sensitive.positions`."""
    if positions.ndim == 2:
        return positions.astype(np.float64)
    return np.eye(groups)[positions.astype(np.int64)]
