"""What a belief says of itself: words, picture, limitations, and the values that make sense."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs import admissible_values
from problog4fairness.beliefs.describe.words import Label
from problog4fairness.data import Rows
from problog4fairness.statistics import percent, percent_interval

GRANTED = Label("granted", ("no", "yes"))
OWN = r"nn(h,X) :: y(X). nn(a,X) :: a(X). p :: n(X) :- a(X). z(X) :- y(X), \+n(X). ?- z(x)."


def test_label_bias_with_intervals():
    audit = {"recorded": [0] * 30 + [1] * 70 + [0] * 50, "fair": [1] * 100 + [0] * 50, "poor_area": [1] * 150}
    belief = p4f.LabelBias("poor_area", affected=[1], noise=False)
    _, first, second = belief.estimate(pd.DataFrame(audit), recorded="recorded", fair="fair").words(GRANTED)
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
            p4f.ClassBias("a", ("low", "mid", "high")),
            "should have granted = mid, an unknown share were recorded",
        ),
        (
            p4f.ClassBias("a", ("low", "mid", "high"), 0.0),
            "Of the people with a = 1, 0% were recorded with another granted.",
        ),
        (p4f.MeasurementBias("income", "a", 0.2), "of the people with a = 1 and income = 0 on record, 20% should have"),
        (p4f.HistoricalBias("income", "a", 0.2), "20% would have, in a fair world, 1"),
        (p4f.chain(p4f.LabelBias("a", 0.3), p4f.LabelBias("b", 0.1)), "Label bias 2 of 2, by b."),
        (p4f.ProgramBelief(OWN).bind({"p": 0.25}), "p is 25%"),
    ],
)
def test_every_belief_has_words_a_title_and_a_picture(belief, expected):
    assert expected.lower() in " ".join(belief.words(GRANTED)).lower()
    assert belief.title == belief.title.lower()
    assert any(node.classifier for node in belief.picture().nodes) or belief.features


def test_pictures_show_names_not_values():
    for belief in (p4f.LabelBias("a", 0.25), p4f.ProgramBelief(OWN).bind({"p": 0.25})):
        labels = " ".join(map(str, belief.picture().nodes))
        assert "0.25" not in labels


def test_what_readers_must_know():
    assert "fair world" in p4f.HistoricalBias("income", "a").limitations()[0]
    assert p4f.LabelBias("a").limitations() == []
    assert p4f.chain(p4f.LabelBias("a"), p4f.LabelBias("b")).kind.overlap
    assert not p4f.LabelBias("a").kind.overlap


def rows(**columns) -> Rows:
    frame = pd.DataFrame({"a": np.tile([0, 1], 10), "b": np.repeat([0, 1], 10), "x": np.arange(20) % 3, **columns})
    return Rows(frame, ("x",))


@pytest.mark.parametrize(
    "belief",
    [p4f.LabelBias("a", {1: 0.3, 0: 0.1}, {1: 0.2, 0: 0.0}), p4f.ProgramBelief(
        """nn(h,X) :: y(X). nn(a,X) :: a(X). p1 :: n(X) :- a(X). p3 :: q(X) :- a(X).
           z(X) :- y(X), \\+n(X). z(X) :- \\+y(X), q(X). ?- z(x)."""
    ).bind({"p1": 0.3, "p3": 0.2})],
    ids=["template", "program"],
)  # fmt: skip
def test_labels_stay_informative(belief):
    own = {parameter.name: parameter for parameter in belief.parameters}
    assert admissible_values(belief, own["p1"], rows()) == pytest.approx((0.0, 0.75))
    assert admissible_values(belief, own["p3"], rows()) == pytest.approx((0.0, 0.65))


def test_where_a_parameter_occurs_twice_its_margins_are_not_affine():
    belief = p4f.ProgramBelief(r"nn(h,X) :: y(X). p :: m(X). p :: n(X). z(X) :- y(X), \+m(X), \+n(X). ?- z(x).").bind(
        {"p": 0.2}
    )
    low, high = admissible_values(belief, belief.parameters[0], rows())
    assert low == 0
    assert (1 - high) ** 2 >= 0.05
    assert high > 0.5


def test_probabilities_of_features_sum_to_one():
    belief = p4f.MeasurementBias("x", "a", values={"x": (0, 1, 2)})
    belief = belief.bind(dict.fromkeys([parameter.name for parameter in belief.parameters], 0.2))
    assert admissible_values(belief, belief.parameters[0], rows()) == pytest.approx((0.0, 0.8))


def test_numbers():
    assert [percent(v) for v in (0, 0.004, 0.0381, 0.36, 1, float("nan"))] == ["0%", "0.4%", "3.8%", "36%", "100%", "–"]
    assert [percent(v) for v in (0.994, 0.9967, 0.99996)] == ["99%", "99.7%", "> 99.9%"]
    assert percent_interval(0.36, 0.28, 0.46) == "36% (28% to 46%)"
    assert percent_interval(0.36, None, None) == "36%"
