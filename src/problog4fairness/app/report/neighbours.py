"""People alike: what became, on record, of those with the most similar features in other groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from problog4fairness.data import Floats, Grouping, Rows

NEIGHBOURS = 25
# Neighbours are looked for among so many rows at most.
MOST_ROWS = 20_000


def neighbours(rows: Rows, way: Grouping, chosen: np.ndarray[Any, np.dtype[np.int64]]) -> Floats:
    """For each chosen row the share of favourable records among the 25 people of other groups who are most alike.

    Alike by the features: numbers by how far they are apart in standard deviations, texts by whether they are the same.
    With one group, among everybody. NaN where there is nobody else.

    Parameters
    ----------
    rows
        Recorded data.
    way
        The groups; where one is uncertain, the likeliest counts.
    chosen
        The rows to be told about.
    """
    found = np.full(len(chosen), np.nan)
    names = [name for name in rows.features if name not in way.name.split(", ")]
    if not names or not len(chosen):
        return found
    places, recorded = _placed(rows.frame[names]), np.asarray(rows.recorded) == rows.favourable
    group = way.shares.argmax(axis=1)
    everybody = np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS]
    for own in np.unique(group[chosen]):
        others = everybody[group[everybody] != own] if len(way.groups) > 1 else everybody
        if not len(others):
            continue
        mine = group[chosen] == own
        nearest = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(others))).fit(places[others])
        found[mine] = recorded[others[nearest.kneighbors(places[chosen[mine]], return_distance=False)]].mean(axis=1)
    return found


def _placed(frame: pd.DataFrame) -> Floats:
    """Rows as points: numbers in standard deviations, texts as 0 and 1 for each value; what is missing is average."""
    columns = []
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            known = values[np.isfinite(values)]
            mean, spread = (known.mean(), known.std()) if len(known) else (0.0, 0.0)
            columns.append(np.where(np.isfinite(values), (values - mean) / (spread or 1.0), 0.0))
        else:
            common = column.astype(str).value_counts().index[:20]
            columns += [(column.astype(str) == value).to_numpy(dtype=np.float64) for value in common]
    return np.column_stack(columns)
