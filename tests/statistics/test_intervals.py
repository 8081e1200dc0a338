"""Intervals for what strata say together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from problog4fairness.errors import P4FError
from problog4fairness.statistics.proportions import (
    Ratio,
    _many_shares,
    effective_rows,
    most_likely_shares,
)

ENDLESS = np.array([1e12])


def numbers(*values):
    return np.array(values, dtype=np.float64)


def one(hits, rows, size=1e12):
    low, high = Ratio(numbers(1), numbers(0), 1.0).score_interval(numbers(hits), numbers(rows), numbers(size), 0.95)
    return float(low), float(high)


def ratio(hits, rows, sizes):
    """P(recorded as the first | fair), from two strata."""
    sizes = numbers(*sizes)
    return Ratio(sizes * [1, 0], sizes, 0.0).score_interval(
        np.asarray(hits, float), np.asarray(rows, float), sizes, 0.95
    )


@pytest.mark.parametrize(("hits", "rows"), [(0, 15), (3, 20), (50, 100), (15, 15), (200, 1000)])
def test_one_stratum_is_wilson_with_a_correction(hits, rows):
    test = stats.binomtest(hits, rows)
    expected = test.proportion_ci(method="wilsoncc")
    low, high = one(hits, rows)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.004)


def test_rows_of_a_small_table_tell_more_and_all_of_them_everything():
    wide, narrow = one(20, 50), one(20, 50, 60)
    assert narrow[1] - narrow[0] < (wide[1] - wide[0]) / 2
    assert one(20, 50, 50) == pytest.approx((0.4, 0.4))
    assert one(20, 50, 60)[0] >= 20 / 60
    assert one(20, 50, 60)[1] <= 30 / 60
    assert effective_rows(numbers(0, 10), numbers(5, 1e12)).tolist() == pytest.approx([0, 10])


def test_most_likely_shares_satisfy_the_hypothesis_and_nothing_is_more_likely():
    hits, rows = numbers(3, 12), numbers(20, 15)
    factors, wanted = numbers(4.0, -1.0), np.asarray(0.5)
    found = most_likely_shares(hits, rows, factors, wanted)
    assert (factors * found).sum() == pytest.approx(0.5)

    def likelihood(shares):
        return (hits * np.log(shares) + (rows - hits) * np.log(1 - shares)).sum()

    for move in (-0.01, 0.01):
        other = found + numbers(move, 4 * move)
        assert likelihood(other) < likelihood(found)


def test_the_formula_for_two_strata_is_what_halving_finds():
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 200, (300, 2)).astype(float)
    hits = np.floor(rng.random((300, 2)) * (rows + 1))
    factors = rng.random((300, 2)) * [5.0, -300.0]
    nothing = np.zeros(300)
    found = most_likely_shares(hits, rows, factors, nothing)
    np.testing.assert_allclose(found, _many_shares(hits, rows, factors, nothing), atol=1e-6)


def test_nothing_is_known_without_rows():
    low, high = ratio([3, 0], [10, 0], [100, 100])
    assert (float(low), float(high)) == (0, 1)


@pytest.mark.parametrize("cells", [((300, 80), (20, 200)), ((3000, 800), (200, 2000)), ((50, 54), (17, 307))])
def test_the_score_interval_covers_the_truth(cells):
    cells, rng = np.array(cells), np.random.default_rng(0)
    hits = np.stack([rng.hypergeometric(cell[1], cell[0], 40, 600) for cell in cells], axis=-1)
    low, high = ratio(hits, np.full(hits.shape, 40), cells.sum(axis=1))
    truth = cells[0, 1] / cells[:, 1].sum()
    assert np.mean((low <= truth + 1e-9) & (truth <= high + 1e-9)) > 0.94


def test_confidence_is_checked():
    with pytest.raises(P4FError, match="confidence 2 is not between 0 and 1"):
        Ratio(numbers(1), numbers(0), 1.0).score_interval(numbers(1), numbers(2), ENDLESS, 2)
