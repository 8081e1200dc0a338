"""Intervals against simulation and against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problog4fairness.errors import P4FError
from problog4fairness.statistics.proportions import interval, proportion


def test_wilson_by_hand():
    # z = 1.959964, 1 of 10: centre (0.1 + 0.19207) / 1.38415, half-width 0.27823 / 1.38415
    low, high = interval(0.1, 10)
    assert low == pytest.approx(0.01788, abs=1e-4)
    assert high == pytest.approx(0.40415, abs=1e-4)


@pytest.mark.parametrize("truth", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("rows", [20, 200])
def test_intervals_cover_the_truth(truth, rows):
    counts = np.random.default_rng(0).binomial(rows, truth, size=4000)
    covered = np.mean([e.low <= truth <= e.high for e in (proportion(int(k), rows) for k in counts)])
    assert 0.91 <= covered <= 0.995


def test_ends_are_exact_and_no_rows_is_no_knowledge():
    assert proportion(0, 50).low == 0.0
    assert proportion(50, 50).high == 1.0
    nothing = proportion(0, 0)
    assert math.isnan(nothing.value)
    assert (nothing.low, nothing.high, nothing.rows) == (0.0, 1.0, 0)


def test_more_confidence_is_wider():
    assert proportion(3, 10, 0.99).width > proportion(3, 10, 0.95).width > proportion(3, 10, 0.5).width


@pytest.mark.parametrize(("successes", "rows"), [(-1, 5), (6, 5)])
def test_impossible_counts(successes, rows):
    with pytest.raises(P4FError, match="is not a proportion"):
        proportion(successes, rows)


def test_impossible_confidence():
    with pytest.raises(P4FError, match=r"confidence 1.5 is not between 0 and 1"):
        interval(0.5, 10, 1.5)
