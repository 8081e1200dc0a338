"""Numbers as a reader would write them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

MISSING = "–"


def percent(value: float | None) -> str:
    """A share as a percentage: ``36%``, and ``0.4%``, ``3.8%`` or ``99.7%`` where it is near 0 or 1."""
    if value is None or math.isnan(value):
        return MISSING
    if 0.9995 <= value < 1:
        return "> 99.9%"
    fine = 0 < abs(value) < 0.0995 or 0.995 <= value < 1
    shown = f"{100 * value:.1f}" if fine else f"{100 * value:.0f}"
    return ("0" if shown in ("0.0", "-0.0", "-0") else shown).replace("-", "−") + "%"


def percent_interval(value: float | None, low: float | None, high: float | None) -> str:
    """``36% (28% to 46%)``; the value alone where there is no interval."""
    if value is None or math.isnan(value):
        return MISSING
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return percent(value)
    return f"{percent(value)} ({percent(low)} to {percent(high)})"


def percent_range(low: float | None, high: float | None) -> str:
    """``28% to 46%``."""
    return f"{percent(low)} to {percent(high)}"


def points(value: float | None) -> str:
    """A difference of shares in percentage points, with its sign: ``−13``, ``+0.4``."""
    if value is None or math.isnan(value):
        return MISSING
    shown = f"{100 * value:+.1f}" if abs(value) < 0.0995 else f"{100 * value:+.0f}"
    return ("0" if float(shown) == 0 else shown).replace("-", "−")


def points_interval(value: float | None, low: float | None, high: float | None) -> str:
    """``−13 (−16 to −10)``."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return points(value)
    return f"{points(value)} ({points(low)} to {points(high)})"


def count(value: float, noun: str | None = None, plural: str | None = None) -> str:
    """``5,000``, or with a noun ``1 row`` and ``5,000 rows``."""
    shown = f"{round(value):,}"
    if noun is None:
        return shown
    return f"{shown} {noun if round(value) == 1 else plural or noun + 's'}"


def in_labels(meaning: str, values: Sequence[Any]) -> str:
    """What a parameter means, with the values of a label of two instead of the 0 and 1 that programs have for them.

    >>> in_labels("a fair 1 is recorded as 0 where area = 1", ("rejected", "hired"))
    'a fair hired is recorded as rejected where area = 1'
    """
    if len(values) != 2 or not meaning.startswith("a fair "):
        return meaning
    return re.sub(
        r"(a fair|is recorded as) ([01])(?= |$)", lambda match: f"{match[1]} {values[int(match[2])]}", meaning
    )
