"""The metrics that people ask for by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from problog4fairness.metrics.inputs import probabilities
from problog4fairness.metrics.table import MEAN_PROBABILITY_DISPARITY, METRICS


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
    return METRICS["accuracy"](y_true, y_pred, favourable=favourable, sample_weight=sample_weight)


def f1(y_true: Any, y_pred: Any, *, favourable: Any = None, sample_weight: Any = None) -> float:
    """Harmonic mean of precision and recall of the favourable label.

    F1 = 2 TP / (2 TP + FP + FN)

    It is 0 where nobody has the label and nobody is predicted to have it, as scikit-learn has it.

    Parameters
    ----------
    y_true, y_pred, favourable, sample_weight
        As for :func:`accuracy`.

    Examples
    --------
    One true positive, one false negative, no false positive: 2 / (2 + 0 + 1).

    >>> round(f1([1, 0, 1, 0], [1, 0, 0, 0]), 4)
    0.6667
    """
    return METRICS["f1"](y_true, y_pred, favourable=favourable, sample_weight=sample_weight)


def statistical_disparity(
    y_pred: Any,
    *,
    sensitive_features: Any,
    levels: Sequence[Any] = (0, 1),
    favourable: Any = None,
    sample_weight: Any = None,
) -> float:
    """The difference of selection rates: how much more often the sensitive group gets the favourable decision.

    P(decision = 1 | A=1) - P(decision = 1 | A=0)

    Below 0 where the sensitive group gets it less often. Its absolute value is what fairlearn calls
    ``demographic_parity_difference``. Of labels it is the disparity of the data. For probabilities in place of
    decisions see :func:`mean_probability_disparity`.

    Parameters
    ----------
    y_pred
        Decisions 0 and 1, or two other labels of which ``favourable`` names the good one.
    sensitive_features
        The group of each row; two groups.
    levels
        The two groups, the sensitive one last.
    favourable
        The label that counts as 1.
    sample_weight
        Weight of each row.

    Examples
    --------
    >>> area = ["poor", "poor", "rich", "rich"]
    >>> statistical_disparity([0, 1, 1, 1], sensitive_features=area, levels=("rich", "poor"))
    -0.5
    """
    return METRICS["disparity"](
        None,
        y_pred,
        sensitive_features=sensitive_features,
        levels=levels,
        favourable=favourable,
        sample_weight=sample_weight,
    )


def mean_probability_disparity(
    y_prob: Any, *, sensitive_features: Any, levels: Sequence[Any] = (0, 1), sample_weight: Any = None
) -> float:
    """The difference of mean probabilities between two groups: the paper's definition, for its studies.

    mean P(y=1 | A=1) - mean P(y=1 | A=0)

    A classifier that predicts .51 for one group and .49 for the other is nearly fair by it, although every decision
    differs; people are affected by decisions: :func:`statistical_disparity`.

    Parameters
    ----------
    y_prob
        P(y=1) of each row, such as ``predict_proba(X)[:, 1]``.
    sensitive_features
        The group of each row; two groups.
    levels
        The two groups, the sensitive one last.
    sample_weight
        Weight of each row.

    Examples
    --------
    >>> area = ["poor", "poor", "rich", "rich"]
    >>> round(mean_probability_disparity([0.2, 0.4, 0.5, 0.9], sensitive_features=area, levels=("rich", "poor")), 4)
    -0.4
    """
    return MEAN_PROBABILITY_DISPARITY(
        None,
        None,
        y_prob=probabilities(y_prob, "y_prob"),
        sensitive_features=sensitive_features,
        levels=levels,
        sample_weight=sample_weight,
    )


def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    favourable: Any = None,
    sample_weight: Any = None,
) -> float:
    """How far the groups' true positive rates, or their false positive rates, are apart; 0 is equalized odds.

    max(largest TPR - smallest TPR, largest FPR - smallest FPR)

    As fairlearn defines it between groups, but for one thing: where a group has no row of one of the labels, that rate
    is unknown and this is an error, not a 0.

    Parameters
    ----------
    y_true, y_pred
        Labels 0 and 1, or two other labels of which ``favourable`` names the good one.
    sensitive_features
        The group of each row; two groups or more.
    favourable
        The label that counts as 1.
    sample_weight
        Weight of each row.

    Examples
    --------
    Of A = 1 one of two good applicants is accepted, of A = 0 all; no bad one is accepted there, one of two here.

    >>> equalized_odds_difference([1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 0], sensitive_features=[1, 1, 1, 0, 0, 0])
    0.5
    """
    return METRICS["equalized_odds"](
        y_true, y_pred, sensitive_features=sensitive_features, favourable=favourable, sample_weight=sample_weight
    )
