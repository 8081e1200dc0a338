"""Boosted trees on rows that are spread over a cluster, as a Dask data frame: LightGBM's own Dask estimator.

Rows that a belief cannot tell apart, of the same group and with the same recorded label, are of one kind. The
likelihood of a kind is one number for each fair label, P(recorded | fair label), so a table of kinds is all that
workers need to know of a belief. The label that LightGBM sees is the kind of a row.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from problog4fairness.beliefs import Observation
from problog4fairness.data import Floats
from problog4fairness.errors import P4FError
from problog4fairness.learners.boosted import Boosted, FittedBoosted, best_constant
from problog4fairness.learners.encoder import Encoder, frequent, text_codes
from problog4fairness.learners.objective import Objective, objective_of, objective_of_terms
from problog4fairness.learners.trees import Trees, light
from problog4fairness.program import AffineTerms

KIND, WEIGHT = "kind", "weight of the row"
SEVERAL = (
    "under this belief a row may stand for several fair rows, which needs one machine: pass X.compute(), or a sample"
)
# Trees that are grown before held-out rows are looked at; workers do not wait for each other in between.
ROUND = 50


@dataclass(frozen=True, eq=False)
class ClusterTask:
    """Something to fit on a cluster.

    ``observation`` is of one row of each kind, ``masses`` the total weight of the rows of each, ``keys`` what tells
    kinds apart, ``[kinds]`` rows of some columns. ``data`` is a Dask data frame with these columns and those of the
    encoder, and with :data:`WEIGHT` where rows have weights; so are the rows ``held`` out to say when to stop, if any.
    """

    observation: Observation
    masses: Floats
    keys: pd.DataFrame
    data: Any
    encoder: Encoder
    held: pd.DataFrame | None
    seed: int

    @property
    def kinds(self) -> pd.DataFrame:
        """The keys with the entry of the likelihood, of which there may be fewer, as :data:`KIND`."""
        return self.keys.assign(**{KIND: self.terms.codes.numpy()})

    @property
    def terms(self) -> AffineTerms:
        """The likelihood of kinds; the error says why there is none that could be sent to workers."""
        terms = self.observation.terms()
        if self.observation.variants != 1 or terms is None:
            raise P4FError(SEVERAL)
        return terms


def require_cluster(data: Any) -> None:
    """Raise the error that says why this Dask data frame cannot be learned from: no cluster, or unknown categories."""
    for name in data.columns:
        if isinstance(data._meta[name].dtype, pd.CategoricalDtype) and not data[name].cat.known:
            raise P4FError(f"column {name!r} has unknown categories; say which by X.categorize(columns=[{name!r}])")
    _client()


def _client() -> Any:
    """The cluster that this process is connected to."""
    try:
        import distributed
    except ImportError:
        raise P4FError(
            "Dask data frames need the package distributed; install it with pip install 'problog4fairness[dask]'"
        ) from None
    try:
        return distributed.default_client()  # type: ignore[no-untyped-call]
    except ValueError:
        raise P4FError(
            "there is no cluster; connect to one first: distributed.Client('tcp://scheduler:8786')"
        ) from None


def cluster_encoder(data: Any, columns: Sequence[str]) -> Encoder:
    """The encoder of some columns of a Dask data frame: which are numbers, and the categories of the others."""
    from dask.base import compute

    numbers = [name for name in columns if pd.api.types.is_numeric_dtype(data._meta[name])]
    texts = [name for name in columns if name not in numbers]
    counts = compute(*(data[name].value_counts(dropna=False) for name in texts))  # type: ignore[no-untyped-call]
    chosen = {name: _frequent(values) for name, values in zip(texts, counts, strict=True)}
    return Encoder(
        numbers=tuple(numbers),
        marked=(),
        categories={name: values for name, (values, _) in chosen.items()},
        rare=frozenset(name for name, (_, others) in chosen.items() if others),
        # Trees scale nothing.
        fills=np.zeros(len(numbers)),
        means=np.zeros(len(numbers)),
        scales=np.ones(len(numbers)),
    )


def _frequent(counts: pd.Series[Any]) -> tuple[tuple[str, ...], bool]:
    """The values that get an input each as texts, and whether there are others."""
    counts = counts[counts > 0]
    codes, texts = text_codes(pd.Series(counts.index.to_numpy(dtype=object)))
    by_text = pd.Series(counts.to_numpy(), index=[texts[code] for code in codes]).groupby(level=0).sum().sort_index()
    return frequent(by_text.index.tolist(), by_text.to_numpy(dtype=np.int64))


def fit_trees(learner: Boosted, task: ClusterTask) -> FittedBoosted:
    """Boosted trees, grown where the rows are."""
    learner.check_options()
    terms, outputs = task.terms, task.observation.outputs
    constant = best_constant(objective_of(task.observation, None, torch.from_numpy(task.masses)), outputs)
    width = len(task.encoder.numbers) + len(task.encoder.categories)
    names = [f"c{number}" for number in range(width)]
    meta = pd.DataFrame({name: np.zeros(0) for name in (*names, KIND, WEIGHT)})
    coded = task.data.map_partitions(_coded, task.encoder, task.kinds, names, meta=meta).persist()
    held = None if task.held is None else _Held(task, task.held, constant)
    booster, grown = None, 0
    while booster is None or (grown < learner.max_trees and not (held and held.worse(learner.patience))):
        trees = min(learner.max_trees - grown, ROUND if held else learner.max_trees)
        booster = _grown(learner, task, _Derivatives(terms, constant), coded, names, trees, booster)
        if booster.current_iteration() == grown:
            break
        if held:
            held.look(booster, grown)
        grown = booster.current_iteration()
    losses = held.losses if held else []
    best = max(1, int(np.argmin(losses))) if losses else -1
    model = Trees.of(str(booster.model_to_string(num_iteration=best)))
    return FittedBoosted(task.encoder, model, constant, {"validation": losses[1:]})


def _coded(part: pd.DataFrame, encoder: Encoder, kinds: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows of a partition as trees read them, their kinds and their weights."""
    columns = pd.DataFrame(encoder.columns(part), columns=list(names), index=part.index)
    return columns.assign(**{KIND: _kinds_of(part, kinds), WEIGHT: _weights_of(part)})


