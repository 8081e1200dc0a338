"""The six methods that the paper compares and one more upper bound, each for all cells of a stack at once.

All of them learn as :class:`~problog4fairness.DebiasedClassifier` does: a learner is fitted through what a belief
observes of the rows. The networks of a call are fitted as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import torch

from problog4fairness.beliefs import Belief, NoBias, Observation
from problog4fairness.data import Rows
from problog4fairness.errors import P4FError
from problog4fairness.evaluation import expected_outcome, massage, parity_thresholds
from problog4fairness.learners import Fitted, Network, Task
from studies.cells import Array, Cell

Predict: TypeAlias = Callable[[Sequence[Cell], Network], Sequence[Array]]


@dataclass(frozen=True)
class Method:
    """How to predict fair labels from recorded data.

    Attributes
    ----------
    predict
        For each cell P(label = 1) of the people of ``cell.test``, after learning from ``cell.train``.
    randomised
        Whether predictions are chances of a random decision, so that its expected accuracy counts, instead of
        probabilities with a decision at one half.
    """

    predict: Predict
    randomised: bool = False


def lower(cells: Sequence[Cell], learner: Network) -> list[Array]:
    """Trained on what was recorded."""
    return [_chances(cell, net, True) for cell, net in zip(cells, _recorded(cells, learner, True), strict=True)]


def unawareness(cells: Sequence[Cell], learner: Network) -> list[Array]:
    """Trained on what was recorded, without the sensitive column."""
    return [_chances(cell, net, False) for cell, net in zip(cells, _recorded(cells, learner, False), strict=True)]


def upper(cells: Sequence[Cell], learner: Network) -> list[Array]:
    """Trained on fair features and labels, and tested on fair features everywhere: what no method can have."""
    rows = {people: people.fair_rows() for people in dict.fromkeys(cell.people for cell in cells)}
    observed = {people: NoBias().observe(own) for people, own in rows.items()}
    nets = learner.fit_many([_task(cell, observed[cell.people]) for cell in cells], progress=False)
    return [_fair(net, NoBias(), rows[cell.people].take(cell.test)) for cell, net in zip(cells, nets, strict=True)]


def informed(cells: Sequence[Cell], learner: Network) -> list[Array]:
    """Trained on recorded features and fair labels: what can be known of fair labels where only the record is seen."""
    people = dict.fromkeys(cell.people for cell in cells)
    observed = {own: NoBias().observe(own.rows(True, own.fair)) for own in people}
    nets = learner.fit_many([_task(cell, observed[cell.people]) for cell in cells], progress=False)
    return [_chances(cell, net, True) for cell, net in zip(cells, nets, strict=True)]


def massaging(cells: Sequence[Cell], learner: Network) -> list[Array]:
    """Labels changed until both groups fare alike, those of people whom the lower baseline ranks so; trained on them.

    Ties in the ranking, of which binary features make many, are broken at random.
    """
    tasks = []
    for cell, net in zip(cells, _recorded(cells, learner, True), strict=True):
        label, train = cell.people.recorded.copy(), cell.train
        rng = np.random.default_rng(cell.random_state)
        label[train] = massage(label[train], _scores(cell, net), cell.people.groups[train], rng)
        tasks.append(_task(cell, NoBias().observe(cell.people.rows(True, label))))
    nets = learner.fit_many(tasks, progress=False)
    return [_chances(cell, net, True) for cell, net in zip(cells, nets, strict=True)]


def parity(cells: Sequence[Cell], learner: Network) -> list[Array]:
    """Thresholds for each group on the lower baseline's scores; expected chances of the random decision."""
    found = []
    for cell, net in zip(cells, _recorded(cells, learner, True), strict=True):
        people, train = cell.people, cell.train
        for group in (0, 1):
            if len(np.unique(people.recorded[train][people.groups[train] == group])) < 2:
                where = f"{people.sensitive} = {group} (seed {cell.seed}, fold {cell.fold})"
                raise P4FError(f"all training rows with {where} have the same recorded label; parity needs both")
        thresholds = parity_thresholds(_scores(cell, net), people.recorded[train], people.groups[train])
        # Where features have few values there are few distinct scores: ask once for each.
        seen = np.column_stack([_chances(cell, net, True), people.groups[cell.test]])
        distinct, place = np.unique(seen, axis=0, return_inverse=True)
        expected = expected_outcome(thresholds, distinct[:, 0], distinct[:, 1].astype(np.int64))
        found.append(expected[place.reshape(-1), 1])
    return found


def ours(cells: Sequence[Cell], learner: Network) -> list[Array]:
    """Trained through the belief, which is applied to the features at test time where it says so."""
    observed: dict[object, Observation] = {}
    tasks = []
    for cell in cells:
        key = (cell.people, cell.belief, cell.aware)
        if key not in observed:  # folds of a seed share it
            observed[key] = _belief(cell).observe(cell.people.rows(cell.aware, cell.people.recorded))
        tasks.append(_task(cell, observed[key]))
    nets = learner.fit_many(tasks, progress=False)
    return [_chances(cell, net, cell.aware, _belief(cell)) for cell, net in zip(cells, nets, strict=True)]


# Upper with the features that ours has: a bound only where recorded features are what methods are tested on.
INFORMED = "upper on recorded features"
METHODS = {
    "ours": Method(ours),
    "upper": Method(upper),
    "lower": Method(lower),
    "unawareness": Method(unawareness),
    "massaging": Method(massaging),
    "parity": Method(parity, randomised=True),
    INFORMED: Method(informed),
}


def _recorded(cells: Sequence[Cell], learner: Network, aware: bool) -> list[Fitted]:
    """Networks trained on recorded features and labels; of the last calls they are remembered."""
    return _remembered(tuple(cells), tuple(sorted(learner.get_params(deep=False).items())), aware)


@lru_cache(maxsize=2)
def _remembered(cells: tuple[Cell, ...], options: tuple[tuple[str, object], ...], aware: bool) -> list[Fitted]:
    """Lower, massaging and parity begin with the same networks, and one process computes the three."""
    people = dict.fromkeys(cell.people for cell in cells)
    observed = {own: NoBias().observe(own.rows(aware, own.recorded)) for own in people}
    tasks = [_task(cell, observed[cell.people]) for cell in cells]
    return list(Network(**dict(options)).fit_many(tasks, progress=False))  # type: ignore[arg-type]


def _belief(cell: Cell) -> Belief:
    return NoBias() if cell.belief is None else cell.belief


def _task(cell: Cell, observation: Observation) -> Task:
    return Task(observation, cell.random_state, torch.from_numpy(cell.train))


def _scores(cell: Cell, net: Fitted) -> Array:
    """The chances of the people that the cell learns from, by their recorded features."""
    return _fair(net, NoBias(), cell.people.rows(True).take(cell.train))


def _chances(cell: Cell, net: Fitted, aware: bool, belief: Belief | None = None) -> Array:
    """P(fair label = 1) of the people a cell is tested on."""
    return _fair(net, NoBias() if belief is None else belief, cell.people.tested_rows(cell.test, aware))


def _fair(net: Fitted, belief: Belief, rows: Rows) -> Array:
    """P(fair label = 1) of rows, whose features are biased where the belief says so."""
    applied = belief if belief.predicts_from == "biased" else NoBias()
    seen = applied.restore(rows)
    return np.asarray(seen.fair_proba(net.log_proba(seen.table))[:, 1].numpy())
