from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs import LabelBias, SelectiveLabels
from problog4fairness.data import Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.evaluation import compared_rows
from tests.evaluation.data import read_rows, rows_of

X = pd.DataFrame({"age": [30, 40, 50, 60], "area": ["poor", "rich", "poor", "rich"], "b": [1, 0, 1, 0]})
Y = [1, 0, 1, 0]
AREA = Sensitive.of("area", ("rich", "poor"))


def test_groups_as_stated_or_as_the_belief_knows_them():
    found = rows_of(X, Y, AREA)
    assert found.groups.tolist() == [1, 0, 1, 0]
    assert found.sensitive.columns == ("area",)
    assert found.fair.tolist() == [-1] * 4
    belief = LabelBias("area", 0.1, 0.1, groups=("rich", "poor"))
    known = read_rows(X.assign(granted=Y), [belief], recorded="granted", features=["age"])
    assert known.groups.tolist() == [1, 0, 1, 0]
    assert known.rows.features == ("age", "area")


def test_several_columns_make_groups_of_combinations():
    frame = X.assign(sex=["f", "f", "m", "m"])
    levels = (("poor", "f"), ("poor", "m"), ("rich", "f"), ("rich", "m"))
    assert rows_of(frame, Y, Sensitive.of(("area", "sex"), levels)).groups.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_fair_labels_of_some_rows(missing):
    given = pd.Series(["yes", missing, "no", missing], dtype=object)
    found = rows_of(X, ["no", "no", "yes", "no"], "b", given, favourable="no")
    assert found.recorded.tolist() == [1, 1, 0, 1]
    assert found.fair.tolist() == [0, -1, 1, -1]
    assert found.audit.rows.tolist() == [0, 2]


def test_three_classes_with_the_favourable_one_last():
    found = rows_of(X, ["a", "b", "c", "b"], "b", ["b", None, "c", "a"], favourable="b")
    assert found.rows.classes == ("a", "c", "b")
    assert found.recorded.tolist() == [0, 2, 1, 2]
    assert found.fair.tolist() == [2, -1, 1, 0]
    belief = p4f.ClassBias("b", ("c", "b", "a"), 0.1)
    data = X.assign(granted=["a", "b", "c", "b"])
    in_order = read_rows(data, [belief], recorded="granted", features=["age"])
    assert in_order.recorded.tolist() == [2, 1, 0, 1]


def test_fair_labels_as_floats():
    assert rows_of(X, Y, "b", [1.0, np.nan, 0.0, 0.0]).fair.tolist() == [1, -1, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sensitive": None}, "which column is sensitive"),
        ({"sensitive": "height"}, "no column 'height'"),
        ({"sensitive": "area"}, "state which one is the sensitive group"),
        ({"sensitive": Sensitive.of("area", ("rich", "middle"))}, "has the value 'poor'"),
        ({"sensitive": Sensitive.of("area", ("rich", "poor", "middle"))}, "no row has area = middle"),
        ({"X": X.assign(b=[0, None, 1, 1])}, "'b' has 1 missing values"),
        ({"X": X.assign(b=[0, 0.5, 1, 1]), "sensitive": Sensitive.of("b")}, "has probabilities of groups"),
        ({"fair": [2, None, None, None]}, "2"),
        ({"y": [0, 0, 0, 0]}, "one"),
    ],
)
def test_bad_data_are_named_in_one_line(options, message):
    given = {"X": X, "y": Y, "sensitive": "b", **options}
    with pytest.raises(P4FError, match=message) as error:
        rows_of(given.pop("X"), given.pop("y"), **given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["bool", "Int64", "float64", "category", "object"])
def test_columns_of_any_type(kind):
    codes = pd.Series([1, 0, 1, 0])
    fair = codes.astype("Int64").where([True, True, False, False], pd.NA)
    found = rows_of(X.assign(b=codes.astype(kind)), codes.astype(bool), "b", fair)
    assert found.groups.tolist() == found.recorded.tolist() == [1, 0, 1, 0]
    assert found.fair.tolist() == [1, 0, -1, -1]


def test_no_label_at_all_is_an_error():
    data = X.assign(granted=pd.Series([None] * len(X), dtype=object))
    with pytest.raises(P4FError, match="label"):
        read_rows(data, [SelectiveLabels("b")], recorded="granted", features=["age"])


def test_fair_labels_of_an_audit_are_read_in_the_values_of_the_recorded_ones():
    data = p4f.datasets.loans(rows=400, audited=200, new=1)
    words = {0: "no", 1: "yes"}
    loans = data.loans.assign(granted=data.loans["granted"].map(words))
    audit = data.audit.assign(granted=data.audit["granted"].map(words))
    belief = LabelBias("poor_area", 0.4, 0.1)
    options = {"recorded": "granted", "audit": audit, "fair": "repaid", "favourable": "yes"}
    with pytest.warns(p4f.audit.AuditWarning, match="none of the 200"):
        found = compared_rows(loans, [belief], **options)
    assert len(found) == 600
    assert "repaid" not in found.rows.frame
    assert found.rows.classes == ("no", "yes")
    assert (found.fair[:400] == -1).all()
    assert found.fair[400:].tolist() == data.audit["repaid"].tolist()


def test_fair_labels_follow_rows_that_are_left_out():
    data = p4f.datasets.loans(rows=1, audited=200, new=1).audit
    table = data.assign(repaid=data["repaid"].where(data.index < 50), granted=data["granted"].astype(object))
    table.loc[0, "granted"] = None
    found = read_rows(table, [LabelBias("poor_area", 0.4, 0.1)], recorded="granted", fair="repaid", favourable=1)
    assert found.fair[:49].tolist() == data["repaid"][1:50].tolist()
    assert (found.fair[49:] == -1).all()
