"""Every row predicted by a quick learner that has not seen it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from problog4fairness.beliefs import Belief, restore
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.learners import Boosted, Fitted, Learner, Linear, Task

FOLDS = 5
SMALLER, LARGER = "boosted", "larger trees"
# Standard errors by which larger trees explain held-out rows better than small ones, so that these are not adequate.
CLEARLY = 1.5


def quick_learners() -> dict[str, Learner]:
    """What is fitted: a linear model, a few small trees, and larger ones where small ones are better than a line."""
    trees = Boosted(learning_rate=0.15, leaves=6, min_rows=30, penalty=5.0, max_trees=80, patience=8)
    larger = Boosted(learning_rate=0.1, leaves=24, min_rows=20, penalty=5.0, max_trees=200, patience=20)
    return {"linear": Linear(penalty=1.0), SMALLER: trees, LARGER: larger}


@dataclass(frozen=True, eq=False)
class Crossfit:
    """One learner, fitted once without each fold, and what the fit that has not seen a row predicts of it."""

    learner: str
    fits: Sequence[Fitted]
    likelihood: Floats  # [rows]: log P(recorded)
    recorded: Floats  # [rows, classes]: P(recorded class)

    @property
    def mean(self) -> float:
        """The mean log-likelihood of rows that were held out."""
        return float(self.likelihood.mean())


def folds_of(rows: int, seed: int) -> Codes:
    """``[rows]``: the fold of each row."""
    return np.random.default_rng([seed, 1]).permutation(rows) % FOLDS


def crossfit(belief: Belief, rows: Rows, folds: Codes, seed: int, learners: dict[str, Learner]) -> Crossfit:
    """The learner under which recorded labels of the first fold are most likely through the belief, on all folds.

    ``folds`` has the fold of each row.
    """
    observation = belief.observe(rows)
    train = [torch.from_numpy(np.flatnonzero(folds != fold)) for fold in range(FOLDS)]
    tasks = [Task(observation, seed, train_rows=others) for others in train]
    held = [np.flatnonzero(folds == fold) for fold in range(FOLDS)]
    label = np.asarray(belief.record.outcomes(rows).codes)

    def recorded(fitted: Fitted, fold: int) -> Floats:
        chances = observation.recorded_proba(fitted.log_proba(observation.table))
        return np.asarray(chances[torch.from_numpy(held[fold])].numpy())

    def likely(chance: Floats, places: Codes) -> Floats:
        return np.asarray(np.log(np.maximum(chance[np.arange(len(places)), label[places]], 1e-12)))

    tried, gained, parts = dict[str, Fitted](), dict[str, float](), dict[str, Floats]()
    for name, learner in learners.items():
        # Larger trees take the most time, and are of no use where a line does as well as small ones.
        if name == LARGER and SMALLER in gained and max(gained, key=gained.__getitem__) != SMALLER:
            continue
        tried[name] = learner.fit_many(tasks[:1], progress=False)[0]
        parts[name] = likely(recorded(tried[name], 0), held[0])
        gained[name] = float(parts[name].sum())
    best = max(gained, key=gained.__getitem__)
    if best == LARGER and SMALLER in parts and _ahead(parts[LARGER] - parts[SMALLER]) < CLEARLY:
        best = SMALLER
    fits = [tried[best], *learners[best].fit_many(tasks[1:], progress=False)]
    each = [recorded(fitted, fold) for fold, fitted in enumerate(fits)]
    chances = np.zeros((len(rows), each[0].shape[1]))
    chances[np.concatenate(held)] = np.concatenate(each)
    return Crossfit(best, fits, likely(chances, np.arange(len(rows))), chances)


def _ahead(differences: Floats) -> float:
    """The sum of differences in its standard errors."""
    return float(differences.sum() / max(float(differences.std()) * np.sqrt(len(differences)), 1e-9))


def fair_chances(belief: Belief, fits: Sequence[Fitted], rows: Rows, folds: Codes) -> Floats:
    """P(fair class) of rows, ``[rows, classes]``, by fits that have not seen them.

    ``folds`` has the fold of each row; a row of fold -1, which no fit has seen, gets the mean of all fits.
    """
    restored = restore(belief, rows)
    chances = np.stack([restored.fair_proba(fitted.log_proba(restored.table)).numpy() for fitted in fits])
    held_out: Floats = chances[np.maximum(folds, 0), np.arange(len(rows))]
    return np.where((folds < 0)[:, None], chances.mean(axis=0), held_out)
