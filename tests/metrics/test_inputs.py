"""Bad input: one line that names the column, the value and the way out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness import metrics as m
from problog4fairness.errors import P4FError

accuracy, f1, equalized_odds = (m.METRICS[name] for name in ("accuracy", "f1", "equalized_odds"))

Y, A = [1, 0, 1, 0], [1, 1, 0, 0]
NAN = float("nan")


def rates(y_pred, **options):
    return m.intervals_by_group("positive_rate", None, y_pred, **options)


WRONG = {
    "lengths": (lambda: accuracy([1, 0, 1], [1, 0]), "y_pred has 2 rows, y_true has 3"),
    "group lengths": (
        lambda: rates(Y, sensitive_features=[0, 1]),
        "have 2 rows, the labels have 4",
    ),
    "weight lengths": (lambda: f1(Y, Y, sample_weight=[1]), "sample_weight has 1 rows, the labels have 4"),
    "no rows": (lambda: accuracy([], []), "y_true has no rows"),
    "NaN label": (lambda: accuracy([1, NAN, NAN], [1, 0, 0]), "y_true has 2 missing values; drop those rows"),
    "NA label": (
        lambda: f1(Y, pd.Series([1, 0, pd.NA, 1], dtype="Int64")),
        "y_pred has 1 missing value; drop those rows",
    ),
    "NaN group": (
        lambda: rates(Y, sensitive_features=[0, 1, None, 1]),
        "sensitive_features has 1 missing",
    ),
    "NaN in a column": (
        lambda: m.intervals_by_group(
            "positive_rate", None, [1, 0], sensitive_features=pd.DataFrame({"a": [1, 0], "b": [NAN, 1]})
        ),
        "column 'b' has 1 missing value",
    ),
    "label 2": (
        lambda: accuracy([1, 2], [1, 0]),
        "y_true has the label 2; labels are 0 and 1, or name the favourable",
    ),
    "label in words": (lambda: accuracy(["yes"], ["no"]), "y_true has the label 'yes'"),
    "probability as label": (
        lambda: rates([0.3, 1], sensitive_features=[0, 1]),
        "has the label 0.3",
    ),
    "three labels": (lambda: f1(["a", "b"], ["b", "c"], favourable="a"), "beside .* 'a' there are 'b', 'c'"),
    "text against numbers": (lambda: f1([0, 1], [0, 1], favourable="1"), "there are 0, 1"),
    "two columns": (lambda: accuracy(np.ones((2, 3)), [1, 1]), r"y_true must be one column, not of shape \(2, 3\)"),
    "ragged": (lambda: accuracy([[1], [1, 0]], [1, 0]), "not lists of different lengths"),
    "ragged groups": (
        lambda: rates([1, 0], sensitive_features=[[1], [1, 0]]),
        "not lists of different",
    ),
    "predict_proba": (
        lambda: m.mean_probability_disparity(np.full((4, 2), 0.5), sensitive_features=A),
        r"one column, not of shape \(4, 2\): predict_proba\(X\)\[:, 1\]",
    ),
    "probability 1.3": (
        lambda: m.mean_probability_disparity([1.3, 0, 0, 0], sensitive_features=A),
        "y_prob has the value 1.3, which is not between 0 and 1",
    ),
    "probability in words": (
        lambda: m.mean_probability_disparity(["x", "y"], sensitive_features=[0, 1]),
        "y_prob has the value 'x'; it must hold",
    ),
    "probabilities as decisions": (
        lambda: m.statistical_disparity([0.3, 0, 0, 1], sensitive_features=A),
        "y_pred has the label 0.3; labels are 0 and 1",
    ),
    "three groups": (
        lambda: m.statistical_disparity(Y, sensitive_features=[0, 1, 2, 1]),
        r"have 3 groups, and 2 is not among the groups \(0, 1\)",
    ),
    "other names": (
        lambda: m.interval("disparity", None, Y, sensitive_features=list("aabb")),
        r"have 2 groups, and 'a' is not among the groups \(0, 1\); .* groups=\(other, sensitive\)",
    ),
    "empty sensitive group": (
        lambda: m.statistical_disparity(Y, sensitive_features=[0] * 4),
        "no row is of the sensitive group 1",
    ),
    "empty other group": (lambda: m.interval("disparity", None, Y, sensitive_features=[1] * 4), "of the other group 0"),
    "one level": (
        lambda: m.statistical_disparity(Y, sensitive_features=A, groups=(0,)),
        "groups must be two different",
    ),
    "negative weight": (lambda: f1(Y, Y, sample_weight=[1, -1, 1, 1]), "sample_weight has the value -1"),
    "weight in words": (lambda: f1(Y, Y, sample_weight=list("abcd")), "'a'; it must hold"),
    "one weight in words": (lambda: f1(Y, Y, sample_weight=[1, 2, "two", 1]), "'two'; it must hold"),
    "no weight": (lambda: f1(Y, Y, sample_weight=[0] * 4), "sample_weight is 0 in every row"),
    "no weight in a group": (
        lambda: m.statistical_disparity(Y, sensitive_features=A, sample_weight=[0, 0, 1, 1]),
        "sample_weight is 0 in every row of the group 1",
    ),
    "a group without a label": (
        lambda: equalized_odds([1, 1, 1, 0], Y, sensitive_features=A),
        "the group 1 lacks rows of one true label",
    ),
    "one group": (lambda: equalized_odds(Y, Y, sensitive_features=[1] * 4), "have one group"),
    "one group, interval": (lambda: m.interval("equalized_odds", Y, Y, sensitive_features=[1] * 4), "have one group"),
    "confidence": (lambda: m.interval("accuracy", Y, Y, confidence=95), "confidence 95 is not between 0 and 1"),
    "confidence of odds": (
        lambda: m.interval("equalized_odds", Y, Y, sensitive_features=A, confidence=-1),
        "confidence -1 is not between 0 and 1",
    ),
    "no such metric": (lambda: m.interval("speed", Y, Y), "there is no metric 'speed'; there are accuracy, disparity"),
    "groups of a metric of groups": (
        lambda: m.intervals_by_group("disparity", None, Y, sensitive_features=A),
        "statistical disparity compares groups",
    ),
    "no counts": (lambda: m.difference_interval(0, 0, 1, 2), "a difference needs rows in both samples"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_one_line(name):
    call, message = WRONG[name]
    with pytest.raises(P4FError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert "np." not in str(caught.value)
