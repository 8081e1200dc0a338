"""What the metrics accept: columns of equal length, without gaps, whose labels and groups are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.data import has_others
from problog4fairness.errors import P4FError, ShapeError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Groups:
    """The group of each row, as a position in ``names``; every group has at least one row."""

    codes: Codes
    names: pd.Index

    def __len__(self) -> int:
        return len(self.names)


def column(values: Any, name: str) -> Array:
    """One value per row, none of them missing; text as objects, so that it compares with anything."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ShapeError(f"{name} must hold one value per row, not lists of different lengths") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ShapeError(f"{name} must be one column, not of shape {array.shape}")
    if not len(array):
        raise ShapeError(f"{name} has no rows")
    missing = int(pd.isna(array).sum())
    if missing:
        raise P4FError(f"{name} has {missing} missing value{'s' if missing > 1 else ''}; drop those rows")
    return array.astype(object) if array.dtype.kind in "US" else array


def same_length(**columns: Any) -> None:
    """Check that all columns that are given have as many rows as the first."""
    (first, reference), *others = columns.items()
    for name, values in others:
        if values is not None and len(values) != len(reference):
            raise ShapeError(f"{name} has {len(values)} rows, {first} has {len(reference)}")


def labels(favourable: Any = None, **columns: Any) -> list[Bools]:
    """Where each column holds the favourable label: 1, or ``favourable`` with one other label beside it."""
    found: list[Bools] = []
    others: set[Any] = set()
    for name, values in columns.items():
        array = column(values, name)
        if isinstance(favourable, str):
            array = array.astype(object)  # numbers do not compare with text, objects do
        good = np.asarray(array == (1 if favourable is None else favourable), dtype=bool)
        rest = array[~good]
        if favourable is None:
            strange = rest[np.asarray(rest != 0, dtype=bool)]
            if len(strange):
                raise P4FError(
                    f"{name} has the label {plain(strange[0])!r}; labels are 0 and 1, "
                    "or name the favourable one by favourable=..."
                )
        others.update(plain(value) for value in pd.unique(rest))
        found.append(good)
    if len(others) > 1:
        seen = ", ".join(sorted(map(repr, others))[:5])
        raise P4FError(f"beside the favourable label {favourable!r} there are {seen}; there can be one other label")
    same_length(**dict(zip(columns, found, strict=True)))
    return found


def probabilities(values: Any, name: str) -> Floats:
    """Numbers between 0 and 1, one per row."""
    if _wide(values):
        raise ShapeError(f"{name} must be P(y=1), one column, not of shape {np.shape(values)}: predict_proba(X)[:, 1]")
    array = column(values, name)
    try:
        numbers: Floats = array.astype(np.float64)
    except (TypeError, ValueError):
        raise P4FError(f"{name} has the value {plain(array[0])!r}; it must hold P(y=1) or labels 0 and 1") from None
    outside = numbers[(numbers < 0) | (numbers > 1)]
    if len(outside):
        raise P4FError(f"{name} has the value {outside[0]:g}, which is not between 0 and 1")
    return numbers


def weights(sample_weight: Any, rows: int) -> Floats:
    """The weight of each row, 1 where none are given."""
    if sample_weight is None:
        return np.ones(rows)
    array = column(sample_weight, "sample_weight")
    try:
        numbers: Floats = array.astype(np.float64)
    except (TypeError, ValueError):
        raise P4FError(f"sample_weight has the value {plain(array[0])!r}, which is not a number") from None
    if len(numbers) != rows:
        raise ShapeError(f"sample_weight has {len(numbers)} rows, the labels have {rows}")
    wrong = numbers[~(np.isfinite(numbers) & (numbers >= 0))]
    if len(wrong):
        raise P4FError(f"sample_weight has the value {wrong[0]:g}; weights are finite and not negative")
    if not numbers.any():
        raise P4FError("sample_weight is 0 in every row")
    return numbers


def groups(sensitive_features: Any, rows: int) -> Groups:
    """The groups that occur, in sorted order; several columns make a group of each combination."""
    if _wide(sensitive_features):
        known = isinstance(sensitive_features, pd.DataFrame)
        frame = sensitive_features if known else pd.DataFrame(np.asarray(sensitive_features))
        parts = [column(frame.iloc[:, i], f"sensitive_features column {n!r}") for i, n in enumerate(frame.columns)]
        values: Any = pd.MultiIndex.from_arrays(parts, names=list(frame.columns))
    else:
        values = pd.Index(column(sensitive_features, "sensitive_features"))
    if len(values) != rows:
        raise ShapeError(f"sensitive_features have {len(values)} rows, the labels have {rows}")
    try:
        codes, names = values.factorize(sort=True)
    except TypeError:  # groups of different types have no order
        codes, names = values.factorize()
    return Groups(codes.astype(np.int64), names.set_names(values.names))


def in_sensitive_group(sensitive_features: Any, rows: int, levels: Sequence[Any]) -> Bools:
    """Whether A = 1 in each row, where ``levels`` names the other group and then the sensitive one."""
    if isinstance(levels, str) or len(levels) != 2 or levels[0] == levels[1]:
        raise P4FError(f"levels must be two different groups, (other, sensitive), not {levels!r}")
    found = groups(sensitive_features, rows)
    names = [plain(name) for name in found.names]
    if has_others(levels):
        names = [name if name in levels else levels[0] for name in names]
    for name in names:
        if name not in levels:
            count = f"{len(names)} group{'s' if len(names) > 1 else ''}"
            raise P4FError(
                f"sensitive_features have {count}, and {name!r} is not among the levels {tuple(levels)!r}; "
                "drop its rows, or name two groups by levels=(other, sensitive)"
            )
    for level, role in zip(levels, ("other", "sensitive"), strict=True):
        if level not in names:
            raise P4FError(f"no row is of the {role} group {level!r}; a disparity needs rows of both groups")
    return np.asarray([name == levels[1] for name in names])[found.codes]


def plain(value: Any) -> Any:
    """A value as Python writes it: 2, not np.int64(2)."""
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    return value.item() if isinstance(value, np.generic) else value


def _wide(values: Any) -> bool:
    """Whether there are several columns."""
    try:
        shape = np.shape(values)
    except ValueError:  # lists of different lengths; `column` tells
        return False
    return len(shape) == 2 and shape[1] > 1
