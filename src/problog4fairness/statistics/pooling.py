"""Parameters of which no audited row tells, pooled from those of other groups or other values of proxies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from problog4fairness.errors import P4FError
from problog4fairness.statistics.parameter import Parameter
from problog4fairness.statistics.proportions import Estimate, equal_rows
from problog4fairness.statistics.shrinkage import shrunk

# How a parameter says that other ones tell of it.
POOLED = "pooled from the other cells"


def pooled(parameters: Sequence[Parameter], confidence: float = 0.95) -> tuple[Parameter, ...]:
    """The parameters; those that rest on no row are as the others of their kind let expect, with wide intervals.

    Of one kind are the parameters of all groups about the same change of the label or of a feature.
    """
    return tuple(_pooled(own, parameters, confidence) if own.without_rows else own for own in parameters)


def _pooled(own: Parameter, parameters: Sequence[Parameter], confidence: float) -> Parameter:
    cell = own.cell
    counted = [
        one
        for one in parameters
        if one.rows and one.value is not None and one.low is not None and one.high is not None and one.cell and cell
        if (one.cell.feature, one.cell.fair, one.cell.recorded) == (cell.feature, cell.fair, cell.recorded)
    ]
    if not counted:
        raise P4FError(f"no audited row tells about {own.said} in any group, so that nothing can be pooled; audit some")
    rows = np.array([0.0, *(equal_rows(o.value or 0.0, o.low or 0.0, o.high or 0.0, confidence) for o in counted)])
    rows[1:] = np.minimum(rows[1:], 1e6)
    hits = rows * np.array([0.0, *(one.value or 0.0 for one in counted)])
    told = shrunk(hits, rows, confidence)[0]
    return replace(own, prior=told.prior).estimated(Estimate(told.value, told.low, told.high, 0), POOLED)
