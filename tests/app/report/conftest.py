"""A report that several tests look at."""

from __future__ import annotations

import pytest

import problog4fairness as p4f
from tests.app.report.pages import compared, trained


@pytest.fixture(scope="session")
def loans():
    return p4f.datasets.loans(rows=400, audited=200, new=1)


@pytest.fixture(scope="session")
def model(loans):
    return trained(loans)[0]


@pytest.fixture(scope="session")
def report(loans, model):
    return p4f.report(
        model,
        loans.loans,
        audit=loans.audit,
        fair="repaid",
        recorded="granted",
        comparison=compared(model, loans),
    )
