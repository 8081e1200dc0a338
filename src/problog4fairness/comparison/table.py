"""People as they were recorded, with fair labels for all of them, for some, or for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.baselines.groups import beside, require
from problog4fairness.classifier.columns import to_frame
from problog4fairness.classifier.reading import label_codes
from problog4fairness.errors import P4FError
from problog4fairness.metrics.inputs import plain

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class Table:
    """Recorded data to compare methods on; made by :meth:`of`.

    Attributes
    ----------
    frame
        All columns that a network may read, the sensitive ones among them.
    sensitive
        Names of the sensitive columns.
    recorded
        The recorded label of each row, 1 for the favourable one.
    fair
        The fair label of each row, -1 where nobody knows it.
    groups
        The group of each row, by its position in ``levels``; with two groups, 1 is the sensitive one.
    levels
        The groups; tuples where there are several sensitive columns.
    split_groups
        Rows with equal numbers stay on one side of every split; None where each row is alone.
    """

    frame: pd.DataFrame
    sensitive: tuple[str, ...]
    recorded: Codes
    fair: Codes
    groups: Codes
    levels: tuple[Any, ...]
    split_groups: Codes | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        fair: Any = None,
        favourable: Any = None,
        levels: Sequence[Any] | None = None,
        split_groups: Any = None,
        names: Sequence[str] = (),
    ) -> Self:
        """From what a user has.

        Parameters
        ----------
        X
            Features: numbers and categories.
        y
            Recorded labels, of two kinds.
        sensitive_features
            Names of columns of X, or the columns themselves, which join the features.
        fair
            Fair labels by row, missing (None, NaN or ``pd.NA``) where not known.
        favourable
            The label that counts as 1; the larger of the two by default.
        levels
            The groups, the sensitive one of two last. By default 0 and 1, or all that occur if they are more than two.
        split_groups
            The name of a column of X, which is then no feature, or a value for each row: a pupil, a household.
        names
            Names for sensitive columns that come without.
        """
        frame = to_frame(X)
        if not len(frame):
            raise P4FError("X has no rows")
        if isinstance(split_groups, str):
            require(split_groups, frame)
            split_groups, frame = frame[split_groups], frame.drop(columns=split_groups)
        frame, sensitive = _with_sensitive(frame, sensitive_features, names)
        classes, recorded = _recorded(y, favourable, len(frame))
        groups, found = _groups(frame[list(sensitive)], levels)
        return cls(
            frame=frame,
            sensitive=sensitive,
            recorded=recorded,
            fair=_fair(fair, classes, len(frame)),
            groups=groups,
            levels=found,
            split_groups=None if split_groups is None else _split_groups(split_groups, len(frame)),
        )

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def known(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Where the fair label is known."""
        return self.fair >= 0

    def group_text(self, group: int) -> str:
        """A group in plain words."""
        level = self.levels[group]
        values = level if len(self.sensitive) > 1 else (level,)
        return " and ".join(f"{name} = {value!r}" for name, value in zip(self.sensitive, values, strict=True))


