"""From a probability to a decision: the one rule that predictions, files, reports, comparisons and metrics share."""

from __future__ import annotations

from typing import Any

import numpy as np

from problog4fairness.metrics.inputs import Codes, Floats


def decide(probability: Any, threshold: float = 0.5) -> Codes:
    """The label that is decided for, by its position among the labels; the favourable one is the last.

    Of two labels the favourable one is decided where its probability is at least the threshold, so that P = 0.5 is
    decided favourably. Of more than two the likeliest is decided, of equally likely ones the last.

    Parameters
    ----------
    probability
        ``[rows]``: P(favourable) of two labels; or ``[rows, classes]`` such as ``predict_proba`` gives.
    threshold
        From which probability on the favourable one of two labels is decided; without meaning for more than two.

    Examples
    --------
    >>> from problog4fairness.metrics import decide
    >>> decide([0.2, 0.5, 0.8]).tolist(), decide([0.2, 0.5, 0.8], threshold=0.6).tolist()
    ([0, 1, 1], [0, 0, 1])
    >>> decide([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]]).tolist()
    [1, 2]
    """
    chances = np.asarray(probability)
    if chances.ndim == 2 and chances.shape[1] > 2:
        last = chances.shape[1] - 1
        return np.asarray(last - chances[:, ::-1].argmax(axis=1), dtype=np.int64)
    favourable = chances[:, 1] if chances.ndim == 2 else chances
    return np.asarray(favourable >= threshold, dtype=np.int64)


def selected(probability: Any, threshold: float = 0.5) -> Floats:
    """1 for each row that is decided favourably, 0 for the others: what selection rates are the means of.

    Parameters
    ----------
    probability, threshold
        As for :func:`decide`.

    Examples
    --------
    >>> from problog4fairness.metrics.decisions import selected
    >>> selected([0.2, 0.5, 0.8]).tolist(), selected([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]]).tolist()
    ([0.0, 1.0, 1.0], [0.0, 1.0])
    """
    chances = np.asarray(probability)
    favourable = chances.shape[1] - 1 if chances.ndim == 2 else 1
    return np.asarray(decide(chances, threshold) == favourable, dtype=np.float64)
