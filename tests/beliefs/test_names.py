"""Columns and groups may be called anything: a belief comes back from its file, and names never become clauses."""

from __future__ import annotations

import re
import warnings

import pandas as pd
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from problog.engine_stack import StackBasedEngine

import problog4fairness as p4f
from problog4fairness.beliefs.describe.files import belief_text, read_belief
from problog4fairness.errors import P4FError
from problog4fairness.program import BUILT_IN, atom, comment, is_plain, predicates, unquoted
from tests.beliefs.contract import feature_tables, label_table

EVIL = "x\nquery(evil).\n0.7::evil."
# Text that a file can hold: everything but NUL and surrogates.
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
WORDS = st.sampled_from(
    ["query", "evidence", "not", "is", "length", "y1", "q", "q biased", "q_2", "h", "a", "x", EVIL, ""]
)
NAMES = st.lists(ANY | WORDS, min_size=6, max_size=6, unique=True)


def beliefs(names):
    """A belief of each kind whose columns, groups, classes and values have these names."""
    a, b, c, d, e, f = names
    three = p4f.LabelBias(a, 0.1, 0.2, groups=(b, c, d))
    table = p4f.MeasurementBias([a, b], c, values={a: (d, e, f)}, groups=(d, e, f))
    return [
        p4f.LabelBias(a, {b: 0.3}, False, groups=(c, b), affected=[b]),
        three,
        p4f.LabelBias([a, b], 0.1, 0.2, groups=[(c, d), (e, f), (c, f)]),
        p4f.ClassBias(a, [b, c, d], transitions=0.1, groups=(e, f)),
        p4f.MeasurementBias([a, b, c], d, 0.2, 0.1, groups=(e, f)),
        table.bind({rate.name: 0.1 for rate in table.parameters}),
        p4f.chain(
            p4f.MeasurementBias([a, b], c, 0.2, 0.1),
            p4f.LabelBias(d, 0.2, False),
            three,
            p4f.LabelBias(e, 0.1, 0, noise=0.1),
        ),
        p4f.HistoricalBias([a, b], c, 0.2, 0.1, label=p4f.LabelBias(d, 0.1, 0.1)),
    ]


PLAIN = beliefs(["one", "two", "three", "four", "five", "six"])


@settings(max_examples=25, deadline=None)
@given(NAMES)
@example(["New\u00a0York", "zero\u200bwidth", "a\tb", "query", "evidence", "it's"])
@example(["q", "q biased", "q neg bias", "q_2", "Q", "length"])
@example(["y1", "label_neg_bias_y1", "y_", "", "\\", "'"])
def test_any_names_are_written_and_read(names):
    for belief in beliefs(names):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = read_belief(belief_text(belief, names))
        assert again == belief
        assert again.parameters == belief.parameters


def skeleton(belief):
    """The clauses with all names and quoted atoms made equal: what is left is their structure and their numbers."""
    return sorted(re.sub(r"'[^']*'|\b[a-z]\w*", "@", clause) for clause in belief.program()._meaning()[0])


@settings(max_examples=15, deadline=None)
@given(NAMES)
@example([EVIL, "% " + EVIL, "*/ query(evil). /*", "'). query(evil). f('", "\u2028query(evil).", "\rquery(evil)."])
@example(["query", "evidence", "use_module", "y1", "not", "q_biased"])
def test_clauses_do_not_depend_on_names(names):
    for belief, plain in zip(beliefs(names), PLAIN, strict=True):
        assert skeleton(belief) == skeleton(plain)


@pytest.mark.parametrize(
    "names", [["q", "q biased", "q neg bias", "q_2", "Q", "length"], ["query", "evidence", "not", "y1", "is", EVIL]]
)
def test_what_is_computed_does_not_depend_on_names(names):
    for belief, plain in zip(beliefs(names), PLAIN, strict=True):
        label, expected = label_table(belief), label_table(plain)
        assert (label is None) == (expected is None)
        pairs = list(zip(feature_tables(belief).values(), feature_tables(plain).values(), strict=True))
        for found, wanted in [*pairs, *([] if label is None else [(label, expected)])]:
            torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("bad", ["nu\0l", "lone\ud800", "\udfff"])
def test_what_no_file_can_hold_is_refused_in_one_line(bad):
    names = ["one", "two", "three", "four", "five", "six"]
    own = "nn(h,X)::y(X). nn(area,X)::a(X). 0.1::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."
    made = [lambda: p4f.ProgramBelief(own, columns={"area": bad})]
    made += [
        lambda place=place, kind=kind: beliefs([*names[:place], bad, *names[place + 1 :]])[kind]
        for kind in (0, 4, 7)
        for place in range(4)
        if (kind, place) != (0, 3)
    ]
    for make in made:
        with pytest.raises(P4FError, match="holds a NUL or a lone surrogate") as caught:
            belief_text(make())
        assert str(caught.value).isprintable()


def test_atoms_and_comments():
    assert [atom(v) for v in (1, True, "north", "New York", (1, "a b"))] == [
        "1",
        "1",
        "north",
        "'New York'",
        "g(1,'a b')",
    ]
    assert atom("New\u00a0York's \\ \U000e0001") == "'New\\u00a0York\\u0027s \\u005c \\U000e0001'"
    for text in ("north", "New\u00a0York's \\ \U000e0001", "\\u00a0", "'"):
        assert unquoted(atom(text)) == text
    assert comment("it's", "a\nb") == "% it's\n% a\\u000ab"
    assert predicates(["Q 1", "q-1", "q_1_2", "number", "y_h", "age biased"], "f") == [
        "q_1", "q_1_2", "q_1_2_2", "f_number", "f_y_h", "age_biased_f",
    ]  # fmt: skip
    with pytest.raises(P4FError, match="neither text nor a whole number"):
        atom(1.5)


def test_all_words_that_problog_reads_in_its_own_way_are_known():
    class Engine(StackBasedEngine):
        def add_builtin(self, predicate, arity, function):
            if arity in (1, 2) and is_plain(predicate) and predicate.islower():
                words.add(predicate)
            super().add_builtin(predicate, arity, function)

    words: set[str] = set()
    Engine()
    assert words <= BUILT_IN


def test_groups_of_any_name_are_found_also_after_the_rules_were_changed():
    groups = ["New\u00a0York", "it's", "c"]
    text = belief_text(p4f.LabelBias("city", 0.1, 0.1, groups=groups)).replace("label_neg_bias", "turned_down")
    with pytest.warns(p4f.audit.AuditWarning, match="changed by hand"):
        belief = read_belief(text)
    frame = pd.DataFrame({"x": range(30), "city": groups * 10})
    p4f.DebiasedClassifier(belief, p4f.learners.Network(max_epochs=1)).fit(frame, [0, 1] * 15)
