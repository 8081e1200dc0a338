"""Whether one group gets the favourable label more often than the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from problog4fairness.errors import P4FError
from problog4fairness.metrics.inputs import in_sensitive_group, probabilities, weights


def statistical_disparity(
    y_prob: Any, *, sensitive_features: Any, levels: Sequence[Any] = (0, 1), sample_weight: Any = None
) -> float:
    """How much more favourably the sensitive group is treated; below 0 where it is treated worse.

    mean P(y=1 | A=1) - mean P(y=1 | A=0)

    The paper's definition: a difference of mean *probabilities*, so a classifier that says .51 to one group and .49 to
    the other is nearly fair. Pass labels 0 and 1 for the disparity of decisions or of data; its absolute value is what
    fairlearn calls ``demographic_parity_difference``.

    Parameters
    ----------
    y_prob
        P(y=1) of each row, such as ``predict_proba(X)[:, 1]``, or labels 0 and 1.
    sensitive_features
        The group of each row; two groups.
    levels
        The two groups, the sensitive one last.
    sample_weight
        Weight of each row.

    Examples
    --------
    >>> area = ["poor", "poor", "rich", "rich"]
    >>> round(statistical_disparity([0.2, 0.4, 0.5, 0.9], sensitive_features=area, levels=("rich", "poor")), 4)
    -0.4
    """
    probability = probabilities(y_prob, "y_prob")
    sensitive = in_sensitive_group(sensitive_features, len(probability), levels)
    weight = weights(sample_weight, len(probability))
    means = []
    for level, rows in zip(levels, (~sensitive, sensitive), strict=True):
        if not weight[rows].any():
            raise P4FError(f"sample_weight is 0 in every row of the group {level!r}")
        means.append(float(np.average(probability[rows], weights=weight[rows])))
    return means[1] - means[0]
