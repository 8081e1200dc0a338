"""A classifier whose probabilities were put right by rows whose fair label is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from problog4fairness.learners.base import Fitted, Shape
from problog4fairness.learners.plain import require

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


class Calibrated(Fitted):
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

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> plain = p4f.learners.Linear().fit(p4f.NoBias(), rows)
    >>> bolder = p4f.learners.Calibrated(plain, slope=2.0, shifts=[0.0], gain=0.0, error=0.0)
    >>> X = data.loans[["income", "savings"]]
    >>> bool((bolder.log_proba(X).exp().max(1).values >= plain.log_proba(X).exp().max(1).values).all())
    True
    """

    kind = "calibrated"

    def __init__(self, fitted: Fitted, slope: float, shifts: Sequence[float], gain: float, error: float) -> None:
        self.fitted, self.slope, self.shifts = fitted, float(slope), tuple(map(float, shifts))
        self.gain, self.error = gain, error

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        """See :meth:`Fitted.log_proba`."""
        return recalibrated(self.fitted.log_proba(table), self.slope, torch.tensor(self.shifts, dtype=torch.float64))

    def check(self, table: pd.DataFrame) -> None:
        """See :meth:`Fitted.check`."""
        self.fitted.check(table)

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        """See :meth:`Fitted.categories`."""
        return self.fitted.categories

    @property
    def concerns(self) -> Sequence[str]:
        """See :meth:`Fitted.concerns`: also that much had to be put right."""
        if self.gain <= FAR * self.error:
            return self.fitted.concerns
        told = (
            f"its own fair probabilities disagree with the audited rows, by which they were put right (log loss lower "
            f"by {self.gain:.3f}, standard error {self.error:.3f}, out of fold); the belief may not hold"
        )
        return [*self.fitted.concerns, told]

    @property
    def history(self) -> Mapping[str, list[float]]:
        """See :meth:`Fitted.history`: that of the classifier itself."""
        return self.fitted.history

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """See :meth:`Fitted.state`."""
        tensors, plain = self.fitted.state()
        own = {"kind": self.fitted.kind, **plain}
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return tensors, {**numbers, "shifts": list(self.shifts), "fitted": own}

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        """See :meth:`Fitted.shapes`."""
        require(set(plain) == {*_NUMBERS, "shifts", "fitted"}, "its calibration is another one")
        shifts = plain["shifts"]
        require(isinstance(shifts, list) and len(shifts) == classes - 1, "its calibration does not fit its labels")
        numbers = [*(plain[name] for name in _NUMBERS), *shifts]
        plausible = all(type(own) is float and math.isfinite(own) and abs(own) <= 100 for own in numbers)
        require(plausible and plain["slope"] > 0, "its calibration is not in numbers")
        kind, own = _parts(plain)
        return kind.shapes(own, columns, classes)

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> Calibrated:
        """See :meth:`Fitted.from_state`."""
        kind, own = _parts(plain)
        numbers = (plain["slope"], plain["shifts"], plain["gain"], plain["error"])
        return cls(kind.from_state(tensors, own), *numbers)


def _parts(plain: Mapping[str, Any]) -> tuple[type[Fitted], dict[str, Any]]:
    require(isinstance(plain["fitted"], dict), "its calibration is of something else")
    own = dict(plain["fitted"])
    name = own.pop("kind", None)
    require(name in Fitted.kinds and name != Calibrated.kind, "its calibration is of something else")
    return Fitted.kinds[name], own
