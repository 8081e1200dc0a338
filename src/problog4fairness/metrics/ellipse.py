"""Where the means of two metrics lie together: confidence ellipses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from problog4fairness.errors import P4FError, ShapeError
from problog4fairness.metrics.inputs import Floats, column, same_length


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

    def contains(self, x: float, y: float) -> bool:
        """Whether the point (x, y) is in the ellipse."""
        turn = math.radians(self.angle)
        right, up = x - self.centre[0], y - self.centre[1]
        along = right * math.cos(turn) + up * math.sin(turn)
        across = up * math.cos(turn) - right * math.sin(turn)
        a, b = self.width / 2, self.height / 2
        # Without divisions, so that a flat ellipse is a line and not an error.
        return abs(along) <= a and abs(across) <= b and (along * b) ** 2 + (across * a) ** 2 <= (a * b) ** 2


def confidence_ellipse(
    x: Any, y: Any, confidence: float = 0.95, *, scaling: Literal["hotelling", "chi2"] = "hotelling"
) -> Ellipse:
    """The region that holds the *mean* of (x, y) with the given confidence, from the standard errors.

    n (m - mean)' S^-1 (m - mean) <= q

    with S the covariance of the n points. By default q is Hotelling's, 2 (n - 1) / (n - 2) times the quantile of
    F(2, n - 2): exact for normal points, however few. ``scaling="chi2"`` takes the quantile of chi-square with 2
    degrees of freedom, 5.99 at 95%, to which Hotelling's falls as n grows; with 5 points its ellipse has half the
    diameter and holds the mean only three times in four. The paper's Figures 5 and 6 show "a 95% confidence
    region based on the standard error" and do not say which.

    Parameters
    ----------
    x, y
        A value of each metric for every independent repetition. Average the folds of a seed first, for the reason that
        :func:`~problog4fairness.metrics.summarise` gives.
    confidence
        Probability with which such an ellipse holds the true mean.
    scaling
        ``"hotelling"`` (at least 3 points) or ``"chi2"`` (at least 2).

    Examples
    --------
    Four points with variances 4/3 and 1/3 and no covariance; q = 3 (0.05^-1 - 1) = 57.

    >>> ellipse = confidence_ellipse([-1, -1, 1, 1], [0.5, -0.5, 0.5, -0.5])
    >>> ellipse.centre, round(ellipse.width, 3), round(ellipse.height, 3), round(ellipse.angle, 3)
    ((0.0, 0.0), 8.718, 4.359, 0.0)
    """
    points = _points(x, y)
    n = len(points)
    quantile = _quantile(n, confidence, scaling)
    centre = points.mean(axis=0)
    # The covariance of the mean: its diagonal holds the squared standard errors.
    spread = np.cov(points, rowvar=False) / n
    lengths, directions = np.linalg.eigh(spread)
    height, width = 2 * np.sqrt(quantile * np.maximum(lengths, 0))
    angle = math.degrees(math.atan2(directions[1, 1], directions[0, 1]))
    angle = angle - 180 if angle > 90 else angle + 180 if angle <= -90 else angle
    return Ellipse((float(centre[0]), float(centre[1])), float(width), float(height), angle)


def _quantile(n: int, confidence: float, scaling: str) -> float:
    """The bound q; both distributions have closed quantiles with 2 degrees of freedom in the numerator."""
    if not 0 < confidence < 1:
        raise P4FError(f"confidence {confidence:g} is not between 0 and 1")
    if scaling not in ("hotelling", "chi2"):
        raise P4FError(f"scaling {scaling!r} is neither 'hotelling' nor 'chi2'")
    needed = 3 if scaling == "hotelling" else 2
    if n < needed:
        raise P4FError(f"a confidence ellipse by {scaling} needs at least {needed} points, not {n}")
    if scaling == "chi2":
        return -2 * math.log(1 - confidence)
    return float((n - 1) * ((1 - confidence) ** (-2 / (n - 2)) - 1))


def _points(x: Any, y: Any) -> Floats:
    xs, ys = column(x, "x"), column(y, "y")
    same_length(x=xs, y=ys)
    try:
        points = np.column_stack([xs, ys]).astype(np.float64)
    except (TypeError, ValueError):
        raise ShapeError("x and y must hold numbers") from None
    if not np.isfinite(points).all():
        raise P4FError("x and y must be finite")
    return points
