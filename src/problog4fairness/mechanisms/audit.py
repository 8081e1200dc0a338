"""Reading audited rows: the recorded and the fair value of the same people."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

Column: TypeAlias = "str | Sequence[Any] | np.ndarray[Any, Any] | pd.Series[Any]"
Codes: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


class AuditWarning(UserWarning):
    """Something in an audit, or in the belief that came from it, that would spoil a study."""


def tell(message: str) -> None:
    """Warn the caller of ``estimate``."""
    warnings.warn(AuditWarning(message), stacklevel=5)


def column(audit: pd.DataFrame | None, what: Column, role: str) -> pd.Series[Any]:
    """A column by name, or the values themselves."""
    import pandas as pd

    if isinstance(what, str):
        if audit is None or what not in audit.columns:
            known = ", ".join(map(str, audit.columns)) if audit is not None else "none"
            raise P4FError(f"no column {what!r} for the {role} values; there are {known}")
        values = audit[what]
    else:
        values = pd.Series(np.asarray(what))
    missing = int(values.isna().sum())
    if missing:
        raise P4FError(f"the {role} values have {missing} missing ones; audit those rows or drop them")
    if not len(values):
        raise P4FError("the audit has no rows")
    return values.reset_index(drop=True)


def binary_codes(values: pd.Series[Any], favourable: Any, role: str) -> Codes:
    """0 and 1, with ``favourable`` as 1."""
    seen = sorted(set(values.tolist()), key=str)
    if favourable is not None:
        if len(set(seen) - {favourable}) > 1:
            raise P4FError(f"the {role} label has the values {seen}; it must have two, or name them all by classes")
        return np.asarray(values == favourable, dtype=np.int64)
    if not set(seen) <= {0, 1}:
        raise P4FError(f"the {role} label has the values {seen}; say which one is favourable by favourable=...")
    return np.asarray(values, dtype=np.int64)


def value_codes(values: pd.Series[Any], known: Sequence[Any], role: str) -> Codes:
    """Positions among the known values."""
    place = {value: i for i, value in enumerate(known)}
    for value in values.unique().tolist():
        if value not in place:
            raise P4FError(f"the {role} values hold {value!r}, which is not among {', '.join(map(repr, known))}")
    return np.asarray(values.map(place), dtype=np.int64)


def frame_of(audit: pd.DataFrame | None, sensitive_features: Any, columns: Sequence[str], rows: int) -> pd.DataFrame:
    """A data frame with the sensitive columns, from the audit or from what was passed beside it."""
    import pandas as pd

    if sensitive_features is None:
        if audit is None:
            raise P4FError(
                f"the sensitive values are missing; pass sensitive_features, or an audit with {', '.join(columns)}"
            )
        return audit.reset_index(drop=True)
    if isinstance(sensitive_features, pd.DataFrame):
        frame = sensitive_features.reset_index(drop=True)
    else:
        values = np.asarray(sensitive_features)
        values = values.reshape(len(values), -1) if values.ndim else values
        if values.ndim != 2 or values.shape[1] != len(columns):
            raise P4FError(f"sensitive_features must have a column for each of {', '.join(columns)}")
        frame = pd.DataFrame({name: values[:, i] for i, name in enumerate(columns)})
    if len(frame) != rows:
        raise P4FError(f"sensitive_features have {len(frame)} rows, the data have {rows}")
    return frame