def _kinds_of(part: pd.DataFrame, kinds: pd.DataFrame) -> Floats:
    on = [name for name in kinds.columns if name != KIND]
    matched = part[on].astype(kinds[on].dtypes.to_dict()).merge(kinds, how="left", on=on)
    return np.asarray(matched[KIND].to_numpy(dtype=np.float64))


def _weights_of(part: pd.DataFrame) -> Floats:
    return part[WEIGHT].to_numpy(dtype=np.float64) if WEIGHT in part else np.ones(len(part))


def _grown(
    learner: Boosted,
    task: ClusterTask,
    objective: _Derivatives,
    coded: Any,
    names: Sequence[str],
    trees: int,
    start: Any,
) -> Any:
    """A booster with so many more trees."""
    light()
    from lightgbm.dask import DaskLGBMRegressor

    # The number of threads is that of each worker.
    options = {name: value for name, value in learner.parameters(task.seed).items() if name != "num_threads"}
    options |= {"num_class": task.observation.outputs, "metric": "none"} if task.observation.outputs > 1 else {}
    model = DaskLGBMRegressor(client=_client(), objective=objective, n_estimators=trees, tree_learner="data", **options)
    places = list(range(len(task.encoder.numbers), len(names)))
    more = {} if start is None else {"init_model": start}
    if WEIGHT in task.data.columns:
        more["sample_weight"] = coded[WEIGHT]
    with warnings.catch_warnings():
        # It warns of its own default for threads.
        warnings.filterwarnings("ignore", "Parameter n_jobs will be ignored")
        return model.fit(coded[list(names)], coded[KIND], categorical_feature=places, **more).booster_


@dataclass(frozen=True, eq=False)
class _Derivatives:
    """Gradient and curvature of rows whose label is their kind, as LightGBM asks for them on each worker."""

    terms: AffineTerms
    constant: Floats

    def __call__(self, kinds: Any, scores: Any, weights: Any) -> tuple[Floats, Floats]:
        """Both for each row; ``weights`` is None where all rows count the same."""
        outputs = len(self.constant)
        masses = np.ones(len(kinds)) if weights is None else np.asarray(weights, dtype=np.float64)
        objective = _objective(self.terms, kinds, masses)
        gradient, curvature = objective.gradient_and_curvature(scores.reshape(-1, outputs, order="A") + self.constant)
        return (gradient[:, 0], curvature[:, 0]) if outputs == 1 else (gradient, curvature)


class _Held:
    """Held-out rows, and their mean loss before the first tree and after each."""

    def __init__(self, task: ClusterTask, rows: pd.DataFrame, constant: Floats) -> None:
        self._objective = _objective(task.terms, _kinds_of(rows, task.kinds), _weights_of(rows))
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
        return self._objective.loss(self._scores) / self._objective.total


def _objective(terms: AffineTerms, kinds: Any, weights: Floats) -> Objective:
    """Of rows with an input each, whose kinds are known."""
    rows = np.arange(len(kinds))
    return objective_of_terms(terms, np.asarray(kinds).astype(np.int64), rows, rows[:, None], None, weights)
