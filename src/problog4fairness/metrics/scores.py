"""The metrics that studies and comparisons report, of one set of predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from problog4fairness.metrics.inputs import Floats

METRICS = ("accuracy", "disparity", "f1", "equalized_odds", "positive_rate")


def scores(label: Any, chance: Any, groups: Any, *, randomised: bool = False) -> dict[str, float]:
    """All of :data:`METRICS` at once, for codes that are known to be sound.

    A decision is 1 where the chance is above one half. A randomised method decides by lot with the given chances, and
    its expected accuracy, F1 (of expected counts), odds and positive rate are given. Disparity is that of mean chances,
    as the paper defines it; between more than two groups it is the largest difference, without a sign. What rests on
    rows that are not there, such as the odds of a group without a favourable label, is NaN.

    Parameters
    ----------
    label
        Labels 0 and 1 to be judged by.
    chance
        P(label = 1) as predicted.
    groups
        The group of each row, 0, 1, ...; with two, 1 is the sensitive group.
    randomised
        Whether the chances are those of a random decision.

    Examples
    --------
    >>> found = scores([1, 1, 0, 1, 0, 0], [0.9, 0.2, 0.1, 0.8, 0.6, 0.1], [1, 1, 1, 0, 0, 0])
    >>> {name: round(value, 3) for name, value in found.items()}
    {'accuracy': 0.667, 'disparity': -0.1, 'f1': 0.667, 'equalized_odds': 0.5, 'positive_rate': 0.5}
    """
    label, chance, groups = (np.asarray(values, dtype=np.float64) for values in (label, chance, groups))
    decision = chance if randomised else (chance > 0.5).astype(np.float64)
    count = int(max(groups.max(initial=0), 1)) + 1
    members = [groups == group for group in range(count)]
    positives = float(label.sum() + decision.sum())
    rates = np.array([[_mean(decision[rows & (label == value)]) for rows in members] for value in (0, 1)])
    return {
        "accuracy": _mean(label * decision + (1 - label) * (1 - decision)),
        "disparity": _gap(np.array([_mean(chance[rows]) for rows in members])),
        "f1": 2 * float(label @ decision) / positives if positives else 0.0,
        "equalized_odds": float(np.ptp(rates, axis=1).max()),
        "positive_rate": _mean(decision),
    }


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _gap(means: Floats) -> float:
    return float(means[1] - means[0]) if len(means) == 2 else float(np.ptp(means))
