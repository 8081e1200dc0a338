"""What a bias may depend on besides the group: one of several values, the time, a score of several columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.data.groups import Sensitive
from problog4fairness.data.values import Codes, Floats, Level, plain_column
from problog4fairness.errors import P4FError, among

if TYPE_CHECKING:
    import pandas as pd

# What a value is that was not there when values were listed, a missing one included.
OTHER = "other"
# The zone behind a time of day: it does not move a row to another day.
_ZONE = r"(?<=:\d\d)(\.\d+)?\s*(?:Z|[+-]\d\d(?::?\d\d)?)$"


@dataclass(frozen=True)
class Category(Sensitive):
    """One of several values of a column; any other value, or none, is the last one."""

    people: bool = False

    @classmethod
    def listing(cls, column: str, values: tuple[Level, ...], name: str) -> Category:
        """The values of a column, and :data:`OTHER` for those that are not listed."""
        return cls((column,), (*(value for value in values if value != OTHER), OTHER), name)

    def group_text(self, level: int) -> str:
        """See :meth:`Sensitive.group_text`."""
        other = level == len(self.levels) - 1
        return f"{self.columns[0]} is none of these" if other else super().group_text(level)

    def positions(self, frame: pd.DataFrame) -> Codes:
        """See :meth:`Sensitive.positions`."""
        other = len(self.levels) - 1
        # A column of numbers may come back as texts: what is no level itself is the level that is written so.
        place: dict[Any, int] = {str(level): number for number, level in enumerate(self.levels)}
        place |= {level: number for number, level in enumerate(self.levels)}
        values = plain_column(_column(frame, self.columns[0]))
        codes = [place.get(value, place.get(str(value), other)) for value in values.tolist()]
        # A missing value is no level that happens to be called None.
        return np.where(values.isna(), other, np.array(codes, dtype=np.int64))


@dataclass(frozen=True)
class Period(Sensitive):
    """The periods between ``changes``: the first day of each but the first, ``2020-03-01``; none while unknown."""

    people: bool = False
    changes: tuple[str, ...] = ()

    def group_text(self, level: int) -> str:
        """See :meth:`Sensitive.group_text`."""
        column, days = self.columns[0], self.changes or ("the change",)
        if level == 0:
            return f"{column} before {days[0]}"
        until = f" and before {days[level]}" if level < len(days) else ""
        return f"{column} since {days[level - 1]}{until}"

    def positions(self, frame: pd.DataFrame) -> Codes:
        """See :meth:`Sensitive.positions`."""
        if not self.changes:
            raise P4FError(
                "the day of the change is not known; .estimate(...) searches it, or state changed='2020-03-01'"
            )
        days = days_of(_column(frame, self.columns[0]))
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
        """See :meth:`Sensitive.group_text`."""
        ends = [f"{cut:.4g}" for cut in self.cuts]
        if level == 0:
            return f"{self.formula} below {ends[0]}"
        return f"{self.formula} from {ends[level - 1]}" + (f" to {ends[level]}" if level < len(ends) else "")

    def positions(self, frame: pd.DataFrame) -> Codes:
        """See :meth:`Sensitive.positions`."""
        numbers = np.column_stack([numbers_of(_column(frame, name)) for name in self.columns])
        numbers = np.where(np.isnan(numbers), self.middles, numbers)
        return np.asarray(np.searchsorted(np.array(self.cuts), numbers @ np.array(self.slopes), side="right"))


def _column(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    if name not in frame.columns:
        raise P4FError(f"no column {name!r} for what the bias depends on; {among(name, frame.columns)}")
    return frame[name]


def days_of(column: pd.Series[Any]) -> Any:
    """The day of each row where it was written, as numpy's; the error names a value that is none."""
    import pandas as pd

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
    import pandas as pd

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
