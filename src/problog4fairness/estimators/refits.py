"""A model's learner, fitted again through other beliefs: posterior draws, and those that somebody asks about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.audit import generator
from problog4fairness.beliefs import LEAST_SIGNAL, Belief, Observation
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators.calibration import AuditedFolds, refit_learner
from problog4fairness.estimators.fitting import task_of
from problog4fairness.estimators.prediction import predicted, predicts_from
from problog4fairness.learners import (
    Boosted,
    Calibrated,
    Fitted,
    FittedChoice,
    FittedLinear,
    Linear,
    Task,
    fit_tasks,
    light,
)

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier

# Draws that are made to have enough of them that can be used, at most, for each that is wanted.
TRIES = 20
FEWEST, MOST = 10, 2000


class Refits:
    """Fits of a model's learner through other beliefs, on the same recorded rows and from the model's seed."""

    def __init__(self, model: DebiasedClassifier, rows: Rows, progress: bool | None) -> None:
        self.model, self.rows, self._progress = model, rows, progress
        self._learner = refit_learner(model)
        self.boosted = type(self._learner) is Boosted
        self.count = 0

    def _tasks(self, observations: Sequence[Observation]) -> list[Task]:
        self.count += len(observations)
        return [task_of(observation, self.rows, self.model.seed_) for observation in observations]

    def near(self, observations: Sequence[Observation], whole_trees: bool = False) -> list[Fitted]:
        """Quick fits near the model's own, calibrated as it is.

        With ``whole_trees`` boosted trees are fitted as the model's were, which takes several times as long.
        """
        tasks, fitted = self._tasks(observations), self.model.fitted_
        if not whole_trees or not self.boosted:
            return list(fitted.refit(self._learner, tasks, self._progress))
        fits = self._learner.fit_many(tasks, self._progress)
        if not isinstance(fitted, Calibrated):
            return list(fits)
        return [Calibrated(fit, fitted.slope, fitted.shifts, fitted.gain, fitted.error) for fit in fits]

    def whole(self, beliefs: Sequence[Belief], observations: Sequence[Observation]) -> list[Fitted]:
        """Fits from scratch, each calibrated anew where the model is."""
        tasks = self._tasks(observations)
        first = self._learner.fit_many(tasks, self._progress)
        if not isinstance(self.model.fitted_, Calibrated):
            return list(first)
        folds = [AuditedFolds.of(belief, self.rows, task) for belief, task in zip(beliefs, tasks, strict=True)]
        held_out = [task for part, fit in zip(folds, first, strict=True) for task in part.tasks(fit)]
        fits = iter(fit_tasks(self._learner, held_out, self._progress))
        return [
            part.calibrate(fit, [next(fits) for _ in part.held]).fitted for part, fit in zip(folds, first, strict=True)
        ]

    def fair_proba(self, belief: Belief, fitted: Fitted, rows: Rows | None = None) -> Floats:
        """P(fair label), ``[rows, classes]``, of these rows or of others."""
        return predicted(belief, fitted, self.rows if rows is None else rows, predicts_from(self.model))


@dataclass(frozen=True, eq=False)
class Draw:
    """A belief from the posterior, what was learned through it, and the weights of rows that were drawn for that."""

    belief: Belief
    fitted: Fitted
    weights: Floats


@dataclass(frozen=True, eq=False)
class Draws:
    """All posterior draws, and what a learner of another form learned through the model's own belief.

    That rival is boosted trees beside a linear model, and a linear model beside all others; None for more than two
    classes, and where trees cannot be boosted.
    """

    draws: tuple[Draw, ...]
    left_out: int = 0  # others, by which recorded labels say almost nothing about fair ones
    rival: Fitted | None = None


def check_count(count: Any) -> int:
    """The number of draws, or the error that says what it may be."""
    if type(count) is not int or not FEWEST <= count <= MOST:
        raise P4FError(f"draws={count!r} is not a whole number from {FEWEST} to {MOST:,}; 50 is usual")
    return count


def draws_of(model: DebiasedClassifier) -> Draws:
    """The draws that were made when the model was fitted, or the error that says how to get some."""
    draws: Draws | None = getattr(model, "draws_", None)
    if draws is None:
        raise P4FError("there are no draws; fit with draws=50, or pass recorded labels y to fit on again")
    return draws


def draw(model: DebiasedClassifier, rows: Rows, count: int, random_state: Any, progress: bool | None = None) -> Draws:
    """Fit the model's learner again for each drawn belief, on rows whose weights are drawn as well.

    Weights are exponential, the Bayesian bootstrap: so the draws differ by what the audit leaves open, and by what the
    rows leave open about everything else.
    """
    rng = generator(random_state)
    chosen, left_out = _usable(model.belief_, rows, check_count(count), rng)
    given = np.ones(len(rows)) if rows.weights is None else rows.weights
    weights = [rng.exponential(size=len(rows)) for _ in chosen]
    tasks = [
        task_of(observation, rows, (model.seed_ + number) % (1 << 31), given * drawn)
        for number, ((_, observation), drawn) in enumerate(zip(chosen, weights, strict=True))
    ]
    fitted = model.fitted_.refit(refit_learner(model), tasks, progress)
    beliefs = [belief for belief, _ in chosen]
    return Draws(tuple(map(Draw, beliefs, fitted, weights)), left_out, _rival(model, rows))


def _rival(model: DebiasedClassifier, rows: Rows) -> Fitted | None:
    """What a learner of another form learns through the model's own belief."""
    if len(rows.classes) != 2:
        return None
    fitted = model.fitted_.fitted if isinstance(model.fitted_, Calibrated) else model.fitted_
    fitted = fitted.fitted if isinstance(fitted, FittedChoice) else fitted
    learner = Boosted() if isinstance(fitted, FittedLinear) else Linear()
    if isinstance(learner, Boosted):
        try:
            light()
        except P4FError:
            return None
    return learner.fit_many([task_of(model.belief_.observe(rows), rows, model.seed_)], False)[0]


def _usable(
    belief: Belief, rows: Rows, count: int, rng: np.random.Generator
) -> tuple[list[tuple[Belief, Observation]], int]:
    """Drawn beliefs that can be learned through, with their observations; and how many were left out."""
    least = min(LEAST_SIGNAL, least_signal(belief.observe(rows)))
    usable: list[tuple[Belief, Observation]] = []
    left_out = 0
    while len(usable) < count:
        for drawn in belief.draws(count - len(usable), rng):
            observation = drawn.observe(rows)
            if least_signal(observation) >= least:
                usable.append((drawn, observation))
            else:
                left_out += 1
        if left_out > TRIES * count:
            raise P4FError(
                "the audit leaves so much open that recorded labels may say nothing about fair ones; audit more rows"
            )
    return usable, left_out


def least_signal(observation: Observation) -> float:
    """The least that any recorded label says about the fair one; 1 where that is not a matter of one input."""
    signal = observation.signal()
    return 1.0 if signal is None or not len(signal) else float(signal.min())
