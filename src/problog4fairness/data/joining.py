"""Putting audited rows and recorded data together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from problog4fairness.data.columns import row_kinds
from problog4fairness.data.values import Codes
from problog4fairness.errors import P4FError, among


def positions(
    data: pd.DataFrame,
    audit: pd.DataFrame,
    *,
    leave_out: Sequence[str] = (),
    row: str | None = None,
    identifier: str | None = None,
) -> tuple[Codes, bool]:
    """For each audited row its position in ``data``, -1 where it is not there; and whether rows were identified.

    Rows are identified by the column ``identifier``; otherwise by the column ``row`` of index labels of ``data``, or by
    the index, where all columns that both tables have are equal in all these rows. Otherwise a row is the same where
    these columns are equal; missing values are equal to each other.
    """
    shared = [name for name in audit.columns if name in data.columns and name not in leave_out]
    if identifier is not None:
        for name, frame in (("data", data), ("audit", audit)):
            if identifier not in frame.columns:
                raise P4FError(f"no column {identifier!r} in the {name}; {among(identifier, frame.columns)}")
        if not data[identifier].is_unique:
            raise P4FError(f"{identifier!r} does not identify rows: values of it occur twice in the data")
        return pd.Index(data[identifier]).get_indexer(pd.Index(audit[identifier])).astype(np.int64), True
    indices = [(data.index, audit.index)]
    if row is not None and row in audit.columns and row not in data.columns:
        # The rows of a file are numbered from 1.
        first = pd.RangeIndex(1, len(data) + 1)
        indices = [(data.index, pd.Index(audit[row])), (first, pd.Index(audit[row])), *indices]
    for labels, audited in indices:
        if max(labels.nlevels, audited.nlevels) > 1 or not labels.is_unique or not audited.is_unique:
            continue
        places = labels.get_indexer(audited)
        # Rows numbered from 0 say nothing, unless what stands in them agrees.
        if (places >= 0).all() and shared and _equal(data[shared].iloc[places], audit[shared]):
            return places.astype(np.int64), True
    if not shared:
        columns = ", ".join(map(str, data.columns))
        raise P4FError(f"the audit has no column of labels or features in common with the data, which have {columns}")
    return _equal_rows(data.reset_index(drop=True), audit, shared), False


def _equal_rows(data: pd.DataFrame, audit: pd.DataFrame, shared: list[str]) -> Codes:
    """For each audited row its position in ``data``: the n-th of several equal rows is the n-th of those there."""
    # Few rows of a large table have, in each column, a value that the audit has as well; only those are looked at.
    candidate = np.ones(len(data), dtype=bool)
    for name in shared:
        candidate &= data[name].isin(audit[name]).to_numpy()
    rows = np.flatnonzero(candidate)
    both = pd.concat([part.astype(object) for part in (data[shared].iloc[rows], audit[shared])], ignore_index=True)
    codes = row_kinds(both)
    row_of = {key: int(row) for key, row in zip(occurrences(codes[: len(rows)]), rows, strict=True)}
    return np.array([row_of.get(key, -1) for key in occurrences(codes[len(rows) :])], dtype=np.int64)


def _equal(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether all cells are equal; missing values are equal to each other."""
    for name in first.columns:
        one, other = first[name].to_numpy(dtype=object), second[name].to_numpy(dtype=object)
        if not ((one == other) | (pd.isna(one) & pd.isna(other))).all():
            return False
    return True


def occurrences(codes: Codes) -> list[tuple[int, int]]:
    """Each code with how often it occurred before."""
    return list(zip(codes.tolist(), pd.Series(codes).groupby(codes).cumcount().tolist(), strict=True))


def _refuse_doubtful(data: pd.DataFrame, audit: pd.DataFrame, places: Codes, fair: str, needed: list[str]) -> None:
    """Raise an error where an audited row could be one of several that differ in a column that the audit lacks.

    A column with another value in every row is a number of rows, not something to learn from.
    """
    lacking = [name for name in needed if name not in audit.columns and not data[name].is_unique]
    if not lacking or not (places >= 0).any():
        return
    codes = row_kinds(data[[name for name in audit.columns if name in data.columns and name != fair]])
    audited = np.isin(codes, codes[places[places >= 0]])
    kinds = data.loc[audited, lacking].groupby(codes[audited]).nunique(dropna=False)
    different = kinds.gt(1).any()
    if different.any():
        raise P4FError(
            f"audited rows could be several rows of the data, which differ in {different.index[different][0]!r}; "
            "give the audit that column as well"
        )


def with_audit(
    data: pd.DataFrame, audit: pd.DataFrame, *, fair: str, needed: Sequence[str] = (), places: Codes | None = None
) -> tuple[pd.DataFrame, pd.Series]:
    """All rows, and their fair labels where somebody checked them.

    Audited rows that also occur in ``data``, equal in all shared columns, are the same people; the others are added.

    Parameters
    ----------
    data, audit, fair
        Recorded data, and audited rows with the column ``fair``.
    needed
        Columns of ``data`` that matter, such as the features and the label; all by default. The audit must have them
        for its rows to be added, and where it needs them to tell rows of ``data`` apart.
    places
        ``[rows]``: the position of each audited row in ``data``, -1 where it is not there; found as equal by default.

    Returns
    -------
    data, fair
        The rows of ``data`` followed by those that were added, with the columns of ``data``; and a series of fair
        labels beside them, missing where nobody looked.

    Examples
    --------
    >>> data = pd.DataFrame({"income": [1, 2, 3], "granted": [0, 1, 1]})
    >>> audit = pd.DataFrame({"income": [2, 9], "granted": [1, 0], "repaid": [1, 1]})
    >>> rows, repaid = with_audit(data, audit, fair="repaid")
    >>> rows.assign(repaid=repaid)
       income  granted  repaid
    0       1        0    <NA>
    1       2        1       1
    2       3        1    <NA>
    3       9        0       1
    """
    if fair not in audit.columns:
        raise P4FError(f"no column {fair!r} in the audit; {among(fair, audit.columns)}")
    columns = [name for name in data.columns if name != fair]
    places = positions(data, audit, leave_out=[fair])[0] if places is None else places
    _refuse_doubtful(data, audit, places, fair, list(needed or columns))
    new = audit[places < 0]
    if len(new):
        lacking = [name for name in (needed or columns) if name not in audit.columns]
        if lacking:
            raise P4FError(
                f"{len(new)} audited rows are not among the data and lack the column {lacking[0]!r}; "
                "give the audit the same columns as the data"
            )
    rows = pd.concat([data[columns], new.reindex(columns=columns)], ignore_index=True) if len(new) else data[columns]
    labels = pd.Series(pd.NA, index=range(len(rows)), dtype=object)
    known = places >= 0
    labels.iloc[places[known]] = audit[fair].to_numpy(dtype=object)[known]
    labels.iloc[len(data) :] = new[fair].to_numpy(dtype=object)
    return rows.reset_index(drop=True), labels.convert_dtypes()
