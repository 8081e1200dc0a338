"""What is measured of a cell's predictions, against the fair labels."""

from __future__ import annotations

import numpy as np

from problog4fairness.experiments.cells import Array, Cell
from problog4fairness.metrics.scores import scores

METRICS = ("accuracy", "disparity", "f1", "equalized_odds")


def measure(cell: Cell, chance: Array, randomised: bool) -> dict[str, float]:
    """The metrics of one cell, as :func:`~problog4fairness.metrics.scores.scores` defines them."""
    fair = np.asarray(cell.data.fair_label)[cell.test]
    found = scores(fair, np.clip(chance, 0, 1), cell.sensitive[cell.test], randomised=randomised)
    return {name: found[name] for name in METRICS}
