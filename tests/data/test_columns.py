"""Data frames of any library are read at one place; what is none gets one line."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import problog4fairness as p4f
from problog4fairness.data import columns as module
from problog4fairness.data.columns import (
    COUNT,
    complete_rows,
    counted_rows,
    counts_of,
    expand_counts,
    is_frame,
    to_frame,
)
from problog4fairness.data.problems import TableError
from problog4fairness.errors import P4FError

DATA = p4f.datasets.loans(rows=400, audited=200, new=5)
BELIEF = p4f.LabelBias("poor_area", positive=False, affected=[1])
FEATURES = list(DATA.features)


def polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


@pytest.fixture(params=[polars, arrow])
def library(request):
    return request.param


def test_columns_are_those_of_pandas(library):
    frame = pd.DataFrame({"n": [1, 2], "x": [0.5, np.nan], "t": ["a", None]})
    assert is_frame(library(frame))
    found = to_frame(library(frame))
    assert found["n"].tolist() == [1, 2]
    assert found["x"].isna().tolist() == [False, True]
    assert found["t"].isna().tolist() == [False, True]
    assert found["t"][0] == "a"


def test_estimate_plan_check_and_fit_take_frames_of_any_library(library):
    audit, loans = library(DATA.audit), library(DATA.loans)
    said = {"recorded": "granted", "fair": "repaid"}
    estimated = BELIEF.estimate(audit, **said)
    assert estimated.parameters == BELIEF.estimate(DATA.audit, **said).parameters
    # Rows that a plan drew, of which some are filled in.
    todo = BELIEF.plan_audit(loans, recorded="granted").draw()
    todo["fair"] = [label if place % 2 else None for place, label in enumerate(todo["granted"])]
    drawn = BELIEF.estimate(library(todo), recorded="granted", fair="fair").parameters
    assert drawn == BELIEF.estimate(todo, recorded="granted", fair="fair").parameters
    assert estimated.check(loans, recorded="granted").rows == 400
    model = p4f.DebiasedClassifier(estimated, "linear", random_state=0)
    model.fit(library(DATA.loans[FEATURES]), loans["granted"], sensitive_features=loans["poor_area"])
    again = p4f.DebiasedClassifier(estimated, "linear", random_state=0)
    again.fit(DATA.loans[FEATURES], DATA.loans["granted"], sensitive_features=DATA.loans["poor_area"])
    found = model.predict_proba(library(DATA.new[FEATURES]))
    np.testing.assert_allclose(found, again.predict_proba(DATA.new[FEATURES]))


def test_what_is_no_table_is_one_line_with_the_way_out():
    sparse = scipy.sparse.csr_matrix(DATA.loans[["income", "savings"]].to_numpy())
    with pytest.raises(P4FError, match=r"sparse matrix.*\.toarray\(\)") as caught:
        p4f.DebiasedClassifier(BELIEF.bind(None), "linear").fit(sparse, DATA.loans["granted"])
    assert "\n" not in str(caught.value)
    with pytest.raises(P4FError, match="not csr_matrix"):
        BELIEF.estimate(sparse, recorded="granted", fair="repaid")
    with pytest.raises(P4FError, match="not list"):
        BELIEF.estimate([1], recorded="granted", fair="repaid")
    lazy = pytest.importorskip("polars").DataFrame({"x": [1]}).lazy()
    with pytest.raises(P4FError, match=r"\.collect\(\)"):
        to_frame(lazy)


ROWS = 500
RNG = np.random.default_rng(0)
COLUMNS = {
    "numbers": RNG.integers(0, 3, ROWS),
    "numbers with gaps": RNG.choice([0.0, 1.5, np.nan], ROWS),
    "texts": RNG.choice(["a", " a", "b"], ROWS),
    "texts with gaps": pd.Series(RNG.choice(["a", "b", "c"], ROWS)).where(RNG.random(ROWS) < 0.9),
    "flags": RNG.random(ROWS) < 0.5,
    "flags with gaps": pd.Series(RNG.choice([True, False, None], ROWS), dtype=object),
    "categories": pd.Series(pd.Categorical(RNG.choice(["x", "y"], ROWS), categories=["z", "y", "x"])),
    "nullable": pd.Series(RNG.choice([1, 2], ROWS), dtype="Int64").where(RNG.random(ROWS) < 0.9),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_pieces_are_counted_as_the_whole_table_is(name, monkeypatch):
    monkeypatch.setattr(module, "PENDING", 5)
    frame = pd.DataFrame({"other": RNG.integers(0, 2, ROWS), name: COLUMNS[name]})
    found = counted_rows(frame.iloc[i : i + 7] for i in range(0, ROWS, 7))
    first = frame[~frame.duplicated()].reset_index(drop=True)
    pd.testing.assert_frame_equal(found.drop(columns=COUNT), first)
    times = Counter(frame.astype(str).itertuples(index=False, name=None))
    assert found[COUNT].tolist() == [times[own] for own in first.astype(str).itertuples(index=False, name=None)]
    again = counted_rows([expand_counts(found)])
    pd.testing.assert_frame_equal(again, found)


def test_counts_of_a_table_are_added_up():
    frame = pd.DataFrame({"a": ["x", "y", "x"], COUNT: [2, 1, 5]})
    assert counted_rows([frame, frame])[COUNT].tolist() == [14, 2]
    assert counts_of(frame.drop(columns=COUNT)).tolist() == [1, 1, 1]
    with pytest.warns(UserWarning, match="column 'a' has 7 missing values"):
        complete_rows(frame.assign(a=["x", None, None]).assign(**{COUNT: [2, 3, 4]}), ["a"])


@pytest.mark.parametrize("wrong", [0, -1, 1.5, np.nan, "many"])
def test_counts_that_are_none(wrong):
    with pytest.raises(TableError, match=f"the column 'p4f_count' holds {wrong}; it says how many rows"):
        counts_of(pd.DataFrame({COUNT: pd.Series([1, wrong], dtype=object)}))


def test_too_many_values_are_an_error_that_names_the_column(monkeypatch):
    monkeypatch.setattr(module, "MOST", 300)
    monkeypatch.setattr(module, "PENDING", 50)
    pieces = (pd.DataFrame({"sex": [0, 1] * 20, "income": np.arange(40) + 40 * i}) for i in range(1000))
    message = r"more than 300 different rows of 'sex', 'income'; 'income' alone has \d+ values: make classes of it"
    with pytest.raises(TableError, match=message):
        counted_rows(pieces)
    # It is told soon, not at the end.
    assert next(pieces)["income"].iloc[0] < 1000
