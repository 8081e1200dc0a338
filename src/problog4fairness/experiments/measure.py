"""What is measured of a cell's predictions, against the fair labels."""

from __future__ import annotations

import numpy as np

from problog4fairness.experiments.cells import Array, Cell
from problog4fairness.metrics import statistical_disparity

METRICS = ("accuracy", "disparity", "f1", "equalized_odds")


def measure(cell: Cell, chance: Array, randomised: bool) -> dict[str, float]:
    """The metrics of one cell.

    A decision is 1 where the chance is above one half; a randomised method decides by lot, and its expected accuracy,
    F1 (of expected counts) and odds are given. Disparity is that of mean chances, as the paper defines it.
    """
    fair = np.asarray(cell.data.fair_label, dtype=np.float64)[cell.test]
    a = cell.sensitive[cell.test]
    decision = chance if randomised else (chance > 0.5).astype(np.float64)
    positives = float(fair.sum() + decision.sum())
    odds = [
        abs(float(decision[(fair == label) & (a == 1)].mean()) - float(decision[(fair == label) & (a == 0)].mean()))
        for label in (0, 1)
    ]
    return {
        "accuracy": float(np.mean(fair * decision + (1 - fair) * (1 - decision))),
        "disparity": statistical_disparity(np.clip(chance, 0, 1), sensitive_features=a),
        "f1": 2 * float(fair @ decision) / positives if positives else 0.0,
        "equalized_odds": max(odds),
    }
