"""Repetitions of an experiment: means, standard errors, and confidence ellipses of two metrics at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from problog4fairness.errors import P4FError
from problog4fairness.metrics.predictions import numbers, same_length
from problog4fairness.statistics import check_confidence

_COLUMNS = ("mean", "standard_error", "low", "high", "n")


def summarise(
    frame: pd.DataFrame, by: Sequence[str], *, value: str = "value", unit: str | None = "seed", confidence: float = 0.95
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
    averages = frame.assign(**{value: frame[value].astype(float)})
    kept = {"sort": False, "observed": True, "dropna": False}
    if unit is not None:
        averages = averages.groupby([*by, unit], **kept)[value].mean().reset_index()
    result = averages.groupby(by, **kept)[value].agg(mean="mean", standard_error="sem", n="count").reset_index()
    freedom = (result["n"] - 1).where(result["n"] > 1).to_numpy(dtype=float)
    half = stdtrit(freedom, (1 + confidence) / 2) * result["standard_error"].to_numpy()
    result.insert(len(by) + 2, "low", result["mean"] - half)
    result.insert(len(by) + 3, "high", result["mean"] + half)
    return result


def _check(frame: Any, by: list[str], value: str, unit: str | None, confidence: float) -> None:
    check_confidence(confidence)
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
    if not np.isfinite(numbers(frame[value], f"column {value!r}", "numbers")).all():
        raise P4FError(f"column {value!r} has values that are not finite; drop those rows")


@dataclass(frozen=True)
class Ellipse:
    """An ellipse, in the words of ``matplotlib.patches.Ellipse``.

    Attributes
    ----------
    centre
        The means of x and y.
    width, height
        Full lengths of the longer and of the shorter axis; 0 where the points do not vary in that direction.
    angle
        Degrees from the x-axis to the longer axis, against the clock, above -90 and at most 90.

    Examples
    --------
    >>> from problog4fairness.metrics import Ellipse
    >>> Ellipse(centre=(0.8, 0.0), width=0.1, height=0.02, angle=0.0).width
    0.1
    """

    centre: tuple[float, float]
    width: float
    height: float
    angle: float


def confidence_ellipse(x: Any, y: Any, confidence: float = 0.95) -> Ellipse:
    """The region that holds the *mean* of (x, y) with the given confidence, from the standard errors.

    n (m - mean)' S^-1 (m - mean) <= q

    with S the covariance of the n points and Hotelling's q, 2 (n - 1) / (n - 2) times the quantile of F(2, n - 2):
    exact for normal points, however few. The quantile of chi-square in its place would hold the mean of 5 points only
    three times in four. The paper's Figures 5 and 6 do not say which they use.

    Parameters
    ----------
    x, y
        A value of each metric for every independent repetition, 3 or more. Average the folds of a seed first, for the
        reason that :func:`~problog4fairness.metrics.summarise` gives.
    confidence
        Probability with which such an ellipse holds the true mean.

    Examples
    --------
    Four points with variances 4/3 and 1/3 and no covariance; q = 3 (0.05^-1 - 1) = 57.

    >>> ellipse = confidence_ellipse([-1, -1, 1, 1], [0.5, -0.5, 0.5, -0.5])
    >>> ellipse.centre, round(ellipse.width, 3), round(ellipse.height, 3), round(ellipse.angle, 3)
    ((0.0, 0.0), 8.718, 4.359, 0.0)
    """
    xs, ys = numbers(x, "x", "numbers"), numbers(y, "y", "numbers")
    same_length(x=xs, y=ys)
    points = np.column_stack([xs, ys])
    if not np.isfinite(points).all():
        raise P4FError("x and y must be finite")
    check_confidence(confidence)
    n = len(points)
    if n < 3:
        raise P4FError(f"a confidence ellipse needs at least 3 points, not {n}")
    # The quantile of F has a closed form with 2 degrees of freedom in the numerator.
    quantile = (n - 1) * ((1 - confidence) ** (-2 / (n - 2)) - 1)
    # The covariance of the mean: its diagonal holds the squared standard errors.
    lengths, directions = np.linalg.eigh(np.cov(points, rowvar=False) / n)
    height, width = 2 * np.sqrt(quantile * np.maximum(lengths, 0))
    angle = math.degrees(math.atan2(directions[1, 1], directions[0, 1]))
    angle = angle - 180 if angle > 90 else angle + 180 if angle <= -90 else angle
    centre = points.mean(axis=0)
    return Ellipse((float(centre[0]), float(centre[1])), float(width), float(height), angle)
