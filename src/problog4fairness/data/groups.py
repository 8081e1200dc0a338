"""The sensitive variable, its groups, the group of each row, and the groups that people are compared by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.data.columns import column_of, row_kinds
from problog4fairness.data.values import Codes, Floats, Level, plain_column
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.data.rows import Rows

# What columns that are no sensitive variable are for.
DEPENDENCE = "what the bias depends on"
# What a value is that was not there when values were listed, a missing one included.
OTHER = "other"
# The zone behind a time of day: it does not move a row to another day.
_ZONE = r"(?<=:\d\d)(\.\d+)?\s*(?:Z|[+-]\d\d(?::?\d\d)?)$"


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
            missing = int(column_of(frame, column, "the sensitive variable").isna().sum())
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
            groups = ", ".join(repr(value) for value in list(dict.fromkeys(column))[:5])
            raise P4FError(
                f"column {column.name!r} has the values {groups}; name the groups, the sensitive one last, by "
                f"groups=[{groups}]"
            ) from None
        outside = values[(values < 0) | (values > 1)]
        if len(outside):
            raise P4FError(
                f"column {column.name!r} has the value {outside[0]:g}, which is not between 0 and 1; "
                "name the groups, the sensitive one last, by groups=[...]"
            )
        if ((values == 0) | (values == 1)).all():
            return np.asarray(values, dtype=np.int64)
        return np.column_stack([1 - values, values])

    def _hard(self, frame: pd.DataFrame) -> Codes:
        place = {(level if isinstance(level, tuple) else (level,)): i for i, level in enumerate(self.levels)}
        # Groups are looked up once for each combination of values that occurs, not for each row.
        combination = row_kinds(frame[list(self.columns)])
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

    def with_all(self) -> Grouping:
        """The groups, and everybody as one more, called ``all``."""
        return Grouping(self.name, (*self.groups, "all"), np.column_stack([self.shares, np.ones(len(self.shares))]))

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


@dataclass(frozen=True)
class Category(Sensitive):
    """One of several values of a column; any other value, or none, is the last one."""

    people: bool = False

    @classmethod
    def listing(cls, column: str, values: tuple[Level, ...], name: str) -> Category:
        """The values of a column, and :data:`OTHER` for those that are not listed."""
        return cls((column,), (*(value for value in values if value != OTHER), OTHER), name)

    def group_text(self, level: int) -> str:
        other = level == len(self.levels) - 1
        return f"{self.columns[0]} is none of these" if other else super().group_text(level)

    def positions(self, frame: pd.DataFrame) -> Codes:
        other = len(self.levels) - 1
        # A column of numbers may come back as texts: what is no level itself is the level that is written so.
        place: dict[Any, int] = {str(level): number for number, level in enumerate(self.levels)}
        place |= {level: number for number, level in enumerate(self.levels)}
        values = plain_column(column_of(frame, self.columns[0], DEPENDENCE))
        codes = [place.get(value, place.get(str(value), other)) for value in values.tolist()]
        # A missing value is no level that happens to be called None.
        return np.where(values.isna(), other, np.array(codes, dtype=np.int64))


@dataclass(frozen=True)
class Period(Sensitive):
    """The periods between ``changes``: the first day of each but the first, ``2020-03-01``; none while unknown."""

    people: bool = False
    changes: tuple[str, ...] = ()

    def group_text(self, level: int) -> str:
        column, days = self.columns[0], self.changes or ("the change",)
        if level == 0:
            return f"{column} before {days[0]}"
        until = f" and before {days[level]}" if level < len(days) else ""
        return f"{column} since {days[level - 1]}{until}"

    def positions(self, frame: pd.DataFrame) -> Codes:
        if not self.changes:
            raise P4FError(
                "the day of the change is not known; .estimate(...) searches it, or state changed='2020-03-01'"
            )
        days = days_of(column_of(frame, self.columns[0], DEPENDENCE))
        return np.asarray(np.searchsorted(np.array(self.changes, dtype="datetime64[D]"), days, side="right"))


@dataclass(frozen=True)
class Score(Sensitive):
    """Bands of a weighted sum of columns of numbers, each of which ends at one of the ``cuts``.

    ``slopes`` and ``middles`` are what each column is multiplied by, and what a missing value is taken for.
    """

    people: bool = False
    slopes: tuple[float, ...] = ()
    middles: tuple[float, ...] = ()
    cuts: tuple[float, ...] = ()

    @property
    def formula(self) -> str:
        """The sum in words: ``income``, ``0.8 income - 0.2 age``."""
        if self.slopes == (1.0,):
            return self.columns[0]
        parts = [f"{slope:+.3g} {name}" for slope, name in zip(self.slopes, self.columns, strict=True)]
        return " ".join(f"{part[0]} {part[1:]}" for part in parts).removeprefix("+ ")

    def group_text(self, level: int) -> str:
        ends = [f"{cut:.4g}" for cut in self.cuts]
        if level == 0:
            return f"{self.formula} below {ends[0]}"
        return f"{self.formula} from {ends[level - 1]}" + (f" to {ends[level]}" if level < len(ends) else "")

    def positions(self, frame: pd.DataFrame) -> Codes:
        numbers = np.column_stack([numbers_of(column_of(frame, name, DEPENDENCE)) for name in self.columns])
        numbers = np.where(np.isnan(numbers), self.middles, numbers)
        return np.asarray(np.searchsorted(np.array(self.cuts), numbers @ np.array(self.slopes), side="right"))


def days_of(column: pd.Series[Any]) -> Any:
    """The day of each row where it was written, as numpy's; the error names a value that is none."""
    dated = pd.api.types.is_datetime64_any_dtype(column)
    texts = (
        column.dt.tz_localize(None) if dated else column.astype("string").str.strip().str.replace(_ZONE, "", regex=True)
    )
    days = pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)
    wrong = days.isna()
    if wrong.any():
        value = column[wrong].iloc[0]
        problem = "misses a day" if pd.isna(value) else f"has the value {str(value)!r}, which is no day"
        raise P4FError(f"column {column.name!r} {problem}; write days as 2020-03-01")
    return days.dt.tz_localize(None).to_numpy().astype("datetime64[D]")


def numbers_of(column: pd.Series[Any]) -> Floats:
    """A column as numbers, NaN where one is missing; the error names a value that is none."""
    # A date would become a count of nanoseconds, and a missing one a number, too.
    numeric = column.astype("string") if pd.api.types.is_datetime64_any_dtype(column) else column
    numbers = pd.to_numeric(numeric, errors="coerce").astype(np.float64)
    wrong = numbers.isna() & column.notna()
    if wrong.any():
        raise P4FError(
            f"column {column.name!r} has the value {str(column[wrong].iloc[0])!r}, which is no number; "
            f"name the column in depends_on({column.name!r}) instead"
        )
    return np.asarray(numbers)