def _with_sensitive(
    frame: pd.DataFrame, sensitive_features: Any, names: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    if isinstance(sensitive_features, str):
        sensitive_features = [sensitive_features]
    if sensitive_features is None or (isinstance(sensitive_features, list | tuple) and not sensitive_features):
        raise P4FError("which columns are sensitive? Name columns of X by sensitive_features=..., or pass them")
    columns = set(frame.columns)
    if isinstance(sensitive_features, list | tuple) and all(isinstance(name, str) for name in sensitive_features):
        named = len(sensitive_features) != len(frame) or set(sensitive_features) <= columns
        if named:
            for name in sensitive_features:
                require(name, frame)
            return frame, tuple(dict.fromkeys(sensitive_features))
    given = beside(sensitive_features, names, len(frame))
    joined = pd.concat([frame.drop(columns=[name for name in given.columns if name in columns]), given], axis=1)
    return joined, tuple(given.columns)


def _recorded(y: Any, favourable: Any, rows: int) -> tuple[list[Any], Codes]:
    values = np.asarray(y)
    if values.ndim != 1 or len(values) != rows:
        raise P4FError(f"y must be one column of {rows} labels, as X has rows, not of the shape {list(values.shape)}")
    missing = int(pd.isna(values).sum())
    if missing:
        raise P4FError(f"y has {missing} missing values; drop those rows")
    classes, codes = label_codes(values, favourable)
    if len(classes) != 2:
        seen = ", ".join(repr(plain(value)) for value in classes[:5])
        raise P4FError(f"y has {len(classes)} labels ({seen}{', ...' if len(classes) > 5 else ''}); compare takes two")
    return classes.tolist(), codes.astype(np.int64)


def _fair(fair: Any, classes: Sequence[Any], rows: int) -> Codes:
    codes = np.full(rows, -1, dtype=np.int64)
    if fair is None:
        return codes
    column = pd.Series(np.asarray(fair, dtype=object).reshape(-1))
    if len(column) != rows:
        raise P4FError(f"fair has {len(column)} labels, X has {rows} rows; leave those missing that nobody knows")
    known = column.notna().to_numpy()
    numbers, values = pd.factorize(column[known])
    place = {value: code for code, value in enumerate(classes)}
    unknown = [value for value in values.tolist() if value not in place]
    if unknown:
        labels = " and ".join(map(repr, classes))
        raise P4FError(f"fair has the label {unknown[0]!r}; the recorded labels are {labels}")
    codes[known] = np.array([place[value] for value in values.tolist()], dtype=np.int64)[numbers]
    return codes


def _groups(sensitive: pd.DataFrame, levels: Sequence[Any] | None) -> tuple[Codes, tuple[Any, ...]]:
    single = len(sensitive.columns) == 1
    shown = repr(sensitive.columns[0]) if single else f"({', '.join(map(repr, sensitive.columns))})"
    missing = int(sensitive.isna().any(axis=1).sum())
    if missing:
        raise P4FError(f"sensitive column {shown} has {missing} missing values; drop those rows")
    source = sensitive.iloc[:, 0] if single else pd.MultiIndex.from_frame(sensitive)
    numbers, values = pd.factorize(source)
    present = [plain(value) for value in values.tolist()]
    if levels is None:
        levels = _default_levels(present, shown)
    place = {level: code for code, level in enumerate(levels)}
    if len(place) != len(levels) or len(levels) < 2:
        raise P4FError(f"levels must be two or more different groups, the sensitive one last, not {list(levels)}")
    unknown = [value for value in present if value not in place]
    if unknown:
        groups = ", ".join(map(repr, levels))
        raise P4FError(
            f"sensitive column {shown} has the value {unknown[0]!r}, which is not among the groups {groups}; "
            "name the groups by levels=(other, sensitive)"
        )
    absent = [level for level in levels if level not in set(present)]
    if absent:
        raise P4FError(f"no row has {absent[0]!r} in the sensitive column {shown}; leave that group out of levels")
    return np.array([place[value] for value in present], dtype=np.int64)[numbers], tuple(levels)


def _default_levels(present: list[Any], shown: str) -> tuple[Any, ...]:
    """0 and 1, or all of more than two groups, whose order does not matter; never a guess at which one is sensitive."""
    if set(present) <= {0, 1}:
        return (0, 1)
    if len(present) == 2:
        raise P4FError(
            f"sensitive column {shown} has the values {present[0]!r} and {present[1]!r}; "
            "say which one is the sensitive group by levels=(other, sensitive)"
        )
    if len(present) > 50:
        raise P4FError(f"sensitive column {shown} has {len(present)} different values; groups must be few")
    return tuple(sorted(present, key=lambda value: (type(value).__name__, value)))


def _split_groups(split_groups: Any, rows: int) -> Codes:
    values = pd.Series(np.asarray(split_groups, dtype=object).reshape(-1))
    if len(values) != rows:
        raise P4FError(f"split_groups has {len(values)} values, X has {rows} rows")
    codes, _ = pd.factorize(values)
    alone = codes < 0  # a missing value is not the same as another missing value
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return np.asarray(codes, dtype=np.int64)
