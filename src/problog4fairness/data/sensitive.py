"""The sensitive variable: which columns, which groups, and to which group each row belongs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.data.types import Codes, Floats, Level
from problog4fairness.errors import P4FError, among

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
        The groups. With two, the second one is the sensitive group (A = 1). The first may stand for everybody who is
        in none of the others, see :func:`others_of`.
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
    def of(
        cls,
        sensitive: str | Sequence[str],
        levels: Sequence[Level] | None = None,
        name: str = "a",
        groups: Collection[Level] | str | None = None,
    ) -> Sensitive:
        """From what a user writes: a column's name or several, and the groups.

        Without ``levels`` they are 0 and 1; or, where the bias acts on ``groups`` that are not among these, everybody
        else and those groups.
        """
        columns = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
        if levels is None:
            named = () if groups is None else named_groups(groups)
            levels = (0, 1) if set(named) <= {0, 1} else (others_of(named), *named)
        levels = tuple(levels)
        if not columns:
            raise P4FError("name at least one sensitive column")
        if len(levels) < 2 or len(set(levels)) != len(levels):
            raise P4FError(f"levels must be two or more different groups, not {list(levels)}")
        if len(columns) > 1 and any(
            not isinstance(v, tuple) or len(v) != len(columns) for v in levels[has_others(levels) :]
        ):
            raise P4FError(f"with the columns {', '.join(columns)} each level must be a tuple of {len(columns)} values")
        return cls(columns, levels, name)

    @property
    def binary(self) -> bool:
        """Whether there are two groups."""
        return len(self.levels) == 2

    def group_text(self, level: int) -> str:
        """The group at position ``level``, in plain words."""
        value = self.levels[level]
        if level == 0 and has_others(self.levels):
            return f"{', '.join(self.columns)} other than {_together(self.levels[1:])}"
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
        others = has_others(self.levels)
        for number, key in enumerate(examples):
            if key not in place and others:
                levels[number] = 0
                continue
            if key not in place:
                name, value = (self.columns[0], key[0]) if len(key) == 1 else (self.columns, key)
                groups = ", ".join(repr(level) for level in self.levels)
                raise P4FError(f"column {name!r} has the value {value!r}, which is not among the groups {groups}")
            levels[number] = place[key]
        return levels[combination]


def named_groups(groups: Collection[Level] | str) -> tuple[Level, ...]:
    """The groups that a user names; a text alone is one group."""
    return (groups,) if isinstance(groups, str) else tuple(groups)


def others_of(groups: Sequence[Level]) -> str:
    """The group of everybody who is in none of these: ``not female`` beside ``female``."""
    return f"not {_together(groups)}"


def has_others(levels: Sequence[Level]) -> bool:
    """Whether the first of these groups stands for everybody who is in none of the others."""
    return len(levels) > 1 and levels[0] == others_of(levels[1:])


def _together(groups: Sequence[Level]) -> str:
    return " or ".join(" and ".join(map(str, own)) if isinstance(own, tuple) else str(own) for own in groups)


def as_shares(positions: Codes | Floats, groups: int) -> Floats:
    """For each row the probability of each group, ``[rows, groups]``, from :meth:`Sensitive.positions`."""
    if positions.ndim == 2:
        return positions.astype(np.float64)
    return np.eye(groups)[positions.astype(np.int64)]
