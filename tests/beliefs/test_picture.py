"""Pictures of beliefs: which nodes there are, which of them somebody has seen, and which arrows."""

from __future__ import annotations

from pathlib import Path

import pytest

from problog4fairness import (
    Annotators,
    ClassBias,
    HistoricalBias,
    LabelBias,
    MeasurementBias,
    Program,
    ProgramBelief,
    SelectiveLabels,
    UnknownGroup,
    chain,
)
from problog4fairness.beliefs.describe.words import Label
from problog4fairness.beliefs.templates.none import NoBias
from problog4fairness.program import Diagram

EXAMPLES = Path(__file__).parents[2] / "examples"
GRANTED = Label("granted")


def marked(diagram: Diagram) -> tuple[set[str], set[str], set[str]]:
    """The nodes that are observed, those that are not, and those that the classifier gives."""
    return (
        {node.name for node in diagram.nodes if node.observed},
        {node.name for node in diagram.nodes if not node.observed},
        {node.name for node in diagram.nodes if node.classifier},
    )


@pytest.mark.parametrize("belief", [LabelBias("poor_area", noise=None), ClassBias("poor_area", ["a", "b", "c"])])
def test_label_bias_hides_the_fair_label(belief):
    diagram = belief.picture(GRANTED)
    seen = {"features", "poor_area", "granted (recorded)"}
    assert marked(diagram) == (seen, {"granted (fair)"}, {"granted (fair)"})
    assert set(diagram.edges) == {
        ("features", "granted (fair)"),
        ("granted (fair)", "granted (recorded)"),
        ("poor_area", "granted (recorded)"),
    }


def test_parameters_stand_where_they_act():
    weights = {node.name: node.weights for node in LabelBias("area", {1: 0.2}, False, affected=[1]).picture().nodes}
    assert weights == {"features": (), "area": (), "fair label": (), "recorded label": ("p1",)}
    weights = {node.name: node.weights for node in MeasurementBias("days", "woman").picture().nodes}
    assert weights["days (recorded)"] == ("p1(days)", "p2(days)", "p3(days)", "p4(days)")
    assert not weights["days (fair)"]


def test_measurement_bias_hides_the_fair_features():
    diagram = MeasurementBias(["days", "trips"], "woman").picture(Label("hired"))
    assert marked(diagram) == (
        {"other features", "woman", "days (recorded)", "trips (recorded)", "hired"},
        {"days (fair)", "trips (fair)"},
        {"hired"},
    )
    assert set(diagram.edges) == {
        ("days (fair)", "days (recorded)"),
        ("trips (fair)", "trips (recorded)"),
        ("woman", "days (recorded)"),
        ("woman", "trips (recorded)"),
        ("days (fair)", "hired"),
        ("trips (fair)", "hired"),
        ("other features", "hired"),
    }


def test_historical_bias_has_two_worlds_and_one_rule():
    diagram = HistoricalBias("income", "poor_area").picture(GRANTED)
    assert marked(diagram) == (
        {"other features", "poor_area", "income (recorded)", "granted (recorded)"},
        {"income (fair world)", "granted (fair)"},
        {"granted (fair)", "granted (recorded)"},
    )
    assert set(diagram.edges) == {
        ("income (fair world)", "income (recorded)"),
        ("poor_area", "income (recorded)"),
        ("income (fair world)", "granted (fair)"),
        ("other features", "granted (fair)"),
        ("income (recorded)", "granted (recorded)"),
        ("other features", "granted (recorded)"),
    }


def test_historical_bias_with_a_label_part_leads_from_the_fair_label_to_the_recorded_one():
    diagram = HistoricalBias("income", "poor_area", label=LabelBias("woman")).picture()
    assert {("fair label", "recorded label"), ("woman", "recorded label")} <= set(diagram.edges)
    assert ("income (recorded)", "recorded label") not in diagram.edges
    assert marked(diagram)[2] == {"fair label"}


