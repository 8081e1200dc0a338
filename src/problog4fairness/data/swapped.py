"""Columns that were passed in each other's place, as far as their names tell."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

from problog4fairness.errors import SwappedWarning


def warn_swapped(recorded: Any, fair: Any, sensitive: Any, columns: Collection[str], stacklevel: int = 3) -> None:
    """Warn where a series is named after another role than the one that it was passed for.

    Parameters
    ----------
    recorded, fair, sensitive
        What was passed as recorded label, fair label and sensitive variable; only the names of series count.
    columns
        The sensitive columns that the belief names.
    stacklevel
        Of the warning.
    """
    names = [str(getattr(own, "name", None) or "") for own in (recorded, fair, sensitive)]
    label, checked, group = names
    if label in columns and group not in columns:
        _warn(f"the recorded label is the column {label!r}, which the belief names as sensitive", stacklevel)
    elif checked in columns:
        _warn(f"the fair label is the column {checked!r}, which the belief names as sensitive", stacklevel)
    elif checked and ("fair" in label.lower() or "recorded" in checked.lower()):
        _warn(f"the recorded label is the column {label!r} and the fair one {checked!r}", stacklevel)


def _warn(what: str, stacklevel: int) -> None:
    warnings.warn(f"{what}; were they swapped?", SwappedWarning, stacklevel=stacklevel + 2)
