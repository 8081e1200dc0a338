"""The form of a belief, and the belief of a form."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from problog4fairness import HistoricalBias, LabelBias, MeasurementBias, ProgramBelief, chain, datasets
from problog4fairness.errors import P4FError
from problog4fairness.rows import Roles
from problog4fairness.rows.values import values_of
from problog4fairness.studio.form import Form

ROLES = Roles("granted", "poor_area", None, (0, 1), (0, 1))


class Table:
    """The loans, with two officers' opinions."""

    frame: pd.DataFrame = datasets.loans(rows=60, audited=5, new=5).loans.assign(ann=1, bob=0)

    def values(self, column):
        return values_of(self.frame[column])


FORMS = [
    Form(),
    Form(given=False, only_group=True),
    Form(lost=False, mistakes=True),
    Form(also_by=["job"]),
    Form("measurement", features=["job"]),
    Form("measurement", features=["job"], label_too=True),
    Form("historical", features=["children"]),
    Form("historical", features=["job"], label_too=True, only_group=True),
    Form("selective"),
    Form("selective", decided_by="job", accepted_only=True),
    Form("positive-unlabelled", by=["job"]),
    Form("annotators", annotators=["ann", "bob"]),
    Form("annotators", annotators=["ann", "bob"], by_group=False),
    Form("unknown", proxies=["job"]),
    Form("unknown", proxies=["job", "children"], label_too=True),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.kind)
def test_a_belief_brings_its_form_back(form):
    belief = form.belief(Table(), ROLES)
    form.values = {own.name: None for own in belief.probabilities}
    assert Form.of(belief, Table(), ROLES) == form


@pytest.mark.parametrize("form", [Form(only_group=True), Form("historical", features=["children"], label_too=True)])
def test_labels_with_many_values_have_a_belief_of_their_own(form):
    many = replace(ROLES, labels=("none", "small", "large"))
    belief = form.belief(Table(), many)
    assert belief.classes == ("none", "small", "large")
    form.values = {own.name: None for own in belief.probabilities}
    assert Form.of(belief, Table(), many) == form
    with pytest.raises(P4FError, match="granted has 3 values"):
        Form("selective").belief(Table(), many)


def test_stated_numbers_go_both_ways():
    form = Form(given=False, only_group=True, values={"p1": 0.4})
    belief = form.belief(Table(), ROLES)
    assert belief.probabilities[0].value == 0.4
    assert Form.of(belief, Table(), ROLES) == form


@pytest.mark.parametrize(
    "belief",
    [
        ProgramBelief("nn(h,X) :: y(X). 0.3 :: lost(X). y_(X) :- y(X), \\+lost(X). ?- y_(x)."),
        LabelBias("job", levels=("clerk", "nurse")),
        chain(LabelBias("poor_area", positive=False), LabelBias("job", levels=("clerk", "nurse"))),
        HistoricalBias("income", "poor_area", label=LabelBias("poor_area", positive=False)),
        MeasurementBias("not there", "poor_area"),
    ],
    ids=lambda belief: type(belief).__name__,
)
def test_a_belief_that_no_form_makes_is_a_program(belief):
    assert Form.of(belief, Table(), ROLES).kind == "program"


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (Form(lost=False, given=False), "nothing to believe"),
        (Form("measurement"), "choose the features"),
        (Form("annotators", annotators=["ann"]), "two or more people"),
        (Form("unknown"), "that tell of the group"),
    ],
)
def test_what_is_missing_is_named(form, why):
    with pytest.raises(P4FError, match=why):
        form.belief(Table(), ROLES)
