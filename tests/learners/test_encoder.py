"""From columns to the network's input: the numbers of scikit-learn's own steps, and types that are the model's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from problog4fairness.errors import P4FError
from problog4fairness.learners.encoder import LEAST_ROWS, MAX_CATEGORIES, as_numbers, make_encoder, text_codes


def people(rows=2000):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "income": np.where(rng.random(rows) < 0.1, np.nan, rng.lognormal(7, 2, rows)),
            "town": rng.integers(0, 2 * MAX_CATEGORIES, rows).astype(str),
            "children": rng.integers(0, 4, rows),
            "job": np.where(rng.random(rows) < 0.1, None, rng.choice(["clerk", "nurse"], rows)),
            "constant": 3.5,
            "nothing": np.nan,
        }
    )


def prepared(frame):
    """Numbers as floats, everything else as text."""
    columns = {}
    for name, column in frame.items():
        codes, texts = text_codes(column)
        number = pd.api.types.is_numeric_dtype(column)
        columns[name] = as_numbers(column) if number else np.array(texts, dtype=object)[codes]
    return pd.DataFrame(columns, index=frame.index)


def scikit_learn(frame):
    numbers = [name for name in frame if frame[name].dtype == np.float64]
    filled = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    indicators = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False, dtype=np.float32
    )
    others = [name for name in frame if name not in numbers]
    return ColumnTransformer([("numbers", filled, numbers), ("categories", indicators, others)]).fit(frame)


@pytest.mark.parametrize("columns", [["income", "children"], ["job"], list(people(1))])
def test_the_numbers_are_those_of_scikit_learn(columns):
    frame = people()[columns]
    new = people(300).assign(town=lambda f: f["town"].where(f.index != 3, "Atlantis"), income=7.0)[columns]
    encoder, reference = make_encoder(frame), scikit_learn(prepared(frame))
    for rows in (frame, new):
        expected = np.asarray(reference.transform(prepared(rows)), dtype=np.float32)
        np.testing.assert_allclose(encoder.transform(rows), expected, rtol=1e-6, atol=1e-12)
    assert len(encoder.slots) == encoder.transform(new).shape[1]


def test_types_of_columns_are_those_of_training():
    train = pd.DataFrame({"code": ["1", "2", "7A"] * 10, "income": range(30)})
    encoder = make_encoder(train)
    text = encoder.transform(pd.DataFrame({"code": ["1", "2", None], "income": ["5", " 6.5 ", None]}))
    for kind in ("int64", "float64", "Int64"):
        numbers = pd.DataFrame({"code": [1, 2], "income": [5.0, 6.5]}).astype({"code": kind})
        np.testing.assert_array_equal(encoder.transform(numbers), text[:2])
    np.testing.assert_array_equal(
        encoder.transform(pd.DataFrame({"code": [1, 2, np.nan], "income": [5, 6.5, None]})), text
    )


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "7A"], "column 'income' has '7A' in row 2, which is not a number, and the model was trained on numbers"),
        (["1", "1_000"], "has '1_000' in row 2, which is not a number"),
        ([1.0, 1e308], r"has 1e\+308 in row 2, which is too large"),
        ([-1e308, 2.0], r"has -1e\+308 in row 1, which is too large"),
        (["1", "1e999"], "has '1e999' in row 2, which is too large"),
        ([1, 10**400], "in row 2, which is too large"),
    ],
)
def test_cells_that_are_no_numbers_are_named(cells, message):
    encoder = make_encoder(pd.DataFrame({"income": range(30)}))
    with pytest.raises(P4FError, match=message):
        encoder.check(pd.DataFrame({"income": cells}))


def test_numbers_too_large_to_scale_are_refused_in_training():
    with pytest.raises(P4FError, match=r"column 'income' has values up to 1e\+308, too large to be scaled"):
        make_encoder(pd.DataFrame({"income": [1.0, 1e308, -1e308]}))


def test_the_inputs_of_a_column_do_not_grow_with_its_values():
    rng = np.random.default_rng(0)
    rows = 3000
    frame = pd.DataFrame(
        {
            "name": [f"n{i % 1500}" for i in range(rows)],
            "charge": [f"c{min(i, 400)}" for i in rng.zipf(1.5, rows)],
            "job": rng.choice(["clerk", "nurse", "smith"], rows, p=[0.001, 0.499, 0.5]),
        }
    )
    encoder = make_encoder(frame)
    assert encoder.categories["name"] == ()  # no value in LEAST_ROWS rows: nobody is learned by name
    assert encoder.categories["job"] == ("clerk", "nurse", "smith")  # few values, all told apart
    counts = frame["charge"].value_counts()
    assert set(encoder.categories["charge"]) <= set(counts.index[counts >= LEAST_ROWS])
    assert 10 < len(encoder.categories["charge"]) < MAX_CATEGORIES
    assert encoder.rare == {"name", "charge"}
    assert encoder.transform(frame).sum(axis=1).tolist() == [3.0] * rows


def test_large_tables_are_encoded_in_pieces_to_the_same_numbers(monkeypatch):
    frame = people(200)
    encoder = make_encoder(frame)
    whole = encoder.transform(frame)
    monkeypatch.setattr("problog4fairness.learners.encoder.CHUNK", 70)
    np.testing.assert_array_equal(encoder.transform(frame), whole)
    np.testing.assert_array_equal(encoder.transform(frame, np.float64).astype(np.float32), whole)
