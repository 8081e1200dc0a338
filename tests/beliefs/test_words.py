"""Beliefs in plain words."""

from __future__ import annotations

import pytest

import problog4fairness as p4f
from problog4fairness.beliefs.words import Label

GRANTED = Label("granted", ("no", "yes"))


def test_label_bias_with_intervals():
    audit = {"recorded": [0] * 30 + [1] * 70 + [0] * 50, "fair": [1] * 100 + [0] * 50, "sensitive_features": [1] * 150}
    belief = p4f.LabelBias("poor_area", groups=[1], noise=False)
    _, first, second = belief.estimate(**audit).words(GRANTED)
    assert first == (
        "Of the people with poor_area = 1 who should have granted = yes, 30% (22% to 40%) were recorded with "
        "granted = no; of those who should have granted = no, 0% (0% to 7.1%) were recorded with granted = yes."
    )
    assert second == "Where poor_area = 0, recorded labels are taken as right."


@pytest.mark.parametrize(
    ("belief", "expected"),
    [
        (p4f.NoBias(), "no belief"),
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
    assert expected.lower() in " ".join(belief.words(GRANTED)).lower()
