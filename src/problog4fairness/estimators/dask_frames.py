"""Data frames of Dask, whose rows may be spread over a cluster: known without importing Dask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

Array = np.ndarray[Any, np.dtype[Any]]


def is_spread(data: Any) -> bool:
    """Whether the data are a Dask data frame."""
    return hasattr(data, "map_partitions") and hasattr(data, "npartitions")


def by_partition(work: Callable[[pd.DataFrame], Any], X: Any, example: Any) -> Array:
    """What ``work`` says of the rows of a Dask data frame, as a Dask array."""
    found: Array = X.map_partitions(_of_part, work, example, meta=_of_part(X._meta, work, example)).values
    return found


def _of_part(part: pd.DataFrame, work: Callable[[pd.DataFrame], Any], example: Any) -> Any:
    found = work(part) if len(part) else example[:0]
    return pd.DataFrame(found, index=part.index) if found.ndim == 2 else pd.Series(found, index=part.index)
