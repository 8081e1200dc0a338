"""What checks need: each function raises :class:`NotDone` where a case lacks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency

from problog4fairness.checks.case import LEAST_ROWS, Case
from problog4fairness.checks.finding import LEAST_AUDITED, NotDone
from problog4fairness.statistics import probabilities

# Shares of recorded labels that differ as much as by so small a chance were not sampled at random.
NOT_RANDOM = 1e-4


Need = Callable[[Case], None]


def _need(holds: Callable[[Case], Any], otherwise: str) -> Need:
    def need(case: Case) -> None:
        if not holds(case):
            raise NotDone(otherwise)

    return need


recorded_rows = _need(lambda case: case.size >= LEAST_ROWS, f"fewer than {LEAST_ROWS} recorded rows")
features = _need(lambda case: case.rows.features, "there are no features")
parameters = _need(lambda case: probabilities(case.belief.parameters), "the belief has no parameters")
group_free = _need(lambda case: not case.use_sensitive, "the fair label may depend on the group (use_sensitive=True)")
groups = _need(lambda case: case.membership, "the belief has no groups, or there are no features")
certain_groups = _need(lambda case: case.certain, "the groups of some rows are uncertain")
two_classes = _need(lambda case: len(case.rows.classes) == 2, "the label has more than two classes")
fair_features = _need(lambda case: not case.belief.features, "features are distorted, too")
days = _need(lambda case: case.when is not None, "no column with days was named")
categories = _need(lambda case: not case.belief.columns.numbers, "the distorted features are numbers")
distorted_features = _need(lambda case: case.belief.features, "the belief distorts no features")
distorted_numbers = _need(lambda case: case.belief.columns.numbers, "the belief distorts no numbers")
independent_features = _need(
    lambda case: not getattr(case.belief, "joint", ()), "the belief does not take them as independent"
)


def audit(case: Case) -> None:
    """Enough rows with a fair label."""
    if not len(case.audited):
        raise NotDone("there is no audit")
    if len(case.audited) < LEAST_AUDITED:
        raise NotDone(f"fewer than {LEAST_AUDITED} audited rows")
    if not case.belief.record.copied:
        raise NotDone("the fair label is that of another world, so that recorded ones are not compared with it")


def random_audit(case: Case) -> None:
    """Audited rows whose weights are known, or whose recorded labels are as in the table.

    Unweighted rows that were drawn by recorded label, or from elsewhere, have other shares of fair labels than the
    table has.
    """
    audit(case)
    if case.rows.audit_weights is not None:
        return
    groups, labels, rows = case.groups[0], case.recorded, case.audited
    chances = []
    for group in np.unique(groups[rows]):
        parts = labels[rows][groups[rows] == group], labels[: case.size][groups[: case.size] == group]
        counts = np.stack([np.bincount(part, minlength=len(case.outcomes)) for part in parts])
        counts = counts[:, counts.sum(axis=0) > 0]
        if counts.shape[1] > 1 and counts.sum(axis=1).min() > 0:
            chances.append(float(chi2_contingency(counts).pvalue))
    if chances and min(chances) * len(chances) < NOT_RANDOM:
        raise NotDone("the audited rows have other recorded labels than the table: drawn by them, or from elsewhere")


def audit_by_label(case: Case) -> None:
    """Audited rows that were sampled by nothing but group and recorded label, whose shares are not compared.

    Then features and recorded labels of people with the same group and fair label are as independent in the audit as in
    the table. Other strata make them depend on each other.
    """
    audit(case)
    strata = case.groups[0][case.audited] * len(case.outcomes) + case.recorded[case.audited]
    for stratum in np.unique(strata):
        weights = case.stands_for[strata == stratum]
        if weights.max() > weights.min() * (1 + 1e-9):
            raise NotDone("the audited rows were sampled by more than group and recorded label")


def audited_features(case: Case) -> None:
    """Enough rows of which all distorted features were audited."""
    if not case.fair_features:
        raise NotDone("no fair features were audited")
    if len(case.audited_features) < LEAST_AUDITED:
        raise NotDone(f"fewer than {LEAST_AUDITED} audited rows")
