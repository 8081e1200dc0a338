"""A classifier whose probabilities were put right by rows whose fair label is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from problog4fairness.learners.fitted import Fitted, FittedAround
from problog4fairness.learners.validation import require

# Between these a slope is found, and shifts between minus and plus the largest: beyond, few rows would make it certain.
SLOPES, LARGEST_SHIFT = (0.05, 10.0), 10.0
# Standard errors by which probabilities must be off before it is told.
FAR = 3.0
_NUMBERS = ("slope", "gain", "error")


def recalibrated(log_proba: Tensor, slope: Tensor | float, shifts: Tensor) -> Tensor:
    """log P(class), ``[rows, classes]``: P'(f) is in proportion to P(f)^slope exp(shift_f), with shift 0 of class 0.

    For two classes that is a straight line in the log-odds: slope log(P(1) / P(0)) + shift.
    """
    moved = slope * log_proba.clamp_min(-1e4) + torch.cat([shifts.new_zeros(1), shifts])
    return moved.log_softmax(-1)


class Calibrated(FittedAround):
    """A fitted classifier, and the slope and shifts that its log-probabilities need to be right.

    Attributes
    ----------
    fitted
        What was learned.
    slope
        Above 1 the classifier was too cautious, below 1 too sure.
    shifts
        What is added to the log-odds of each class but the first.
    gain, error
        By how much that lowers the mean of -log P(fair label) of audited rows that it was not fitted on, and the
        standard error of that.
    """

    kind = "calibrated"

    def __init__(self, fitted: Fitted, slope: float, shifts: Sequence[float], gain: float, error: float) -> None:
        super().__init__(fitted)
        self.slope, self.shifts = float(slope), tuple(map(float, shifts))
        self.gain, self.error = gain, error
        if gain > FAR * error:
            warning = (
                f"its own fair probabilities disagree with the audited rows, by which they were put right (log loss "
                f"lower by {gain:.3f}, standard error {error:.3f}, out of fold); the belief may not hold"
            )
            self.concerns = [*fitted.concerns, warning]

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        return recalibrated(self.fitted.log_proba(table), self.slope, torch.tensor(self.shifts, dtype=torch.float64))

    def around(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in _NUMBERS}, "shifts": list(self.shifts)}

    @classmethod
    def check_around(cls, plain: Mapping[str, Any], classes: int) -> None:
        require(set(plain) == {*_NUMBERS, "shifts"}, "its calibration is another one")
        shifts = plain["shifts"]
        require(isinstance(shifts, list) and len(shifts) == classes - 1, "its calibration does not fit its labels")
        numbers = [*(plain[name] for name in _NUMBERS), *shifts]
        plausible = all(type(value) is float and math.isfinite(value) and abs(value) <= 100 for value in numbers)
        require(plausible and plain["slope"] > 0, "its calibration is not in numbers")

    @classmethod
    def of_around(cls, fitted: Fitted, plain: Mapping[str, Any]) -> Calibrated:
        return cls(fitted, plain["slope"], plain["shifts"], plain["gain"], plain["error"])
