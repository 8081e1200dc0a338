"""How often predictions are right."""

from __future__ import annotations

from typing import Any

import numpy as np

from problog4fairness.metrics.inputs import labels, weights


def accuracy(y_true: Any, y_pred: Any, *, favourable: Any = None, sample_weight: Any = None) -> float:
    """Share of rows whose predicted label is the true one.

    Parameters
    ----------
    y_true, y_pred
        Labels 0 and 1, or two other labels of which ``favourable`` names the good one.
    favourable
        The label that counts as 1.
    sample_weight
        Weight of each row.

    Examples
    --------
    >>> accuracy([1, 0, 1, 1], [1, 0, 0, 1])
    0.75
    >>> accuracy(["paid", "default"], ["paid", "paid"], favourable="paid")
    0.5
    """
    true, predicted = labels(favourable, y_true=y_true, y_pred=y_pred)
    return float(np.average(true == predicted, weights=weights(sample_weight, len(true))))


def f1(y_true: Any, y_pred: Any, *, favourable: Any = None, sample_weight: Any = None) -> float:
    """Harmonic mean of precision and recall of the favourable label.

    F1 = 2 TP / (2 TP + FP + FN)

    It is 0 where nobody has the label and nobody is predicted to have it, as scikit-learn has it.

    Parameters
    ----------
    y_true, y_pred
        Labels 0 and 1, or two other labels of which ``favourable`` names the good one.
    favourable
        The label that counts as 1.
    sample_weight
        Weight of each row.

    Examples
    --------
    One true positive, one false negative, no false positive: 2 / (2 + 0 + 1).

    >>> round(f1([1, 0, 1, 0], [1, 0, 0, 0]), 4)
    0.6667
    """
    true, predicted = labels(favourable, y_true=y_true, y_pred=y_pred)
    weight = weights(sample_weight, len(true))
    both = float(weight[true & predicted].sum())
    either = float(weight[true].sum() + weight[predicted].sum())
    return 2 * both / either if either else 0.0
