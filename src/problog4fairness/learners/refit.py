"""Fitting again, many times and quickly, on almost the same rows: with other weights, or other parameters of a belief.

What was chosen once (a penalty, a number of trees) is kept; how each learner does it says its ``fit_near``.
"""

from __future__ import annotations

from collections.abc import Sequence

from problog4fairness.learners.auto import FittedChoice
from problog4fairness.learners.base import Learner, Task
from problog4fairness.learners.fitted import Calibrated, Fitted
from problog4fairness.learners.named import named_learner
from problog4fairness.learners.trees.boosted import FEW

# How many times quicker trees learn, with as many times fewer of them.
QUICKER = 4


def fit_again(
    learner: Learner, fitted: Fitted, tasks: Sequence[Task], progress: bool | None = None, quicker: int = QUICKER
) -> list[Fitted]:
    """Fit one classifier for each task, near one that is fitted; a calibration of its probabilities is kept."""
    if isinstance(fitted, Calibrated):
        fits = fit_again(learner, fitted.fitted, tasks, progress, quicker)
        return [Calibrated(fit, fitted.slope, fitted.shifts, fitted.gain, fitted.error) for fit in fits]
    if isinstance(fitted, FittedChoice):
        return fit_again(named_learner(fitted.chosen), fitted.fitted, tasks, progress, quicker)
    return list(learner.fit_near(fitted, tasks, progress, quicker))


def fit_tasks(learner: Learner, tasks: Sequence[Task], progress: bool | None = None) -> list[Fitted]:
    """Fit one classifier for each task; quickly where it has a fit of almost the same rows to be near to."""
    anew = [task for task in tasks if task.near is None]
    fits = dict(zip(map(id, anew), learner.fit_many(anew, progress) if anew else [], strict=True))
    for fitted in {id(task.near): task.near for task in tasks if task.near is not None}.values():
        near = [task for task in tasks if task.near is fitted]
        # Where rows are few, choosing the number of trees takes the time, not growing them: the trees stay as they are.
        quicker = QUICKER if len(near[0].observation) >= FEW else 1
        fits |= zip(map(id, near), fit_again(learner, fitted, near, progress, quicker), strict=True)
    return [fits[id(task)] for task in tasks]
