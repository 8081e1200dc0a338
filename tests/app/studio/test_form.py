"""The form of a belief, and the belief of a form."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from problog4fairness import (
    Belief,
    HistoricalBias,
    LabelBias,
    MeasurementBias,
    NoBias,
    NumericMeasurementBias,
    ProgramBelief,
    RowBias,
    beliefs,
    chain,
    datasets,
    depends_on,
)
from problog4fairness.app.studio.belief_controls import sketch
from problog4fairness.app.studio.belief_form import DOUBTED, PROGRAM, Form, questions
from problog4fairness.beliefs import Chain, LabelStage
from problog4fairness.data import Roles, values_of
from problog4fairness.errors import P4FError

ROLES = Roles("granted", "poor_area", None, (0, 1), (0, 1))


class Table:
    """The loans, with two officers' opinions and the day of each."""

    frame: pd.DataFrame = datasets.loans(rows=60, audited=5, new=5).loans.assign(
        ann=1, bob=0, day=pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d")
    )

    def values(self, column):
        return values_of(self.frame[column])


JOB = {"happens": True, "columns": ["job"], "model": []}
INCOME = {"happens": True, "columns": [], "model": ["income"]}
NEVER = {"happens": False, "columns": [], "model": []}
NO_NUMBERS = dict.fromkeys(("factor", "shift", "noise"), False)
FORMS = [
    Form(),
    Form("LabelBias", {"positive": False, "affected": True}),
    Form("LabelBias", {"negative": False, "noise": True}),
    Form("RowBias", {"negative": JOB, "positive": JOB}),
    Form("RowBias", {"negative": INCOME, "positive": NEVER, "affected": True}),
    Form("RowBias", {"negative": NEVER, "positive": JOB | {"model": ["income", "savings"]}}),
    Form("ChangedBias", {"when": "day"}),
    Form("ChangedBias", {"when": "day", "changed": "2020-01-20", "positive": NEVER, "affected": True}),
    Form("ChangedBias", {"when": "day", "changed": "2020-01-10, 2020-02-10", "negative": JOB, "positive": JOB}),
    Form("MeasurementBias", {"features": ["job"]}),
    Form("MeasurementBias", {"features": ["job", "children"], "joint": ["job", "children"], "affected": True}),
    Form("NumericMeasurementBias", {"features": ["income"]}),
    Form("NumericMeasurementBias", {"features": ["income", "savings"], "factor": False, "affected": True}),
    Form("HistoricalBias", {"features": ["children"]}),
    Form("HistoricalBias", {"features": ["job"], "label": True, "affected": True}),
    Form("SelectiveLabels"),
    Form("SelectiveLabels", {"decided_by": ["job"], "kept": "accepted"}),
    Form("PositiveUnlabelled", {"by": ["job"]}),
    Form("Annotators", {"annotators": ["ann", "bob"], "sensitive": True}),
    Form("Annotators", {"annotators": ["ann", "bob"]}),
    Form("UnknownGroup", {"proxies": ["job"]}),
    Form("UnknownGroup", {"proxies": ["job", "children"], "belief": True}),
]


def test_every_template_has_a_form_with_a_question_a_picture_and_fields():
    """A new template without one fails here; no bias is nothing to state, chains are of templates, programs written."""
    exported = {own for name in beliefs.__all__ if isinstance(own := getattr(beliefs, name), type)}
    templates = {own for own in exported if issubclass(own, Belief) and not issubclass(own, Chain)}
    templates -= {Belief, LabelStage, NoBias, ProgramBelief}
    made = {type(form.belief(Table(), ROLES)) for form in FORMS}
    made.add(type(Form().belief(Table(), replace(ROLES, labels=("none", "small", "large")))))
    assert templates - made == set()
    assert {*(form.kind for form in FORMS), PROGRAM} == set(questions())
    for question in questions().values():
        assert question.doubted in DOUBTED
        assert sketch(question.boxes).count("<rect") == sum(map(len, question.boxes))


def audited():
    """Loans of people of whom the poor were turned down."""
    known = datasets.loans(rows=1, audited=300, new=1).audit
    granted = known["repaid"] * (known["income"] > known["income"].median())
    return known.assign(granted=granted, day=pd.date_range("2020-01-01", periods=300).strftime("%Y-%m-%d"))


