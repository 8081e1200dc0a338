"""Which column is what, and which value means what: said, or asked for with the values listed."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data.labels import is_unfavourable, label_codes
from problog4fairness.data.problems import FileNote, FileWarning, TableError
from problog4fairness.data.roles import Roles, check_column, find_roles, known_levels

PAIRS = [
    (0, 1),
    (0.0, 1.0),
    (False, True),
    ("no", "yes"),
    ("NO", "YES"),
    ("False", "TRUE"),
    ("n", "Y"),
    ("f", "t"),
]


def coded(frame, name, values):
    return label_codes(frame[name], values, name, missing=True).tolist()


def frame(label=(0, 1), group=(0, 1), rows=6, **columns):
    return pd.DataFrame(
        {"granted": [label[i % 2] for i in range(rows)], "area": [group[i // 2 % 2] for i in range(rows)], **columns}
    )


def quiet(data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileNote)
        return find_roles(data, **{"recorded": "granted", "sensitive": "area", **options})


@pytest.mark.parametrize("pair", PAIRS)
def test_conventions_are_taken_and_said(pair):
    data, speaks = frame(pair, pair), str(pair[0]).lower() in ("0", "0.0", "false")
    with pytest.warns(FileNote) as notes:
        roles = find_roles(data, recorded="granted", sensitive="area", favourable=None if speaks else pair[1])
    assert (roles.labels, roles.levels) == (pair, pair)
    said = [str(n.message) for n in notes]
    one, zero = (str(int(v)) if isinstance(v, float) else str(v) for v in reversed(pair))
    assert (f"granted: {one} is favourable, {zero} is not; override with favourable=..." in said) is speaks
    assert f"area: {one} is the sensitive group, {zero} is not; override with group=..." in said
    clean = roles.clean(data)
    assert coded(clean, roles.recorded, roles.labels) == [0, 1, 0, 1, 0, 1]
    assert coded(clean, roles.sensitive, roles.levels) == [0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("pair", [("no", "yes"), ("approved", "denied"), ("n", "Y")])
def test_only_0_and_1_and_false_and_true_speak_for_themselves(pair):
    with pytest.raises(TableError, match=r"by favourable=\.\.\.") as caught:
        quiet(frame(label=pair))
    assert all(repr(value) in str(caught.value) for value in pair)


@pytest.mark.parametrize("name", ["default", "two_year_recid", "is_fraud", "Denied", "readmitted", "loan_default_2020"])
def test_a_name_that_says_that_1_is_bad_asks_for_a_statement(name):
    data = frame().rename(columns={"granted": name})
    with pytest.raises(TableError, match=name) as caught:
        quiet(data, recorded=name)
    assert caught.value.argument == "favourable"
    assert quiet(data, recorded=name, favourable=0).labels == (1, 0)
    assert quiet(data, recorded=name, favourable=1).labels == (0, 1)


@pytest.mark.parametrize("name", ["granted", "repaid", "not_late", "badge", "y", "defence", "failsafe_ok"])
def test_other_names_say_nothing(name):
    assert not is_unfavourable(name)


@pytest.mark.parametrize("pair", [("M", "F"), ("good", "bad"), (1, 2), ("f", "m"), ("yes", "1")])
def test_other_values_are_asked_for(pair):
    with pytest.raises(TableError, match=r"by favourable=\.\.\.") as caught:
        quiet(frame(label=pair))
    assert all(repr(value) in str(caught.value) for value in pair)
    with pytest.raises(TableError, match=r"by group=\.\.\.") as caught:
        quiet(frame(group=pair))
    assert all(repr(value) in str(caught.value) for value in pair)
    roles = quiet(frame(pair, pair), favourable=str(pair[0]), group=str(pair[0]))
    assert (roles.favourable, roles.group) == (pair[0], pair[0])


@pytest.mark.parametrize(
    ("pair", "text", "meant"),
    [
        ((0, 1), "0", 0),
        ((0, 1), "1.0", 1),
        ((0.0, 1.0), "0", 0),
        ((False, True), "false", False),
        ((False, True), "1", True),
        (("no", "yes"), "YES", "yes"),
        (("no", "yes"), "1", "yes"),
        (("M", "F"), "f", "F"),
    ],
)
def test_a_value_is_text_on_the_command_line(pair, text, meant):
    assert quiet(frame(label=pair), favourable=text).favourable == meant
    assert quiet(frame(group=pair), group=text).group == meant


def test_a_value_that_is_not_there():
    with pytest.raises(TableError, match="group='X' is not a value of column 'area'; it has 'F', 'M'"):
        quiet(frame(group=("M", "F")), group="X")


def test_a_label_with_three_values():
    with pytest.raises(TableError, match=r"'granted' of the recorded label has 3 values .*'maybe'"):
        quiet(frame().assign(granted=["yes", "no", "maybe"] * 2))


def test_three_classes_of_which_one_was_named():
    data = frame().assign(granted=["yes", "no", "maybe"] * 2, repaid=["yes", "yes", "no", "no", "no", "yes"])
    with pytest.warns(FileNote, match="granted: there are 3 classes, 'maybe', 'no', 'yes'; 'no' is the favourable one"):
        roles = find_roles(data, recorded="granted", sensitive="area", fair="repaid", favourable="no", group="1")
    assert (roles.labels, roles.fair_labels) == (("maybe", "yes", "no"), ("maybe", "yes", "no"))
    clean = roles.clean(data)
    assert coded(clean, roles.recorded, roles.labels) == [1, 2, 0, 1, 2, 0]
    assert coded(clean, roles.fair, roles.labels) == [1, 1, 2, 2, 2, 1]
    with pytest.raises(TableError, match=r"'granted' \('maybe', .*\) and 'repaid' \(0, 1\) have no label in common"):
        quiet(data.assign(repaid=[0, 1] * 3), fair="repaid", favourable="yes")
    with pytest.raises(
        TableError, match=r"'repaid' of the fair label has 3 values \('maybe', .*\), 'granted' has 2: recode"
    ):
        quiet(data.assign(granted=data["repaid"], repaid=data["granted"]), fair="repaid", favourable="yes")
    with pytest.raises(TableError, match=r"has 21 values .* a label has two, or 20 at most: make classes of them"):
        quiet(frame(rows=42).assign(granted=[*range(21)] * 2))


def test_a_missing_column_lists_the_others():
    with pytest.raises(TableError, match=r"sensitive='aera'.*did you mean 'area'\? there are 'granted', 'area'"):
        quiet(frame(), sensitive="aera")
    with pytest.raises(TableError, match="there are 'granted', 'area'"):
        check_column(frame(), "xyz", "label", "recorded")
    with pytest.raises(TableError, match="each must be a column of its own"):
        quiet(frame(), sensitive="granted")


def test_more_groups_are_noted_and_one_can_be_compared_with_the_others():
    data = frame().assign(area=["north", "south", "east"] * 2)
    with pytest.warns(FileNote) as notes:
        roles = find_roles(data, recorded="granted", sensitive="area")
    assert str(notes[1].message) == "area: there are 3 groups, 'east', 'north', 'south'"
    assert roles.levels == ("east", "north", "south")
    assert roles.group is None
    assert quiet(data, group="north").levels == ("not north", "north")
    assert set(quiet(data, group="north").clean(data)["area"]) == {"not north", "north"}


def test_a_measurement_is_no_group_and_one_value_is_none():
    with pytest.raises(TableError, match="has 30 different values"):
        quiet(frame(rows=30).assign(area=range(30)))
    with pytest.raises(TableError, match="one value only"):
        quiet(frame().assign(area="north"))


def test_rows_without_a_label_or_a_group_are_counted():
    data = frame(rows=8).astype(float)
    data.loc[0, "granted"] = None
    data.loc[[1, 2], "area"] = None
    roles = quiet(data)
    with pytest.warns(FileWarning) as told:
        clean = roles.clean(data)
    assert {"has 1 missing", "has 2 missing"} <= {str(t.message)[str(t.message).index("has") :][:13] for t in told}
    assert len(clean) == 5
    assert clean["granted"].tolist() == [1, 0, 1, 0, 1]
    assert clean.index.tolist() == [0, 1, 2, 3, 4]


def test_the_fair_label_may_be_written_otherwise():
    data = frame(label=("no", "yes"), repaid=[0, 1, 1, 1, 0, 0])
    roles = quiet(data, fair="repaid", favourable="yes")
    clean = roles.clean(data)
    assert clean["repaid"].tolist() == ["no", "yes", "yes", "yes", "no", "no"]
    assert coded(clean, roles.fair, roles.labels) == [0, 1, 1, 1, 0, 0]
    assert (
        quiet(frame(label=("bad", "good"), repaid=["good"] * 6), fair="repaid", favourable="good").favourable == "good"
    )


def test_no_and_yes_of_the_fair_label_follow_0_and_1_of_the_recorded_one():
    data = frame(repaid=["no", "yes", "yes", "no", "no", "yes"])
    with pytest.warns(FileNote) as notes:
        roles = find_roles(data, recorded="granted", sensitive="area", fair="repaid")
    said = [str(n.message) for n in notes]
    assert "repaid: yes is favourable, as 1 of granted is; override with favourable=..." in said
    assert (roles.labels, roles.fair_labels) == ((0, 1), ("no", "yes"))
    assert coded(roles.clean(data), roles.fair, roles.labels) == [0, 1, 1, 0, 0, 1]
    # A fair label whose name says that yes is bad does not follow, nor words of which nobody knows the order.
    for other, column in (("defaulted", data["repaid"]), ("repaid", ["bad", "good", "good", "bad", "good", "bad"])):
        with pytest.raises(TableError, match=f"column '{other}' of the label has the values .*favourable=") as caught:
            quiet(frame(**{other: column}), fair=other)
        assert caught.value.argument == "favourable"


def test_what_is_favourable_may_be_said_of_either_label():
    fair = ["bad", "good", "good", "bad", "good", "bad"]
    for favourable, labels, fair_labels in (
        ("good", (0, 1), ("bad", "good")),
        ("bad", (0, 1), ("good", "bad")),
    ):
        roles = quiet(frame(repaid=fair), fair="repaid", favourable=favourable)
        assert (roles.labels, roles.fair_labels) == (labels, fair_labels)
    roles = quiet(frame(label=("Bad", "Good"), repaid=fair), fair="repaid", favourable="good")
    assert (roles.labels, roles.fair_labels) == (("Bad", "Good"), ("bad", "good"))
    roles = quiet(frame(repaid=["no", "yes"] * 3), fair="repaid", favourable="0")
    assert (roles.labels, roles.fair_labels) == ((1, 0), ("yes", "no"))
    for data, favourable in ((frame(repaid=fair), 1), (frame(label=("a", "b"), repaid=fair), "good")):
        with pytest.raises(TableError, match="write both labels in one way"):
            quiet(data, fair="repaid", favourable=favourable)


def test_known_groups_must_be_those_of_the_data():
    data = frame(group=("M", "F"))
    with pytest.raises(
        TableError, match=r"the value 'F', which the belief does not know \(2 rows; it knows 'M', 'X'\)"
    ):
        known_levels(data, "area", ("M", "X"))
    with pytest.raises(TableError, match=r"has the values 'F', 'M', the belief knows 0, 1; .* by group=\.\.\."):
        known_levels(data, "area", (0, 1))
    with pytest.raises(TableError, match="no row has area = X, a group that the belief is about"):
        known_levels(data, "area", ("M", "F", "X"))
    roles = Roles("granted", "area", labels=(0, 1), levels=known_levels(data, "area", ("F", "M")))
    assert roles.group == "M"
    with pytest.raises(TableError, match="has the value 'D', which is not among 'F', 'M'"):
        roles.clean(frame(group=("M", "D")))


@pytest.mark.parametrize("labels", [[1, "a", 1], pd.Series([1, "a", 1]), np.array([1, "a", 1], dtype=object)])
def test_texts_and_numbers_among_the_classes_stay_apart(labels):
    assert label_codes(labels, [1, "a"]).tolist() == [0, 1, 0]
