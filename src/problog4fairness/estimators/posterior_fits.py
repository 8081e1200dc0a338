"""Classifiers for beliefs that are drawn from what an audit leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.audit import generator
from problog4fairness.beliefs import LEAST_SIGNAL, Belief, Observation
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators.calibration import refit_learner
from problog4fairness.estimators.fitting import task_of
from problog4fairness.learners import (
    Boosted,
    Calibrated,
    Fitted,
    FittedChoice,
    FittedLinear,
    Linear,
    light,
)

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier

# Draws that are made to have enough of them that can be used, at most, for each that is wanted.
TRIES = 20
FEWEST, MOST = 10, 2000
# The smallest value of a parameter, where audited rows teach.
LEAST = 0.001


@dataclass(frozen=True, eq=False)
class Draw:
    """A belief from the posterior, what was learned through it, and the weights of rows that were drawn for that."""

    belief: Belief
    fitted: Fitted
    weights: Floats


@dataclass(frozen=True, eq=False)
class Draws:
    """All posterior draws.

    Attributes
    ----------
    draws
        One by one.
    left_out
        How many others were left out, by which recorded labels say almost nothing about fair ones.
    rival
        What a learner of another form learned through the model's belief: boosted trees beside a linear model, and a
        linear model beside all others; None for more than two classes, and where trees cannot be boosted.
    """

    draws: tuple[Draw, ...]
    left_out: int = 0
    rival: Fitted | None = None


def check_count(count: Any) -> int:
    """The number of draws, or the error that says what it may be."""
    if type(count) is not int or not FEWEST <= count <= MOST:
        raise P4FError(f"draws={count!r} is not a whole number from {FEWEST} to {MOST:,}; 50 is usual")
    return count


def kept(model: DebiasedClassifier) -> Draws:
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


def possible(low: float, high: float, rows: Rows) -> tuple[float, float]:
    """A range of a parameter, kept off 0 and 1 where fair labels are known: there one distorted row is impossible."""
    least = 0.0 if rows.fair is None or (rows.fair < 0).all() else LEAST
    return float(np.clip(low, least, 1 - least)), float(np.clip(high, least, 1 - least))
