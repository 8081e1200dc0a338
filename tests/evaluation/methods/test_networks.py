"""Lower and upper baseline, and unawareness."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from problog4fairness import DebiasedClassifier
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods.estimators import LowerBaseline, Unawareness, UpperBaseline
from problog4fairness.evaluation.methods.group_estimators import Massaging, ParityThresholds
from tests.evaluation.methods.data import QUICK, loans

ALL = [LowerBaseline, UpperBaseline, Unawareness, Massaging, ParityThresholds]


@pytest.mark.parametrize("method", [LowerBaseline, UpperBaseline])
def test_they_are_the_network_without_a_belief(method):
    people, y = loans()
    plain = DebiasedClassifier(**QUICK).fit(people, y)
    np.testing.assert_array_equal(method(**QUICK).fit(people, y).predict_proba(people), plain.predict_proba(people))


def test_lower_keeps_the_sensitive_column():
    people, y = loans()
    lower = LowerBaseline(sensitive="area", **QUICK).fit(people, y)
    probability = lower.predict_proba(people)[:, 1]
    assert probability[people["area"] == 1].mean() < probability[people["area"] == 0].mean() - 0.15


def test_unawareness_does_not_see_the_sensitive_column():
    people, y = loans()
    unaware = Unawareness(sensitive="area", **QUICK).fit(people, y)
    turned = people.assign(area=1 - people["area"])
    np.testing.assert_array_equal(unaware.predict_proba(people), unaware.predict_proba(turned))


def test_unawareness_finds_the_column_by_the_name_of_sensitive_features():
    people, y = loans()
    by_name = Unawareness(sensitive="area", **QUICK).fit(people, y)
    for beside in (people["area"], people[["area"]], {"area": people["area"]}):
        found = Unawareness(**QUICK).fit(people, y, sensitive_features=beside)
        np.testing.assert_array_equal(found.predict_proba(people), by_name.predict_proba(people))


def test_unawareness_takes_x_without_the_column():
    people, y = loans()
    rest = people.drop(columns="area")
    unaware = Unawareness(**QUICK).fit(rest, y, sensitive_features=people["area"].to_numpy())
    np.testing.assert_array_equal(
        unaware.predict_proba(rest), Unawareness(sensitive="area", **QUICK).fit(people, y).predict_proba(people)
    )


def test_unawareness_refuses_to_keep_a_copy_unnoticed():
    people, y = loans()
    with pytest.raises(
        P4FError, match="column 'area' of X equals sensitive_features; leave it out by sensitive='area'"
    ):
        Unawareness().fit(people, y, sensitive_features=people["area"].to_numpy())


def test_unawareness_needs_to_know_of_what():
    people, y = loans()
    with pytest.raises(P4FError, match="unawareness of what"):
        Unawareness().fit(people, y)
    with pytest.raises(P4FError, match=r"1 feature\(s\), all of them sensitive"):
        Unawareness(sensitive="area").fit(people[["area"]], y)


@pytest.mark.parametrize("method", ALL)
def test_labels_of_any_type_with_a_favourable_one(method):
    people, y = loans()
    names = np.where(y == 1, "granted", "refused")
    numbers = method(sensitive="area", **QUICK).fit(people, y)
    words = method(sensitive="area", favourable="granted", **QUICK).fit(people, names)
    assert words.classes_.tolist() == ["refused", "granted"]
    np.testing.assert_array_equal(words.predict_proba(people), numbers.predict_proba(people))
    np.testing.assert_array_equal(words.predict(people) == "granted", numbers.predict(people) == 1)


@pytest.mark.parametrize("method", ALL)
def test_named_errors_of_all(method):
    people, y = loans(40)
    with pytest.raises(P4FError, match="no column 'street' for the sensitive variable; there are job, house"):
        method(sensitive="street").fit(people, y)
    with pytest.raises(P4FError, match="sensitive_features have 3 rows, X has 40"):
        method(sensitive="area").fit(people, y, sensitive_features=[0, 1, 1])
    with pytest.raises(P4FError, match="one class only"):
        method(sensitive="area").fit(people, np.ones(40, int))
    with pytest.raises(P4FError, match="favourable='yes' is not one of two labels"):
        method(sensitive="area", favourable="yes").fit(people, y)


@pytest.mark.parametrize("method", ALL)
def test_they_can_be_cloned_and_cross_validated(method):
    people, y = loans(200)
    estimator = clone(method(sensitive="area", **QUICK))
    scores = cross_validate(estimator, people, y, cv=2, error_score="raise")["test_score"]
    assert (scores > 0.5).all()


@pytest.mark.parametrize("method", ALL)
def test_sensitive_features_are_requested_by_fit(method):
    import sklearn

    people, y = loans(200)
    with sklearn.config_context(enable_metadata_routing=True):
        assert method().get_metadata_routing().fit.requests["sensitive_features"] is True
        result = cross_validate(
            method(**QUICK), people, y, cv=2, params={"sensitive_features": people["area"]}, error_score="raise"
        )
    assert len(result["test_score"]) == 2
