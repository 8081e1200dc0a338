"""Which columns a model should not learn from: those that identify rows, say nothing, or give the label away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.data.problems import TableError, listed, warn
from problog4fairness.data.roles import check_column

# With fewer rows, values that are all different say little.
FEW_ROWS = 20
# Texts of which more than this share is different are names, not categories; and where there are many, a lower share.
DISTINCT_TEXTS = 0.5
MANY_TEXTS, DISTINCT_MANY = 100, 0.25
# Different days of which a column of dates has more than this; fewer may be the terms of a year.
FEW_DAYS = 20
LEAK = 0.999
_NAMED = re.compile(r"(\A|[ _.\-])(id|ids|uuid|guid|key|nr|no|number|index|row)\Z", re.IGNORECASE)
_ID = re.compile(r"(\A|[ _.\-])(id|uuid|guid)(\Z|[ _.\-])", re.IGNORECASE)
_DAY = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
_TIME = r"[T ]\s*\d{1,2}:\d{2}\S*(\s*[AaPp][Mm])?"
_DATE = re.compile(rf"\s*{_DAY}({_TIME})?\s*")
_CAMEL = re.compile(r"[a-z](Id|ID|Uuid|UUID|Key|Nr|No|Number)\Z")


def identifiers(frame: pd.DataFrame) -> list[str]:
    """Columns that identify rows, so that a model could learn rows by heart.

    Texts (names, UUIDs) of which more than half are different, or a quarter and more than a hundred; and whole numbers
    that are all different and dense (a running number), in order, of one length of at least seven digits (an account),
    or in a column that is called a number or an id; of an id such as ``student_id`` more than half, as some rows may
    share it. Missing ones are not counted. Numbers with fractions never: incomes may well be all different.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = range(100)
    >>> identifiers(pd.DataFrame({"customer": rows, "name": [f"n{i}" for i in rows], "income": [i / 7 for i in rows]}))
    ['customer', 'name']
    """
    return [str(name) for name in frame.columns if len(frame) >= FEW_ROWS and _identifies(frame[name])]


def _identifies(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

    if is_float_dtype(column):
        # Whole numbers of which some are missing are read as floats.
        known = column.dropna()
        if len(known) == len(column) or len(known) < FEW_ROWS or not ((known % 1 == 0) & (known.abs() < 2**53)).all():
            return False
        column = known.astype("int64")
    rows = len(column)
    if is_bool_dtype(column):
        return False
    if not is_integer_dtype(column):
        different, known = column.nunique(), int(column.notna().sum())
        least = min(max(DISTINCT_TEXTS * known, FEW_ROWS), max(DISTINCT_MANY * known, MANY_TEXTS))
        return bool(different > least)
    name = str(column.name)
    if _ID.search(name) and column.nunique() > max(DISTINCT_TEXTS * rows, FEW_ROWS):
        return True
    # A look at the first rows spares most columns the whole count.
    head = column.iloc[:1000]
    if head.nunique() < len(head) or column.nunique() < rows:
        return False
    low, high = int(column.min()), int(column.max())
    dense = high - low < 2 * rows
    ordered = bool(column.is_monotonic_increasing or column.is_monotonic_decreasing)
    lengths = len(str(low)) == len(str(high)) and len(str(high)) >= 7
    return dense or ordered or lengths or bool(_NAMED.search(name) or _CAMEL.search(name))


def dates(frame: pd.DataFrame) -> list[str]:
    """Columns of dates, as such or as text: what was learned of a day says nothing about the days after it.

    Examples
    --------
    >>> import pandas as pd
    >>> days = pd.date_range("2020-03-01", periods=100)
    >>> dates(pd.DataFrame({"day": days, "written": days.astype(str), "income": range(100)}))
    ['day', 'written']
    """
    return [str(name) for name in frame.columns if _is_date(frame[name])]


def _is_date(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

    if is_datetime64_any_dtype(column):
        return bool(column.nunique() > FEW_DAYS)
    if is_numeric_dtype(column):
        return False
    # A look at one value spares other texts the whole count.
    known = column.dropna()
    if not len(known) or not _DATE.fullmatch(str(known.iloc[0])):
        return False
    values = known.unique()
    return len(values) > FEW_DAYS and all(_DATE.fullmatch(str(value)) for value in values)


def feature_columns(
    frame: pd.DataFrame,
    *,
    leave_out: Iterable[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    features: Sequence[str] | None = None,
    label: str | None = None,
) -> list[str]:
    """The columns to learn from, with a warning about each kind that is left out.

    Parameters
    ----------
    frame
        The table.
    leave_out
        Columns that are no features: the labels, the sensitive variable.
    drop, keep
        Columns to leave out, and columns to keep whatever they look like.
    features
        The columns to learn from, whatever they look like, besides those to keep; None for all.
    label
        The column of the recorded label; features that say the same, or the opposite, are warned of.

    Examples
    --------
    >>> import pandas as pd
    >>> from problog4fairness.data import feature_columns
    >>> frame = pd.DataFrame({"income": [1, 2, 2], "poor": [0, 1, 1], "granted": [0, 1, 0]})
    >>> feature_columns(frame, leave_out=["poor", "granted"])
    ['income']
    """
    for argument, names in (("drop", drop), ("keep", keep), ("features", features or ())):
        for name in names:
            check_column(frame, name, "features", argument)
    excluded = {*leave_out, *drop}
    if features is not None:
        keep = [*keep, *features]
        excluded |= set(frame.columns) - set(keep)
    both = [name for name in keep if name in drop]
    if both:
        raise TableError(f"column {both[0]!r} cannot be both kept and dropped")
    names = [str(name) for name in frame.columns if name not in excluded]
    candidates = frame[[name for name in names if name not in keep]]
    constant = [name for name in candidates.columns if _constant(candidates[name])]
    dated = dates(candidates[[name for name in candidates.columns if name not in constant]])
    identifying = identifiers(candidates[[name for name in candidates.columns if name not in {*constant, *dated}]])
    _warn_left_out(identifying, "identifies rows", "identify rows", "; keep by keep=[...]")
    advice = "; make numbers of them, such as an age, or keep by keep=[...]"
    _warn_left_out(dated, "holds dates", "hold dates", advice)
    _warn_left_out(constant, "has one value only", "have one value only", "")
    chosen = [name for name in names if name not in {*identifying, *dated, *constant}]
    if not chosen:
        raise TableError("no column is left to learn from; keep some by keep=[...]")
    if label is not None:
        leaks = [name for name in chosen if _leaks(frame[name], frame[label])]
        if leaks:
            warn(
                f"{_columns(leaks)} {'say' if len(leaks) > 1 else 'says'} the same as the label {label!r}; if made "
                "from it, or found out after it, leave out by drop=[...]"
            )
    return chosen


def _constant(column: pd.Series[Any]) -> bool:
    return bool(column.iloc[:1000].nunique(dropna=False) == 1 and column.nunique(dropna=False) == 1)


def _leaks(column: pd.Series[Any], label: pd.Series[Any]) -> bool:
    """Whether a column of two values is the label, or its opposite, in almost all rows."""
    if column.iloc[:1000].nunique() > 2:
        return False
    codes, values = pd.factorize(column)
    recorded, labels = pd.factorize(label)
    if len(values) != 2 or len(labels) != 2:
        return False
    known = (codes >= 0) & (recorded >= 0)
    agree = float(np.mean(codes[known] == recorded[known]))
    return max(agree, 1 - agree) > LEAK


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {listed(names)}"


def _warn_left_out(names: Sequence[str], singular: str, plural: str, advice: str) -> None:
    if names:
        verb, was = (plural, "were") if len(names) > 1 else (singular, "was")
        warn(f"{_columns(names)} {verb} and {was} left out{advice}")
