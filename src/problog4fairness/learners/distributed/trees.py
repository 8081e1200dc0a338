"""Boosted trees on a cluster: LightGBM's own Dask estimator, with the kind of a row as its label."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from problog4fairness.data import Floats
from problog4fairness.learners.derivatives import BinarySlopes, ClassSlopes, Slopes, slopes_of
from problog4fairness.learners.distributed.cluster import (
    KIND,
    WEIGHT,
    ClusterTask,
    client,
    kernel_of,
    kinds_of,
    weights_of,
)
from problog4fairness.learners.encoder import Encoder
from problog4fairness.learners.trees.arrays import Trees, light
from problog4fairness.learners.trees.boosted import Boosted, FittedBoosted
from problog4fairness.learners.trees.growth import best_constant
from problog4fairness.program import AffineObserved

# Trees that are grown before held-out rows are looked at; workers do not wait for each other's opinion in between.
ROUND = 50


@dataclass(frozen=True, eq=False)
class Objective:
    """Gradient and curvature of rows whose label is their kind, as LightGBM asks for them on each worker."""

    kernel: AffineObserved
    constant: Floats

    def __call__(self, kinds: Any, scores: Any, weights: Any) -> tuple[Floats, Floats]:
        """Both for each row; ``weights`` is None where all rows count the same."""
        outputs = len(self.constant)
        own = np.ones(len(kinds)) if weights is None else np.asarray(weights, dtype=np.float64)
        slopes = _slopes(self.kernel, kinds, own)
        gradient, curvature = slopes.curved(scores.reshape(-1, outputs, order="A") + self.constant)
        return (gradient[:, 0], curvature[:, 0]) if outputs == 1 else (gradient, curvature)


def fit_trees(learner: Boosted, task: ClusterTask) -> FittedBoosted:
    """Boosted trees, grown where the rows are."""
    learner.check_options()
    kernel, outputs = kernel_of(task.observation), task.observation.outputs
    constant = best_constant(slopes_of(task.observation, None, torch.from_numpy(task.masses)), outputs)
    width = len(task.encoder.numbers) + len(task.encoder.categories)
    names = [f"c{number}" for number in range(width)]
    meta = pd.DataFrame({name: np.zeros(0) for name in (*names, KIND, WEIGHT)})
    coded = task.data.map_partitions(_coded, task.encoder, task.kinds, names, meta=meta).persist()
    held = None if task.held is None else _Held(task, task.held, constant)
    booster, grown = None, 0
    while booster is None or (grown < learner.max_trees and not (held and held.worse(learner.patience))):
        trees = min(learner.max_trees - grown, ROUND if held else learner.max_trees)
        booster = _grown(learner, task, Objective(kernel, constant), coded, names, trees, booster)
        if booster.current_iteration() == grown:
            break
        if held:
            held.look(booster, grown)
        grown = booster.current_iteration()
    losses = held.losses if held else []
    best = max(1, int(np.argmin(losses))) if losses else -1
    found = Trees.of(str(booster.model_to_string(num_iteration=best)))
    return FittedBoosted(task.encoder, found, constant, {"validation": losses[1:]})


def _coded(part: pd.DataFrame, encoder: Encoder, kinds: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows of a partition as trees read them, their kinds and their weights."""
    columns = pd.DataFrame(encoder.columns(part), columns=list(names), index=part.index)
    return columns.assign(**{KIND: kinds_of(part, kinds), WEIGHT: weights_of(part)})


def _grown(
    learner: Boosted, task: ClusterTask, objective: Objective, coded: Any, names: Sequence[str], trees: int, start: Any
) -> Any:
    """A booster with so many more trees."""
    light()
    from lightgbm.dask import DaskLGBMRegressor

    # The number of threads is that of each worker.
    options = {name: own for name, own in learner._parameters(task.seed).items() if name != "num_threads"}
    options |= {"num_class": task.observation.outputs, "metric": "none"} if task.observation.outputs > 1 else {}
    model = DaskLGBMRegressor(client=client(), objective=objective, n_estimators=trees, tree_learner="data", **options)
    places = list(range(len(task.encoder.numbers), len(names)))
    more = {} if start is None else {"init_model": start}
    if WEIGHT in task.data.columns:
        more["sample_weight"] = coded[WEIGHT]
    with warnings.catch_warnings():
        # It warns of its own default for threads.
        warnings.filterwarnings("ignore", "Parameter n_jobs will be ignored")
        return model.fit(coded[list(names)], coded[KIND], categorical_feature=places, **more).booster_


class _Held:
    """Held-out rows, and their mean loss before the first tree and after each."""

    def __init__(self, task: ClusterTask, rows: pd.DataFrame, constant: Floats) -> None:
        self._slopes = _slopes(kernel_of(task.observation), kinds_of(rows, task.kinds), weights_of(rows))
        self._columns = task.encoder.columns(rows)
        self._scores = np.tile(constant, (len(rows), 1))
        self.losses = [self._loss()]

    def look(self, booster: Any, grown: int) -> None:
        """Note the loss after each tree but the first ``grown``."""
        for tree in range(grown, booster.current_iteration()):
            more = booster.predict(self._columns, raw_score=True, start_iteration=tree, num_iteration=1)
            self._scores += np.reshape(more, self._scores.shape)
            self.losses.append(self._loss())

    def worse(self, patience: int) -> bool:
        """Whether so many trees in a row brought nothing."""
        return len(self.losses) - 1 - int(np.argmin(self.losses)) >= patience

    def _loss(self) -> float:
        return self._slopes.loss(self._scores) / self._slopes.total


def _slopes(kernel: AffineObserved, kinds: Any, weights: Floats) -> Slopes:
    """Of rows with an input each, whose kinds are known."""
    rows = np.arange(len(kinds))
    kind = BinarySlopes if set(kernel.widths) == {1} else ClassSlopes
    return kind(kernel, np.asarray(kinds).astype(np.int64), rows, rows[:, None], None, weights)
