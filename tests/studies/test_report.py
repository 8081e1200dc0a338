"""What any study leaves behind."""

from __future__ import annotations

import pandas as pd

from studies.engine.report import summary_of, write_report
from studies.engine.run import Outcome, run
from tests.studies.stacks import Failing, Sums


def test_files(tmp_path):
    outcome = run(Sums(), tmp_path / "stacks")
    (claim,) = write_report(Sums(), outcome, tmp_path / "out")
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {"results.csv", "summary.csv", "count.csv", "figure.pdf", "figure.png", "claims.md"}
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "results.csv"), outcome.results)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "summary.csv"), summary_of(outcome.results))
    text = (tmp_path / "out" / "claims.md").read_text()
    assert text.startswith("# sums: 0 of 1 claims hold, 1 is undecided\n\nSums.\n\n")
    assert f"| the sum is above 0 | {claim.measured} | *undecided* |" in text
    assert text.endswith("Seen.\n")


def test_a_study_in_which_everything_failed_has_a_report(tmp_path):
    empty = Outcome(pd.DataFrame(columns=["x"]), {"ours at label 0": "ValueError: no"})
    assert write_report(Sums(), empty, tmp_path) == []
    assert "ours at label 0: ValueError: no" in (tmp_path / "claims.md").read_text()


def test_what_failed_is_named(tmp_path):
    outcome = run(Sums(Failing()), tmp_path / "stacks")
    write_report(Sums(Failing()), outcome, tmp_path)
    assert "- failing at 2: ValueError: no such thing" in (tmp_path / "claims.md").read_text()
