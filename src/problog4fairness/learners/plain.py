"""Plain data from a stranger: it is of the known shape, or a ``ValueError`` says what is wrong."""

from __future__ import annotations

import math
from typing import Any


def require(holds: bool, reason: str) -> None:
    """``ValueError`` where something does not hold."""
    if not holds:
        raise ValueError(reason)


def check_history(value: Any) -> None:
    """How training went: lists of finite numbers by name."""
    require(isinstance(value, dict) and all(isinstance(name, str) for name in value), "its history is wrong")
    for numbers in value.values():
        fit = isinstance(numbers, list) and all(isinstance(n, float | int) and math.isfinite(n) for n in numbers)
        require(fit, "its history is wrong")
