"""Rates by group: who is selected, and who is selected rightly and wrongly."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from problog4fairness.errors import P4FError
from problog4fairness.metrics.inputs import Bools, Floats, Groups, groups, labels, plain, weights

Aggregate = Literal["worst_case", "mean"]


def selection_rates(
    y_pred: Any, *, sensitive_features: Any, favourable: Any = None, sample_weight: Any = None
) -> pd.Series[Any]:
    """Share of each group that is given the favourable label.

    Parameters
    ----------
    y_pred
        Decisions 0 and 1, or two other labels of which ``favourable`` names the good one.
    sensitive_features
        The group of each row, any number of groups; of several columns each combination that occurs is a group.
    favourable
        The label that counts as 1.
    sample_weight
        Weight of each row.

    Returns
    -------
    A rate per group.

    Examples
    --------
    >>> selection_rates([1, 0, 1, 1], sensitive_features=["poor", "poor", "rich", "rich"]).to_dict()
    {'poor': 0.5, 'rich': 1.0}
    """
    (selected,) = labels(favourable, y_pred=y_pred)
    by = groups(sensitive_features, len(selected))
    weight = weights(sample_weight, len(selected))
    total = by.totals(weight)
    for name, amount in zip(by.names, total, strict=True):
        if not amount:
            raise P4FError(f"sample_weight is 0 in every row of the group {plain(name)!r}")
    return pd.Series(by.totals(weight, within=selected) / total, index=by.names, name="selection_rate")


def odds_by_group(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, favourable: Any = None, sample_weight: Any = None
) -> pd.DataFrame:
    """True and false positive rate of each group: P(predicted 1 | true 1) and P(predicted 1 | true 0).

    Parameters are those of :func:`equalized_odds_difference`.

    Examples
    --------
    >>> odds = odds_by_group([1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 0], sensitive_features=[1, 1, 1, 0, 0, 0])
    >>> odds.loc[1].to_dict()
    {'true_positive_rate': 0.5, 'false_positive_rate': 0.0}
    """
    true, predicted = labels(favourable, y_true=y_true, y_pred=y_pred)
    by = groups(sensitive_features, len(true))
    weight = weights(sample_weight, len(true))
    rates = {}
    for name, rows in (("true_positive_rate", true), ("false_positive_rate", ~true)):
        selected, total = selected_among(rows, predicted, by, weight)
        rates[name] = selected / total
    return pd.DataFrame(rates, index=by.names)


def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    favourable: Any = None,
    sample_weight: Any = None,
    agg: Aggregate = "worst_case",
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
    agg
        ``"mean"`` takes the mean of the two differences instead of the larger one.

    Examples
    --------
    Of A = 1 one of two good applicants is accepted, of A = 0 all; no bad one is accepted there, one of two here.

    >>> equalized_odds_difference([1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 0], sensitive_features=[1, 1, 1, 0, 0, 0])
    0.5
    """
    rates = odds_by_group(
        y_true, y_pred, sensitive_features=sensitive_features, favourable=favourable, sample_weight=sample_weight
    ).to_numpy()
    if len(rates) < 2:
        raise P4FError("sensitive_features have one group; equalized odds compares two or more")
    return aggregate(np.ptp(rates, axis=0), agg)


def selected_among(rows: Bools, selected: Bools, by: Groups, weight: Floats | None = None) -> tuple[Floats, Floats]:
    """For each group, how many of ``rows`` are selected, and how many there are, which is never 0."""
    weight = np.ones(len(rows)) if weight is None else weight
    total = by.totals(weight, within=rows)
    for name, amount in zip(by.names, total, strict=True):
        if not amount:
            raise P4FError(
                f"the group {plain(name)!r} lacks rows of one true label, so a rate of its odds is unknown; "
                "test on more rows"
            )
    return by.totals(weight, within=rows & selected), total


def aggregate(differences: Floats, agg: str) -> float:
    """The differences in true and in false positive rates as one number."""
    if agg not in ("worst_case", "mean"):
        raise P4FError(f"agg {agg!r} is neither 'worst_case' nor 'mean'")
    return float(np.max(differences) if agg == "worst_case" else np.mean(differences))
