"""Errors of crowds with known truth: against Dawid and Skene, with copies, hard rows and rare errors."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs.templates.records.annotators import Annotators
from tests.beliefs.crowds import Crowd, crowd, dawid_skene

LONG = {"row": "item", "annotator": "worker", "label": "label"}


def estimated(made: Crowd, sensitive=None, **options) -> tuple[Annotators, np.ndarray, list[str]]:
    """The belief, whether the decisions of its votes are right, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        belief = Annotators(made.workers, sensitive, **options).estimate(made.votes, recorded=LONG)
    right = (belief.fair_proba(made.votes, recorded=LONG) > 0.5) == made.fair
    return belief, right, [str(own.message) for own in caught if issubclass(own.category, p4f.audit.AuditWarning)]


def test_with_many_votes_it_is_dawid_and_skenes_model():
    made = crowd(0, items=4000, workers=6, each=6)
    belief, right, _ = estimated(made, symmetric=False, hard_rows=False)
    fair, errors = dawid_skene(made.votes)
    found = np.array([[own.value for own in belief.parameters if own.cell.fair == f] for f in (0, 1)]).T
    np.testing.assert_allclose(found, errors, atol=0.01)
    assert right.mean() == pytest.approx(((fair > 0.5) == made.fair).mean(), abs=0.005)


def test_rows_that_are_hard_for_all_are_recognised_and_warned_of():
    gains, prevalence = [], []
    for seed in (0, 2, 3):
        made = crowd(seed, items=1000, workers=30, each=8, prevalence=0.22, symmetric=True, hard=0.4, answer=0.7,
                     hard_only_unfavourable=True)  # fmt: skip
        belief, right, messages = estimated(made)
        fair, _ = dawid_skene(made.votes)
        gains.append(right.mean() - ((fair > 0.5) == made.fair).mean())
        prevalence.append(belief.fair_proba(made.votes, recorded=LONG).mean() - made.fair.mean())
        assert belief.hard_rows
        assert any("err on the same rows" in message for message in messages)
    assert np.mean(gains) > 0.05
    # Dawid and Skene's model gives about .5 where .22 are right.
    assert np.mean(prevalence) < 0.13


def test_without_hard_rows_there_is_no_warning_of_them():
    belief, _, messages = estimated(crowd(1, items=600, workers=20, each=6, symmetric=True))
    assert (belief.hard_rows, belief.symmetric) == (False, True)
    assert messages == []


def test_asymmetric_errors_are_found_where_they_are():
    belief, _, _ = estimated(crowd(2, items=1500, workers=6, each=6))
    assert belief.symmetric is False


def test_annotators_who_copy_are_warned_of():
    _, _, messages = estimated(crowd(3, items=600, workers=7, each=7, errors=(3, 7), copies=2))
    assert any("do not err independently" in message and "pairs" in message for message in messages)


def test_one_warning_for_all_that_the_votes_hardly_tell():
    _, _, messages = estimated(crowd(4, items=100, workers=30, each=3, minority=0.1), "group")
    assert len([message for message in messages if "hardly tell" in message]) == 1


def test_few_votes_are_shrunk_towards_the_other_annotators():
    made = crowd(5, items=1500, workers=12, each=5, errors=(20, 80))
    votes = made.votes[(made.votes["worker"] != "w0") | (made.votes["item"] < 12)]
    belief = Annotators(made.workers).estimate(votes, recorded=LONG)
    few = [own for own in belief.parameters if own.cell.feature == "w0"]
    assert all(abs(own.value - 0.2) < 0.1 for own in few)
    others = [own for own in belief.parameters if own.cell.feature == "w1"]
    assert all(a.high - a.low > b.high - b.low for a, b in zip(few, others, strict=True))


def test_intervals_of_rare_errors_in_a_small_group_cover():
    covered = []
    for seed in range(8):
        made = crowd(seed, items=800, workers=6, each=6, errors=(1, 19), minority=0.12)
        belief = Annotators(made.workers, "group").estimate(made.wide)
        for own in belief.parameters:
            if own.cell is not None and own.cell.group == 1:
                worker = made.workers.index(own.cell.feature)
                covered.append(own.low <= made.errors[worker, 1, own.cell.fair] <= own.high)
    assert np.mean(covered) > 0.87


def test_long_and_wide_tables_give_the_same():
    made = crowd(6, items=300, workers=8, each=4, minority=0.3)
    known = pd.Series(made.fair, dtype=float).where(np.arange(300) < 50)
    long = made.votes.sort_values("item", kind="stable").reset_index(drop=True)
    belief = Annotators(made.workers, "group")
    one = belief.estimate(long.assign(fair=known[long["item"]].to_numpy()), recorded=LONG, fair="fair")
    other = belief.estimate(made.wide.assign(fair=known), fair="fair")
    assert [own.value for own in one.parameters] == pytest.approx([own.value for own in other.parameters])
    np.testing.assert_allclose(one.fair_proba(long, recorded=LONG), other.fair_proba(made.wide))


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_an_annotator_without_a_vote_in_a_group_is_as_the_others_there():
    made = crowd(7, items=600, workers=8, each=5, minority=0.3)
    votes = made.votes[(made.votes["worker"] != "w0") | (made.votes["group"] == 0)]
    belief = Annotators(made.workers, "group").estimate(votes, recorded=LONG)
    errors = {own.cell.feature: own.value for own in belief.parameters if own.cell and own.cell[:2] == (1, 1)}
    unseen = errors.pop("w0")
    assert min(errors.values()) <= unseen <= max(errors.values())


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_a_check_goes_on_where_somebody_always_says_the_same():
    made = crowd(8, items=600, workers=4, each=4, symmetric=True)
    rng = np.random.default_rng(0)
    table = made.wide.assign(w3=1.0, x=made.fair + rng.normal(size=600), group=rng.integers(0, 2, 600))
    result = Annotators(made.workers, "group").estimate(table, features=["x"]).check(table)
    assert any("w3" in note for note in result.notes)
    assert any(test.done for test in result)
