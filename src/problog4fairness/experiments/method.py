"""A method: anything that predicts fair labels from recorded data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from problog4fairness.experiments.cells import Array, Point, Stack

Predict: TypeAlias = Callable[[Stack], Sequence[Array]]


def own_settings(point: Point) -> Hashable:
    """The default of :class:`Method`: points on the same data share a stack."""
    return point.settings


@dataclass(frozen=True)
class Method:
    """A name, and a function from a stack to predictions.

    Parameters
    ----------
    name
        In tables and legends.
    predict
        For each cell of the stack P(label = 1) of the people of ``cell.test``, after learning from ``cell.train``.
    shares
        Points for which this is equal make one stack.
    randomised
        Whether predictions are chances of a random decision, so that its expected accuracy counts, instead of
        probabilities with a decision at one half.
    version
        Stored results are computed again when the source of ``predict`` changes, or the arguments of a
        ``functools.partial``; change the version where it gives other numbers for a reason that does not show there.

    Examples
    --------
    A method of one's own, which tells everybody the share of favourable labels:

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from problog4fairness.experiments import bias_sweep
    >>> def base_rate(stack):
    ...     return [np.full(len(cell.test), cell.recorded_label[cell.train].mean()) for cell in stack.cells]
    >>> study = bias_sweep(quick=True)
    >>> study = replace(study, methods=(*study.methods, Method("base rate", base_rate)))
    """

    name: str
    predict: Predict
    shares: Callable[[Point], Hashable] = own_settings
    randomised: bool = False
    version: int = 1

    @property
    def identity(self) -> dict[str, object]:
        """What tells results of this method from those of another."""
        return {
            "name": self.name,
            "version": self.version,
            "source": _source(self.predict),
            "randomised": self.randomised,
        }


def _source(function: Predict) -> str:
    """The text of a function; of a partial one, that of the function and its arguments."""
    if isinstance(function, partial):
        return f"{_source(function.func)}{function.args!r}{function.keywords!r}"
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return str(getattr(function, "__qualname__", type(function).__qualname__))
