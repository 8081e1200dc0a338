"""The loan data: what is biased, and what is not."""

from __future__ import annotations

import numpy as np
import pytest

from problog4fairness import datasets
from problog4fairness.errors import P4FError


def test_repayment_does_not_depend_on_the_area_but_granting_does():
    data = datasets.loans(rows=20_000, audited=20_000, new=20_000)
    by_area = data.new.groupby("poor_area")["repaid"].mean()
    assert abs(by_area[1] - by_area[0]) < 0.02
    granted = data.loans.groupby("poor_area")["granted"].mean()
    assert granted[1] == pytest.approx(0.6 * granted[0], abs=0.02)
    audit = data.audit
    poor = audit[(audit["poor_area"] == 1) & (audit["repaid"] == 1)]
    assert poor["granted"].mean() == pytest.approx(0.6, abs=0.02)
    assert (audit["granted"] <= audit["repaid"]).all()
    assert np.all(audit.loc[audit["poor_area"] == 0, "granted"] == audit.loc[audit["poor_area"] == 0, "repaid"])


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
