"""What the metrics accept: columns of equal length, without gaps, whose labels and groups are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.data import Codes, Floats, has_others
from problog4fairness.errors import P4FError, ShapeError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


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


def numbers(values: Any, name: str, wanted: str) -> Floats:
    """One number per row; ``wanted`` says of which kind."""
    array = column(values, name)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise P4FError(f"{name} has the value {plain(array[0])!r}; it must hold {wanted}") from None


def same_length(**columns: Any) -> None:
    """Check that all columns that are given have as many rows as the first."""
    (first, reference), *others = columns.items()
    for name, values in others:
        if values is not None and len(values) != len(reference):
            raise ShapeError(f"{name} has {len(values)} rows, {first} has {len(reference)}")


def labels(favourable: Any = None, **columns: Any) -> list[Bools]:
    """Where each column holds the favourable label: 1, or ``favourable`` with one other label beside it."""
    favoured: list[Bools] = []
    others: set[Any] = set()
    for name, values in columns.items():
        array = column(values, name)
        if isinstance(favourable, str):
            array = array.astype(object)  # numbers do not compare with text, objects do
        good = np.asarray(array == (1 if favourable is None else favourable), dtype=bool)
        rest = array[~good]
        strange = rest[np.asarray(rest != 0, dtype=bool)] if favourable is None else []
        if len(strange):
            raise P4FError(
                f"{name} has the label {plain(strange[0])!r}; labels are 0 and 1, "
                "or name the favourable one by favourable=..."
            )
        others.update(plain(value) for value in pd.unique(rest))
        favoured.append(good)
    if len(others) > 1:
        listed = ", ".join(sorted(map(repr, others))[:5])
        raise P4FError(f"beside the favourable label {favourable!r} there are {listed}; there can be one other label")
    same_length(**dict(zip(columns, favoured, strict=True)))
    return favoured


def probabilities(values: Any, name: str) -> Floats:
    """Numbers between 0 and 1, one per row."""
    if _is_wide(values):
        raise ShapeError(f"{name} must be P(y=1), one column, not of shape {np.shape(values)}: predict_proba(X)[:, 1]")
    array = numbers(values, name, "P(y=1) or labels 0 and 1")
    outside = array[(array < 0) | (array > 1)]
    if len(outside):
        raise P4FError(f"{name} has the value {outside[0]:g}, which is not between 0 and 1")
    return array


def weights(sample_weight: Any, rows: int) -> Floats:
    """The weight of each row, 1 where none are given."""
    if sample_weight is None:
        return np.ones(rows)
    array = numbers(sample_weight, "sample_weight", "numbers")
    if len(array) != rows:
        raise ShapeError(f"sample_weight has {len(array)} rows, the labels have {rows}")
    wrong = array[~(np.isfinite(array) & (array >= 0))]
    if len(wrong):
        raise P4FError(f"sample_weight has the value {wrong[0]:g}; weights are finite and not negative")
    if not array.any():
        raise P4FError("sample_weight is 0 in every row")
    return array


def group_codes(sensitive_features: Any, rows: int) -> tuple[Codes, pd.Index]:
    """The group of each row by its place among the sorted ones; of several columns each combination is a group."""
    if _is_wide(sensitive_features):
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
    return codes.astype(np.int64), names.set_names(values.names)


def in_sensitive_group(sensitive_features: Any, rows: int, groups: Sequence[Any]) -> Codes:
    """A in each row, 0 or 1, where ``groups`` names the other group and then the sensitive one."""
    if isinstance(groups, str) or len(groups) != 2 or groups[0] == groups[1]:
        raise P4FError(f"groups must be two different ones, (other, sensitive), not {groups!r}")
    codes, index = group_codes(sensitive_features, rows)
    names = [plain(name) for name in index]
    if has_others(groups):
        names = [name if name in groups else groups[0] for name in names]
    for name in names:
        if name not in groups:
            count = f"{len(names)} group{'s' if len(names) > 1 else ''}"
            raise P4FError(
                f"sensitive_features have {count}, and {name!r} is not among the groups {tuple(groups)!r}; "
                "drop its rows, or name two groups by groups=(other, sensitive)"
            )
    for group, role in zip(groups, ("other", "sensitive"), strict=True):
        if group not in names:
            raise P4FError(f"no row is of the {role} group {group!r}; a disparity needs rows of both groups")
    return np.asarray([int(name == groups[1]) for name in names])[codes]


def plain(value: Any) -> Any:
    """A value as Python writes it: 2, not np.int64(2)."""
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    return value.item() if isinstance(value, np.generic) else value


def _is_wide(values: Any) -> bool:
    """Whether there are several columns."""
    try:
        shape = np.shape(values)
    except ValueError:  # lists of different lengths; `column` tells
        return False
    return len(shape) == 2 and shape[1] > 1
