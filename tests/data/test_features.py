"""Columns that identify rows, say nothing or give the label away are noticed."""

from __future__ import annotations

import uuid
import warnings

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data.features import dates, feature_columns, identifiers
from problog4fairness.data.problems import FileWarning, TableError

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


def test_names_and_case_numbers_of_a_raw_table_identify_rows():
    rng = np.random.default_rng(1)
    rows = 6_172
    charges = np.minimum(rng.zipf(1.4, rows), 389)
    frame = pd.DataFrame(
        {
            "name": [f"n{i}" for i in np.concatenate([np.arange(2_493), rng.integers(0, 2_493, rows - 2_493)])],
            "case": [f"13{i:06d}CF10A" if i < 2_990 else None for i in rng.permutation(rows)],
            "charge": [f"charge {i}" for i in charges],
        }
    )
    assert identifiers(frame) == ["name", "case"]


def test_dates_are_left_out_with_a_warning_and_kept_on_demand():
    days = pd.Series(pd.date_range("2013-01-01", periods=ROWS).astype(str))
    frame = pd.DataFrame(
        {
            "birth": days.str.replace("-", "/"),
            "jail": [f"{day} 06:03:42" if i % 3 else None for i, day in enumerate(days)],
            "us": pd.date_range("2013-01-01", periods=ROWS).strftime("%m/%d/%y"),
            "dated": pd.date_range("2013-01-01", periods=ROWS),
            "term": RNG.choice(["2013-09-01", "2014-09-01"], ROWS),
            "size": RNG.choice(["1-2", "3-4"], ROWS),
            "income": RNG.lognormal(8, 1, ROWS),
        }
    )
    assert dates(frame) == ["birth", "jail", "us", "dated"]
    with pytest.warns(FileWarning, match="columns 'birth', 'us', 'dated' hold dates and were left out") as told:
        assert feature_columns(frame, keep=["jail"]) == ["jail", "term", "size", "income"]
    assert len(told) == 1


def test_named_features_are_the_only_ones_whatever_they_look_like():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert feature_columns(FRAME, features=["income", "customer"]) == ["customer", "income"]
        assert feature_columns(FRAME, features=["income"], keep=["age"]) == ["income", "age"]
    with pytest.raises(TableError, match=r"features='aeg'.*did you mean 'age'"):
        feature_columns(FRAME, features=["aeg"])
    with pytest.raises(TableError, match="both kept and dropped"):
        feature_columns(FRAME, features=["age"], drop=["age"])


def test_an_id_that_some_rows_share_identifies_rows():
    numbers = np.random.default_rng(0).integers(0, 300, 200)
    frame = pd.DataFrame({"id_student": numbers, "paid": numbers, "kind_id": numbers % 5})
    assert identifiers(frame) == ["id_student"]
