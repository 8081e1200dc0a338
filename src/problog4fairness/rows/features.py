"""Which columns a model should not learn from: those that identify rows, say nothing, or give the label away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.rows.problems import TableError, listed, warn
from problog4fairness.rows.roles import check_column

if TYPE_CHECKING:
    import pandas as pd

# With fewer rows, values that are all different say little.
FEW_ROWS = 20
# Texts of which more than this share is different are names, not categories.
DISTINCT_TEXTS = 0.5
LEAK = 0.999
_NAMED = re.compile(r"(\A|[ _.\-])(id|ids|uuid|guid|key|nr|no|number|index|row)\Z", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z](Id|ID|Uuid|UUID|Key|Nr|No|Number)\Z")


def identifiers(frame: pd.DataFrame) -> list[str]:
    """Columns that identify rows, so that a model could learn rows by heart.

    Texts (names, UUIDs, dates) of which more than half are different; and whole numbers that are all different and
    dense (a running number), in order, of one length of at least seven digits (an account), or in a column that is
    called a number or an id; some may be missing. Numbers with fractions never: incomes may well be all different.

    Parameters
    ----------
    frame
        The table.

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
        return bool(column.nunique() > max(DISTINCT_TEXTS * rows, FEW_ROWS))
    # A look at the first rows spares most columns the whole count.
    head = column.iloc[:1000]
    if head.nunique() < len(head) or column.nunique() < rows:
        return False
    low, high = int(column.min()), int(column.max())
    dense = high - low < 2 * rows
    ordered = bool(column.is_monotonic_increasing or column.is_monotonic_decreasing)
    lengths = len(str(low)) == len(str(high)) and len(str(high)) >= 7
    name = str(column.name)
    return dense or ordered or lengths or bool(_NAMED.search(name) or _CAMEL.search(name))


def feature_columns(
    frame: pd.DataFrame,
    *,
    leave_out: Iterable[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
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
    label
        The column of the recorded label; features that say the same, or the opposite, are warned of.

    Examples
    --------
    >>> import pandas as pd
    >>> from problog4fairness.rows import feature_columns
    >>> frame = pd.DataFrame({"income": [1, 2, 2], "poor": [0, 1, 1], "granted": [0, 1, 0]})
    >>> feature_columns(frame, leave_out=["poor", "granted"])
    ['income']
    """
    for name in drop:
        check_column(frame, name, "columns to leave out", "drop")
    for name in keep:
        check_column(frame, name, "columns to keep", "keep")
    both = [name for name in keep if name in drop]
    if both:
        raise TableError(f"column {both[0]!r} cannot be both kept and dropped")
    gone = {*leave_out, *drop}
    names = [str(name) for name in frame.columns if name not in gone]
    judged = frame[[name for name in names if name not in keep]]
    same = [name for name in judged.columns if _constant(judged[name])]
    marks = identifiers(judged[[name for name in judged.columns if name not in same]])
    if marks:
        verb = "identify" if len(marks) > 1 else "identifies"
        warn(f"{_columns(marks)} {verb} rows and {_were(marks)} left out; keep by keep=[...]")
    if same:
        warn(f"{_columns(same)} {'have' if len(same) > 1 else 'has'} one value only and {_were(same)} left out")
    features = [name for name in names if name not in marks and name not in same]
    if not features:
        raise TableError("no column is left to learn from; keep some by keep=[...]")
    if label is not None:
        leaks = [name for name in features if _leaks(frame[name], frame[label])]
        if leaks:
            warn(
                f"{_columns(leaks)} {'say' if len(leaks) > 1 else 'says'} the same as the label {label!r}; if made "
                "from it, or found out after it, leave out by drop=[...]"
            )
    return features


def _constant(column: pd.Series[Any]) -> bool:
    return bool(column.iloc[:1000].nunique(dropna=False) == 1 and column.nunique(dropna=False) == 1)


def _leaks(column: pd.Series[Any], label: pd.Series[Any]) -> bool:
    """Whether a column of two values is the label, or its opposite, in almost all rows."""
    import pandas as pd

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


def _were(names: Sequence[str]) -> str:
    return "were" if len(names) > 1 else "was"
