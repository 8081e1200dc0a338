"""The metrics of the paper: its disparity is that of mean probabilities."""

from __future__ import annotations

from typing import Any

from problog4fairness import metrics


def paper_scores(label: Any, chance: Any, groups: Any, *, randomised: bool = False) -> dict[str, float]:
    """As :func:`problog4fairness.metrics.scores`, with the *mean-probability* disparity as ``disparity``.

    Parameters
    ----------
    label, chance, groups, randomised
        As for :func:`problog4fairness.metrics.scores`.
    """
    # The expected decisions of a method that decides by lot with these chances have the chances as their mean.
    by_lot = metrics.scores(label, chance, groups, randomised=True)
    return {**metrics.scores(label, chance, groups, randomised=randomised), "disparity": by_lot["disparity"]}
