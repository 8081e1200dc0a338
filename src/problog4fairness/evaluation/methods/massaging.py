"""Massaging: change as few recorded labels as make both groups fare alike, then train."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods.method import Method, Steps, Trained, Training


@dataclass(frozen=True, eq=False)
class MassagedTrained(Trained):
    """A classifier of massaged labels."""

    labels: Codes  # [rows]: those that were learned, by position


class Massaging(Method):
    """Massaged labels (Kamiran and Calders, 2009).

    A first classifier, of the recorded labels, ranks the rows. The highest-ranked unfavourable labels of the sensitive
    group are promoted and as many of the lowest-ranked favourable labels of the other group demoted (:func:`massage`).
    A second one learns the result; where nothing changes, the first one predicts. Rows are counted without weights.
    """

    name = "massaging"
    about = "changes labels until groups get equal rates"
    title = "massaging"
    style = ("#CC79A7", "D")
    needs_groups = True
    fits = 2

    def check(self, rows: Rows) -> None:
        super().check(rows)
        if not self.sensitive.binary:
            raise P4FError(f"massaging is for two groups; there are {len(self.sensitive.levels)}")

    def steps(self, training: Training) -> Steps:
        rows, recorded = training.rows, np.asarray(training.rows.recorded)
        self.labels_by_group(rows)
        fitted = yield training.record
        scores = Trained.plainly(fitted, rows).scores(rows)
        rng = np.random.default_rng(training.seed)
        labels = massage(recorded, scores, self.groups(rows), rng)
        if (labels != recorded).any():
            fitted = yield training.task(rows.with_labels(labels))
        plain = Trained.plainly(fitted, rows)
        return MassagedTrained(plain.fitted, plain.features, plain.belief, labels)


def flips_needed(labels: Codes, groups: Codes) -> int:
    """How many labels to promote in the sensitive group, and as many to demote in the other one.

    With n people and k positive labels, M promotions and M demotions leave the discrimination

    (k_other - M) / n_other - (k_sensitive + M) / n_sensitive,

    which is 0 at M = (k_other n_sensitive - k_sensitive n_other) / n. The nearest whole number is returned, the
    smaller one of two that are equally near; 0 where the sensitive group is not behind.

    Parameters
    ----------
    labels
        1 for the favourable label, 0 for the other one.
    groups
        1 for the sensitive group, 0 for the other one; both must occur.

    Examples
    --------
    >>> flips_needed(np.array([1, 1, 1, 0, 1, 0, 0, 0]), np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    1
    """
    people, members = len(groups), int(groups.sum())
    behind = int((labels * (1 - groups)).sum()) * members - int((labels * groups).sum()) * (people - members)
    # Whole numbers throughout: the nearest one to behind / people, halves down.
    return max(0, -((people - 2 * behind) // (2 * people)))


def massage(labels: Codes, scores: Floats, groups: Codes, rng: np.random.Generator) -> Codes:
    """Labels after promoting the best of the sensitive group and demoting the worst of the other one.

    Exactly :func:`flips_needed` labels of each group change, also where scores tie: then chance decides who.

    Parameters
    ----------
    labels, groups
        As for :func:`flips_needed`.
    scores
        A ranking of the rows: the higher, the more deserving of the favourable label.
    rng
        Where the order of rows with equal scores comes from.

    Examples
    --------
    >>> labels, groups = np.array([1, 1, 1, 0, 1, 0, 0, 0]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> scores = np.array([0.9, 0.8, 0.6, 0.1, 0.7, 0.2, 0.5, 0.3])
    >>> massage(labels, scores, groups, np.random.default_rng(0)).tolist()
    [1, 1, 0, 0, 1, 0, 1, 0]
    """
    pairs = flips_needed(labels, groups)
    worst_first = np.lexsort((rng.permutation(len(scores)), scores))
    kinds = 2 * groups[worst_first] + labels[worst_first]
    candidates, holders = worst_first[kinds == 2], worst_first[kinds == 1]
    massaged = labels.copy()
    massaged[candidates[len(candidates) - pairs :]] = 1
    massaged[holders[:pairs]] = 0
    return massaged
