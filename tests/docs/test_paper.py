"""The paper: its numbers are those of the stored results, and every reference that it makes is in its list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("said", "study", "stored"),
    [
        ("within .0011", "bias-sweep", r"label: accuracy within .* worst -0.0011 "),
        ("loses .1732", "bias-sweep", r"label: lower loses .* worst -0.1732 "),
        ("78 rows on average", "audit-design", r"\| demo \(5,000\) \| 78 \("),
        ("needs 1,529", "audit-design", r"\| demo \(5,000\) \| .*\| 1,529 \|"),
        ("is 94.8%", "audit-design", r"covers at least 94% .* 94.8% of 2,000"),
        ("in 2.9% of simulations", "checks", r"right, estimated: .* 2.9% of 240"),
        ("in 16.2% of simulations", "checks", r"right, estimated, interacting: .* 16.2% of 240"),
        ("is found in 50.0%", "checks", r"group of 10%: negative \+.15: .* 50.0% of 100"),
        ("reaches .0297", "learners", r"measurement, linear: calibration error .* \+0.0297 "),
    ],
)
def test_a_number_is_that_of_a_stored_result(said, study, stored):
    assert said in PAPER
    claims = (ROOT / "docs" / "results" / study / "claims.md").read_text(encoding="utf-8")
    assert re.search(stored, claims), f"{study} was run again: write its number into paper/paper.md"


def test_references_are_in_the_list():
    listed = set(re.findall(r"@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")))
    body = PAPER.split("---", 2)[2]
    assert set(re.findall(r"@([a-z]+\d{4}\w+)", body)) == listed
