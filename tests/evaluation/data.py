"""Small tables to compare methods on."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import problog4fairness as p4f
from problog4fairness.data import FileWarning
from problog4fairness.evaluation import ComparedRows, compared_rows
from problog4fairness.learners import Network

QUICK = Network(hidden=(8,), learning_rate=0.02, batch_size=64, max_epochs=12, patience=4)
BELIEF = p4f.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=False)


def loans(rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Features with the sensitive column, recorded labels, fair labels."""
    data = p4f.datasets.loans(rows=1, audited=rows, new=1, seed=seed)
    return data.audit[[*data.features, "poor_area"]], data.audit["granted"], data.audit["repaid"]


def binary(rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Two binary features of which the first is distorted for A = 1, A itself, recorded and fair labels."""
    rng = np.random.default_rng(seed)
    a, fair = rng.integers(0, 2, rows), rng.integers(0, 2, (rows, 2))
    label = (fair.sum(1) + rng.integers(0, 2, rows) > 1).astype(int)
    recorded = fair.copy()
    recorded[(a == 1) & (rng.random(rows) < 0.4), 0] = 0
    return pd.DataFrame({"q": recorded[:, 0], "r": recorded[:, 1], "a": a}), label, label


def table_of(features: pd.DataFrame, recorded: object, fair: object = None) -> tuple[pd.DataFrame, dict[str, str]]:
    """Features and labels as one table, and the names of its labels."""
    names = {"recorded": "granted"} if fair is None else {"recorded": "granted", "fair": "repaid"}
    labels = {"granted": np.asarray(recorded)} if fair is None else {"granted": np.asarray(recorded), "repaid": fair}
    return features.reset_index(drop=True).assign(**labels), names


def rows_of(
    features: pd.DataFrame, recorded: object, sensitive: object = "poor_area", fair: object = None, **options: object
) -> ComparedRows:
    """Features and labels as rows to compare methods on, without a belief."""
    table, names = table_of(features, recorded, fair)
    return read_rows(table, sensitive=sensitive, **names, **{"features": list(features), **options})


def read_rows(*arguments: object, **options: object) -> ComparedRows:
    """:func:`compared_rows` without its warnings about small tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileWarning)
        return compared_rows(*arguments, **options)
