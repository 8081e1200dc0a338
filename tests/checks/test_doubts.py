"""When tests of a belief contradict it."""

from __future__ import annotations

import pytest

from problog4fairness.checks.result import CheckResult, Outcome


def of(*corrected):
    tests = [Outcome(f"test {number}", "?", "", p=p, corrected=p) for number, p in enumerate(corrected)]
    return CheckResult(tuple(tests), rows=100, audited=0)


@pytest.mark.parametrize(
    ("corrected", "contradicted"), [((0.05, 0.9), True), ((0.051, 0.9), False), ((None, None), False), ((), False)]
)
def test_one_test_at_five_percent_is_enough_and_none_above_it(corrected, contradicted):
    doubts = of(*corrected)
    assert doubts.contradicted is contradicted
    assert doubts.table["contradicts"].tolist() == [p is not None and p <= 0.05 for p in corrected]


def test_a_test_that_was_not_done_has_no_number():
    assert not of(None)["test 0"].done
    assert of(None)["test 0"].p_text == "–"
    assert of(0.0002)["test 0"].p_text == "< 0.001"
