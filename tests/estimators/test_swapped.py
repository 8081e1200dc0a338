"""What names tell: columns in each other's place, names that are nearly right, and texts that are no beliefs."""

from __future__ import annotations

import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError, SwappedWarning

DATA = p4f.datasets.loans(rows=200, audited=100, new=1)
BELIEF = p4f.LabelBias("poor_area", {1: 0.4}, False, affected=[1])


def test_label_and_group_in_each_others_place_are_told():
    loans = DATA.loans
    model = p4f.DebiasedClassifier(BELIEF, learner="linear")
    with pytest.warns(SwappedWarning, match="the recorded label is the column 'poor_area', .* were they swapped"):
        model.fit(loans[["income"]], loans["poor_area"], sensitive_features=loans["granted"])


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_recorded_and_fair_in_each_others_place_are_told():
    audit = DATA.audit.rename(columns={"granted": "recorded_label", "repaid": "fair_label"})
    with pytest.warns(SwappedWarning, match="the recorded label is the column 'fair_label'"):
        BELIEF.estimate(audit, recorded="fair_label", fair="recorded_label")


@pytest.mark.filterwarnings("error")
def test_the_right_places_are_not():
    loans = DATA.loans
    model = p4f.DebiasedClassifier(BELIEF, learner="linear")
    model.fit(loans[["income", "savings"]], loans["granted"], sensitive_features=loans["poor_area"])


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        (lambda: BELIEF.estimate(DATA.audit, recorded="grantd", fair="repaid"), "did you mean 'granted'?"),
        (lambda: p4f.LabelBias("poorarea").estimate(DATA.audit, recorded="granted", fair="repaid"), "'poor_area'?"),
        (lambda: p4f.DebiasedClassifier(learner="linaer").fit([[1], [2]], [0, 1]), "did you mean 'linear'?"),
        (lambda: p4f.DebiasedClassifier("label").fit([[1], [2]], [0, 1]), "'label' is no belief; pass one such as"),
    ],
)
def test_slips_are_met_with_what_may_be_meant(slip, said):
    with pytest.raises(P4FError) as caught:
        slip()
    assert said in str(caught.value)