@pytest.mark.parametrize(
    "form",
    [
        Form("RowBias", {"negative": JOB | {"model": ["income"]}, "positive": NEVER}),
        Form("ChangedBias", {"when": "day"}),
    ],
    ids=lambda form: form.kind,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_an_audit_found_of_scores_and_days_stays_in_the_form(form):
    found = form.belief(Table(), ROLES).estimate(audited(), recorded="granted", fair="repaid", favourable=1)
    again = Form.of(found, Table(), ROLES)
    assert replace(again, values={}) == form
    assert again.values
    assert None not in again.values.values()


def test_amounts_are_stated_and_taken_back():
    belief = Form("NumericMeasurementBias", {"features": ["income"], "affected": True}).belief(Table(), ROLES)
    name = belief.parameters[0].name
    stated = belief.bind({name: 0.8})
    assert stated.parameters[0].value == 0.8
    assert Form.of(stated, Table(), ROLES).belief(Table(), ROLES) == stated
    assert stated.bind({name: None}) == belief
    with pytest.raises(P4FError, match="nothing of the fair value was recorded"):
        belief.bind({name: 0.0})


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.kind)
def test_a_belief_brings_its_form_back(form):
    belief = form.belief(Table(), ROLES)
    form.values = {own.name: None for own in belief.parameters}
    assert Form.of(belief, Table(), ROLES) == form


@pytest.mark.parametrize(
    "form", [Form("LabelBias", {"affected": True}), Form("HistoricalBias", {"features": ["children"], "label": True})]
)
def test_labels_with_many_values_have_a_belief_of_their_own(form):
    many = replace(ROLES, labels=("none", "small", "large"))
    belief = form.belief(Table(), many)
    assert belief.record.classes == ("none", "small", "large")
    form.values = {own.name: None for own in belief.parameters}
    assert Form.of(belief, Table(), many) == form
    with pytest.raises(P4FError, match="granted has 3 values"):
        Form("SelectiveLabels").belief(Table(), many)


def test_stated_numbers_go_both_ways():
    form = Form("LabelBias", {"positive": False, "affected": True}, {"p1": 0.4})
    belief = form.belief(Table(), ROLES)
    assert belief.parameters[0].value == 0.4
    assert Form.of(belief, Table(), ROLES) == form


@pytest.mark.parametrize(
    "belief",
    [
        ProgramBelief("nn(h,X) :: y(X). 0.3 :: lost(X). y_(X) :- y(X), \\+lost(X). ?- y_(x)."),
        LabelBias("job", groups=("clerk", "nurse")),
        chain(LabelBias("poor_area", positive=False), LabelBias("job", groups=("clerk", "nurse"))),
        HistoricalBias("income", "poor_area", label=LabelBias("poor_area", positive=False)),
        MeasurementBias("not there", "poor_area"),
        chain(NumericMeasurementBias("income", "poor_area"), LabelBias("poor_area")),
        RowBias("poor_area", depends_on({"job": ("clerk", "nurse")})),
        RowBias("poor_area", depends_on({"job": ("clerk", "nurse", "smith", "teacher")}), 0.1),
    ],
    ids=lambda belief: type(belief).__name__,
)
def test_a_belief_that_no_form_makes_is_a_program(belief):
    assert Form.of(belief, Table(), ROLES).kind == PROGRAM


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (Form("LabelBias", {"negative": False, "positive": False}), "without any bias"),
        (Form("MeasurementBias"), "features that are distorted"),
        (Form("Annotators", {"annotators": ["ann"]}), "annotator"),
        (Form("UnknownGroup"), "tell of the group"),
        (Form("RowBias"), "column that the bias depends on"),
        (Form("ChangedBias"), "column with the day"),
        (Form("ChangedBias", {"when": "day", "changed": "soon"}), "is no day; write 2020-03-01"),
        (Form("NumericMeasurementBias"), "numbers that are distorted"),
        (
            Form(
                "NumericMeasurementBias", dict.fromkeys(("factor", "shift", "noise"), False) | {"features": ["income"]}
            ),
            "bias",
        ),
    ],
)
def test_what_is_missing_is_named(form, why):
    with pytest.raises(P4FError, match=why):
        form.belief(Table(), ROLES)
