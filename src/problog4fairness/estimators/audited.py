"""Fair labels of some rows of a table, from a column of it or from an audit in a table of its own."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from problog4fairness.audit import Audit, AuditWarning
from problog4fairness.data import check_column, with_audit
from problog4fairness.errors import P4FError

# The column that says how many people each audited row stands for.
AUDIT_WEIGHT = "p4f_weight"


def with_fair(
    data: pd.DataFrame, audit: pd.DataFrame | Audit | None, recorded: str, fair: str | None, drop: Sequence[str] = ()
) -> pd.DataFrame:
    """The data with a column of the fair label, where there is one, and of :data:`AUDIT_WEIGHT`, with ``audit``.

    Without ``audit``, the fair label is a column of ``data``, empty where nobody looked. Audited rows that also occur
    in ``data`` are the same people (:meth:`Audit.of`); the others are added, and need not have the columns to ``drop``.
    """
    if fair == recorded:
        raise P4FError(f"column {recorded!r} cannot be both the recorded and the fair label")
    if audit is None:
        if fair is not None:
            check_column(data, fair, "fair label", "fair")
        return data
    known = read_audit(audit, fair, data)
    needed = [name for name in data.columns if name not in (*drop, fair)]
    return joined(data, known, str(fair), needed)


def joined(data: pd.DataFrame, audit: Audit, fair: str, needed: Sequence[str]) -> pd.DataFrame:
    """The data followed by audited rows that are not in them, with the fair label and what each row stands for."""
    rows, labels = with_audit(data, audit.frame, fair=fair, needed=needed, places=audit.rows)
    weights = np.full(len(rows), np.nan)
    weights[positions_of(audit, len(data)).rows] = audit.weights
    return rows.assign(**{fair: labels, AUDIT_WEIGHT: weights})


def positions_of(audit: Audit, rows: int) -> Audit:
    """The audit with its rows' positions in what :func:`joined` gives for a table of so many rows."""
    new = audit.rows < 0
    return replace(audit, rows=np.where(new, rows + np.cumsum(new) - 1, audit.rows))


def sampled_audit(audit: pd.DataFrame | Audit, fair: str, table: pd.DataFrame | None = None) -> Audit:
    """As :func:`read_audit`, without its warning: :meth:`Audit.describe` says how the rows were sampled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        return read_audit(audit, fair, table)


def read_audit(audit: pd.DataFrame | Audit, fair: str | None, table: pd.DataFrame | None = None) -> Audit:
    """The audited rows with a fair label; a data frame becomes an :class:`Audit`, matched to the table."""
    if fair is None:
        raise P4FError("name the column of the fair label in the audit by fair=...")
    check_column(audit.frame if isinstance(audit, Audit) else audit, fair, "fair label", "fair")
    return Audit.of(audit, fair=fair, table=table)


def stated_audit(
    audit: pd.DataFrame | None,
    data: pd.DataFrame,
    fair: str | Sequence[str] | None,
    sampling: str | None,
    cluster: str | None,
) -> Audit:
    """Audited rows, or rows of ``data`` where there are none, with what was stated of their design."""
    columns = [fair] if isinstance(fair, str) else list(fair or ())
    if not columns:
        raise P4FError("sampling=... and cluster=... are about audited rows; name their fair label by fair=...")
    rows = data if audit is None else audit
    for column in columns:
        check_column(rows, column, "fair label", "fair")
    return Audit.of(
        rows, fair=columns, table=data.drop(columns=columns, errors="ignore"), sampling=sampling, cluster=cluster
    )
