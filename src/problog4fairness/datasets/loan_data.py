"""Loan applications from a bank that turns down one kind of neighbourhood; made up, for examples and first steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

FEATURES = ("income", "savings", "years_at_address", "job", "children")


@dataclass(frozen=True)
class LoanData:
    """Three tables about different people.

    Attributes
    ----------
    loans
        What the bank has on file: features, ``poor_area``, and ``granted``, the recorded label.
    audit
        The same, and ``repaid``: whether the applicant could repay, which somebody checked by hand for a few.
    new
        People to decide on, with ``repaid`` to judge the decisions by.
    loans_repaid
        Whether the applicants of ``loans`` could repay, which nobody knows: for a classifier that learns from fair
        labels, the best that can be hoped for.
    features
        Names of the feature columns.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=100, audited=20, new=30)
    >>> len(data.loans), len(data.audit), len(data.new)
    (100, 20, 30)
    >>> "repaid" in data.loans, "repaid" in data.audit
    (False, True)
    """

    loans: pd.DataFrame
    audit: pd.DataFrame
    new: pd.DataFrame
    loans_repaid: pd.Series[int]
    features: tuple[str, ...] = FEATURES

    def __repr__(self) -> str:
        return f"LoanData({len(self.loans)} loans, {len(self.audit)} audited, {len(self.new)} new)"


def loans(rows: int = 5000, audited: int = 400, new: int = 5000, *, refused: float = 0.4, seed: int = 0) -> LoanData:
    """Draw loan applications.

    Two in five live in poor areas, where people earn less, save less and move more often. Whether somebody can repay
    depends on their income, savings, job and children, and given these not on where they live. The bank grants a loan
    to those who can repay, except that it turns down a share of those from poor areas. So the features tell much of
    the area: who leaves that column out and learns from the record still learns to turn such people down.

    Parameters
    ----------
    rows, audited, new
        Number of people in each table.
    refused
        Share of people from poor areas who could repay but are turned down.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=1000)
    >>> granted = data.loans.groupby("poor_area")["granted"].mean()
    >>> bool(granted[1] < granted[0])
    True
    """
    import pandas as pd

    if not 0 <= refused <= 1:
        raise P4FError(f"refused {refused:g} is not between 0 and 1")
    rng = np.random.default_rng(seed)
    count = rows + audited + new
    poor = (rng.random(count) < 0.4).astype(int)
    job = rng.choice(["clerk", "nurse", "smith", "teacher"], count)
    stay = np.where(poor == 1, 2.5, 14.5)  # years on average
    people = pd.DataFrame(
        {
            "income": rng.lognormal(7.7 - 0.3 * poor, 0.35, count).round(),
            "savings": rng.exponential(np.where(poor == 1, 2500, 5000)).round(),
            "years_at_address": rng.negative_binomial(1.5, 1.5 / (1.5 + stay)),
            "job": job,
            "children": rng.poisson(1.2, count),
            "poor_area": poor,
        }
    )
    strength = 2.2 * (np.log(people["income"]) - 7.5) + (people["savings"] - 3500) / 5000
    strength += pd.Series(job).map({"clerk": 0.0, "nurse": 0.4, "smith": -0.4, "teacher": 0.6}) - people["children"] / 4
    repaid = strength + 0.75 + rng.logistic(0, 0.5, count) > 0
    turned_down = (people["poor_area"] == 1) & (rng.random(count) < refused)
    people["granted"] = (repaid & ~turned_down).astype(int)
    people["repaid"] = repaid.astype(int)
    filed, rest = people[:rows].drop(columns="repaid"), people[rows:].reset_index(drop=True)
    decide = rest[audited:].drop(columns="granted").reset_index(drop=True)
    return LoanData(filed, rest[:audited], decide, people["repaid"][:rows])
