"""Beliefs in plain words, and numbers as people write them."""

from __future__ import annotations

import pytest

import problog4fairness as p4f
from problog4fairness.reporting import in_words
from problog4fairness.reporting.amounts import count, percent, percent_interval, points
from problog4fairness.reporting.words import Label

GRANTED = Label("granted", ("no", "yes"))


def test_label_bias_with_intervals():
    audit = {"recorded": [0] * 30 + [1] * 70 + [0] * 50, "fair": [1] * 100 + [0] * 50, "sensitive_features": [1] * 150}
    belief = p4f.LabelBias("poor_area", groups=[1], noise=False)
    _, first, second = in_words(belief.estimate(**audit), GRANTED)
    assert first == (
        "Of the people with poor_area = 1 who should have granted = yes, 30% (22% to 40%) were recorded with "
        "granted = no; of those who should have granted = no, 0% (0% to 7.1%) were recorded with granted = yes."
    )
    assert second == "Where poor_area = 0, recorded labels are taken as right."


@pytest.mark.parametrize(
    ("belief", "expected"),
    [
        (None, "no belief"),
        (p4f.LabelBias("a", noise=0.1), "10% of all people around"),
        (
            p4f.LabelBias("a", classes=("low", "mid", "high")),
            "should have granted = mid, an unknown share were recorded",
        ),
        (p4f.MeasurementBias("income", "a", 0.2), "of the people with a = 1 and income = 0 on record, 20% should have"),
        (p4f.HistoricalBias("income", "a", 0.2), "20% would have, in a fair world, 1"),
        (p4f.chain(p4f.LabelBias("a", 0.3), p4f.LabelBias("b", 0.1)), "Label bias 2 of 2, by b."),
        (
            p4f.ProgramBelief("nn(h,X) :: y(X). p :: n(X). z(X) :- y(X), \\+n(X). ?- z(x).").bind({"p": 0.25}),
            "p is 25%",
        ),
    ],
)
def test_every_belief_has_words(belief, expected):
    assert expected.lower() in " ".join(in_words(belief, GRANTED)).lower()


def test_numbers():
    assert [percent(v) for v in (0, 0.004, 0.0381, 0.36, 1, float("nan"))] == ["0%", "0.4%", "3.8%", "36%", "100%", "–"]
    assert [percent(v) for v in (0.994, 0.9967, 0.99996)] == ["99%", "99.7%", "> 99.9%"]
    assert percent_interval(0.36, 0.28, 0.46) == "36% (28% to 46%)"
    assert percent_interval(0.36, None, None) == "36%"
    assert [points(v) for v in (-0.2, 0.004, -0.00001)] == ["−20", "+0.4", "0"]
    assert [count(1, "row"), count(5000, "row"), count(2, "person", "people")] == ["1 row", "5,000 rows", "2 people"]
