"""Reports from tables in which labels are written in several ways."""

from __future__ import annotations

import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.app.report import build, evidence
from problog4fairness.errors import P4FError
from problog4fairness.learners import Network
from tests.app.report.pages import quick

BELIEF = p4f.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=False)
WORDS = {0: "no", 1: "yes"}


def test_the_report_compares_with_the_model_itself(loans, monkeypatch):
    asked = {}

    def compare_rows(rows, model, **options):
        asked.update(options, rows=rows, model=model)
        raise P4FError("not now")

    monkeypatch.setattr(evidence, "compare_rows", compare_rows)
    model = p4f.DebiasedClassifier(BELIEF, Network(hidden=(3,), max_epochs=1), favourable=0, random_state=0)
    model.fit(loans.loans.drop(columns="granted"), loans.loans["granted"])
    found = p4f.report(model, loans.loans, sensitivity=False)
    assert found.warnings[-1] == "The comparison with other methods could not be made: not now"
    assert asked["model"] is model
    assert asked["rows"].rows.classes == (1, 0)


def test_an_audit_beside_the_data_needs_no_table_of_its_own(loans):
    data = loans.audit.assign(repaid=loans.audit["repaid"].map({0: "bad", 1: "good"}))
    model = p4f.DebiasedClassifier(BELIEF, **quick(max_epochs=1))
    model.fit(data.drop(columns=["granted", "repaid"]), data["granted"])
    off = {"comparison": False, "sensitivity": False}
    report = build.report_tables(model, data, fair="repaid", favourable="good", **off)
    assert report.audited.loc["all", "fair"] == pytest.approx(loans.audit["repaid"].mean())
    assert build.report_tables(model, data, **off).audited is None
    with pytest.raises(P4FError, match="by fair="):
        build.report_tables(model, data, audit=data, **off)
    with pytest.raises(P4FError, match="column 'income' cannot be the fair label"):
        build.report_tables(model, data, fair="income", **off)
    empty = pytest.warns(p4f.data.FileWarning, match="200 missing")
    with pytest.raises(P4FError, match="no row has a value in each of"), empty:
        build.report_tables(model, data.assign(granted=pd.NA), **off)
