"""The scikit-learn estimator of all methods."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from problog4fairness import DebiasedClassifier
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.baseline import BaselineClassifier
from problog4fairness.evaluation.methods import METHODS
from tests.evaluation.methods.data import QUICK, loans

ALL = [name for name in METHODS if name not in ("oracle", "audit_only")]


def test_recorded_and_fair_labels_are_learned_as_without_a_belief():
    people, y = loans()
    fair, some = loans(bias=0)[1], np.arange(len(people)) % 3 == 0
    plain = DebiasedClassifier(**QUICK).fit(people, y).predict_proba(people)
    recorded_only = BaselineClassifier(**QUICK).fit(people, y)
    np.testing.assert_array_equal(recorded_only.predict_proba(people), plain)
    plain = DebiasedClassifier(**QUICK).fit(people, fair).predict_proba(people)
    oracle = BaselineClassifier("oracle", **QUICK).fit(people, y, fair=fair)
    np.testing.assert_array_equal(oracle.predict_proba(people), plain)
    plain = DebiasedClassifier(**QUICK).fit(people[some], fair[some]).predict_proba(people)
    audit_only = BaselineClassifier("audit_only", **QUICK).fit(people, y, fair=np.where(some, fair, np.nan))
    np.testing.assert_array_equal(audit_only.predict_proba(people), plain)
    with pytest.raises(P4FError, match="0 of 600"):
        BaselineClassifier("oracle").fit(people, y)
    with pytest.raises(P4FError, match="'magic'"):
        BaselineClassifier("magic").fit(people, y)


def test_lower_keeps_the_sensitive_column():
    people, y = loans()
    lower = BaselineClassifier(sensitive="area", **QUICK).fit(people, y)
    probability = lower.predict_proba(people)[:, 1]
    assert probability[people["area"] == 1].mean() < probability[people["area"] == 0].mean() - 0.15


def test_unawareness_does_not_see_the_sensitive_column():
    people, y = loans()
    unaware = BaselineClassifier("without_sensitive", sensitive="area", **QUICK).fit(people, y)
    turned = people.assign(area=1 - people["area"])
    np.testing.assert_array_equal(unaware.predict_proba(people), unaware.predict_proba(turned))


def test_unawareness_finds_the_column_by_the_name_of_sensitive_features():
    people, y = loans()
    by_name = BaselineClassifier("without_sensitive", sensitive="area", **QUICK).fit(people, y)
    for beside in (people["area"], people[["area"]], {"area": people["area"]}):
        found = BaselineClassifier("without_sensitive", **QUICK).fit(people, y, sensitive_features=beside)
        np.testing.assert_array_equal(found.predict_proba(people), by_name.predict_proba(people))


def test_unawareness_takes_x_without_the_column():
    people, y = loans()
    rest = people.drop(columns="area")
    unaware = BaselineClassifier("without_sensitive", **QUICK).fit(
        rest, y, sensitive_features=people["area"].to_numpy()
    )
    np.testing.assert_array_equal(
        unaware.predict_proba(rest),
        BaselineClassifier("without_sensitive", sensitive="area", **QUICK).fit(people, y).predict_proba(people),
    )


def test_unawareness_refuses_to_keep_a_copy_unnoticed():
    people, y = loans()
    with pytest.raises(
        P4FError, match="column 'area' of X equals sensitive_features; leave it out by sensitive='area'"
    ):
        BaselineClassifier("without_sensitive").fit(people, y, sensitive_features=people["area"].to_numpy())


def test_unawareness_needs_to_know_of_what():
    people, y = loans()
    with pytest.raises(P4FError, match="without_sensitive needs the columns"):
        BaselineClassifier("without_sensitive").fit(people, y)
    with pytest.raises(P4FError, match=r"1 feature\(s\), all of them sensitive"):
        BaselineClassifier("without_sensitive", sensitive="area").fit(people[["area"]], y)


@pytest.mark.parametrize("method", ALL)
def test_labels_of_any_type_with_a_favourable_one(method):
    people, y = loans()
    names = np.where(y == 1, "granted", "refused")
    numbers = BaselineClassifier(method, sensitive="area", **QUICK).fit(people, y)
    words = BaselineClassifier(method, sensitive="area", favourable="granted", **QUICK).fit(people, names)
    assert words.classes_.tolist() == ["refused", "granted"]
    np.testing.assert_array_equal(words.predict_proba(people), numbers.predict_proba(people))
    np.testing.assert_array_equal(words.predict(people) == "granted", numbers.predict(people) == 1)


@pytest.mark.parametrize("method", ALL)
def test_named_errors_of_all(method):
    people, y = loans(40)
    with pytest.raises(P4FError, match="no column 'street' for the sensitive variable; there are job, house"):
        BaselineClassifier(method, sensitive="street").fit(people, y)
    with pytest.raises(P4FError, match="sensitive_features have 3 rows"):
        BaselineClassifier(method, sensitive="area").fit(people, y, sensitive_features=[0, 1, 1])
    with pytest.raises(P4FError, match="one class only"):
        BaselineClassifier(method, sensitive="area").fit(people, np.ones(40, int))
    with pytest.raises(P4FError, match="favourable='yes' is not one of two labels"):
        BaselineClassifier(method, sensitive="area", favourable="yes").fit(people, y)


@pytest.mark.parametrize("method", ALL)
def test_they_can_be_cloned_and_cross_validated(method):
    people, y = loans(200)
    estimator = clone(BaselineClassifier(method, sensitive="area", **QUICK))
    scores = cross_validate(estimator, people, y, cv=2, error_score="raise")["test_score"]
    assert (scores > 0.5).all()


@pytest.mark.parametrize("method", ALL)
def test_sensitive_features_are_requested_by_fit(method):
    import sklearn

    people, y = loans(200)
    with sklearn.config_context(enable_metadata_routing=True):
        assert BaselineClassifier(method).get_metadata_routing().fit.requests["sensitive_features"] is True
        result = cross_validate(
            BaselineClassifier(method, **QUICK),
            people,
            y,
            cv=2,
            params={"sensitive_features": people["area"]},
            error_score="raise",
        )
    assert len(result["test_score"]) == 2
