from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.beliefs import SelectiveLabels
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.data import compared_rows

X = pd.DataFrame({"age": [30, 40, 50, 60], "area": ["poor", "rich", "poor", "rich"]})
Y = [1, 0, 1, 0]


def test_a_sensitive_column_by_name():
    found = compared_rows(X, Y, sensitive_features="area", levels=("rich", "poor"))
    assert found.groups.tolist() == [1, 0, 1, 0]
    assert found.sensitive.columns == ("area",)
    assert found.fair.tolist() == [-1] * 4


@pytest.mark.parametrize(
    "given", [[1, 0, 1, 0], np.array([1, 0, 1, 0]), pd.Series([1, 0, 1, 0], name="b"), {"b": [1, 0, 1, 0]}]
)
def test_a_sensitive_column_beside_the_features_joins_them(given):
    found = compared_rows(X[["age"]], Y, sensitive_features=given, names=["b"])
    assert found.rows.frame.columns.tolist() == ["age", "b"]
    assert found.groups.tolist() == [1, 0, 1, 0]


def test_several_columns_make_groups_of_combinations():
    frame = X.assign(sex=["f", "f", "m", "m"])
    found = compared_rows(frame, Y, sensitive_features=["area", "sex"])
    assert found.sensitive.levels == (("poor", "f"), ("poor", "m"), ("rich", "f"), ("rich", "m"))
    assert found.groups.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_fair_labels_of_some_rows(missing):
    given = pd.Series(["yes", missing, "no", missing], dtype=object)
    found = compared_rows(X, ["no", "no", "yes", "no"], sensitive_features=[0, 1, 0, 1], fair=given, favourable="no")
    assert found.recorded.tolist() == [1, 1, 0, 1]
    assert found.fair.tolist() == [0, -1, 1, -1]


def test_three_classes_with_the_favourable_one_last():
    labels, groups = ["a", "b", "c", "b"], [0, 1, 0, 1]
    found = compared_rows(X, labels, sensitive_features=groups, fair=["b", None, "c", "a"], favourable="b")
    assert found.rows.classes == ("a", "c", "b")
    assert found.recorded.tolist() == [0, 2, 1, 2]
    assert found.fair.tolist() == [2, -1, 1, 0]
    in_order = compared_rows(X, labels, sensitive_features=groups, classes=("c", "b", "a"))
    assert in_order.recorded.tolist() == [2, 1, 0, 1]


def test_fair_labels_as_floats():
    found = compared_rows(X, Y, sensitive_features=[0, 1, 0, 1], fair=[1.0, np.nan, 0.0, 0.0])
    assert found.fair.tolist() == [1, -1, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sensitive_features": None}, "which columns are sensitive"),
        ({"sensitive_features": "height"}, "no column 'height'"),
        ({"sensitive_features": "area"}, "say which one is the sensitive group by levels="),
        ({"sensitive_features": "area", "levels": ("rich", "middle")}, "has the value 'poor'"),
        (
            {"sensitive_features": "area", "levels": ("rich", "poor", "middle")},
            "no row has area = middle; leave that group out",
        ),
        ({"sensitive_features": "area", "levels": ("poor",)}, "two or more different groups"),
        ({"sensitive_features": [0, None, 1, 1]}, "has 1 missing values"),
        ({"sensitive_features": [0, 0.5, 1, 1], "levels": (0, 1)}, "has probabilities of groups"),
        ({"sensitive_features": [0, 1, 1]}, "have 3 rows, X has 4"),
        ({"fair": [1, 0]}, "4 rows and 2 fair labels"),
        ({"fair": [2, None, None, None]}, "has the label 2"),
        (
            {"X": pd.concat([X] * 6), "y": range(24), "sensitive_features": [0, 1] * 12},
            "y has 24 labels, more than 20; make classes of them",
        ),
        ({"y": [0, 0, 0, 0]}, "y has one class only"),
        ({"y": [0, 1]}, "y must be one column of 4 labels"),
        ({"y": [0, 1, None, 1]}, "y has 1 missing values"),
        ({"split_groups": [1, 2]}, "split_groups has 2 values, X has 4 rows"),
        ({"split_groups": "pupil"}, "no column 'pupil'"),
        ({"X": X.iloc[:0]}, "X has no rows"),
    ],
)
def test_bad_data_are_named_in_one_line(options, message):
    given = {"X": X, "y": Y, "sensitive_features": [0, 1, 0, 1], **options}
    with pytest.raises(P4FError, match=message) as error:
        compared_rows(given.pop("X"), given.pop("y"), **given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["bool", "Int64", "float64", "category", "object"])
def test_columns_of_any_type(kind):
    codes = pd.Series([1, 0, 1, 0])
    found = compared_rows(
        X,
        codes.astype(bool),
        sensitive_features=codes.astype(kind).rename("b"),
        fair=codes.astype("Int64").where([True, True, False, False], pd.NA),
    )
    assert found.groups.tolist() == found.recorded.tolist() == [1, 0, 1, 0]
    assert found.fair.tolist() == [1, 0, -1, -1]


def test_no_label_at_all_is_said():
    with pytest.raises(P4FError, match="y has no label; a classifier needs rows of two or more classes"):
        compared_rows(X, [None] * len(X), sensitive_features="area", beliefs=[SelectiveLabels("area")])


def test_labels_are_told_as_they_are_written():
    with pytest.raises(P4FError, match=r"favourable='z' is not one of two labels \['a', 'b'\]"):
        compared_rows(X, np.array(["a", "b"])[Y], sensitive_features="area", favourable="z")
