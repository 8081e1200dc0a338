"""Networks for many cells at once.

All features have few values, so that there are few distinct people: a network is its logits at all of them, a table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from itertools import product

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs import Belief, HistoricalBias, LabelBias, MeasurementBias
from problog4fairness.datasets import SyntheticData
from problog4fairness.experiments.cells import Array, Cell, Point, Rows, Stack
from problog4fairness.learners import Job, Likelihood, Mixture, RecordedLabel, fit_many
from problog4fairness.learners.mixture import fair_log_probability, row_kinds


@lru_cache
def all_inputs(values: int, features: int, with_sensitive: bool) -> Tensor:
    """Every distinct person: A, if it is among the inputs, then the features, scaled to 1; the last column fastest."""
    steps = [value / (values - 1) for value in range(values)]
    columns = [(0.0, 1.0)] * with_sensitive + [steps] * features
    return torch.tensor(list(product(*columns)), dtype=torch.float32)


def positions(features: Rows, sensitive: Rows | None, values: int) -> Rows:
    """The place of each person in :func:`all_inputs`; with ``sensitive``, A is the first column."""
    place = np.zeros(len(features), dtype=np.int64) if sensitive is None else sensitive
    for column in features.T:
        place = place * values + column
    return place


def fitted(
    stack: Stack, cells: Sequence[Cell], name: str, key: Callable[[Cell], Hashable], job: Callable[[Cell], Job]
) -> list[Tensor]:
    """For each cell the logits of its network at all inputs; cells with equal keys share one network.

    Parameters
    ----------
    stack
        Whose memo holds the networks.
    cells
        The cells that need one.
    name, key
        What tells networks apart, besides seed and fold.
    job
        How to fit the network of a cell.
    """
    keys = [("network", name, key(cell), cell.seed, cell.fold, stack.folds, stack.rows, stack.training)
            for cell in cells]  # fmt: skip
    missing = {k: cell for k, cell in zip(keys, cells, strict=True) if k not in stack.memo}
    jobs = [job(cell) for cell in missing.values()]
    with torch.no_grad():
        for k, own, fit in zip(missing, jobs, fit_many(jobs, stack.training, progress=False), strict=True):
            logits = fit.network(own.inputs).double()
            stack.memo.get(k, lambda logits=logits: logits)  # type: ignore[misc]
    return [stack.memo.get(k, _unknown) for k in keys]


def _unknown() -> Tensor:
    raise RuntimeError("a network was not fitted")


def network_seed(cell: Cell) -> int:
    """The same first weights and validation rows for all methods."""
    return 1000 * cell.seed + cell.fold


def plain_job(cell: Cell, features: Rows, label: Rows, with_sensitive: bool) -> Job:
    """Learn ``label`` from ``features``, without a belief."""
    values = cell.data.settings.n_values
    place = positions(features, cell.sensitive if with_sensitive else None, values)
    likelihood = RecordedLabel(torch.tensor(label), torch.tensor(place))
    return _job(cell, likelihood, with_sensitive)


def _job(cell: Cell, likelihood: Likelihood, with_sensitive: bool) -> Job:
    settings = cell.data.settings
    inputs = all_inputs(settings.n_values, len(settings.features), with_sensitive)
    return Job(inputs, likelihood, seed=network_seed(cell), rows=torch.from_numpy(cell.train))


def recorded_features(data: SyntheticData) -> Rows:
    """The recorded features as an array."""
    return np.asarray(data.recorded_features, dtype=np.int64)


def fair_features(data: SyntheticData) -> Rows:
    """The fair features as an array."""
    return np.asarray(data.fair_features, dtype=np.int64)


def belief(point: Point) -> Belief:
    """The belief of a point, with the exact parameters of what is believed."""
    settings = point.believed
    if point.bias == "label":
        return LabelBias("a").bind(settings.label_rates())
    template = MeasurementBias if point.bias == "measurement" else HistoricalBias
    options = tuple(range(settings.n_values))
    values = None if settings.n_values == 2 else dict.fromkeys(settings.features, options)
    return template(settings.features, "a", values=values).bind(settings.measurement_rates())


def belief_job(stack: Stack, cell: Cell, belief: Belief, with_sensitive: bool) -> Job:
    """Explain the recorded labels through a belief; folds of one seed share the likelihood."""
    key = ("likelihood", cell.point.bias, cell.point.settings, cell.point.believed, stack.rows, cell.seed)
    likelihood = stack.memo.get(key, lambda: _mixture(cell, belief, with_sensitive))
    return _job(cell, likelihood, with_sensitive)


def _mixture(cell: Cell, belief: Belief, with_sensitive: bool) -> Mixture:
    features, a = recorded_features(cell.data), cell.sensitive
    tables = belief.feature_tables()
    columns = [(features[:, number], tables[name]) for number, name in enumerate(cell.data.settings.features)
               if name in tables]  # fmt: skip
    kinds, codes = row_kinds(np.eye(2)[a], cell.recorded_label, belief.label_table(), columns)
    return Mixture(kinds, codes, _index(cell, features, a, bool(tables), with_sensitive), outputs=1)


def _index(cell: Cell, features: Rows, a: Rows, every: bool, with_sensitive: bool) -> Tensor:
    """The inputs of each row: its own, or with ``every`` all fair vectors that it may stand for."""
    values = cell.data.settings.n_values
    if not every:
        return torch.from_numpy(positions(features, a if with_sensitive else None, values)).unsqueeze(1)
    count = values ** features.shape[1]
    first = torch.from_numpy(a * count if with_sensitive else np.zeros_like(a))
    return first.unsqueeze(1) + torch.arange(count)


def chances(cell: Cell, logits: Tensor, with_sensitive: bool, features: Rows | None = None) -> Array:
    """P(label = 1) of the people a cell is tested on; ``features`` in place of those that the point says."""
    seen = cell.test_features.to_numpy(dtype=np.int64) if features is None else features
    a = cell.sensitive[cell.test] if with_sensitive else None
    place = positions(seen, a, cell.data.settings.n_values)
    return np.asarray(torch.sigmoid(logits[torch.from_numpy(place), 0]).numpy())


def fair_chances(cell: Cell, logits: Tensor, belief: Belief, with_sensitive: bool) -> Array:
    """P(fair label = 1) where the features at test time are recorded ones: a sum over the fair ones."""
    features, a = recorded_features(cell.data)[cell.test], cell.sensitive[cell.test]
    tables = belief.feature_tables()
    columns = [(features[:, number], tables[name]) for number, name in enumerate(cell.data.settings.features)]
    kinds, codes = row_kinds(np.eye(2)[a], None, None, columns)
    index = _index(cell, features, a, every=True, with_sensitive=with_sensitive)
    return np.asarray(fair_log_probability(kinds, codes, logits[index])[:, 1].exp().numpy())
