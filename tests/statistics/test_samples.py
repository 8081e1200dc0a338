"""Hoeffding's number, and the rows to draw for it."""

from __future__ import annotations

import numpy as np
import pytest

from problog4fairness.errors import P4FError
from problog4fairness.statistics.proportions import required_samples, rows_to_draw


def test_the_papers_number_rounded_up():
    assert required_samples(error=0.1, confidence=0.95) == 185
    assert required_samples(error=0.05) == 738


@pytest.mark.parametrize(("needed", "share"), [(185, 0.25), (10, 0.03), (1, 0.5), (500, 0.9)])
def test_enough_rows_and_not_one_more_than_needed(needed, share):
    rows = rows_to_draw(needed, share)
    draws = np.random.default_rng(0)
    assert np.mean(draws.binomial(rows, share, 200_000) >= needed) >= 0.948
    assert np.mean(draws.binomial(rows - 2, share, 200_000) >= needed) <= 0.956


def test_a_cell_that_holds_all_rows_needs_no_more():
    assert rows_to_draw(185, 1.0) == 185
    assert rows_to_draw(0, 0.5) == 0


def test_millions_of_rows_are_counted_at_once():
    assert rows_to_draw(required_samples(1e-3), 0.1) == pytest.approx(1_844_440 / 0.1, rel=0.01)


@pytest.mark.parametrize(
    "call",
    [
        lambda: required_samples(0),
        lambda: required_samples(0.1, 1),
        lambda: rows_to_draw(5, 0),
        lambda: rows_to_draw(-1, 0.5),
        lambda: rows_to_draw(5, 0.5, 0),
        lambda: required_samples(1e-12),
        lambda: required_samples(1e-300),
        lambda: rows_to_draw(185, 1e-300),
    ],
)
def test_impossible_wishes(call):
    with pytest.raises(P4FError):
        call()
