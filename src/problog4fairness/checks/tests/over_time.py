"""Whether the bias changed over time, though the belief says that it did not, or not then."""

from __future__ import annotations

import numpy as np

from problog4fairness.beliefs import search_change
from problog4fairness.checks.case import Case
from problog4fairness.checks.finding import Finding, NotDone
from problog4fairness.checks.tests.audited_rows import alike, rows_by_label
from problog4fairness.data import days_of
from problog4fairness.statistics import count, percent


def change_test(case: Case) -> Finding:
    """Whether some day divides audited rows into more and less distorted ones.

    Within people of whom the belief says the same, by fair label; see :func:`.beliefs.change.search_change`.
    """
    if case.when is None:
        raise NotDone("no column with days was named")
    rows = rows_by_label(case)
    days = days_of(case.rows.frame[case.when].iloc[rows])
    wrong = case.recorded[rows] != case.fair
    found = search_change(days, alike(case, rows)[0], wrong.astype(np.float64), case.seed)
    late = days >= np.datetime64(found.day)
    rates = [percent(float(wrong[side].mean())) for side in (~late, late)]
    how = "wrongly, or not at all," if case.belief.missing_labels else "wrongly"
    known = "nothing changed" if case.belief.when is None else "nothing changed that it does not say"
    sentence = (
        f"Of {count(len(rows), 'audited row')}, {rates[0]} were recorded {how} before {found.day} and {rates[1]} "
        f"since then, the day of {case.when!r} that divides them best; by the belief {known}."
    )
    advice = (
        f"The bias changed: believe in ChangedBias(..., when={case.when!r}, changed={found.day!r}), or let it search "
        "the day."
    )
    return Finding(sentence, found.p, rows[wrong], advice)
