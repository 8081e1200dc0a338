"""Whole numbers that users pass."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from problog4fairness.errors import P4FError


def whole_number(name: str, value: Any, *, least: int) -> int:
    """The value as an ``int``; an error that names it where it is another thing, or below the least."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise P4FError(f"{name} must be a whole number of {least} or more, not {value!r}")
    return int(value)
