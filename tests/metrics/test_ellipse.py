"""Confidence ellipses: by hand, and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from problog4fairness.errors import P4FError
from problog4fairness.metrics.repetitions import confidence_ellipse


def contains(ellipse, x, y):
    """Whether the point (x, y) is in the ellipse."""
    turn, right, up = math.radians(ellipse.angle), x - ellipse.centre[0], y - ellipse.centre[1]
    along, across = right * math.cos(turn) + up * math.sin(turn), up * math.cos(turn) - right * math.sin(turn)
    return (2 * along / ellipse.width) ** 2 + (2 * across / ellipse.height) ** 2 <= 1


def test_by_hand():
    # Variances 4/3 and 1/3; q = 3 (1 / .05 - 1) = 57; axes 2 sqrt(q var / 4).
    ellipse = confidence_ellipse([-1, -1, 1, 1], [0.5, -0.5, 0.5, -0.5])
    assert ellipse.centre == (0.0, 0.0)
    assert ellipse.width == pytest.approx(2 * math.sqrt(57 / 3), abs=1e-4)
    assert ellipse.height == pytest.approx(math.sqrt(57 / 3), abs=1e-4)
    assert ellipse.angle == pytest.approx(0)


@pytest.mark.parametrize("turn", [-60, 30, 90])
def test_turned_points_turn_the_ellipse(turn):
    x, y = np.array([-1, -1, 1, 1]), np.array([0.5, -0.5, 0.5, -0.5])
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    flat, turned = confidence_ellipse(x, y), confidence_ellipse(3 + c * x - s * y, s * x + c * y - 2)
    assert turned.centre == pytest.approx((3, -2))
    assert (turned.width, turned.height) == pytest.approx((flat.width, flat.height))
    assert math.cos(math.radians(2 * (turned.angle - turn))) == pytest.approx(1)
    assert -90 < turned.angle <= 90


@pytest.mark.parametrize("n", [3, 5, 25])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_scaling_is_the_quantile_that_scipy_gives(n, confidence):
    x, y = np.random.default_rng(n).normal(size=(2, n))
    variance = np.linalg.eigvalsh(np.cov(x, y))[1] / n
    hotelling = 2 * (n - 1) / (n - 2) * stats.f(2, n - 2).ppf(confidence)
    assert confidence_ellipse(x, y, confidence).width == pytest.approx(2 * math.sqrt(hotelling * variance))


@pytest.mark.parametrize("n", [5, 25])
def test_the_mean_is_covered(n):
    random = np.random.default_rng(4)
    covariance = [[0.02**2, 0.7 * 0.02 * 0.05], [0.7 * 0.02 * 0.05, 0.05**2]]
    points = random.multivariate_normal([0.7, -0.1], covariance, size=(4000, n))
    covered = np.mean([contains(confidence_ellipse(p[:, 0], p[:, 1]), 0.7, -0.1) for p in points])
    assert 0.94 <= covered <= 0.96


def test_points_that_do_not_vary():
    flat = confidence_ellipse([1, 2, 3], [5, 5, 5])
    assert (flat.centre, flat.height, flat.angle) == ((2.0, 5.0), 0.0, 0.0)
    assert confidence_ellipse([1, 1, 1], [5, 5, 5]).width == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: confidence_ellipse([1, 2], [1, 2]), "at least 3 points, not 2"),
        (lambda: confidence_ellipse([1, 2, 3], [1, 2]), "y has 2 rows, x has 3"),
        (lambda: confidence_ellipse([1, 2, float("nan")], [1, 2, 3]), "x has 1 missing value"),
        (lambda: confidence_ellipse([1, 2, float("inf")], [1, 2, 3]), "x and y must be finite"),
        (lambda: confidence_ellipse(list("abc"), [1, 2, 3]), "x has the value .a."),
        (lambda: confidence_ellipse([1, 2, 3], [1, 2, 3], 1.0), "confidence 1 is not between 0 and 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(P4FError, match=message):
        call()
