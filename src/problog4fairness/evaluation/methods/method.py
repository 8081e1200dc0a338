"""What a method is: a few fits, one after the other, and what is predicted from them; and a belief as a method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from problog4fairness.beliefs import Belief, NoBias, check_rows
from problog4fairness.data import Codes, Floats, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.estimators import FOLDS, AuditedFolds, check_test_features, predicted, row_weights, task_through
from problog4fairness.evaluation.data import certain_groups
from problog4fairness.learners import Fitted, Learner, Task, fit_tasks


@dataclass(frozen=True, eq=False)
class Training:
    """What methods learn from; methods that begin with the same fit share it.

    Attributes
    ----------
    rows
        Recorded rows. Fair labels are in them where they are known; only methods that say so look at them.
    seed
        All that is random is drawn from it.
    class_weight
        None, ``"balanced"``, or a dictionary from label to weight; of the labels that are learned.
    """

    rows: Rows
    seed: int = 0
    class_weight: Any = None

    @cached_property
    def record(self) -> Task:
        """To learn the recorded label from all features; the same task however often it is asked for."""
        return self.task(self.rows.with_labels(self.rows.recorded))

    def task(self, rows: Rows, belief: Belief | None = None) -> Task:
        """To learn from some rows, through a belief or, by default, as they are."""
        return task_through(NoBias() if belief is None else belief, self.weighted(rows), self.seed)

    def weighted(self, rows: Rows) -> Rows:
        """Rows with the weights of their classes."""
        if self.class_weight is None:
            return rows
        codes = np.asarray(rows.recorded)
        if (codes < 0).any():
            raise P4FError("class_weight is for rows that all have a label; leave it out")
        labels = np.asarray(rows.classes)[codes]
        return replace(rows, weights=row_weights(self.class_weight, labels, rows.weights))


@dataclass(frozen=True, eq=False)
class Trained:
    """A classifier of new rows.

    Attributes
    ----------
    fitted
        What was learned.
    features
        From which columns.
    belief
        Through which belief.
    test_features
        Whether the features of new rows are ``"fair"`` or ``"biased"``; None for what the belief says.
    """

    fitted: Fitted
    features: tuple[str, ...]
    belief: Belief
    test_features: str | None = field(default=None, kw_only=True)

    @classmethod
    def plainly(cls, fitted: Fitted, rows: Rows) -> Trained:
        """What was learned from rows as they are."""
        return Trained(fitted, rows.features, NoBias())

    def proba(self, rows: Rows) -> Floats:
        """P(label), ``[rows, classes]``."""
        known = rows.with_features(self.features).without_record()
        self.fitted.check(known.frame[list(self.features)])
        return predicted(self.belief, self.fitted, known, self.test_features or self.belief.kind.predicts_from)

    def scores(self, rows: Rows) -> Floats:
        """P(favourable label), ``[rows]``, to twelve digits: rows that are the same tie, whatever is beside them."""
        return np.round(Trained.proba(self, rows)[:, 1], 12)


# What a method does: it asks for fits, is sent what was learned, and returns the classifier that predicts.
Steps: TypeAlias = Generator[Task, Fitted, Trained]


class Method(ABC):
    """A way to a classifier.

    A method does not fit anything itself: :meth:`steps` *yields* what is to be fitted. So one classifier is fitted at
    once (:meth:`fit`), and those of all seeds and folds of a comparison are fitted together.

    Parameters
    ----------
    sensitive
        The sensitive variable.

    Attributes
    ----------
    name
        Its name in :data:`~problog4fairness.evaluation.METHODS`.
    title
        How it is called in tables and figures.
    about
        What it does, in a few words, for the legend of a table.
    style
        Its colour and marker in figures; None for one that is free.
    randomised
        Whether its predictions are the chances of a random decision.
    fits
        How many fits it takes, about; for the progress bar.
    takes_gaps
        Whether it learns from rows without a recorded label, too.
    needs_groups, decides_by_group
        Whether it must know the group of every row that it learns from, and of every row that it decides on.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> from problog4fairness.evaluation import METHODS, Training
    >>> from problog4fairness.data import Sensitive
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, (*data.features, "poor_area"), recorded=data.loans["granted"].to_numpy())
    >>> method = METHODS["without_sensitive"](Sensitive(("poor_area",)))
    >>> trained = method.fit(Training(rows), p4f.learners.Linear())
    >>> method.title, "poor_area" in trained.features
    ('without the sensitive column', False)
    """

    name: ClassVar[str]
    about: ClassVar[str]
    title: str
    style: ClassVar[tuple[str, str] | None] = None
    randomised: ClassVar[bool] = False
    fits: int = 1
    takes_gaps: ClassVar[bool] = False
    needs_groups: ClassVar[bool] = False
    decides_by_group: ClassVar[bool] = False

    def __init__(self, sensitive: Sensitive) -> None:
        self.sensitive = sensitive

    def check(self, rows: Rows) -> None:
        """Raise the error that says why it cannot be used on these rows or on parts of them."""
        if self.needs_groups:
            if len(rows.classes) != 2:
                raise P4FError(f"it is for two labels; there are {len(rows.classes)}")
            self.groups(rows)

    def groups(self, rows: Rows) -> Codes:
        """``[rows]``: the group of each row, which must be known."""
        return certain_groups(rows, self.sensitive)

    def labels_by_group(self, rows: Rows) -> list[Codes]:
        """For each group the recorded labels that occur in it; an error where a group has no row."""
        groups = self.groups(rows)
        labels: list[Codes] = [np.unique(np.asarray(rows.recorded)[groups == group]) for group in np.unique(groups)]
        if len(labels) < len(self.sensitive.levels):
            absent = next(group for group in range(len(self.sensitive.levels)) if group not in groups)
            raise P4FError(f"no training row has {self.sensitive.group_text(absent)}; every group must occur")
        return labels

    @abstractmethod
    def steps(self, training: Training) -> Steps:
        """What is fitted, one after the other; what is returned predicts."""

    def fit(self, training: Training, learner: Learner, progress: bool | None = None) -> Trained:
        """Take the steps alone.

        Parameters
        ----------
        training
            What to learn from.
        learner
            What learns.
        progress
            Whether to show a progress bar; by default only where standard error is a terminal.
        """
        steps = self.steps(training)
        task = next(steps)
        while True:
            (fitted,) = fit_tasks(learner, [task], progress)
            try:
                task = steps.send(fitted)
            except StopIteration as end:
                trained: Trained = end.value
                return trained


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
        read = self.belief.columns
        hidden = {*read.withheld, *(() if used else (*self.sensitive.columns, *read.sensitive))}
        return tuple(name for name in rows.features if name not in hidden)
