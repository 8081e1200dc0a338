"""Methods that fit once: they differ in which columns and which labels are learned from."""

from __future__ import annotations

import numpy as np

from problog4fairness.data import Codes, Rows
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods.method import Method, Steps, Trained, Training


class RecordedOnly(Method):
    """Recorded features and labels, as if they were fair; sensitive columns are kept."""

    name = "recorded_only"
    about = "learns the recorded labels as they are"
    title = "trained on recorded labels"
    style = ("#0072B2", "v")

    def steps(self, training: Training) -> Steps:
        return Trained.plainly((yield training.record), training.rows)


class WithoutSensitive(Method):
    """Recorded features and labels without the sensitive columns, fairness through unawareness (Dwork et al., 2012).

    Features that go along with the sensitive variable stay, and with them much of the bias.
    """

    name = "without_sensitive"
    about = "learns the recorded labels, without the sensitive column"
    title = "without the sensitive column"
    style = ("#009E73", "s")

    def check(self, rows: Rows) -> None:
        if not self._kept(rows):
            raise P4FError(f"X has {len(rows.features)} feature(s), all of them sensitive; none is left to learn from")

    def steps(self, training: Training) -> Steps:
        rows = training.rows.with_labels(training.rows.recorded).with_features(self._kept(training.rows))
        return Trained.plainly((yield training.task(rows)), rows)

    def _kept(self, rows: Rows) -> list[str]:
        return [name for name in rows.features if name not in self.sensitive.columns]


class Oracle(Method):
    """The fair labels of all rows: what one would get from labels without bias."""

    name = "oracle"
    about = "learns from fair labels of all rows"
    title = "oracle (fair labels)"
    style = ("#000000", "^")
    takes_gaps = True

    def check(self, rows: Rows) -> None:
        known = len(audited(rows))
        if known < len(rows):
            raise P4FError(f"needs the fair label of every row; known are {known} of {len(rows)}")

    def steps(self, training: Training) -> Steps:
        rows = training.rows
        return Trained.plainly((yield training.task(rows.with_labels(rows.fair))), rows)


class AuditOnly(Method):
    """The fair labels of the audited rows, and no other row."""

    name = "audit_only"
    about = "learns from the audited rows alone"
    title = "audit only"
    style = ("#882255", "*")
    takes_gaps = True

    def check(self, rows: Rows) -> None:
        known = len(audited(rows))
        if known in (0, len(rows)):
            raise P4FError(f"needs fair labels of some rows, but not of all; known are {known} of {len(rows)}")

    def steps(self, training: Training) -> Steps:
        rows = training.rows.take(audited(training.rows))
        return Trained.plainly((yield training.task(rows.with_labels(rows.fair))), rows)


def audited(rows: Rows) -> Codes:
    """The rows whose fair label is known, by number."""
    return np.flatnonzero(np.zeros(len(rows)) if rows.fair is None else rows.fair >= 0)
