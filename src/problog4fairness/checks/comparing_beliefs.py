"""Which of several beliefs explains the recorded rows best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from problog4fairness.beliefs import Belief
from problog4fairness.checks.reading import read_case
from problog4fairness.data import WholeTable
from problog4fairness.errors import P4FError


def compare_beliefs(
    beliefs: Sequence[Belief] | Mapping[str, Belief],
    table: Any,
    *,
    recorded: str | None = None,
    favourable: Any = None,
    use_sensitive: bool = False,
    random_state: int = 0,
) -> WholeTable:
    """Compare beliefs by how likely they make recorded labels that were held out. No audit is needed.

    Beliefs that allow the same recorded labels cannot be told apart in this way: with ``use_sensitive=True`` many can.
    The likelihood says which is *less wrong* about the record, not which is right.

    Parameters
    ----------
    beliefs
        Two or more, with all their parameters known; in a dictionary, by the names that they have in the result.
    table, recorded, favourable, use_sensitive, random_state
        As for :func:`~problog4fairness.check`.

    Returns
    -------
    A data frame with a row for each belief, the best first: ``loss``, minus the mean log-likelihood of held-out
    recorded labels; ``behind``, how much greater that is than the best one's; ``low`` and ``high``, the 95% interval of
    that difference; and ``learner``, the quick learner that explained most.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> loans = p4f.datasets.loans(2000).loans
    >>> right = p4f.LabelBias("poor_area", {0: 0, 1: 0.4}, False)
    >>> wrong = p4f.LabelBias("poor_area", {0: 0.4, 1: 0}, False)
    >>> p4f.checks.compare_beliefs({"area": right, "elsewhere": wrong}, loans, recorded="granted").index[0]
    'area'
    """
    named = (
        dict(beliefs) if isinstance(beliefs, Mapping) else {f"{i}: {one!r}": one for i, one in enumerate(beliefs, 1)}
    )
    if len(named) < 2:
        raise P4FError("compare_beliefs compares two or more beliefs")
    options = {"recorded": recorded, "favourable": favourable, "use_sensitive": use_sensitive, "seed": random_state}
    cases = {name: read_case(belief, table, **options) for name, belief in named.items()}
    first = next(iter(cases.values()))
    if not all(np.array_equal(case.numbers, first.numbers) for case in cases.values()):
        raise P4FError("the beliefs are about different rows of the table: some lack a label or a group; drop these")
    features = set.intersection(*(set(case.rows.features) for case in cases.values()))
    fits = []
    for case in cases.values():
        read = [feature for feature in case.rows.features if feature in features]
        fits.append(case.learned(case.belief, case.table.with_features(read)))
    best = max(fits, key=lambda fit: fit.mean)
    rows = []
    for fit in fits:
        behind = best.likelihood - fit.likelihood
        half = float(norm.ppf(0.975) * behind.std(ddof=1) / np.sqrt(len(behind)))
        rows.append((-fit.mean, behind.mean(), behind.mean() - half, behind.mean() + half, fit.learner))
    columns = ["loss", "behind", "low", "high", "learner"]
    frame = pd.DataFrame(rows, columns=columns, index=pd.Index(list(cases), name="belief"))
    return WholeTable(frame.sort_values("loss", kind="stable"))
