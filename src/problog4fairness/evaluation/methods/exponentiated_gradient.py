"""Equal rates while learning: fairlearn's exponentiated gradient, on the same learner as everything else."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from problog4fairness.beliefs import NoBias
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.estimators import task_through
from problog4fairness.evaluation.methods.method import Method, Steps, Trained, Training
from problog4fairness.learners import Fitted, Task
from problog4fairness.metrics import decide

# Rounds of the game between classifier and constraint; fewer than fairlearn's 50, since each is a fit or several.
ROUNDS = 10
# Copies of an average row, where rows have weights.
COPIES = 10
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, eq=False)
class MixedTrained(Trained):
    """Several classifiers, one of which is drawn for each decision."""

    mixed: tuple[tuple[Trained | int, float], ...]  # each, or the label that it always gives, with its share

    def proba(self, rows: Rows) -> Floats:
        """The expected outcome, ``[rows, classes]``: the shares of the classifiers that decide for each label."""
        positive = sum((share * _decided(part, rows) for part, share in self.mixed), np.zeros(len(rows)))
        return np.column_stack([1 - positive, positive])


class ExponentiatedGradient(Method):
    """Classifiers on reweighted labels, mixed so that all groups get the same rate (Agarwal et al., 2018).

    It is fairlearn's ``ExponentiatedGradient`` with the constraint of demographic parity: labels of rows are reweighted
    and turned until no mixture of the classifiers that were learned does better. The sensitive columns are seen. A
    decision is that of a classifier drawn at random. To fairlearn, which knows no weights, a row of weight 2 is present
    twice as often as one of weight 1.
    """

    name = "exponentiated_gradient"
    about = "learns the recorded labels under equal rates"
    title = "exponentiated gradient"
    style = ("#117733", "p")
    needs_groups = True
    randomised = True
    fits = ROUNDS

    def steps(self, training: Training) -> Steps:
        fairlearn = import_module("fairlearn.reductions")
        rows, recorded = training.rows, np.asarray(training.rows.recorded)
        self.labels_by_group(rows)
        groups = self.groups(rows)

        def run(fit: Callable[[Task], Fitted]) -> Any:
            oracle, parity = _Oracle(rows, training.seed, fit), fairlearn.DemographicParity()
            reduction = fairlearn.ExponentiatedGradient(oracle, parity, max_iter=ROUNDS)
            copies = _copies(training.weighted(rows).weights, len(rows))
            return reduction.fit(copies[:, None], recorded[copies], sensitive_features=groups[copies])

        reduction = yield from _asking(run)
        mixed = tuple(
            (_classifier(reduction.predictors_[number]), float(share))
            for number, share in reduction.weights_.items()
            if share > 0
        )
        fitted = next((part.fitted for part, _ in mixed if isinstance(part, Trained)), None)
        return MixedTrained(fitted, rows.features, NoBias(), mixed)  # type: ignore[arg-type]


class _Oracle(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The learner as fairlearn wants it: its only feature is the number of a row, and it asks somebody to fit."""

    def __init__(self, rows: Rows, seed: int, ask: Callable[[Task], Fitted]) -> None:
        self.rows, self.seed, self.ask = rows, seed, ask

    def __sklearn_clone__(self) -> _Oracle:
        return _Oracle(self.rows, self.seed, self.ask)

    def fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Ask for a fit on these labels."""
        copies = np.asarray(X, dtype=np.int64).reshape(-1)
        labels = np.array(self.rows.recorded)
        labels[copies] = np.asarray(y, dtype=np.int64)
        totals = np.bincount(copies, np.asarray(sample_weight, dtype=np.float64), len(labels))
        weights = np.asarray(totals * (len(labels) / len(copies)), dtype=np.float64)
        rows = replace(self.rows.with_labels(labels), weights=weights)
        self.trained_ = Trained.plainly(self.ask(task_through(NoBias(), rows, self.seed)), rows)
        self.decided_ = _decided(self.trained_, self.rows)
        return self

    def predict(self, X: Any) -> Codes:
        """The label of rows by their numbers."""
        decisions: Codes = self.decided_[np.asarray(X, dtype=np.int64).reshape(-1)].astype(np.int64)
        return decisions


def _copies(weights: Floats | None, rows: int) -> Codes:
    """Rows by number, each as often as its weight says: :data:`COPIES` times for an average one."""
    numbers = np.arange(rows)
    if weights is None:
        return numbers
    # Rounding is carried on to the next row, so that it adds up to nothing.
    ends = np.round(np.cumsum(weights / weights.mean() * COPIES)).astype(np.int64)
    return np.repeat(numbers, np.diff(ends, prepend=0))


def _classifier(predictor: Any) -> Trained | int:
    """What predicts new rows; fairlearn has a dummy where all labels of a round were the same."""
    return predictor.trained_ if isinstance(predictor, _Oracle) else int(predictor.constant)


def _decided(classifier: Trained | int, rows: Rows) -> Floats:
    """``[rows]``: 1 where a classifier decides for the favourable label."""
    if isinstance(classifier, int):
        return np.full(len(rows), float(classifier))
    return decide(classifier.scores(rows)).astype(np.float64)


def _asking(run: Callable[[Callable[[Task], Fitted]], Outcome]) -> Generator[Task, Fitted, Outcome]:
    """What a function wants fitted, as the steps of a method; gives what it returns.

    The function runs in a thread of its own, which waits while somebody else fits: so the fits of all folds of a
    comparison are made together, though fairlearn calls for them one by one.
    """
    questions: SimpleQueue[Any] = SimpleQueue()
    answers: SimpleQueue[Fitted | None] = SimpleQueue()

    def ask(task: Task) -> Fitted:
        questions.put(task)
        answer = answers.get()
        if answer is None:
            raise RuntimeError("nobody waits for this any more")
        return answer

    def work() -> None:
        try:
            questions.put((run(ask), None))
        except Exception as error:
            questions.put((None, error))

    def next_question(after: Callable[[], None]) -> Any:
        # Only the thread runs meanwhile; fairlearn calls pandas in ways that pandas will not take for ever.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            after()
            return questions.get()

    try:
        question = next_question(Thread(target=work, daemon=True).start)
        while isinstance(question, Task):
            answer = yield question
            question = next_question(partial(answers.put, answer))
    finally:
        answers.put(None)
    outcome, error = question
    if error is not None:
        raise error
    result: Outcome = outcome
    return result
