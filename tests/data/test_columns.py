"""Data frames of any library are read at one place; what is none gets one line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import problog4fairness as p4f
from problog4fairness.data.columns import is_frame, to_frame
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
