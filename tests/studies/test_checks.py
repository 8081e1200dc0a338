"""The study of false alarms and power: its situations, numbers, claims and figure."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from studies.check_cells import METRICS, SITUATIONS, TRUE, belief_of, drawn
from studies.checks import CheckStudy, check_study
from studies.engine.run import identity_of, run

BY_NAME = {own.name: own for own in SITUATIONS}
TINY = CheckStudy(2, 1, 600, 60, (BY_NAME["right, estimated"], BY_NAME["no bias at all"]))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    outcome = run(TINY, tmp_path_factory.mktemp("stacks"))
    assert not outcome.failures
    return outcome.results


def test_people_are_recorded_as_the_situation_says():
    _, audit = drawn(BY_NAME["right, stated"], 10, 40_000, 0)
    lost = 1 - audit[audit["fair"] == 1].groupby("group")["recorded"].mean()
    assert lost.tolist() == pytest.approx([TRUE.neg0, TRUE.neg1], abs=0.02)
    given = audit[audit["fair"] == 0].groupby("group")["recorded"].mean()
    assert given.tolist() == pytest.approx([TRUE.pos0, TRUE.pos1], abs=0.02)
    _, audit = drawn(BY_NAME["bias moves by ±.15 with yes or no"], 10, 40_000, 0)
    lost = 1 - audit[audit["fair"] == 1].groupby(["group", "x5"])["recorded"].mean()
    assert lost.tolist() == pytest.approx([0, 0.3, 0.25, 0.55], abs=0.02)
    _, audit = drawn(BY_NAME["no bias at all"], 10, 100, 0)
    assert (audit["recorded"] == audit["fair"]).all()


def test_columns_that_were_swapped_turn_the_belief_round():
    _, audit = drawn(BY_NAME["recorded and fair swapped"], 10, 4000, 0)
    values = {own.name: own.value for own in belief_of(BY_NAME["recorded and fair swapped"], audit).parameters}
    assert values["p1"] < 0.2 < values["p3"]


def test_numbers_claims_and_figure(results):
    assert len(results) == 3 * len(METRICS)
    shares = TINY.tables(results)["shares"].set_index("case")
    assert shares["simulations"].to_dict() == {"right, estimated": 2, "no bias at all": 1}
    assert shares.loc["no bias at all", "contradicted"] == 1
    claims = TINY.claims(results)
    assert [claim.text.split(": ")[1] for claim in claims] == [
        "contradicted in at most 5% of the simulations",
        "contradicted in at least 80% of the simulations",
    ]
    assert claims[1].holds
    assert claims[1].measured.startswith("100.0% of 1 (")
    assert len(TINY.figures(results)["figure"].axes) == 2
    assert TINY.claims(pd.DataFrame(columns=results.columns)) == []


def test_more_simulations_keep_those_that_are_stored():
    few, more = check_study(seeds=40).stacks(), check_study(seeds=60).stacks()
    known = [identity_of(own) for own in more]
    assert all(identity_of(own) in known for own in few)
    assert identity_of(replace(few[0], audited=300)) not in known
    assert len(check_study().stacks()) == 15 * 15 + 15 * 5


def test_a_run_that_was_stopped_early_says_what_it_does_not_decide(results):
    assert TINY.remarks(results) == []
    more = replace(TINY, right=300)
    assert "; 300 are planned" in more.claims(results)[0].measured
    (told,) = more.remarks(results)
    assert "3 of 301 simulations were done" in told
    assert {claim.verdict for claim in more.claims(results)} == {"undecided"}
