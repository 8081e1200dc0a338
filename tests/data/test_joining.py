"""Audited rows among recorded ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data.joining import with_audit
from problog4fairness.errors import P4FError

DATA = pd.DataFrame(
    {
        "job": ["clerk", "nurse", None, "clerk", "clerk"],
        "income": [1.0, 2.0, np.nan, 1.0, 7.0],
        "granted": [0, 1, 0, 0, 1],
    }
)


def test_equal_rows_are_the_same_people_each_once():
    audit = DATA.iloc[[3, 2, 0, 3]].assign(repaid=[1, 0, 1, 1])
    rows, fair = with_audit(DATA, audit, fair="repaid")
    # Two of the three equal rows of the audit are the two of the data; the third is somebody else.
    assert len(rows) == 6
    assert fair.isna().tolist() == [False, True, False, False, True, False]
    assert fair.dropna().tolist() == [1, 0, 1, 1]
    assert rows.iloc[-1]["job"] == "clerk"


def test_only_shared_columns_matter():
    audit = pd.DataFrame({"income": [7.0], "repaid": ["yes"], "auditor": ["Kim"]})
    rows, fair = with_audit(DATA, audit, fair="repaid")
    assert rows.equals(DATA)
    assert fair.tolist()[4] == "yes"


def test_rows_that_cannot_be_added_are_an_error():
    audit = pd.DataFrame({"income": [9.0], "repaid": [1]})
    with pytest.raises(P4FError, match="1 audited rows are not among the data and lack the column 'job'"):
        with_audit(DATA, audit, fair="repaid")
    with pytest.raises(P4FError, match=r"no column .* in common with the data, which have job"):
        with_audit(DATA, audit[["repaid"]], fair="repaid")
    with pytest.raises(P4FError, match="no column 'paid' in the audit"):
        with_audit(DATA, audit, fair="paid")


def test_an_audit_that_does_not_tell_rows_apart_is_an_error():
    audit = pd.DataFrame({"job": ["clerk"], "repaid": [1]})
    with pytest.raises(P4FError, match="several rows of the data, which differ in 'income'"):
        with_audit(DATA, audit, fair="repaid")
    # Rows that are equal in all that matters may stand for each other, whatever their numbers.
    numbered = DATA.assign(number=range(5))
    rows, fair = with_audit(numbered, DATA.iloc[[0]].assign(repaid=1), fair="repaid")
    assert len(rows) == 5
    assert fair.tolist()[0] == 1
    _, fair = with_audit(DATA, audit[["job", "repaid"]].assign(job="nurse"), fair="repaid", needed=["job", "granted"])
    assert fair.tolist()[1] == 1
