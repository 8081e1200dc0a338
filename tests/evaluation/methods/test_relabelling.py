"""Massaging against tables worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problog4fairness.evaluation.methods.massaging import flips_needed, massage


def rng(seed=0):
    return np.random.default_rng(seed)


def disparity(labels, sensitive):
    labels, sensitive = np.asarray(labels), np.asarray(sensitive)
    return labels[sensitive == 0].mean() - labels[sensitive == 1].mean()


def table(positive_other, other, positive_sensitive, sensitive):
    """Labels and groups with these counts."""
    labels = [1] * positive_other + [0] * (other - positive_other)
    labels += [1] * positive_sensitive + [0] * (sensitive - positive_sensitive)
    return np.array(labels), np.array([0] * other + [1] * sensitive)


# (positive, all) of the other group, (positive, all) of the sensitive group, M; M* = (k_o n_s - k_s n_o) / n
TABLES = [
    ((3, 4), (1, 4), 1),  # 3/4 against 1/4: M* = (12 - 4) / 8 = 1
    ((6, 10), (2, 10), 2),  # M* = 40 / 20
    ((7, 10), (2, 5), 1),  # M* = (35 - 20) / 15
    ((5, 5), (0, 5), 2),  # M* = 2.5: two and three are equally near, fewer flips win
    ((4, 4), (0, 2), 1),  # M* = 8 / 6 = 1.33
    ((5, 5), (0, 3), 2),  # M* = 15 / 8 = 1.875
    ((2, 4), (2, 4), 0),  # fair
    ((1, 4), (3, 4), 0),  # the sensitive group is ahead
    ((3, 5), (2, 4), 0),  # M* = (12 - 10) / 9 = 0.22
]


@pytest.mark.parametrize(("other", "sensitive", "pairs"), TABLES)
@pytest.mark.parametrize("tied", [True, False])
def test_tables_worked_by_hand(other, sensitive, pairs, tied):
    labels, groups = table(*other, *sensitive)
    scores = np.full(len(labels), 0.5) if tied else rng(1).uniform(size=len(labels))
    massaged = massage(labels, scores, groups, rng())
    assert flips_needed(labels, groups) == pairs
    assert ((massaged > labels) & (groups == 1)).sum() == pairs
    assert ((massaged < labels) & (groups == 0)).sum() == pairs
    assert (massaged != labels).sum() == 2 * pairs


def test_the_best_are_promoted_and_the_worst_demoted():
    #                  other group            sensitive group
    labels = np.array([1, 1, 1, 1, 0, 0] + [1, 0, 0, 0, 0, 0])
    scores = np.array([0.9, 0.6, 0.8, 0.7, 0.5, 0.1] + [0.2, 0.4, 0.9, 0.1, 0.6, 0.3])
    groups = np.array([0] * 6 + [1] * 6)
    # M* = (4 * 6 - 1 * 6) / 12 = 1.5, so one of each: 0.6 goes down, 0.9 goes up
    assert massage(labels, scores, groups, rng()).tolist() == [1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0]


def test_ties_are_broken_by_the_seed_and_evenly():
    labels, groups = table(3, 4, 1, 4)
    scores = np.full(8, 0.5)
    runs = np.array([massage(labels, scores, groups, rng(seed)) for seed in range(600)])
    assert (massage(labels, scores, groups, rng(7)) == massage(labels, scores, groups, rng(7))).all()
    changed = (runs != labels).mean(axis=0)
    assert changed[[3, 4]].tolist() == [0, 0]
    np.testing.assert_allclose(changed[[0, 1, 2, 5, 6, 7]], 1 / 3, atol=0.08)


def test_input_is_not_changed():
    labels, groups = table(3, 4, 1, 4)
    before = labels.copy()
    massage(labels, np.arange(8.0), groups, rng())
    assert (labels == before).all()


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_no_other_number_of_flips_is_nearer_to_zero(other, sensitive, data):
    k_other = data.draw(st.integers(0, other))
    k_sensitive = data.draw(st.integers(0, sensitive))
    labels, groups = table(k_other, other, k_sensitive, sensitive)
    scores = np.array(data.draw(st.lists(st.sampled_from([0.1, 0.5]), min_size=len(labels), max_size=len(labels))))
    massaged = massage(labels, scores, groups, rng())
    possible = range(min(k_other, sensitive - k_sensitive) + 1)
    left = [abs((k_other - m) / other - (k_sensitive + m) / sensitive) for m in possible]
    assert massaged.sum() == labels.sum()
    if disparity(labels, groups) <= 0:
        assert (massaged == labels).all()
    else:
        assert abs(disparity(massaged, groups)) == pytest.approx(min(left), abs=1e-12)
