"""Predictive quality and fairness, with uncertainty.

Three kinds of numbers, in the order in which a study needs them:

- *of one classifier*: :func:`accuracy`, :func:`f1`, :func:`statistical_disparity`, :func:`selection_rates`,
  :func:`odds_by_group`, :func:`equalized_odds_difference`;
- *how sure one test set makes us of them*: the ``..._interval`` functions, from counts, without resampling;
- *how sure repetitions make us of them*: :func:`summarise` over seeds and folds, :func:`confidence_ellipse` for two
  metrics at once.

Everywhere y = 1 is the favourable label and A = 1 the sensitive group; other labels and groups are named by
``favourable`` and ``levels``. Inputs are matched row by row, by position; the index of a series is not looked at.
"""

from problog4fairness.metrics.differences import difference_interval
from problog4fairness.metrics.disparity import statistical_disparity
from problog4fairness.metrics.ellipse import Ellipse, confidence_ellipse
from problog4fairness.metrics.intervals import (
    accuracy_interval,
    disparity_interval,
    equalized_odds_interval,
    f1_interval,
    selection_rate_intervals,
)
from problog4fairness.metrics.quality import accuracy, f1
from problog4fairness.metrics.rates import equalized_odds_difference, odds_by_group, selection_rates
from problog4fairness.metrics.scores import scores
from problog4fairness.metrics.summary import summarise

__all__ = [
    "Ellipse",
    "accuracy",
    "accuracy_interval",
    "confidence_ellipse",
    "difference_interval",
    "disparity_interval",
    "equalized_odds_difference",
    "equalized_odds_interval",
    "f1",
    "f1_interval",
    "odds_by_group",
    "scores",
    "selection_rate_intervals",
    "selection_rates",
    "statistical_disparity",
    "summarise",
]
