"""In a notebook everything shows itself, and ``repr`` is one line."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import problog4fairness as p4f

DATA = p4f.datasets.loans(rows=300, audited=200, new=1)
BELIEF = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
COLUMNS = [*DATA.features, "poor_area"]


@pytest.fixture(scope="module")
def comparison():
    model = p4f.DebiasedClassifier(BELIEF, "linear")
    options = {"methods": ["without_sensitive"], "seeds": 1, "folds": 2}
    return p4f.compare(DATA.audit, model, recorded="granted", fair="repaid", **options)


@pytest.fixture(scope="module")
def moves():
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0)
    loans = DATA.loans
    model.fit(loans[list(DATA.features)], loans["granted"], sensitive_features=loans["poor_area"])
    return p4f.robustness.sensitivity(
        model, loans[list(DATA.features)], loans["granted"], sensitive_features=loans["poor_area"], values=5
    )


def test_a_belief_shows_its_picture_its_sentences_and_its_parameters():
    shown = BELIEF._repr_html_()
    assert "<svg" in shown
    assert "40% were recorded with the label = 0" in shown
    assert "p1" in shown[shown.index("<table") :]
    assert "<script" not in p4f.LabelBias("<script>", 0.2)._repr_html_()


def test_a_belief_of_many_classes_shows_sentences():
    belief = p4f.ClassBias("sex", ["fail", "pass", "good"], groups=["F", "M"])
    shown = belief._repr_html_()
    assert "flip(" not in shown
    assert "NaN" not in shown
    assert "a fair good is recorded as pass where sex = M" in shown[shown.index("<table") :]
    assert "label = good, an unknown share were recorded with another." in shown
    assert repr(belief) == "ClassBias(sex: 12 parameters)"


def test_what_to_do_is_shown_where_a_test_contradicts_the_belief():
    wrong = p4f.LabelBias("poor_area", negative={1: 0.0}, positive=False, affected=[1])
    found = wrong.check(DATA.audit, recorded="granted", fair="repaid")
    assert found.contradicted
    assert "what to do" in found._repr_html_()
    assert "what to do" not in BELIEF.check(DATA.loans, recorded="granted")._repr_html_()


def test_a_program_shows_its_picture_and_what_is_left_open():
    shown = p4f.Program("nn(h,X) :: y(X). p1 :: n(X). r(X) :- y(X), \\+n(X). ?- r(x).")._repr_html_()
    assert "<svg" in shown
    assert "Left open: nn(h), p1." in shown


def test_a_comparison_shows_its_table_its_verdict_and_its_figure(comparison):
    shown = comparison._repr_html_()
    assert "without the sensitive column" in shown
    assert "Against a model without the sensitive column: " in shown
    assert "data:image/png;base64," in shown
    assert str(comparison).endswith(comparison.verdict)


def test_sensitivity_shows_its_figure_and_its_spans(moves):
    assert 'alt="Sensitivity of' in moves._repr_html_()
    assert "data:image/png;base64," in moves._repr_html_()
    assert "lowest" in moves._repr_html_()


def test_repr_is_one_line(comparison, moves):
    table = DATA.loans
    plan = BELIEF.bind(None).plan_audit(table, recorded="granted")
    which = p4f.checks.compare_beliefs([BELIEF, p4f.NoBias()], table, recorded="granted")
    rows = p4f.data.Rows(table, features=DATA.features)
    known = p4f.checks.identifiability(BELIEF.with_priors({"p1": p4f.statistics.Beta(40, 60)}))
    people = p4f.datasets.synthetic(rows=10)
    checked = BELIEF.check(table, recorded="granted")
    own = (
        BELIEF,
        BELIEF.program(),
        comparison,
        moves,
        plan,
        checked,
        checked["range"],
        rows,
        known,
        DATA,
        people,
    )
    for shown in own:
        assert "\n" not in repr(shown)
        assert len(repr(shown)) < 300
    assert repr(plan) == f"AuditPlan(neyman: 0 rows audited, {plan.to_draw} rows to draw)"
    assert "LabelBias(poor_area: p1=0.4)" in str(which)


def test_tables_print_whole(comparison):
    for table in (BELIEF.parameter_table(), comparison.gains, BELIEF.parameter_table()[["value", "meaning"]].head(1)):
        for column in table.columns:
            assert column in str(table)
            assert column in table._repr_html_()
        assert "..." not in str(table)


def test_what_is_shown_is_sound(comparison, moves):
    for own in (BELIEF, BELIEF.program()):
        ET.fromstring(own._repr_html_().replace("&nbsp;", " "))
