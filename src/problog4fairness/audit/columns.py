"""Reading audited rows: the recorded and the fair value of the same people."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.data import (
    COUNT,
    Codes,
    Rows,
    counts_of,
    label_codes,
    ordered_pair,
    plain,
    sensitive_frame,
    to_frame,
    warn_swapped,
)
from problog4fairness.errors import P4FError, among

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief

Column: TypeAlias = "str | Sequence[Any] | np.ndarray[Any, Any] | pd.Series[Any]"


class AuditWarning(UserWarning):
    """Something in an audit, or in the belief that came from it, that would spoil a study.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> import problog4fairness as p4f
    >>> rows = pd.DataFrame({"poor": [1, 1, 1, 0], "granted": [0, 1, 1, 0], "repaid": [1, 1, 1, 0]})
    >>> audit = p4f.Audit.of(rows, sampling="random")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = p4f.LabelBias("poor", positive=False, groups=[1]).estimate(audit, recorded="granted", fair="repaid")
    >>> print(caught[0].message)
    only 3 audited rows tell about p1 (a fair 1 is recorded as 0 where poor = 1)
    """


# Whoever calls into these rooms is the one to warn.
ROOMS = ("problog4fairness.audit", "problog4fairness.beliefs", "problog4fairness.statistics")


def tell(message: str) -> None:
    """Warn whoever called into the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("problog4fairness"):
        frame, level = frame.f_back, level + 1
    warnings.warn(AuditWarning(message), stacklevel=level)


def read_audit(
    belief: Belief,
    audit: Any,
    recorded: Column,
    fair: Column | None,
    sensitive_features: Any,
    favourable: Any,
    partly: bool = False,
) -> Rows:
    """The rows of an audit, their labels coded; the parameters are those of :meth:`Belief.estimate`.

    ``fair`` is None where no row was audited; with ``partly``, it is missing in those that were not.
    """
    warn_swapped(recorded, fair, sensitive_features, belief.sensitive_columns)
    seen = audit_column(audit, recorded, "recorded", belief.missing_labels)
    true = seen[:0] if fair is None else audit_column(audit, fair, "fair", partly)
    _check_lengths(seen, seen if fair is None else true)
    classes = belief.classes
    if classes is None:
        labels = list(dict.fromkeys([*seen.dropna().tolist(), *true.dropna().tolist()]))
        classes = two_classes(labels, belief.favourable_among(labels, favourable), name_of(recorded))
    frame = audit_frame(audit, sensitive_features, belief.sensitive_columns, len(seen))
    codes = value_codes(seen, classes, "the recorded label", belief.missing_labels)
    known = None if fair is None else value_codes(true, classes, "the fair label", partly)
    weights = counts_of(frame).astype(np.float64) if COUNT in frame.columns else None
    return Rows(frame, (), classes, codes, known, weights)


def value_codes(values: pd.Series[Any], known: Sequence[Any], name: str, missing: bool = False) -> Codes:
    """The position of each audited value among those that are known; -1 where it is ``missing`` and may be."""
    return label_codes(values, known, name, missing=missing, unknown="is not among")


def audited_pair(
    audit: Any, recorded: Column, fair: Column, recorded_role: str, fair_role: str
) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """What was recorded and what is fair, for the same rows; the roles say in errors what they are."""
    seen, true = audit_column(audit, recorded, recorded_role), audit_column(audit, fair, fair_role)
    _check_lengths(seen, true)
    return seen, true


def _check_lengths(seen: pd.Series[Any], true: pd.Series[Any]) -> None:
    if len(seen) != len(true):
        raise P4FError(f"there are {len(seen)} recorded and {len(true)} fair values; an audit has both for each row")


def audit_frame(audit: Any, sensitive_features: Any, columns: Sequence[str], rows: int) -> pd.DataFrame:
    """A data frame with the sensitive columns, from the audit or from what was passed beside it."""
    if sensitive_features is not None:
        passed = sensitive_frame(sensitive_features, columns, rows, "the data have")
        others = pd.DataFrame(index=range(rows)) if audit is None else to_frame(audit)
        return pd.concat([others.drop(columns=passed.columns, errors="ignore"), passed], axis=1)
    if audit is None and columns:
        raise P4FError(
            f"the sensitive values are missing; pass sensitive_features, or an audit with {', '.join(columns)}"
        )
    return pd.DataFrame(index=range(rows)) if audit is None else to_frame(audit)


def audit_column(audit: Any, what: Column, role: str, gaps: bool = False) -> pd.Series[Any]:
    """A column by name, or the values themselves; ``gaps`` says whether some may be missing."""
    if isinstance(what, str):
        frame = pd.DataFrame() if audit is None else to_frame(audit)
        if what not in frame.columns:
            raise P4FError(f"no column {what!r} for the {role} values; {among(what, frame.columns)}")
        values = frame[what]
    else:
        values = pd.Series(np.asarray(what))
    missing = int(values.isna().sum())
    if missing and not gaps:
        raise P4FError(f"the {role} values have {missing} missing ones; audit those rows or drop them")
    if not len(values):
        raise P4FError("the audit has no rows")
    return values


def name_of(column: Any) -> str | None:
    """The name of a column that was passed as its name, or as values that know it."""
    name = column if isinstance(column, str) else getattr(column, "name", None)
    return name if isinstance(name, str) else None


def two_classes(labels: Sequence[Any], favourable: Any, name: str | None = None) -> tuple[Any, Any]:
    """(other, favourable) of the labels that occur in an audit, in which one of them may be missing."""
    seen = sorted(set(labels), key=str)
    if favourable is None:
        pair = ordered_pair([plain(label) for label in seen], name)
        return (0, 1) if set(seen) <= {0, 1} else pair
    others = [label for label in seen if label != favourable]
    if len(others) > 1:
        raise P4FError(f"the label has the values {seen}; it must have two, or be a ClassBias that names its classes")
    return (others[0] if others else None), favourable
