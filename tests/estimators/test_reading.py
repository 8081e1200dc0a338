"""What people pass as X, y and options by mistake: one line each that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from tests.estimators.data import loans, quick

FRAME, AREA, _, RECORDED = loans(300)
NUMBERS = FRAME[["q0", "q1", "income"]]


def classifier(**options):
    return p4f.DebiasedClassifier(**{**quick(max_epochs=1), **options})


@pytest.fixture(scope="module")
def on_frame():
    return classifier().fit(FRAME, RECORDED)


@pytest.fixture(scope="module")
def on_array():
    return classifier().fit(NUMBERS.to_numpy(), RECORDED)


def test_an_array_in_training_and_a_frame_later(on_array):
    with pytest.raises(P4FError, match=r"columns 'q0', 'q1', 'income', training had 'x0'.* X\.to_numpy\(\)"):
        on_array.predict(NUMBERS)
    assert len(on_array.predict(NUMBERS.to_numpy())) == 300


def test_columns_with_numbers_as_names():
    model = classifier().fit(NUMBERS.set_axis([0, 1, 2], axis=1), RECORDED)
    with pytest.raises(P4FError, match="X has the columns '0', '2', '1', training had '0', '1', '2'"):
        model.predict(NUMBERS.set_axis([0, 2, 1], axis=1))
    np.testing.assert_array_equal(model.predict(NUMBERS.to_numpy()), model.predict(NUMBERS.set_axis([0, 1, 2], axis=1)))


@pytest.mark.parametrize(
    "other",
    [FRAME.assign(more=1), FRAME.drop(columns="job"), FRAME[FRAME.columns[::-1]]],
    ids=["extra", "missing", "order"],
)
def test_other_columns_than_in_training(on_frame, other):
    # The words before are scikit-learn's own, as its checks demand.
    with pytest.raises(ValueError, match=r"Pass the columns of training: X\[list\(model.feature_names_in_\)\]"):
        on_frame.predict(other)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            NUMBERS["income"],
            r"X has one dimension, the shape \[300\].* np.asarray\(X\).reshape\(-1, 1\)",
        ),
        (NUMBERS["income"].tolist(), "X has one dimension"),
        (None, "X is of type NoneType; pass an array or a data frame"),
        ("loans.csv", "X is of type str; pass an array or a data frame"),
        ([[1, 2], [3]], "the rows of X have different lengths"),
        (FRAME.to_numpy(), "array with a cell that is not a number .*clerk.*; pass a data frame"),
        (NUMBERS.to_numpy() + 1j, "Complex data not supported: X has complex numbers; pass their real"),
        (FRAME.assign(income=FRAME["income"] + 1j), "column 'income' has complex numbers; pass their real"),
        (FRAME.assign(job=[[1]] * 300), "column 'job' has a list in row 1; a cell holds one number or text"),
        (FRAME.assign(income=[1.0] * 299 + [{}]), "column 'income' has a dict in row 300"),
        (FRAME.assign(income=np.inf), "infinity: column 'income'; correct it, or leave it empty"),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_wrong_rows_are_one_line(on_frame, data, message):
    for use in (lambda: classifier().fit(data, RECORDED), lambda: on_frame.predict(data)):
        with pytest.raises(P4FError, match=message) as found:
            use()
        assert "\n" not in str(found.value)


def test_frames_of_polars(on_frame):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: FRAME[name].to_list() for name in FRAME})
    for use in (lambda: classifier().fit(frame.lazy(), RECORDED), lambda: on_frame.predict(frame.lazy())):
        with pytest.raises(P4FError, match=r"a LazyFrame has no rows before it is collected; pass its \.collect\(\)"):
            use()
    belief = p4f.LabelBias("area", 0.1, 0.1)
    with pytest.raises(P4FError, match=r"pass its \.collect\(\)"):
        classifier(belief=belief).fit(
            FRAME, RECORDED, sensitive_features=polars.DataFrame({"area": AREA.tolist()}).lazy()
        )
    with pytest.raises(P4FError, match="column 'job' has a ndarray in row 1"):
        on_frame.predict(frame.with_columns(polars.Series("job", [[1]] * 300)))
    with pytest.raises(P4FError, match="column 'job' has several values in each row"):
        on_frame.predict(frame.with_columns(polars.Series("job", [{"a": 1, "b": 2}] * 300)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": p4f.learners.Network(hidden=5)}, r"hidden=5 is not a sequence of widths such as \(32, 32, 32\)"),
        ({"sensitive": 5}, "sensitive=5 is not the name of a column of X, nor a list of names"),
        ({"sensitive": [5]}, r"sensitive=\[5\] is not the name of a column"),
    ],
)
def test_wrong_options_are_one_line(options, message):
    with pytest.raises(P4FError, match=message):
        classifier(**options).fit(FRAME, RECORDED)


@pytest.mark.parametrize("kind", ["Int64", "boolean", "Float64", "string", "category"])
@pytest.mark.parametrize("data", [FRAME, NUMBERS.to_numpy()], ids=["frame", "array"])
def test_labels_that_may_be_missing(kind, data):
    y = pd.Series(RECORDED).astype(kind)
    assert set(classifier().fit(data, y).predict(data)) <= set(y)
    y[3] = None
    with pytest.raises(P4FError, match="y has 1 missing values; drop those rows"):
        classifier().fit(data, y)


def test_labels_of_several_types():
    y = pd.Series(["yes" if label else 0 for label in RECORDED], dtype=object)
    with pytest.raises(P4FError, match="y mixes labels of several types; make all of them texts"):
        classifier().fit(FRAME, y)


def test_a_distorted_feature_of_another_type_than_the_belief_knows():
    belief = p4f.HistoricalBias(["q0"], "area", 0.2, 0.1, values={"q0": ("no", "yes")})
    words = FRAME.assign(area=AREA, q0=np.where(FRAME["q0"] == 1, "yes", "no"))
    model = classifier(belief=belief).fit(words, RECORDED)
    with pytest.raises(P4FError, match="feature 'q0' has the value 1, which is not among 'no', 'yes'"):
        model.predict(FRAME.assign(area=AREA, q0=1)[words.columns])
