"""The study of audits: tables of which everything is known, audited in rounds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness import LabelBias, datasets
from studies import audit_cells
from studies.audit_cells import ALWAYS, INTERVALS, ROWS, SCORE, AuditStack, simulate
from studies.audit_design import audit_study, hoeffding_rows, made_up, normal_rows
from studies.audit_training import AUDITS, ERROR_OF
from studies.engine.report import write_report
from studies.engine.run import run

CASE = made_up("made up", 5000, 0.3, 0.5)


def test_what_is_simulated_is_what_a_plan_does():
    loans = datasets.loans(rows=1000).loans
    plan = LabelBias("poor_area", positive=False, affected=[1]).plan_audit(loans, recorded="granted")
    least = plan.strata["to_draw"].tolist()
    assert least == [audit_cells.TEST, audit_cells.TEST, audit_cells.PILOT, audit_cells.TEST]


def test_simulated_audits_end_and_their_intervals_hold():
    found = simulate(CASE, 40, np.random.default_rng(0))
    assert (found[ROWS, ""] < normal_rows(CASE)).all()
    for name in (SCORE, ALWAYS):
        held = [values.mean() for (metric, _), values in found.items() if metric == name]
        assert len(held) == 4
        assert np.mean(held) > 0.9


def test_rows_of_random_audits():
    assert hoeffding_rows(made_up("rare", 50_000, 0.3, 0.2)) == 3084
    assert normal_rows(CASE, by_group=True) < normal_rows(CASE) < hoeffding_rows(CASE)


def test_a_stack_has_a_row_for_each_key():
    stack = AuditStack(CASE, (3, 4))
    assert len(set(map(tuple, stack.keys()))) == len(stack.keys()) == 2 * (2 + 4 * len(INTERVALS))


def test_the_report_says_which_goals_are_met(tmp_path):
    study = audit_study(seeds=12, quick=True)
    study = type(study)(study.cases[:1], 12, 1)
    outcome = run(study, tmp_path / "stacks", jobs=1)
    assert not outcome.failures
    claims = write_report(study, outcome, tmp_path)
    assert claims[0].text == "at most a fifth of the Hoeffding rows in three of four cases"
    assert claims[0].holds
    errors = outcome.results[outcome.results["metric"] == ERROR_OF]
    assert errors["parameter"].tolist() == list(AUDITS)
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert rows["rows"][0] == pytest.approx(87, abs=15)
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    assert "worst coverage of a parameter" in (tmp_path / "claims.md").read_text()
