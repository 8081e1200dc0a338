"""The estimator around :func:`massage`."""

from __future__ import annotations

import numpy as np
import pytest

from problog4fairness.data import TableError
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.baseline import BaselineClassifier
from problog4fairness.evaluation.methods.massaging import flips_needed
from tests.evaluation.methods.data import QUICK, loans


def massaged(**options):
    return BaselineClassifier("massaging", **options)


def test_exactly_as_many_labels_change_as_are_needed_on_binary_data():
    people, y = loans()
    massaging = massaged(sensitive="area", **QUICK).fit(people, y)
    assert len(people.drop_duplicates()) == 16  # ties everywhere
    assert 2 * flips_needed(y, people["area"].to_numpy()) == (massaging.trained_.labels != y).sum() > 0
    rates = [massaging.trained_.labels[people["area"] == group].mean() for group in (0, 1)]
    assert abs(rates[0] - rates[1]) <= 0.5 * (1 / (people["area"] == 0).sum() + 1 / (people["area"] == 1).sum())


def test_the_network_is_fairer_than_the_lower_baseline():
    people, y = loans()

    def disparity(estimator):
        probability = estimator.fit(people, y).predict_proba(people)[:, 1]
        return probability[people["area"] == 1].mean() - probability[people["area"] == 0].mean()

    lower, fairer = (
        disparity(BaselineClassifier(**QUICK)),
        disparity(massaged(sensitive="area", **QUICK)),
    )
    assert lower < -0.15
    assert abs(fairer) < 0.08


@pytest.mark.parametrize("area", [lambda people, y: np.arange(len(people)) % 2, lambda people, y: y])
def test_no_label_changes_where_the_group_is_not_behind(area):
    people, y = loans(bias=0)
    y = (np.arange(len(people)) % 4 < 2).astype(int)  # the same rate in even and odd rows
    massaging = massaged(**QUICK).fit(people, y, sensitive_features=area(people, y))
    np.testing.assert_array_equal(massaging.trained_.labels, y)
    np.testing.assert_array_equal(
        massaging.predict_proba(people), BaselineClassifier(**QUICK).fit(people, y).predict_proba(people)
    )


def test_groups_by_levels_and_beside_x():
    people, y = loans()
    expected = massaged(sensitive="area", **QUICK).fit(people, y)
    words = people["area"].map({0: "rich", 1: "poor"})
    named = people.assign(area=words)
    by_words = massaged(sensitive="area", levels=("rich", "poor"), **QUICK).fit(named, y)
    given = massaged(levels=("rich", "poor"), **QUICK).fit(people, y, sensitive_features=words)
    np.testing.assert_array_equal(given.trained_.labels, by_words.trained_.labels)
    np.testing.assert_array_equal(given.trained_.labels, expected.trained_.labels)
    array = massaged(**QUICK).fit(people.drop(columns="area"), y, sensitive_features=people["area"].to_numpy())
    assert (array.trained_.labels != y).sum() == (expected.trained_.labels != y).sum()
    picked = massaged(sensitive="area", **QUICK).fit(people, y, sensitive_features=people[["job", "area"]])
    np.testing.assert_array_equal(picked.trained_.labels, expected.trained_.labels)


def test_the_seed_decides():
    people, y = loans(200)
    options = {**QUICK, "random_state": np.random.RandomState(3)}
    first = massaged(sensitive="area", **options).fit(people, y).trained_.labels
    options = {**QUICK, "random_state": np.random.RandomState(3)}
    again = massaged(sensitive="area", **options).fit(people, y).trained_.labels
    np.testing.assert_array_equal(again, first)


@pytest.mark.parametrize(
    ("options", "column", "message"),
    [
        ({}, None, "massaging needs one sensitive column, not 0"),
        ({}, [0] * 40, "no training row has sensitive0 = 1; every group must occur"),
        ({"sensitive": "a"}, [1] * 40, "no training row has a = 0; every group must occur"),
        ({}, [0, 1, 2, 1] * 10, "value 2, which is not between 0 and 1; name the groups"),
        ({}, ["m", "f"] * 20, "has the values 'm', 'f'; name the groups"),
        ({}, [0, 1, np.nan, 1] * 10, "has 10 missing values; drop those rows"),
        ({}, [0, 1, 0.5, 1] * 10, "sensitive0 has probabilities of groups; this needs the group of every row"),
        ({"levels": (0, 1, 2)}, [0, 1] * 20, "levels must be two different groups"),
        ({"levels": (1, 1)}, [0, 1] * 20, "levels must be two different groups"),
        ({"sensitive": ["a", "b"]}, [0, 1] * 20, "one sensitive column, not 2"),
        ({}, np.zeros((40, 2)), "one sensitive column, not 2"),
        ({}, np.zeros((40, 2, 2)), "sensitive_features must have 1 column"),
    ],
)
def test_bad_groups(options, column, message):
    people, y = loans(40)
    with pytest.raises(P4FError, match=message) as error:
        massaged(**options).fit(people, y, sensitive_features=column)
    assert "\n" not in str(error.value)


def test_three_labels():
    people, _ = loans(40)
    with pytest.raises(P4FError, match=r"Only binary classification is supported.*3 different labels"):
        massaged(sensitive="area").fit(people, np.arange(40) % 3)


@pytest.mark.parametrize("method", ["massaging", "threshold_optimizer", "exponentiated_gradient"])
def test_no_label_is_favourable_by_alphabet(method):
    people, y = loans()
    words = np.where(y == 1, "approved", "denied")
    with pytest.raises(TableError, match="favourable"):
        BaselineClassifier(method, sensitive="area", **QUICK).fit(people, words)
    model = BaselineClassifier(method, sensitive="area", favourable="approved", **QUICK).fit(people, words)
    assert model.classes_.tolist() == ["denied", "approved"]
    expected = BaselineClassifier(method, sensitive="area", **QUICK).fit(people, y)
    np.testing.assert_allclose(model.predict_proba(people), expected.predict_proba(people), atol=1e-9)
