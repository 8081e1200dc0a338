"""Massaging: change as few recorded labels as make both groups fare alike, then train."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problog4fairness.data import Codes, Rows
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods.method import (
    Method,
    Steps,
    Trained,
    Training,
    certain_groups,
    labels_by_group,
    recorded_codes,
    require_two_labels,
)
from problog4fairness.evaluation.methods.relabelling import massage


@dataclass(frozen=True, eq=False)
class MassagedTrained(Trained):
    """A classifier of massaged labels.

    Attributes
    ----------
    labels
        ``[rows]``: the labels that were learned, by position.
    changed
        How many of them are not the recorded ones: half of them promoted, half of them demoted.
    """

    labels: Codes
    changed: int


class MassagedLabels(Method):
    """Massaged labels (Kamiran and Calders, 2009).

    A first classifier, of the record as it is, ranks the rows. The highest-ranked unfavourable labels of the sensitive
    group are promoted and as many of the lowest-ranked favourable labels of the other group demoted
    (:func:`~problog4fairness.evaluation.massage`). A second one learns the result; where nothing changes, the first one
    predicts.

    Examples
    --------
    >>> from problog4fairness.evaluation import METHODS, MassagedLabels
    >>> METHODS["massaging"] is MassagedLabels, MassagedLabels.title
    (True, 'massaging')
    """

    kind = "massaging"
    about = "changes labels until groups get equal rates"
    title = "massaging"
    fits = 2

    def check(self, rows: Rows) -> None:
        """See :meth:`Method.check`."""
        require_two_labels(rows)
        if not self.sensitive.binary:
            raise P4FError(f"massaging is for two groups; there are {len(self.sensitive.levels)}")
        certain_groups(rows, self.sensitive)

    def steps(self, training: Training) -> Steps:
        """See :meth:`Method.steps`."""
        rows, recorded = training.rows, recorded_codes(training.rows)
        labels_by_group(rows, self.sensitive)
        fitted = yield training.record
        scores = Trained.plainly(fitted, rows).scores(rows)
        rng = np.random.default_rng(training.seed)
        labels = massage(recorded, scores, certain_groups(rows, self.sensitive), rng)
        changed = int((labels != recorded).sum())
        if changed:
            fitted = yield training.task(rows.with_labels(labels))
        plain = Trained.plainly(fitted, rows)
        return MassagedTrained(plain.fitted, plain.features, plain.belief, labels, changed)
