"""Methods that fit once: they differ in which columns and which labels are learned from."""

from __future__ import annotations

import numpy as np

from problog4fairness.data import Codes, Rows
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods.method import Method, Steps, Trained, Training


class RecordAsItIs(Method):
    """Recorded features and labels, as if they were fair; sensitive columns are kept.

    Examples
    --------
    >>> from problog4fairness.evaluation import METHODS, RecordAsItIs
    >>> METHODS["lower"] is RecordAsItIs, RecordAsItIs.title
    (True, 'the record as it is')
    """

    kind = "lower"
    about = "learns the recorded labels as they are"
    title = "the record as it is"

    def steps(self, training: Training) -> Steps:
        """See :meth:`Method.steps`."""
        return Trained.plainly((yield training.record), training.rows)


class WithoutSensitive(Method):
    """Recorded features and labels without the sensitive columns (Dwork et al., 2012).

    Features that go along with the sensitive variable stay, and with them much of the bias.

    Examples
    --------
    >>> from problog4fairness.evaluation import WithoutSensitive
    >>> from problog4fairness.data.sensitive import Sensitive
    >>> WithoutSensitive(Sensitive(("poor_area",))).title
    'without poor_area'
    """

    kind = "unawareness"
    about = "learns the recorded labels, without the sensitive column"

    @property
    def title(self) -> str:
        """See :meth:`Method.title`."""
        columns = self.sensitive.columns
        return f"without {' and '.join(columns) if 1 <= len(columns) <= 2 else 'the sensitive columns'}"

    def check(self, rows: Rows) -> None:
        """See :meth:`Method.check`."""
        if not self._kept(rows):
            raise P4FError(f"X has {len(rows.features)} feature(s), all of them sensitive; none is left to learn from")

    def steps(self, training: Training) -> Steps:
        """See :meth:`Method.steps`."""
        rows = training.rows.with_labels(training.rows.recorded).with_features(self._kept(training.rows))
        return Trained.plainly((yield training.task(rows)), rows)

    def _kept(self, rows: Rows) -> list[str]:
        return [name for name in rows.features if name not in self.sensitive.columns]


class KnowingFairLabels(Method):
    """The fair labels of all rows: what one would get from labels without bias.

    Examples
    --------
    >>> from problog4fairness.evaluation import METHODS, KnowingFairLabels
    >>> METHODS["upper"] is KnowingFairLabels, KnowingFairLabels.about
    (True, 'learns from fair labels of all rows')
    """

    kind = "upper"
    about = "learns from fair labels of all rows"
    title = "knowing the fair labels"
    takes_gaps = True

    def check(self, rows: Rows) -> None:
        """See :meth:`Method.check`."""
        if len(audited(rows)) < len(rows):
            raise P4FError(f"needs the fair label of every row; {_share(rows)}")

    def steps(self, training: Training) -> Steps:
        """See :meth:`Method.steps`."""
        rows = training.rows
        return Trained.plainly((yield training.task(rows.with_labels(rows.fair))), rows)


class OnlyAuditedRows(Method):
    """The fair labels of the audited rows, and no other row.

    Examples
    --------
    >>> from problog4fairness.evaluation import METHODS, OnlyAuditedRows
    >>> METHODS["audit only"] is OnlyAuditedRows, OnlyAuditedRows.title
    (True, 'only audited rows')
    """

    kind = "audit only"
    about = "learns from the audited rows alone"
    title = "only audited rows"
    takes_gaps = True

    def check(self, rows: Rows) -> None:
        """See :meth:`Method.check`."""
        if len(audited(rows)) in (0, len(rows)):
            raise P4FError(f"needs fair labels of some rows, but not of all; {_share(rows)}")

    def steps(self, training: Training) -> Steps:
        """See :meth:`Method.steps`."""
        rows = training.rows.take(audited(training.rows))
        return Trained.plainly((yield training.task(rows.with_labels(rows.fair))), rows)


def audited(rows: Rows) -> Codes:
    """The rows whose fair label is known, by number."""
    return np.flatnonzero(np.zeros(len(rows)) if rows.fair is None else rows.fair >= 0)


def _share(rows: Rows) -> str:
    count = len(audited(rows))
    return f"known are {count} of {len(rows)}" if count else "none is known"
