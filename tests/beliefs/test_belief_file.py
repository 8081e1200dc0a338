"""A belief as a file: it comes back, and what a person changed in the text counts."""

from __future__ import annotations

import contextlib
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs.describe.files import belief_text, read_belief
from problog4fairness.beliefs.describe.plain_data import BeliefError
from problog4fairness.errors import P4FError, ProbabilityError

OWN = "nn(h,X)::y(X). nn(area,X)::a(X). p1::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."
AUDIT = p4f.datasets.loans(rows=10, audited=500, new=10).audit

BELIEFS = {
    "label": p4f.LabelBias("poor_area").estimate(AUDIT, recorded="granted", fair="repaid"),
    "unknown": p4f.LabelBias("poor_area"),
    "values": p4f.LabelBias("area", {"it's": 0.3}, False, groups=("no", "it's"), affected=["it's"]),
    "noise": p4f.LabelBias("poor_area", 0.2, noise=0.1),
    "groups": p4f.LabelBias("city", 0.1, 0.2, groups=("New York", "rome", 3)),
    "classes": p4f.ClassBias("area", ["low", "mid", "high"], transitions=0.1),
    "measurement": p4f.MeasurementBias(["days off", "q1"], "area", 0.2, 0.1, values={"q1": ("lo", "hi")}),
    "chain": p4f.chain(
        p4f.MeasurementBias(["q0"], "area", 0.2), p4f.LabelBias("area", 0.2, 0.1), p4f.LabelBias("b", 0.3)
    ),
    "historical": p4f.HistoricalBias(["q0"], "area", 0.2, False),
    "program": p4f.ProgramBelief(OWN, values={"area": ("no", "yes")}).bind({"p1": 0.3}),
}


