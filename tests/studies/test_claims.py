"""Three verdicts on a claim, and what the paper says beside it."""

from __future__ import annotations

import pandas as pd
import pytest

from studies.engine.claims import above, claims_table, counted, often, within
from studies.said import said


def values(*means: float, spread: float = 0.01) -> pd.Series[float]:
    """A value for each of four seeds at each place, so far apart."""
    index, found = [], []
    for x, mean in enumerate(means):
        for seed, offset in enumerate((-spread, -spread / 3, spread / 3, spread)):
            index.append((float(x), seed))
            found.append(mean + offset)
    return pd.Series(found, index=pd.MultiIndex.from_tuples(index, names=["x", "seed"]))


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (values(0.1, 0.2), "holds"),
        (values(0.1, 0.001), "undecided"),
        (values(0.1, -0.001), "undecided"),
        (values(0.1, -0.1), "fails"),
    ],
)
def test_a_claim_holds_only_where_the_whole_interval_is_on_its_side(measured, verdict):
    (claim,) = above("ours is ahead", measured)
    assert claim.verdict == verdict
    assert claim.line.startswith(verdict)


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (values(0.0), "holds"),
        (values(0.045), "undecided"),
        (values(0.06), "undecided"),
        (values(-0.1), "fails"),
        (values(0.0, spread=0.2), "undecided"),
    ],
)
def test_a_bound_has_two_sides(measured, verdict):
    (claim,) = within("within .05", measured, 0.05)
    assert claim.verdict == verdict


def test_the_place_that_leaves_a_claim_open_is_the_one_that_is_told():
    sure, unsure = values(0.03, spread=0.01), values(0.0, 0.04, spread=0.05)
    both = pd.concat([sure, unsure[unsure.index.get_level_values("x") == 1.0]])
    (claim,) = above("ours is ahead", both)
    assert claim.verdict == "undecided"
    assert claim.measured.startswith("worst +0.0400 (")
    assert claim.measured.endswith(" at 1")


def test_one_seed_decides_nothing():
    one = values(0.1)
    (claim,) = above("ours is ahead", one[one.index.get_level_values("seed") == 0])
    assert (claim.holds, claim.verdict) == (True, "undecided")


def test_verdicts_are_counted_and_stand_beside_the_papers_words():
    found = [claim for mean in (0.1, 0.001, -0.1) for claim in above("ours is ahead", values(mean))]
    assert counted(found) == "1 of 3 claims hold, 1 is undecided, 1 fails"
    lines = claims_table(found, lambda _: '"words" (Figure 5)')
    assert [line.split(" | ")[2] for line in lines[-3:]] == ["holds", "*undecided*", "**fails**"]
    assert all(line.endswith('"words" (Figure 5) |') for line in lines[-3:])
    assert "set here" not in lines[0]
    assert claims_table(found)[0].endswith("they and their numbers were set here.")


@pytest.mark.parametrize(
    ("hits", "rarely", "verdict"),
    [(95, False, "holds"), (82, False, "undecided"), (60, False, "fails"), (60, True, "holds"), (95, True, "fails")],
)
def test_a_share_of_simulations_is_judged_by_its_interval(hits, rarely, verdict):
    claim = often("it is found", pd.Series([1.0] * hits + [0.0] * (100 - hits)), 0.8, rarely=rarely)
    assert claim.verdict == verdict
    assert claim.measured.startswith(f"{hits:.1f}% of 100 (")


def test_who_chose_a_threshold_is_said():
    assert said("bias-sweep", "label: disparity within .01 of upper at every β").endswith("the number was chosen here")
    sign = said("student", "'no positive bias' is ahead of ours in F1 on fair labels")
    assert "Figure 5, RQ5" in sign
    assert sign.endswith("the sign decides")
    assert said("one of my own", "anything") == ""
