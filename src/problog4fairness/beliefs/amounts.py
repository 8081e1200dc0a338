"""Shares as a reader would write them."""

from __future__ import annotations

import math

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