@pytest.mark.parametrize("kind", BELIEFS)
def test_what_is_written_is_read_and_is_a_program(kind, tmp_path):
    belief = BELIEFS[kind]
    path = tmp_path / "belief.pl"
    path.write_text(belief_text(belief, ["from audit.csv", "two\nlines"]), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = read_belief(path)
    assert again == belief
    assert again.parameters == belief.parameters
    assert path.read_text().startswith("% from audit.csv\n% two lines\n")
    assert p4f.Program.from_file(path) == (
        belief.program() if kind != "program" else p4f.Program(OWN.replace("p1", "0.3"))
    )


def changed(belief, *pairs):
    text = belief_text(belief)
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_comment_or_a_blank_may_change():
    belief = BELIEFS["label"]
    text = changed(belief, ("% a is the sensitive", "% our own words: the sensitive"), (" :- ", "  :-\n  "))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_belief(text) == belief


def test_a_number_that_was_changed_counts_and_its_interval_is_dropped():
    belief = BELIEFS["label"]
    old = belief.parameters[0]
    with pytest.warns(p4f.audit.AuditWarning, match=r"p1 was changed by hand to 0\.5: its interval is dropped"):
        again = read_belief(changed(belief, (f"{old.value} ::", "0.5 ::")))
    assert isinstance(again, p4f.LabelBias)
    assert (again.parameters[0].value, again.parameters[0].low) == (0.5, None)
    assert again.parameters[1:] == belief.parameters[1:]
    again = read_belief(
        changed(BELIEFS["measurement"], ("0.2 :: days_off_neg_bias(X) :- a(X)", "0.4 :: days_off_neg_bias(X) :- a(X)"))
    )
    assert again.parameter_table()["value"]["p1(days_off)"] == 0.4
    with pytest.raises(ProbabilityError, match=r"probability 1\.5 of p1"):
        read_belief(changed(belief, (f"{old.value} ::", "1.5 ::")))


def test_rules_that_were_changed_make_a_program_of_ones_own():
    with pytest.warns(p4f.audit.AuditWarning, match="was changed by hand: its rules count, the intervals are dropped"):
        again = read_belief(changed(BELIEFS["values"], ("\\+label_neg_bias(X).", "\\+label_neg_bias(X). ?- a(x).")))
    assert isinstance(again, p4f.ProgramBelief)
    assert again.network_columns == {"a": "area"}
    assert again.values == {"a": ("no", "it's")}
    assert again.column_values("a", pd.DataFrame({"area": ["it's", "no"]})).tolist() == [1, 0]
    with (
        pytest.warns(p4f.audit.AuditWarning),
        pytest.raises(P4FError, match="numbers can be changed by hand, but not the rules"),
    ):
        read_belief(changed(BELIEFS["measurement"], ("?- q1(x).", "?- q1(x). ?- a(x).")))


def test_any_program_is_bound_to_the_sensitive_column():
    frame = pd.DataFrame({"sex": ["M", "F"]})
    belief = read_belief(OWN, sensitive="sex", groups=("M", "F"))
    assert belief.columns.sensitive == ("sex",)
    assert belief.column_values("area", frame).tolist() == [0, 1]
    assert read_belief(OWN, columns={"area": "poor"}).network_columns == {"area": "poor"}
    assert read_belief(OWN).network_columns == {"area": "area"}
    with pytest.raises(P4FError, match="which is not among 'M', 'F'"):
        belief.column_values("area", pd.DataFrame({"sex": ["D"]}))
    with pytest.raises(P4FError, match="must be two"):
        p4f.ProgramBelief(OWN, values={"area": ("a",)})
    with (
        pytest.warns(p4f.audit.AuditWarning),
        pytest.raises(BeliefError, match="is about the column 'area', not 'sex'"),
    ):
        read_belief(changed(BELIEFS["values"], ("?- y_(x).", "?- y_(x). ?- a(x).")), sensitive="sex")


def damaged():
    good = {"format": 3, **BELIEFS["label"].to_json()}
    rate = good["parameters"][0]
    yield "not json"
    yield "[" * 100_000
    yield "null"
    yield "[]"
    yield json.dumps({**good, "kind": "Nothing"})
    yield json.dumps({"kind": "LabelBias"})
    yield json.dumps({**good, "sensitive": {"poor_area": 1}})
    yield json.dumps({**good, "sensitive": [1]})
    yield json.dumps({**good, "groups": [0]})
    yield json.dumps({**good, "groups": [None, 1]})
    yield json.dumps({**good, "affected": [7]})
    yield json.dumps({**good, "parameters": [rate, rate]})
    yield json.dumps({**good, "parameters": [{**rate, "value": 3}]})
    yield json.dumps({**good, "parameters": [{**rate, "low": 0.9, "high": 0.1}]})
    yield json.dumps({**good, "parameters": [{**rate, "rows": "many"}]})
    yield json.dumps({**good, "parameters": [{**rate, "name": "p9"}]})
    yield json.dumps({**good, "parameters": [{**rate, "value": float("nan")}]})
    yield json.dumps({**good, "extra": 1})
    yield json.dumps({**good, "parameters": [{**rate, "cell": [-1, 0, 1, None]}]})
    yield json.dumps({**good, "parameters": [{**rate, "cell": [7, 0, 1, None]}]})
    yield json.dumps({**good, "parameters": [{**rate, "source": 1}]})


@pytest.mark.parametrize("line", list(damaged()), ids=range(21))
def test_a_damaged_line_is_a_one_line_error(line):
    text = belief_text(BELIEFS["label"])
    head = text[: text.index("% p4f: ")]
    with pytest.raises(BeliefError, match=r"% p4f: \.\.\.") as caught:
        read_belief(f"{head}% p4f: {line}\n")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("written", [None, 1, 2, "3"])
def test_files_of_another_format_are_refused(written):
    text = belief_text(BELIEFS["label"])
    assert '% p4f: {"format":3,' in text
    other = text.replace('"format":3,', "" if written is None else f'"format":{json.dumps(written)},')
    with pytest.raises(BeliefError, match=r"the format '?[123]'? of another version of p4f, not 3; estimate it anew"):
        read_belief(other)


def test_cells_come_back():
    cells = [own.cell for own in read_belief(belief_text(BELIEFS["label"])).parameters]
    assert cells == [(1, 1, 0, None), (0, 1, 0, None), (1, 0, 1, None), (0, 0, 1, None)]
    assert read_belief(belief_text(BELIEFS["measurement"])).parameters[0].cell.feature == "days off"


def test_an_estimated_program_has_its_numbers_and_intervals_back():
    audit = AUDIT.rename(columns={"poor_area": "area"})
    belief = p4f.ProgramBelief(OWN).estimate(audit, recorded="granted", fair="repaid")
    text = belief_text(belief)
    assert f"{belief.parameters[0].value}::n(X)" in text
    assert "% p1 = " in text
    again = read_belief(text)
    assert again.parameters == belief.parameters
    counted = p4f.LabelBias("area", positive=False, affected=[1]).estimate(audit, recorded="granted", fair="repaid")
    np.testing.assert_allclose(belief.parameters[0].value, counted.parameters[0].value, atol=0.01)


def test_a_number_that_is_no_probability_is_told_with_the_file(tmp_path):
    file = tmp_path / "loans.pl"
    file.write_text(belief_text(p4f.LabelBias("area", 0.25, False)).replace("0.25 ::", "1.3 ::", 1))
    with pytest.raises(ProbabilityError, match=r"loans\.pl: probability 1\.3 of p1"):
        read_belief(file)


@pytest.mark.parametrize("kind", BELIEFS)
def test_plain_data_of_another_shape_describe_no_belief(kind):
    described = BELIEFS[kind].to_json()
    shapes = [None, 3, [], {}, *({own: value for own, value in described.items() if own != key} for key in described)]
    for value in [*shapes, *({**described, key: {"a": [None]}} for key in described)]:
        if value != described:
            with pytest.raises(P4FError):
                p4f.beliefs.read_belief(f"a.\n% p4f: {json.dumps(value)}\n")
            with contextlib.suppress(P4FError):
                p4f.Belief.from_json(value)
