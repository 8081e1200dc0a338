"""Fair labels of some rows of a table, from a column of it or from an audit in a table of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from problog4fairness.errors import P4FError
from problog4fairness.rows.joining import with_audit
from problog4fairness.rows.roles import check_column, rewritten
from problog4fairness.rows.values import Value


def with_fair(
    data: pd.DataFrame, audit: pd.DataFrame | None, recorded: str, fair: str | None, drop: Sequence[str] = ()
) -> pd.DataFrame:
    """The data with a column of the fair label, where there is one.

    Parameters
    ----------
    data
        Recorded data. Without ``audit``, the fair label is a column of them, empty where nobody looked.
    audit
        Audited rows: those that also occur in ``data``, equal in all shared columns, are the same people; the others
        are added.
    recorded, fair
        Columns of the recorded and of the fair label.
    drop
        Columns that are not learned from; the audit need not have them.
    """
    if fair == recorded:
        raise P4FError(f"column {recorded!r} cannot be both the recorded and the fair label")
    if audit is None:
        if fair is not None:
            check_column(data, fair, "fair label", "fair")
        return data
    audited, fair = audited_rows(audit, fair)
    needed = [name for name in data.columns if name not in (*drop, fair)]
    rows, labels = with_audit(data, audited, fair=fair, needed=needed)
    return rows.assign(**{fair: labels})


def audited_rows(audit: pd.DataFrame, fair: str | None) -> tuple[pd.DataFrame, str]:
    """The rows of an audit that have a fair label, and its column."""
    if fair is None:
        raise P4FError("name the column of the fair label in the audit by fair=...")
    check_column(audit, fair, "fair label", "fair")
    return audit[audit[fair].notna()], fair


def as_recorded(fair: pd.Series[Any], written: Sequence[Value], labels: Sequence[Value]) -> pd.Series[Any]:
    """Fair labels in the values of the recorded ones, missing where nobody looked.

    Parameters
    ----------
    fair
        Fair labels as the table writes them.
    written
        How it writes each label.
    labels
        The same labels as the recorded ones are written.
    """
    found = pd.Series(None, index=fair.index, dtype=object)
    known = fair.notna()
    found[known] = rewritten(fair[known], written, labels, "fair label")
    return found
