"""The sensitive variable, its groups, the group of each row, and the groups that people are compared by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.data.values import Codes, Floats, Level
from problog4fairness.errors import P4FError, among

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.data.rows import Rows


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
        affected: Collection[Level] | str | None = None,
    ) -> Sensitive:
        """From what a user writes: a column's name or several, and the groups.

        Without ``levels`` they are 0 and 1; or, where the groups ``affected`` by a bias are not among these, everybody
        else and those groups.
        """
        columns = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
        if levels is None:
            named = () if affected is None else named_groups(affected)
            levels = (0, 1) if set(named) <= {0, 1} else (others_of(named), *named)
        levels = tuple(levels)
        if not columns:
            raise P4FError("name at least one sensitive column")
        if len(levels) < 2 or len(set(levels)) != len(levels):
            raise P4FError(f"groups must be two or more different groups, not {list(levels)}")
        if len(columns) > 1 and any(
            not isinstance(v, tuple) or len(v) != len(columns) for v in levels[has_others(levels) :]
        ):
            raise P4FError(f"with the columns {', '.join(columns)} each group must be a tuple of {len(columns)} values")
        return cls(columns, levels, name)

    @property
    def binary(self) -> bool:
        """Whether there are two groups."""
        return len(self.levels) == 2

    def group_text(self, level: int) -> str:
        """The group at position ``level``, in plain words."""
        value = self.levels[level]
        if level == 0 and has_others(self.levels):
            return f"{', '.join(self.columns)} other than {_joined(self.levels[1:])}"
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
            values = ", ".join(repr(value) for value in list(dict.fromkeys(column))[:5])
            raise P4FError(
                f"column {column.name!r} has the values {values}; name the groups, (other, sensitive)"
            ) from None
        outside = values[(values < 0) | (values > 1)]
        if len(outside):
            raise P4FError(
                f"column {column.name!r} has the value {outside[0]:g}, which is not between 0 and 1; "
                "name the groups, (other, sensitive)"
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
            codes, values = pd.factorize(frame[column])
            combination = pd.factorize(combination * (len(values) + 1) + codes)[0]
        _, first = np.unique(combination, return_index=True)
        examples = list(zip(*(frame[column].iloc[first].tolist() for column in self.columns), strict=True))
        unknown = [key for key in examples if key not in place]
        if unknown and not has_others(self.levels):
            key = unknown[0]
            name, value = (self.columns[0], key[0]) if len(key) == 1 else (self.columns, key)
            groups = ", ".join(repr(level) for level in self.levels)
            raise P4FError(f"column {name!r} has the value {value!r}, which is not among the groups {groups}")
        return np.array([place.get(key, 0) for key in examples], dtype=np.int64)[combination]


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
        names = [name for name, people in zip(self.groups, self.shares.sum(axis=0), strict=True) if people > 0]
        if len(names) < 2:
            reason = f"all have {names[0]}" if names else "there are none"
            raise P4FError(f"rows of two or more groups by {self.name} are needed to compare them; {reason}")

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


def named_groups(groups: Collection[Level] | str) -> tuple[Level, ...]:
    """The groups that a user names; a text alone is one group."""
    return (groups,) if isinstance(groups, str) else tuple(groups)


def others_of(groups: Sequence[Level]) -> str:
    """The group of everybody who is in none of these: ``not female`` beside ``female``."""
    return f"not {_joined(groups)}"


def has_others(levels: Sequence[Level]) -> bool:
    """Whether the first of these groups stands for everybody who is in none of the others."""
    return len(levels) > 1 and levels[0] == others_of(levels[1:])


def _joined(groups: Sequence[Level]) -> str:
    return " or ".join(" and ".join(map(str, group)) if isinstance(group, tuple) else str(group) for group in groups)


def as_shares(positions: Codes | Floats, groups: int) -> Floats:
    """For each row the probability of each group, ``[rows, groups]``, from :meth:`Sensitive.positions`."""
    if positions.ndim == 2:
        return positions.astype(np.float64)
    return np.eye(groups)[positions.astype(np.int64)]
