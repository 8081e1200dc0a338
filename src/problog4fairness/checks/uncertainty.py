"""How sure the parameters of a belief are: their spread, and draws from it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from problog4fairness.beliefs import Belief
from problog4fairness.data import Floats
from problog4fairness.statistics import Parameter, interval

# More rows than this are as good as certainty.
MOST = 1e9
# How far a parameter is moved to see what depends on it.
STEP = 0.02


def effective_rows(own: Parameter) -> float:
    """The rows of a plain proportion that would be known as well as this parameter; infinite for a stated value.

    From its 95% interval alone, so that it does not matter how the estimate was made.
    """
    if own.value is None or own.low is None or own.high is None:
        return np.inf
    value, width = own.value, own.high - own.low

    def too_wide(rows: float) -> float:
        low, high = interval(value, rows)
        return high - low - width

    if too_wide(1e-3) <= 0:
        return 1e-3
    return MOST if too_wide(MOST) > 0 else float(brentq(too_wide, 1e-3, MOST, rtol=1e-6))


def drawn(belief: Belief, count: int, rng: np.random.Generator) -> Floats:
    """``[count, parameters]``: how far the parameters may be from the values in use; 0 for those that were stated.

    Each is drawn from a Beta distribution, its posterior given as many rows as its interval is worth.
    """
    found = np.zeros((count, len(belief.probabilities)))
    for place, own in enumerate(belief.probabilities):
        rows = effective_rows(own)
        if own.value is not None and rows < MOST:
            found[:, place] = rng.beta(own.value * rows + 0.5, (1 - own.value) * rows + 0.5, count) - (own.used or 0.0)
    return found


def deviations(belief: Belief) -> Floats:
    """``[parameters]``: the standard deviation of each."""
    found = np.zeros(len(belief.probabilities))
    for place, own in enumerate(belief.probabilities):
        rows = effective_rows(own)
        if own.value is not None and rows < MOST:
            a, b = own.value * rows + 0.5, (1 - own.value) * rows + 0.5
            found[place] = np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
    return found


def moved(belief: Belief, place: int, step: float = STEP) -> tuple[Belief, float]:
    """The belief with one parameter a little lower, or higher where it is near 0; and by how much it was moved."""
    own = belief.probabilities[place]
    value = own.used or 0.0
    step = -step if value >= step else step
    return belief.with_values({own.name: value + step}), step
