"""A classifier of rows that are spread over a cluster, as a Dask data frame, which is known without importing Dask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import compute_class_weight

from problog4fairness.beliefs import as_belief
from problog4fairness.data import Roles, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import fitting
from problog4fairness.learners import (
    SEVERAL,
    WEIGHT,
    Boosted,
    ClusterTask,
    Fitted,
    cluster_encoder,
    fit_trees,
    named_learner,
    require_cluster,
)

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier

Array = np.ndarray[Any, np.dtype[Any]]
# Names of columns beside those of X; sensitive columns have their own.
LABEL, FAIR, COUNT = "recorded label", "fair label", "rows of this kind"
# Kinds of rows at most: more mean that the sensitive variable is a measurement.
MOST_KINDS = 10_000
# Held-out rows at most.
MOST_HELD = 100_000


def is_spread(data: Any) -> bool:
    """Whether the data are a Dask data frame."""
    return hasattr(data, "map_partitions") and hasattr(data, "npartitions")


def by_partition(work: Callable[[pd.DataFrame], Any], X: Any, example: Any) -> Array:
    """What ``work`` says of the rows of a Dask data frame, as a Dask array."""
    parts: Array = X.map_partitions(_of_part, work, example, meta=_of_part(X._meta, work, example)).values
    return parts


def _of_part(part: pd.DataFrame, work: Callable[[pd.DataFrame], Any], example: Any) -> Any:
    values = work(part) if len(part) else example[:0]
    return pd.DataFrame(values, index=part.index) if values.ndim == 2 else pd.Series(values, index=part.index)


def fit_spread(
    model: DebiasedClassifier, X: Any, y: Any, sensitive_features: Any, fair: Any, sample_weight: Any
) -> tuple[Fitted, Rows]:
    """What was learned on the cluster, and the held-out rows, or one of each kind where none are held out."""
    learner = named_learner(model.learner)
    if not isinstance(learner, Boosted):
        raise P4FError(
            "a Dask data frame is learned from by learner='boosted'; for other learners pass a sample, "
            "such as X.sample(frac=0.01).compute()"
        )
    if as_belief(model.belief).features:
        raise P4FError(SEVERAL)
    require_cluster(X)
    data, beside = _joined(model, X, y, sensitive_features, {FAIR: fair, WEIGHT: sample_weight})
    model.seed_ = fitting.drawn_seed(model.random_state)
    keys = [*as_belief(model.belief).columns.sensitive, *(name for name in (LABEL, FAIR) if name in data.columns)]
    kinds = _kinds(data, keys)
    groups = kinds[beside] if beside else None
    label = kinds[LABEL].rename(y.name)
    rows = fitting.rows_to_fit(model, kinds[list(X.columns)], label, groups, kinds.get(FAIR), None)
    model.audited_ = 0 if rows.fair is None else int(kinds[COUNT].to_numpy()[rows.fair >= 0].sum())
    task = fitting.task_through(model.belief_, rows, model.seed_)
    if model.class_weight is not None:
        data, kinds = _weighted(model, data, kinds)
    encoder = cluster_encoder(data, model.columns_)
    total = int(kinds[COUNT].sum())
    held, share = None, min(float(learner.validation), MOST_HELD / total)
    if share > 0:
        data, part = data.random_split([1 - share, share], random_state=model.seed_ % (1 << 31))
        held = part.compute().reset_index(drop=True)
        held = held if len(held) else None
    masses = kinds[WEIGHT if WEIGHT in kinds else COUNT].to_numpy(dtype=np.float64, copy=True)
    fitted = fit_trees(learner, ClusterTask(task.observation, masses, kinds[keys], data, encoder, held, model.seed_))
    return fitted, rows if held is None else _held(model, held)


def _joined(
    model: DebiasedClassifier, X: Any, y: Any, sensitive_features: Any, others: Mapping[str, Any]
) -> tuple[Any, list[str]]:
    """All columns in one Dask data frame, and those that were passed beside X."""
    columns = as_belief(model.belief).columns.sensitive
    parts = {LABEL: y, **others}
    beside: list[str] = []
    if sensitive_features is not None and columns:
        if is_spread(sensitive_features) and sensitive_features.ndim == 1 and len(columns) == 1:
            parts |= {columns[0]: sensitive_features}
        elif is_spread(sensitive_features) and sensitive_features.ndim == 2:
            parts |= {name: sensitive_features[name] for name in columns}
        beside = list(columns)
    parts = {name: part for name, part in parts.items() if part is not None}
    wrong = [name for name, part in parts.items() if not is_spread(part)]
    if wrong or (beside and not set(beside) <= set(parts)):
        raise P4FError(
            "with a Dask data frame as X, y, sensitive_features, fair and sample_weight are columns of Dask data "
            "frames, too"
        )
    return X.assign(**parts), beside


def _kinds(data: Any, keys: list[str]) -> pd.DataFrame:
    """One row of each kind, with the number of rows that are of it."""
    first = _first_of_kinds(data._meta_nonempty, keys).iloc[:0]
    firsts = data.map_partitions(_first_of_kinds, keys, meta=first).compute()
    amounts = [name for name in (COUNT, WEIGHT) if name in firsts]
    if WEIGHT in firsts and not (firsts[WEIGHT] >= 0).all():
        raise P4FError("sample_weight has values that are missing or below 0; give each row a weight of 0 or more")
    groups = firsts.groupby(keys, dropna=False, sort=False, observed=True)
    sums = {name: groups[name].transform("sum") for name in amounts}
    kinds = firsts.assign(**sums).drop_duplicates(keys).reset_index(drop=True)
    if kinds[LABEL].isna().any():
        raise P4FError(f"y has {int(kinds[COUNT][kinds[LABEL].isna()].sum())} missing values; drop those rows")
    if len(kinds) > MOST_KINDS:
        raise P4FError(
            f"there are {len(kinds)} kinds of rows by {', '.join(keys)}, more than {MOST_KINDS}; make classes of them"
        )
    return kinds


def _first_of_kinds(part: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The first row of each kind in a partition, with the number and the total weight of those that are of it."""
    groups = part.groupby(keys, dropna=False, sort=False, observed=True)
    sums = {COUNT: groups[keys[0]].transform("size").astype("float64")}
    if WEIGHT in part:
        # Missing where one of them is: sums would leave it out.
        lowest = part[WEIGHT].fillna(-np.inf).groupby([part[key] for key in keys], dropna=False, observed=True)
        sums[WEIGHT] = groups[WEIGHT].transform("sum").where(lowest.transform("min") >= 0, np.nan)
    return part.assign(**sums).drop_duplicates(keys)


def _weighted(model: DebiasedClassifier, data: Any, kinds: pd.DataFrame) -> tuple[Any, pd.DataFrame]:
    """Rows and kinds with weights by class, too."""
    counts = kinds.groupby(LABEL, observed=True)[COUNT].sum()
    if model.class_weight == "balanced":
        by_label = (counts.sum() / (len(counts) * counts)).to_dict()
    else:
        labels = np.array(counts.index)
        by_label = dict(zip(labels, compute_class_weight(model.class_weight, classes=labels, y=labels), strict=True))
    weight = data[LABEL].map(by_label, meta=(WEIGHT, "float64")).astype("float64")
    mass = kinds[LABEL].map(by_label).astype("float64") * kinds[WEIGHT if WEIGHT in kinds else COUNT]
    return data.assign(**{WEIGHT: weight * data[WEIGHT] if WEIGHT in data else weight}), kinds.assign(**{WEIGHT: mass})


def _held(model: DebiasedClassifier, rows: pd.DataFrame) -> Rows:
    roles = Roles(LABEL, fair=FAIR if FAIR in rows else None, labels=tuple(model.classes_))
    return Rows.from_table(rows, roles, features=model.columns_)
