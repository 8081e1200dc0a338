"""Columns that identify rows, say nothing or give the label away are noticed."""

from __future__ import annotations

import uuid
import warnings

import numpy as np
import pandas as pd
import pytest

from problog4fairness.rows import FileWarning, TableError, feature_columns, identifiers

ROWS = 300
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "customer": np.arange(ROWS) + 1000,
        "uuid": [str(uuid.UUID(int=i)) for i in RNG.integers(0, 2**63, ROWS)],
        "name": [f"person {i // 2 * 2 if i % 5 else i}" for i in range(ROWS)],
        "account": RNG.permutation(np.arange(ROWS) * 7919 + 10_000_000),
        "caseId": RNG.choice(100_000, ROWS, replace=False),
        "income": RNG.lognormal(8, 1, ROWS),
        "salary": RNG.choice(90_000, ROWS, replace=False),
        "age": RNG.integers(18, 90, ROWS),
        "city": RNG.choice(["Rome", "Oslo"], ROWS),
        "granted": RNG.integers(0, 2, ROWS),
        "country": "here",
    }
)


def test_identifiers_are_told_from_measurements():
    assert identifiers(FRAME) == ["customer", "uuid", "name", "account", "caseId"]
    assert identifiers(FRAME[:10]) == []


def test_they_are_left_out_with_a_warning_and_kept_on_demand():
    with pytest.warns(FileWarning) as told:
        names = feature_columns(FRAME, leave_out=["granted"], keep=["caseId"], drop=["age"], label="granted")
    assert names == ["caseId", "income", "salary", "city"]
    said = [str(t.message) for t in told]
    assert said[0].startswith("columns 'customer', 'uuid', 'name', 'account' identify rows and were left out")
    assert said[1] == "column 'country' has one value only and was left out"
    assert len(said) == 2


def test_a_column_that_says_the_same_as_the_label_is_warned_of():
    data = FRAME[["income", "granted"]].assign(
        refused=np.where(FRAME["granted"] == 1, "no", "yes"), near=RNG.integers(0, 2, ROWS)
    )
    with pytest.warns(FileWarning, match="column 'refused' says the same as the label 'granted'"):
        assert feature_columns(data, leave_out=["granted"], label="granted") == ["income", "refused", "near"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        feature_columns(data, leave_out=["granted"], drop=["refused"], label="granted")


def test_names_must_exist_and_something_must_be_left():
    with pytest.raises(TableError, match=r"drop='aeg'.*did you mean 'age'"):
        feature_columns(FRAME, drop=["aeg"])
    with pytest.raises(TableError, match="both kept and dropped"):
        feature_columns(FRAME, drop=["age"], keep=["age"])
    with pytest.warns(FileWarning), pytest.raises(TableError, match="no column is left"):
        feature_columns(FRAME[["customer", "granted"]], leave_out=["granted"])
