"""The loan data: what is biased, and what is not."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from problog4fairness import datasets
from problog4fairness.errors import P4FError


def test_repayment_does_not_depend_on_the_area_but_granting_does():
    """At equal features: the areas differ in what people earn and save, and that is all that repayment depends on."""
    data = datasets.loans(rows=40_000, audited=1, new=1)
    people = data.loans.assign(repaid=data.loans_repaid)
    alike = people[people["income"].between(1800, 2200) & people["savings"].between(1000, 3000)]
    by_area = alike.groupby("poor_area")[["repaid", "granted"]].mean()
    assert by_area["repaid"][1] == pytest.approx(by_area["repaid"][0], abs=0.05)
    assert by_area["granted"][1] == pytest.approx(0.6 * by_area["repaid"][1], abs=0.04)
    poor = people[(people["poor_area"] == 1) & (people["repaid"] == 1)]
    assert poor["granted"].mean() == pytest.approx(0.6, abs=0.02)
    assert (people["granted"] <= people["repaid"]).all()
    rich = people[people["poor_area"] == 0]
    assert (rich["granted"] == rich["repaid"]).all()


def test_leaving_the_column_out_keeps_part_of_the_gap():
    """Features are proxies of the area, as they are: the column alone is not what a record's bias hangs on."""
    data = datasets.loans(rows=4000, audited=1, new=4000)
    features = ["income", "savings", "years_at_address", "children"]
    rich, poor = (data.new[data.new["poor_area"] == group] for group in (0, 1))

    def missed(label):
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data.loans[features], label)
        able = [people[people["repaid"] == 1] for people in (rich, poor)]
        return [1 - model.predict(people[features]).mean() for people in able]

    (rich_fair, poor_fair), (rich_record, poor_record) = missed(data.loans_repaid), missed(data.loans["granted"])
    assert poor_record > poor_fair + 0.15
    assert abs(rich_record - rich_fair) < 0.08


def test_sizes_columns_and_seeds():
    data = datasets.loans(rows=30, audited=20, new=10, seed=3)
    assert [len(t) for t in (data.loans, data.audit, data.new)] == [30, 20, 10]
    assert "repaid" not in data.loans
    assert "granted" not in data.new
    assert set(data.features) < set(data.loans)
    assert data.loans.equals(datasets.loans(rows=30, audited=20, new=10, seed=3).loans)
    with pytest.raises(P4FError, match="refused 2"):
        datasets.loans(refused=2)


def test_fair_labels_of_the_loans_go_with_their_rows():
    data = datasets.loans(rows=300, audited=1, new=1)
    assert data.loans_repaid.index.equals(data.loans.index)
    assert (data.loans["granted"] <= data.loans_repaid).all()
    rich = data.loans["poor_area"] == 0
    assert (data.loans["granted"] == data.loans_repaid)[rich].all()
