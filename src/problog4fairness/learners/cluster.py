"""Boosted trees on a cluster: LightGBM's own Dask estimator, with the kind of a row as its label.

Rows that a belief cannot tell apart, of the same group and with the same recorded label, are of one kind. The
likelihood of a kind is two numbers, P(recorded | fair label is 0) and P(recorded | fair label is 1), so a table of
kinds is all that workers need to know of a belief.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from problog4fairness.beliefs.observation import Observation
from problog4fairness.errors import P4FError
from problog4fairness.learners.boosted import Boosted, FittedBoosted
from problog4fairness.learners.encoder import MAX_CATEGORIES, Encoder, text_codes
from problog4fairness.learners.growth import best_constant
from problog4fairness.learners.slopes import BinarySlopes, slopes_of
from problog4fairness.learners.trees import Trees, light
from problog4fairness.program.observed import AffineObserved
from problog4fairness.rows.types import Floats

KIND = "kind"
# Trees that are grown before held-out rows are looked at; workers do not wait for each other's opinion in between.
ROUND = 50
SEVERAL = (
    "under this belief a row may stand for several fair rows, which needs one machine: pass X.compute(), or a sample"
)


@dataclass(frozen=True, eq=False)
class Objective:
    """Gradient and curvature of rows whose label is their kind, as LightGBM asks for them on each worker."""

    kernel: AffineObserved
    constant: float

    def __call__(self, kinds: Any, scores: Any) -> tuple[Floats, Floats]:
        """Both for each row."""
        rows = np.arange(len(kinds))
        slopes = BinarySlopes(self.kernel, kinds.astype(np.int64), rows, rows[:, None], None, np.ones(len(kinds)))
        gradient, curvature = slopes.curved(scores.reshape(-1, 1) + self.constant)
        return gradient[:, 0], curvature[:, 0]


@dataclass(frozen=True, eq=False)
class ClusterTask:
    """Something to fit on a cluster.

    Parameters
    ----------
    observation
        Of one row of each kind.
    counts
        ``[kinds]``: how many rows there are of each.
    keys
        What tells kinds apart, ``[kinds]`` rows of some columns.
    data
        A Dask data frame with these columns and those of the encoder.
    encoder
        Which columns trees read, and how.
    held
        Rows that say when to stop, as they are observed; None for as many trees as there may be.
    seed
        Of the fit.
    """

    observation: Observation
    counts: Floats
    keys: pd.DataFrame
    data: Any
    encoder: Encoder
    held: Observation | None
    seed: int


def kernel_of(observation: Observation) -> AffineObserved:
    """The likelihood of kinds; the error says why there is none that could be sent to workers."""
    kernel = observation.observed
    if observation.variants != 1 or not isinstance(kernel, AffineObserved):
        raise P4FError(SEVERAL)
    if observation.outputs != 1:
        raise P4FError("a label of more than two classes needs one machine: pass X.compute(), or a sample")
    return kernel


def fit_cluster(learner: Boosted, task: ClusterTask) -> FittedBoosted:
    """Boosted trees, grown where the rows are."""
    learner.check_options()
    kernel = kernel_of(task.observation)
    # As labels, kinds are the entries of the kernel, of which there may be fewer.
    keys = task.keys.assign(**{KIND: kernel.codes.numpy()})
    constant = best_constant(slopes_of(task.observation, None, torch.from_numpy(task.counts)), 1)
    width = len(task.encoder.numbers) + len(task.encoder.categories)
    names = [f"c{number}" for number in range(width)]
    meta = pd.DataFrame({name: np.zeros(0) for name in (*names, KIND)})
    coded = task.data.map_partitions(_coded, task.encoder, keys, names, meta=meta).persist()
    booster, losses = None, [] if task.held is None else [_start(task, constant)]
    while booster is None or (booster.num_trees() < learner.max_trees and not _worse(losses, learner.patience)):
        grown = 0 if booster is None else booster.num_trees()
        trees = min(learner.max_trees - grown, ROUND if task.held is not None else learner.max_trees)
        booster = _grown(learner, task, Objective(kernel, float(constant[0])), coded, names, trees, booster)
        if booster.num_trees() == grown:
            break
        if task.held is not None:
            losses += _losses(task, booster, grown, constant)
    best = -1 if task.held is None else max(1, int(np.argmin(losses)))
    trees_found = Trees.of(str(booster.model_to_string(num_iteration=best)))
    return FittedBoosted(task.encoder, trees_found, constant, {"validation": losses[1:]})


def _coded(part: pd.DataFrame, encoder: Encoder, keys: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows of a partition as trees read them, and their kinds."""
    on = [name for name in keys.columns if name != KIND]
    kinds = part[on].astype(keys[on].dtypes.to_dict()).merge(keys, how="left", on=on)[KIND]
    columns = pd.DataFrame(encoder.columns(part), columns=list(names), index=part.index)
    return columns.assign(**{KIND: kinds.to_numpy(dtype=np.float64)})