def test_a_chain_shows_each_step_and_only_the_last_is_on_record():
    diagram = chain(MeasurementBias("days", "woman"), LabelBias("blurry"), LabelBias("woman")).picture()
    assert marked(diagram)[1] == {"days (fair)", "fair label", "label after bias 1"}
    assert {
        ("days (fair)", "fair label"),
        ("fair label", "label after bias 1"),
        ("blurry", "label after bias 1"),
        ("label after bias 1", "recorded label"),
        ("woman", "recorded label"),
        ("woman", "days (recorded)"),
    } <= set(diagram.edges)
    assert len({node.name for node in diagram.nodes}) == len(diagram.nodes)


def test_no_bias_has_one_label():
    assert marked(NoBias().picture(GRANTED)) == ({"features", "granted"}, set(), {"granted"})


def test_a_program_names_the_columns_that_it_reads_and_its_own_classifier():
    text = "nn(net,X) :: fair(X). nn(a,X) :: area(X). "
    text += "p1 :: refused(X) :- area(X). y(X) :- fair(X), \\+refused(X). ?- y(x)."
    diagram = ProgramBelief(text, classifier="net", columns={"a": "poor_area"}).picture()
    assert marked(diagram) == ({"area(x)", "y(x)"}, {"fair(x)", "refused(x)"}, {"fair(x)"})
    assert {node.name: node.weights for node in diagram.nodes}["area(x)"] == ("poor_area",)


def test_a_ground_program_has_one_box_for_each_predicate():
    """The printed listing of four features has hundreds of atoms, and eight predicates."""
    drawn = Program.from_file(EXAMPLES / "measurement.pl").diagram().drawable()
    assert {node.predicate for node in drawn.nodes} == {
        "n/2", "a/1", "n_neg_bias/2", "n_pos_bias/2", "n_biased/2", "debias/3", "y_h/1", "y/1",
    }  # fmt: skip
    assert len(drawn.nodes) == 8
    width, height = drawn.draw().get_size_inches()
    assert width < 13
    assert height < 5


def test_selective_labels_show_who_was_accepted():
    diagram = SelectiveLabels("poor_area").picture(GRANTED)
    known = "granted (recorded), if accepted"
    assert marked(diagram) == (
        {"features", "poor_area", "accepted", known}, {"granted (fair)"}, {"granted (fair)"}
    )  # fmt: skip
    assert set(diagram.edges) == {
        ("features", "granted (fair)"),
        ("granted (fair)", "accepted"),
        ("poor_area", "accepted"),
        ("granted (fair)", known),
        ("accepted", known),
    }


def test_annotators_vote_on_one_fair_label():
    diagram = Annotators({"crowd": ["w1", "w2"], "expert": ["lee"]}, "remote").picture()
    assert marked(diagram) == ({"features", "remote", "crowd", "expert"}, {"fair label"}, {"fair label"})
    assert {("fair label", "crowd"), ("remote", "crowd"), ("fair label", "expert")} <= set(diagram.edges)
    many = Annotators([f"w{number}" for number in range(20)]).picture()
    assert {node.name for node in many.nodes} == {"features", "fair label", "votes of 20 annotators"}


def test_an_unknown_group_is_not_on_record_and_its_proxies_are():
    diagram = UnknownGroup("poor_area", {"postcode": ("1", "2")}, belief=LabelBias("poor_area")).picture()
    assert marked(diagram) == (
        {"features", "postcode", "recorded label"}, {"poor_area", "fair label"}, {"fair label"}
    )  # fmt: skip
    assert {("poor_area", "postcode"), ("poor_area", "recorded label")} <= set(diagram.edges)


def test_many_parameters_are_named_by_the_first_and_the_last_ones():
    own = LabelBias("area", groups=list("abcde")).picture().nodes
    (node,) = [node for node in own if node.name == "recorded label"]
    assert node.weights == ("neg(a)", "neg(b)", "...", "pos(e)")


def test_parameters_whose_names_are_sentences_are_counted():
    (node,) = [node for node in ClassBias("area", ["a", "b", "c"]).picture().nodes if node.name == "recorded label"]
    assert node.weights == ("12 probabilities",)
