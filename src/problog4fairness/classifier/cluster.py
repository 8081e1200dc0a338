"""A classifier of rows that are spread over a cluster, as a Dask data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.beliefs.convert import as_belief
from problog4fairness.classifier import fitting
from problog4fairness.classifier.spread import is_spread
from problog4fairness.errors import P4FError
from problog4fairness.learners.boosted import Boosted, FittedBoosted
from problog4fairness.learners.cluster import (
    SEVERAL,
    ClusterTask,
    client,
    cluster_encoder,
    fit_cluster,
    kernel_of,
    refuse_unknown,
)
from problog4fairness.rows.labels import label_codes
from problog4fairness.rows.rows import Rows

if TYPE_CHECKING:
    from problog4fairness.classifier.estimator import DebiasedClassifier

# Names of columns beside those of X; sensitive columns have their own.
LABEL, FAIR, COUNT = "recorded label", "fair label", "rows of this kind"
# Kinds of rows at most: more mean that the sensitive variable is a measurement.
MOST_KINDS = 10_000
# Held-out rows at most.
MOST_HELD = 100_000


def fit_spread(
    model: DebiasedClassifier, X: Any, y: Any, sensitive_features: Any, fair: Any, sample_weight: Any
) -> tuple[FittedBoosted, Rows]:
    """What was learned on the cluster, and the held-out rows, or one of each kind where none are held out."""
    learner = fitting.learner_of(model.learner)
    if not isinstance(learner, Boosted):
        raise P4FError(
            "a Dask data frame is learned from by learner='boosted'; for other learners pass a sample, such as "
            "X.sample(frac=0.01).compute()"
        )
    if sample_weight is not None or model.class_weight is not None:
        raise P4FError("weights need one machine: pass X.compute(), or a sample, or leave the weights out")
    if as_belief(model.belief).features:
        raise P4FError(SEVERAL)
    refuse_unknown(X)
    client()
    data, beside = _joined(model, X, y, sensitive_features, fair)
    model.seed_ = fitting.drawn_seed(model.random_state)
    keys = [*as_belief(model.belief).sensitive_columns, *(name for name in (LABEL, FAIR) if name in data.columns)]
    kinds = _kinds(data, keys)
    rows = _rows(model, kinds, X, y, beside)
    model.audited_ = 0 if rows.fair is None else int(kinds[COUNT].to_numpy()[rows.fair >= 0].sum())
    task = fitting.task_through(model.belief_, rows, model.seed_, stacklevel=5)
    kernel_of(task.observation)
    encoder = cluster_encoder(data, model.columns_)
    total = int(kinds[COUNT].sum())
    held_rows = held = None
    share = min(float(learner.validation), MOST_HELD / total)
    if share > 0:
        data, part = data.random_split([1 - share, share], random_state=model.seed_ % (1 << 31))
        own = part.compute().reset_index(drop=True)
        held_rows = _held(model, own)
        held = model.belief_.observe(held_rows) if len(own) else None
    counts = kinds[COUNT].to_numpy(dtype=np.float64, copy=True)
    found = fit_cluster(learner, ClusterTask(task.observation, counts, kinds[keys], data, encoder, held, model.seed_))
    return found, rows if held_rows is None or held is None else held_rows


def _joined(model: DebiasedClassifier, X: Any, y: Any, sensitive_features: Any, fair: Any) -> tuple[Any, list[str]]:
    """All columns in one Dask data frame, and those that were passed beside X."""
    columns = as_belief(model.belief).sensitive_columns
    parts = {LABEL: y, FAIR: fair}
    beside: list[str] = []
    if sensitive_features is not None and columns:
        if is_spread(sensitive_features) and sensitive_features.ndim == 1 and len(columns) == 1:
            parts |= {columns[0]: sensitive_features}
        elif is_spread(sensitive_features) and sensitive_features.ndim == 2:
            parts |= {name: sensitive_features[name] for name in columns}
        beside = list(columns)
    parts = {name: own for name, own in parts.items() if own is not None}
    wrong = [name for name, own in parts.items() if not is_spread(own)]
    if wrong or (beside and not set(beside) <= set(parts)):
        raise P4FError(
            "with a Dask data frame as X, y, sensitive_features and fair are columns of Dask data frames, too"
        )
    return X.assign(**parts), beside


def _kinds(data: Any, keys: list[str]) -> pd.DataFrame:
    """One row of each kind, with the number of rows that are of it."""
    first = _first_of_kinds(data._meta_nonempty, keys).iloc[:0]
    found = data.map_partitions(_first_of_kinds, keys, meta=first).compute()
    counts = found.groupby(keys, dropna=False, sort=False, observed=True)[COUNT].transform("sum")
    kinds = found.assign(**{COUNT: counts}).drop_duplicates(keys).reset_index(drop=True)
    if kinds[LABEL].isna().any():
        raise P4FError(f"y has {int(kinds[COUNT][kinds[LABEL].isna()].sum())} missing values; drop those rows")
    if len(kinds) > MOST_KINDS:
        raise P4FError(
            f"there are {len(kinds)} kinds of rows by {', '.join(keys)}, more than {MOST_KINDS}; make classes of them"
        )
    return kinds


def _first_of_kinds(part: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    counts = part.groupby(keys, dropna=False, sort=False, observed=True)[keys[0]].transform("size")
    return part.assign(**{COUNT: counts.astype("float64")}).drop_duplicates(keys)


def _rows(model: DebiasedClassifier, kinds: pd.DataFrame, X: Any, y: Any, beside: list[str]) -> Rows:
    """One row of each kind as rows; notes on the model what :meth:`~DebiasedClassifier.fit` promises."""
    fair = kinds.get(FAIR)
    label = kinds[LABEL].rename(y.name)
    groups = kinds[beside] if beside else None
    return fitting.training_rows(model, kinds[list(X.columns)], label, groups, fair, None)


def _held(model: DebiasedClassifier, own: pd.DataFrame) -> Rows:
    classes = tuple(model.classes_)
    fair = label_codes(own[FAIR].to_numpy(dtype=object), classes, "fair", missing=True) if FAIR in own else None
    return Rows(own, tuple(model.columns_), classes, label_codes(own[LABEL], classes), fair)