def _grown(
    learner: Boosted, task: ClusterTask, objective: Objective, coded: Any, names: Sequence[str], trees: int, start: Any
) -> Any:
    """A booster with so many more trees."""
    light()
    from lightgbm.dask import DaskLGBMRegressor

    # The number of threads is that of each worker.
    options = {name: own for name, own in learner._parameters(task.seed).items() if name != "num_threads"}
    model = DaskLGBMRegressor(client=client(), objective=objective, n_estimators=trees, tree_learner="data", **options)
    places = list(range(len(task.encoder.numbers), len(names)))
    more = {} if start is None else {"init_model": start}
    with warnings.catch_warnings():
        # It warns of its own default for threads.
        warnings.filterwarnings("ignore", "Parameter n_jobs will be ignored")
        return model.fit(coded[list(names)], coded[KIND], categorical_feature=places, **more).booster_


def _start(task: ClusterTask, constant: Floats) -> float:
    """The loss of held-out rows before the first tree."""
    held = slopes_of(task.held)  # type: ignore[arg-type]  # only where there are some
    return held.loss(np.full((len(held.inputs), 1), constant[0])) / held.total


def _losses(task: ClusterTask, booster: Any, grown: int, constant: Floats) -> list[float]:
    """The loss of held-out rows after each new tree."""
    if task.held is None:
        return []
    held = slopes_of(task.held)
    columns = task.encoder.columns(task.held.table.iloc[held.inputs])
    scores = constant[0] + (booster.predict(columns, raw_score=True, num_iteration=grown) if grown else 0.0)
    found = []
    for tree in range(grown, booster.num_trees()):
        scores = scores + booster.predict(columns, raw_score=True, start_iteration=tree, num_iteration=1)
        found.append(held.loss(np.reshape(scores, (-1, 1))) / held.total)
    return found


def _worse(losses: Sequence[float], patience: int) -> bool:
    return len(losses) - 1 - int(np.argmin(losses)) >= patience


def client() -> Any:
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


def refuse_unknown(data: Any) -> None:
    """Raise the error that names a column whose categories no partition knows all of."""
    for name in data.columns:
        if isinstance(data._meta[name].dtype, pd.CategoricalDtype) and not data[name].cat.known:
            raise P4FError(f"column {name!r} has unknown categories; say which by X.categorize(columns=[{name!r}])")


def cluster_encoder(data: Any, columns: Sequence[str]) -> Encoder:
    """The encoder of some columns of a Dask data frame: which are numbers, and the categories of the others."""
    from dask.base import compute

    numbers = [name for name in columns if pd.api.types.is_numeric_dtype(data._meta[name])]
    texts = [name for name in columns if name not in numbers]
    some = data[numbers].astype("float64")
    means, spreads, *counts = compute(  # type: ignore[no-untyped-call]
        some.mean(), some.std(ddof=0), *(data[name].value_counts(dropna=False) for name in texts)
    )
    fills = np.nan_to_num(means.reindex(numbers).to_numpy(dtype=np.float64))
    scales = np.nan_to_num(spreads.reindex(numbers).to_numpy(dtype=np.float64))
    found = {name: _categories(own) for name, own in zip(texts, counts, strict=True)}
    rare = frozenset(name for name, own in zip(texts, counts, strict=True) if len(own) > MAX_CATEGORIES)
    return Encoder(tuple(numbers), (), found, rare, fills, fills, np.where(scales > 0, scales, 1.0))


def _categories(counts: pd.Series[Any]) -> tuple[str, ...]:
    """The most frequent values as texts, in order."""
    most = counts[counts > 0].nlargest(MAX_CATEGORIES - 1 if len(counts) > MAX_CATEGORIES else MAX_CATEGORIES)
    codes, texts = text_codes(pd.Series(most.index.to_numpy(dtype=object)))
    return tuple(sorted({texts[code] for code in codes}))
