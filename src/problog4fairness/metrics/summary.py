"""Means and standard errors over repetitions of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from problog4fairness.errors import P4FError

_COLUMNS = ("mean", "standard_error", "low", "high", "n")


def summarise(
    frame: pd.DataFrame,
    by: Sequence[str],
    *,
    value: str = "value",
    unit: str | None = "seed",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Mean, standard error and interval of each group of a long table of results, a row per cell and metric.

    **Folds of one seed** are averaged first, and the standard error is that of the seeds' averages:

    mean = (1/n) Σ m_s,  standard_error = sqrt(Σ (m_s - mean)^2 / (n - 1)) / sqrt(n),  n = number of seeds

    The folds of a seed share most of their training rows, and all of them share one data set, so they are no
    independent repetitions: to count 5 seeds × 5 folds as 25 makes errors look smaller than they are. With
    ``unit=None`` every row is a repetition, as many papers do.

    Parameters
    ----------
    frame
        The results. Where it has a column ``metric`` with several metrics, ``by`` must name it.
    by
        Columns whose combinations are summarised separately.
    value
        The column of numbers.
    unit
        The column that tells independent repetitions apart; None for every row.
    confidence
        Probability with which the interval holds the true mean.

    Returns
    -------
    A row per group in the order of first appearance: the columns ``by``, then ``mean``, ``standard_error``, ``low`` and
    ``high`` (Student's t with n - 1 degrees of freedom) and ``n``. With n = 1 the error is unknown: NaN.

    Examples
    --------
    Two seeds of two folds: averages .7 and .8, whose standard deviation is .0707.

    >>> results = pd.DataFrame(
    ...     {"method": "lower", "metric": "accuracy", "seed": [0, 0, 1, 1], "value": [0.6, 0.8, 0.75, 0.85]}
    ... )
    >>> row = summarise(results, by=["method", "metric"]).iloc[0]
    >>> f"{row['mean']:.3f} ± {row['standard_error']:.3f}, n = {row['n']}"
    '0.750 ± 0.050, n = 2'
    """
    by = [by] if isinstance(by, str) else list(dict.fromkeys(by))
    _check(frame, by, value, unit, confidence)
    numbers = frame.assign(**{value: frame[value].astype(float)})
    kept = {"sort": False, "observed": True, "dropna": False}
    if unit is not None:
        numbers = numbers.groupby([*by, unit], **kept)[value].mean().reset_index()
    result = numbers.groupby(by, **kept)[value].agg(mean="mean", standard_error="sem", n="count").reset_index()
    freedom = (result["n"] - 1).where(result["n"] > 1).to_numpy(dtype=float)
    half = stdtrit(freedom, (1 + confidence) / 2) * result["standard_error"].to_numpy()
    result.insert(len(by) + 2, "low", result["mean"] - half)
    result.insert(len(by) + 3, "high", result["mean"] + half)
    return result


def _check(frame: Any, by: list[str], value: str, unit: str | None, confidence: float) -> None:
    if not 0 < confidence < 1:
        raise P4FError(f"confidence {confidence:g} is not between 0 and 1")
    if not isinstance(frame, pd.DataFrame):
        raise P4FError(f"results must be a pandas DataFrame, not {type(frame).__name__}")
    if not by:
        raise P4FError("by must name at least one column")
    taken = next((name for name in by if name in _COLUMNS), None)
    if taken is not None:
        raise P4FError(f"{taken!r} cannot be in by, for the summary has a column of that name; rename it")
    known = ", ".join(map(str, frame.columns)) or "none"
    for name in [*by, value]:
        if name not in frame.columns:
            raise P4FError(f"no column {name!r} in the results; there are {known}")
    if unit is not None and unit not in frame.columns:
        raise P4FError(
            f"no column {unit!r} in the results to tell repetitions apart; unit=None counts every row as one"
        )
    if unit in by:
        raise P4FError(f"{unit!r} is in by and is the unit; unit=None counts every row as a repetition")
    if "metric" in frame.columns and "metric" not in by and frame["metric"].nunique() > 1:
        raise P4FError("the results hold several metrics; name the column 'metric' in by, or choose one metric")
    if not len(frame):
        raise P4FError("the results have no rows")
    try:
        numbers = frame[value].astype(float).to_numpy()
    except (TypeError, ValueError):
        raise P4FError(f"column {value!r} of the results must hold numbers") from None
    missing = int((~np.isfinite(numbers)).sum())
    if missing:
        raise P4FError(f"column {value!r} has {missing} values that are missing or not finite; drop those rows")
