"""The six methods that the paper compares, each for all cells of a stack at once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from problog4fairness.baselines.parity import expected_outcome, parity_thresholds
from problog4fairness.baselines.relabelling import massage
from problog4fairness.beliefs import Belief
from problog4fairness.datasets import SyntheticSettings
from problog4fairness.experiments.cells import Array, Cell, Point, Stack
from problog4fairness.experiments.method import Method
from problog4fairness.experiments.networks import (
    belief,
    belief_job,
    chances,
    fair_chances,
    fair_features,
    fitted,
    network_seed,
    plain_job,
    positions,
    recorded_features,
)
from problog4fairness.learners import Job


def fair_settings(point: Point) -> SyntheticSettings:
    """The point's people without any bias and noise: with the same seed, the same fair people."""
    return replace(
        point.settings,
        label_bias=0.0,
        measurement_bias=0.0,
        historical_bias=0.0,
        label_noise=0.0,
        feature_noise=0.0,
    )


def lower(stack: Stack) -> list[Array]:
    """Trained on what was recorded."""
    return [chances(cell, net, True) for cell, net in zip(stack.cells, _recorded(stack, True), strict=True)]


def unawareness(stack: Stack) -> list[Array]:
    """Trained on what was recorded, without A."""
    return [chances(cell, net, False) for cell, net in zip(stack.cells, _recorded(stack, False), strict=True)]


def upper(stack: Stack) -> list[Array]:
    """Trained on fair features and labels, and tested on fair features everywhere: what no method can have.

    The fair people do not depend on the bias, so that all points of a study share these networks.
    """

    def key(cell: Cell) -> Hashable:
        return fair_settings(cell.point)

    def job(cell: Cell) -> Job:
        return plain_job(cell, fair_features(cell.data), np.asarray(cell.data.fair_label, dtype=np.int64), True)

    nets = fitted(stack, stack.cells, "upper", key, job)
    return [
        chances(cell, net, True, fair_features(cell.data)[cell.test])
        for cell, net in zip(stack.cells, nets, strict=True)
    ]


def massaging(stack: Stack) -> list[Array]:
    """Labels changed until both groups fare alike, those of people whom the lower baseline ranks so; trained on them.

    Ties in the ranking, of which binary features make many, are broken at random.
    """
    rankings = {id(cell): net for cell, net in zip(stack.cells, _recorded(stack, True), strict=True)}

    def job(cell: Cell) -> Job:
        features, label, a = recorded_features(cell.data), cell.recorded_label.copy(), cell.sensitive
        scores = _scores(cell, rankings[id(cell)])
        rng = np.random.default_rng(network_seed(cell))
        label[cell.train] = massage(label[cell.train], scores[cell.train], a[cell.train], rng)
        return plain_job(cell, features, label, True)

    nets = fitted(stack, stack.cells, "massaging", _settings, job)
    return [chances(cell, net, True) for cell, net in zip(stack.cells, nets, strict=True)]


def parity(stack: Stack) -> list[Array]:
    """Thresholds for each group on the lower baseline's scores; expected chances of the random decision."""
    found = []
    for cell, net in zip(stack.cells, _recorded(stack, True), strict=True):
        train = cell.train
        thresholds = parity_thresholds(_scores(cell, net)[train], cell.recorded_label[train], cell.sensitive[train])
        # There are few distinct scores: ask once for each.
        seen = np.column_stack([chances(cell, net, True), cell.sensitive[cell.test]])
        distinct, place = np.unique(seen, axis=0, return_inverse=True)
        expected = expected_outcome(thresholds, distinct[:, 0], distinct[:, 1].astype(np.int64))
        found.append(expected[place.reshape(-1), 1])
    return found


def ours(stack: Stack) -> list[Array]:
    """Trained through the belief, with the parameters of what is believed.

    The network sees A only where the fair label depends on it. Under historical bias it learns from the recorded data
    as they are, and the belief is applied to the features at test time.
    """
    points = {cell.point: belief(cell.point) for cell in stack.cells}
    plain = [cell for cell in stack.cells if cell.point.bias == "historical"]
    nets: dict[int, Tensor] = {}
    for aware in (False, True):
        own = [cell for cell in plain if cell.point.dependent == aware]
        nets |= zip(map(id, own), _recorded(stack, aware, own), strict=True)
    others = [cell for cell in stack.cells if cell.point.bias != "historical"]

    def key(cell: Cell) -> Hashable:
        return cell.point.bias, cell.point.settings, cell.point.believed

    def job(cell: Cell) -> Job:
        return belief_job(stack, cell, points[cell.point], cell.point.dependent)

    nets |= zip(map(id, others), fitted(stack, others, "ours", key, job), strict=True)
    return [_fair(cell, nets[id(cell)], points[cell.point]) for cell in stack.cells]


def _fair(cell: Cell, net: Tensor, belief: Belief) -> Array:
    if cell.point.tested_on == "recorded" and belief.feature_values():
        return fair_chances(cell, net, belief, cell.point.dependent)
    return chances(cell, net, cell.point.dependent)


def _settings(cell: Cell) -> Hashable:
    return cell.point.settings


def _recorded(stack: Stack, with_sensitive: bool, cells: list[Cell] | None = None) -> list[Tensor]:
    """Networks trained on recorded features and labels."""

    def job(cell: Cell) -> Job:
        return plain_job(cell, recorded_features(cell.data), cell.recorded_label, with_sensitive)

    name = "lower" if with_sensitive else "unawareness"
    return fitted(stack, stack.cells if cells is None else cells, name, _settings, job)


def _scores(cell: Cell, net: Tensor) -> Array:
    """The lower baseline's chance of everybody, from the recorded features."""
    place = positions(recorded_features(cell.data), cell.sensitive, cell.data.settings.n_values)
    return np.asarray(torch.sigmoid(net[torch.from_numpy(place), 0]).numpy())


METHODS = (
    Method("ours", ours),
    Method("upper", upper, shares=fair_settings),
    Method("lower", lower),
    Method("unawareness", unawareness),
    Method("massaging", massaging),
    Method("parity", parity, randomised=True),
)
