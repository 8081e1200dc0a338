"""Comparisons and reports from tables in which labels are written in several ways."""

from __future__ import annotations

import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.app.report import refits
from problog4fairness.app.report.files import tables
from problog4fairness.errors import P4FError
from problog4fairness.learners import Network
from tests.app.report.pages import quick

BELIEF = p4f.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=False)
WORDS = {0: "no", 1: "yes"}


@pytest.fixture
def asked(monkeypatch):
    """What the comparison is asked, without making it."""
    found = {}

    def compare(X, y, **options):  # noqa: N803
        found.update(options, X=X, y=y)
        raise P4FError("not now")

    monkeypatch.setattr(tables, "compare", compare)
    monkeypatch.setattr(refits, "compare", compare)
    return found


def test_fair_labels_are_compared_in_the_values_of_the_recorded_ones(loans, asked):
    data = loans.loans.assign(granted=loans.loans["granted"].map(WORDS))
    audit = loans.audit.assign(granted=loans.audit["granted"].map(WORDS))
    with pytest.raises(P4FError, match="not now"), pytest.warns(p4f.audit.AuditWarning, match="none of the 200"):
        tables.compare_tables(
            data, BELIEF, recorded="granted", audit=audit, fair="repaid", favourable="yes", learner="network"
        )
    assert len(asked["X"]) == 600
    assert "repaid" not in asked["X"]
    assert asked["fair"].isna().sum() == 400
    assert asked["fair"].tolist()[400:] == audit["repaid"].map(WORDS).tolist()
    assert asked["learner"] == "network"
    assert asked["belief"] is BELIEF


def test_fair_labels_beside_the_data_follow_rows_that_are_left_out(loans, asked):
    data = loans.audit.assign(repaid=loans.audit["repaid"].where(loans.audit.index < 50))
    data.loc[0, "granted"] = None
    with pytest.raises(P4FError, match="not now"), pytest.warns(p4f.data.FileWarning, match="1 missing"):
        tables.compare_tables(data, BELIEF, recorded="granted", fair="repaid", favourable=1)
    assert asked["fair"].dropna().tolist() == loans.audit["repaid"][1:50].tolist()


def test_the_report_compares_with_the_settings_of_the_model(loans, asked):
    data = loans.loans
    learner = Network(hidden=(3,), max_epochs=1)
    model = p4f.DebiasedClassifier(BELIEF, learner, use_sensitive=True, favourable=0, random_state=0)
    model.fit(data.drop(columns="granted"), data["granted"])
    found = p4f.report(model, data, sensitivity=False)
    assert found.warnings[-1] == "The comparison with other methods could not be made: not now"
    assert asked["learner"] is learner
    assert asked["use_sensitive"] is True
    assert asked["favourable"] == 0


def test_an_audit_beside_the_data_needs_no_table_of_its_own(loans):
    data = loans.audit.assign(repaid=loans.audit["repaid"].map({0: "bad", 1: "good"}))
    model = p4f.DebiasedClassifier(BELIEF, **quick(max_epochs=1))
    model.fit(data.drop(columns=["granted", "repaid"]), data["granted"])
    off = {"comparison": False, "sensitivity": False}
    report = tables.report_tables(model, data, fair="repaid", favourable="good", **off)
    assert report.audited.loc["all", "fair"] == pytest.approx(loans.audit["repaid"].mean())
    assert tables.report_tables(model, data, **off).audited is None
    with pytest.raises(P4FError, match="by fair="):
        tables.report_tables(model, data, audit=data, **off)
    with pytest.raises(P4FError, match="column 'income' cannot be the fair label"):
        tables.report_tables(model, data, fair="income", **off)
    empty = pytest.warns(p4f.data.FileWarning, match="200 missing")
    with pytest.raises(P4FError, match="no row has a value in each of"), empty:
        tables.report_tables(model, data.assign(granted=pd.NA), **off)
