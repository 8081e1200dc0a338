"""What checks need: each function raises :class:`NotDone` where a case lacks it."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2_contingency

from problog4fairness.checks.case import LEAST_ROWS, Case
from problog4fairness.checks.finding import LEAST_AUDITED, NotDone

# Shares of recorded labels that differ as much as by so small a chance were not sampled at random.
NOT_RANDOM = 1e-4


def recorded_rows(case: Case) -> None:
    """Enough recorded rows."""
    if case.size < LEAST_ROWS:
        raise NotDone(f"fewer than {LEAST_ROWS} recorded rows")


def features(case: Case) -> None:
    """Features that a learner may read."""
    if not case.rows.features:
        raise NotDone("there are no features")


def parameters(case: Case) -> None:
    """A belief with parameters."""
    if not case.belief.probabilities:
        raise NotDone("the belief has no parameters")


def group_free(case: Case) -> None:
    """A fair label that does not depend on the group, given the features."""
    if case.use_sensitive:
        raise NotDone("the fair label may depend on the group (use_sensitive=True)")


def groups(case: Case) -> None:
    """Groups, and features that predict them."""
    if not case.membership:
        raise NotDone("the belief has no groups, or there are no features")


def certain_groups(case: Case) -> None:
    """Rows whose groups are known."""
    if not case.certain:
        raise NotDone("the groups of some rows are uncertain")


def label_bias_of_two(case: Case) -> None:
    """A label of two classes, and recorded features that are the fair ones."""
    if len(case.rows.classes) != 2:
        raise NotDone("the label has more than two classes")
    if case.belief.features:
        raise NotDone("features are distorted, too")


def days(case: Case) -> None:
    """A column with the day of each row."""
    if case.when is None:
        raise NotDone("no column with days was named")


def audit(case: Case) -> None:
    """Enough rows with a fair label."""
    if not len(case.audited):
        raise NotDone("there is no audit")
    if len(case.audited) < LEAST_AUDITED:
        raise NotDone(f"fewer than {LEAST_AUDITED} audited rows")
    if not case.belief.about_label:
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


def distorted_categories(case: Case) -> None:
    """Distorted features that are no numbers, and that the belief takes as independent."""
    if not case.belief.features:
        raise NotDone("the belief distorts no features")
    audited_features(case)
    if case.belief.numbers:
        raise NotDone("the distorted features are numbers")
    if getattr(case.belief, "joint", ()):
        raise NotDone("the belief does not take them as independent")


def distorted_numbers(case: Case) -> None:
    """Distorted numbers that were audited."""
    if not case.belief.numbers:
        raise NotDone("the belief distorts no numbers")
    audited_features(case)
