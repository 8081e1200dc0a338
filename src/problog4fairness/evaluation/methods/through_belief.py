"""A belief as a method, beside those that do without one."""

from __future__ import annotations

from copy import copy

import numpy as np

from problog4fairness.beliefs import Belief, check_rows
from problog4fairness.data import Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.estimators import FOLDS, AuditedFolds, check_test_features
from problog4fairness.evaluation.methods.method import Method, Steps, Trained, Training


class ThroughBelief(Method):
    """Recorded rows through a belief, as :class:`~problog4fairness.DebiasedClassifier` learns from them.

    Parameters
    ----------
    sensitive
        The sensitive columns.
    belief
        The belief.
    title
        How it is called in tables and figures.
    use_sensitive
        Whether the learner sees the sensitive columns; otherwise the model is group-free.
    test_features
        Whether the features of tested rows are ``"fair"`` or ``"biased"``; None for what the belief says.
    learn_from_audit
        Whether fair labels of training rows are learned from, too.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> from problog4fairness.evaluation import ThroughBelief
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> ThroughBelief(belief.variables[0], belief).title
    'this model'
    """

    name = "belief"
    about = "learns the fair label through the belief"
    title = "this model"
    style = ("#D55E00", "o")
    takes_gaps = True

    def __init__(
        self,
        sensitive: Sensitive,
        belief: Belief,
        title: str = "this model",
        *,
        use_sensitive: bool = False,
        test_features: str | None = None,
        learn_from_audit: bool = False,
    ) -> None:
        super().__init__(sensitive)
        check_test_features(test_features)
        self.belief, self.title = belief, title
        self.use_sensitive, self.test_features = use_sensitive, test_features
        self.learn_from_audit = learn_from_audit
        self.fits = 1 + (FOLDS if learn_from_audit else 0)

    def with_belief(self, belief: Belief) -> ThroughBelief:
        """The same method through another belief."""
        other = copy(self)
        other.belief = belief
        return other

    def check(self, rows: Rows) -> None:
        classes = self.belief.record.classes
        if classes is not None and tuple(classes) != tuple(np.asarray(rows.classes).tolist()):
            raise P4FError(f"the belief is for the classes {list(classes)}, in this order; others differ")
        if not self.inputs(rows):
            raise P4FError("no column is left for the learner; use_sensitive=True adds sensitive ones")
        check_rows(self.belief, rows if self.learn_from_audit else rows.with_labels(rows.recorded))

    def steps(self, training: Training) -> Steps:
        rows = training.rows.with_features(self.inputs(training.rows))
        if not self.learn_from_audit:
            rows = rows.with_labels(rows.recorded)
        check_rows(self.belief, rows)
        task = training.task(rows, self.belief)
        fitted = yield task
        rows = training.weighted(rows)
        folds, fits = AuditedFolds.of(self.belief, rows, task), []
        for fold in folds.tasks(fitted):
            fits.append((yield fold))  # noqa: PERF401 - a comprehension cannot yield
        fitted = folds.calibrate(fitted, fits).fitted
        return Trained(fitted, rows.features, self.belief, test_features=self.test_features)

    def inputs(self, rows: Rows, use_sensitive: bool | None = None) -> tuple[str, ...]:
        """The columns that the learner reads: by default as stated, group-free or with the group."""
        used = self.use_sensitive if use_sensitive is None else use_sensitive
        hidden = set() if used else {*self.sensitive.columns, *self.belief.columns.sensitive}
        return tuple(name for name in rows.features if name not in {*hidden, *self.belief.columns.withheld})
