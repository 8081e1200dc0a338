"""Fitting again, many times and quickly, on almost what was fitted on: other weights of the rows, other parameters.

What was chosen once (a penalty, a number of trees) is kept, and a fit that has a minimum starts near it:

    linear         from the coefficients and with the penalty that were found, to a hundred-thousandth of the gradient
    boosted trees  a quarter of the trees at four times the learning rate, from the start; a booster that went on from
                   its own trees would keep what they say
    networks       one for each task, all in one stack, where the first fit may have averaged several; with three times
                   the learning rate and a third of the patience (the same validation loss in a third of the epochs)
    estimators     one round of EM on two halves, and a last fit
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from problog4fairness.data import Floats
from problog4fairness.learners.auto import FittedChoice
from problog4fairness.learners.base import Fitted, Learner, Task
from problog4fairness.learners.calibrated import Calibrated
from problog4fairness.learners.derivatives import slopes_of
from problog4fairness.learners.em.expectation import Data, Maker
from problog4fairness.learners.em.reweighted import FEW, FittedEstimator, Reweighted
from problog4fairness.learners.encoder import encode
from problog4fairness.learners.job import learning_rows
from problog4fairness.learners.linear.logistic import FittedLinear, Linear, column_scales
from problog4fairness.learners.linear.newton import minimise
from problog4fairness.learners.named import named_learner
from problog4fairness.learners.networks.network import Network
from problog4fairness.learners.progress import each
from problog4fairness.learners.trees.boosted import FEW as FEW_ROWS
from problog4fairness.learners.trees.boosted import Boosted, FittedBoosted

# The largest component of a gradient at the end of a linear fit, relative to the weight of all rows.
ROUGH = 1e-5
# How many times quicker trees learn, with as many times fewer of them.
QUICKER, QUICKEST = 4, 0.5
# How many times quicker networks learn, and how many times less patient they are.
HASTIER = 3


def fit_again(
    learner: Learner, fitted: Fitted, tasks: Sequence[Task], progress: bool | None = None, quicker: int = QUICKER
) -> list[Fitted]:
    """Fit one classifier for each task, near one that is fitted already.

    Parameters
    ----------
    learner, fitted
        What learned, and what it learned; a calibration of its probabilities is kept as it is.
    tasks
        What to fit.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.
    quicker
        How many times quicker trees learn.
    """
    if isinstance(fitted, Calibrated):
        own = fit_again(learner, fitted.fitted, tasks, progress, quicker)
        return [Calibrated(one, fitted.slope, fitted.shifts, fitted.gain, fitted.error) for one in own]
    if isinstance(fitted, FittedChoice):
        return fit_again(named_learner(fitted.chosen), fitted.fitted, tasks, progress, quicker)
    if isinstance(fitted, FittedLinear) and type(learner) is Linear:
        known: dict[int, tuple[pd.DataFrame, Floats]] = {}
        return each(lambda task: _linear(fitted, task, known), tasks, progress)
    if isinstance(fitted, FittedBoosted) and type(learner) is Boosted:
        quick = _quick(learner, fitted, quicker)
        return each(lambda task: quick.fit_many([task])[0], tasks, progress)
    if isinstance(fitted, FittedEstimator) and isinstance(learner, Reweighted):
        return each(partial(_estimator, learner), tasks, progress)
    if isinstance(learner, Network):
        return list(_hasty(learner, tasks).fit_many(tasks, progress))
    return list(learner.fit_many(tasks, progress))


def fit_tasks(learner: Learner, tasks: Sequence[Task], progress: bool | None = None) -> list[Fitted]:
    """Fit one classifier for each task; quickly where it has a fit of almost the same rows to be near to.

    Parameters
    ----------
    learner
        What learns.
    tasks
        What to fit.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.
    """
    whole = [task for task in tasks if task.near is None]
    found = dict(zip(map(id, whole), learner.fit_many(whole, progress) if whole else [], strict=True))
    near = {id(task.near): task.near for task in tasks if task.near is not None}
    for key, fitted in near.items():
        own = [task for task in tasks if task.near is not None and id(task.near) == key]
        # Where rows are few, choosing the number of trees takes the time, not growing them: the trees stay as they are.
        quicker = QUICKER if len(own[0].observation) >= FEW_ROWS else 1
        found |= zip(map(id, own), fit_again(learner, fitted, own, progress, quicker), strict=True)
    return [found[id(task)] for task in tasks]


def _linear(fitted: FittedLinear, task: Task, known: dict[int, tuple[pd.DataFrame, Floats]]) -> FittedLinear:
    """From the coefficients that were found; ``known`` holds the encoded inputs of tables."""
    table = task.observation.table
    if id(table) not in known:
        known[id(table)] = table, encode(fitted.encoder, table, np.float64)
    slopes = slopes_of(task.observation, task.train_rows, task.weights)
    matrix = known[id(table)][1]
    matrix = matrix if len(slopes.inputs) == len(matrix) else matrix[slopes.inputs]
    scales = column_scales(slopes, matrix)
    numbers, losses = minimise(slopes, matrix, scales, fitted.penalty, fitted.numbers, ROUGH)
    return FittedLinear(fitted.encoder, numbers, fitted.penalty, {"training": losses})


def _quick(learner: Boosted, fitted: FittedBoosted, quicker: int) -> Boosted:
    outputs = max(1, fitted.constant.size)
    trees = math.ceil(len(fitted.trees.leaves) / outputs / quicker)
    rate = max(learner.learning_rate, min(QUICKEST, quicker * learner.learning_rate))
    leaves = max(2, int(np.max(fitted.trees.leaves, initial=2)))
    options = {"learning_rate": rate, "max_trees": max(1, trees), "leaves": leaves, "validation": 0}
    quick: Boosted = clone(learner).set_params(**options)
    return quick


def _hasty(learner: Network, tasks: Sequence[Task]) -> Network:
    rows = max((len(task.observation) for task in tasks), default=1)
    settings = learner.settings().suited(rows)
    patience = max(2, settings.patience // HASTIER)
    hasty: Network = clone(learner).set_params(
        networks=1, learning_rate=HASTIER * settings.learning_rate, patience=min(patience, settings.patience)
    )
    return hasty


def _estimator(learner: Reweighted, task: Task) -> FittedEstimator:
    learner.check_options()
    data = Data.of(task, learning_rows(task), isinstance(learner.estimator, Pipeline))
    maker = Maker(learner.estimator, int(task.seed), int(learner.draws))
    (start,) = Linear().fit_many([task])
    expected = data.expected(start.log_proba(data.table).numpy())
    if data.hidden(expected):
        chance = maker.out_of_fold(data, expected, data.folds(2, maker.seed), drawn=data.size >= FEW)
        expected = data.expected(chance)
    return FittedEstimator(data.encoder, maker.fit_all(data, expected), task.observation.classes, {"validation": []})
