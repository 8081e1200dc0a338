"""Rows that are spread over a cluster, as a Dask data frame: what its workers need to know of a belief.

Rows that a belief cannot tell apart, of the same group and with the same recorded label, are of one kind. The
likelihood of a kind is one number for each fair label, P(recorded | fair label), so a table of kinds is all that
workers need to know of a belief.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.beliefs import Observation
from problog4fairness.data import Floats
from problog4fairness.errors import P4FError
from problog4fairness.learners.encoder import Encoder, frequent, text_codes
from problog4fairness.program import AffineObserved

KIND, WEIGHT = "kind", "weight of the row"
SEVERAL = (
    "under this belief a row may stand for several fair rows, which needs one machine: pass X.compute(), or a sample"
)


@dataclass(frozen=True, eq=False)
class ClusterTask:
    """Something to fit on a cluster.

    Parameters
    ----------
    observation
        Of one row of each kind.
    masses
        ``[kinds]``: the total weight of the rows of each.
    keys
        What tells kinds apart, ``[kinds]`` rows of some columns.
    data
        A Dask data frame with these columns and those of the encoder, and with :data:`WEIGHT` where rows have weights.
    encoder
        Which columns are read, and how.
    held
        Rows that say when to stop, with the columns of the data; None for as many rounds as there may be.
    rows
        How many rows there are to learn from, or nearly so.
    seed
        Of the fit.
    """

    observation: Observation
    masses: Floats
    keys: pd.DataFrame
    data: Any
    encoder: Encoder
    held: pd.DataFrame | None
    rows: int
    seed: int

    @property
    def kinds(self) -> pd.DataFrame:
        """The keys with the entry of the likelihood, of which there may be fewer, as :data:`KIND`."""
        return self.keys.assign(**{KIND: kernel_of(self.observation).codes.numpy()})


def kernel_of(observation: Observation) -> AffineObserved:
    """The likelihood of kinds; the error says why there is none that could be sent to workers."""
    kernel = observation.observed
    if observation.variants != 1 or not isinstance(kernel, AffineObserved):
        raise P4FError(SEVERAL)
    return kernel


def kinds_of(part: pd.DataFrame, kinds: pd.DataFrame) -> Floats:
    """``[rows]``: the kind of each row of a partition."""
    on = [name for name in kinds.columns if name != KIND]
    found = part[on].astype(kinds[on].dtypes.to_dict()).merge(kinds, how="left", on=on)[KIND]
    return np.asarray(found.to_numpy(dtype=np.float64))


def weights_of(part: pd.DataFrame) -> Floats:
    """``[rows]``: the weight of each row of a partition; 1 where rows have none."""
    return part[WEIGHT].to_numpy(dtype=np.float64) if WEIGHT in part else np.ones(len(part))


def client() -> Any:
    """The cluster that this process is connected to."""
    try:
        import distributed
    except ImportError:
        raise P4FError(
            "Dask data frames need the package distributed; install it with pip install 'problog4fairness[cluster]'"
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
    means, spreads, gaps, *counts = compute(  # type: ignore[no-untyped-call]
        some.mean(), some.std(ddof=0), some.isna().mean(), *(data[name].value_counts(dropna=False) for name in texts)
    )
    fills, spread, share = (
        np.nan_to_num(own.reindex(numbers).to_numpy(dtype=np.float64)) for own in (means, spreads, gaps)
    )
    marked = np.flatnonzero(share > 0)
    # Gaps are filled with the mean, which makes numbers less spread.
    scales = np.concatenate([spread * np.sqrt(1 - share), np.sqrt(share * (1 - share))[marked]])
    chosen = {name: _frequent(own) for name, own in zip(texts, counts, strict=True)}
    found = {name: values for name, (values, _) in chosen.items()}
    rare = frozenset(name for name, (_, others) in chosen.items() if others)
    means, scales = np.concatenate([fills, share[marked]]), np.where(scales > 0, scales, 1.0)
    return Encoder(tuple(numbers), tuple(numbers[place] for place in marked), found, rare, fills, means, scales)


def _frequent(counts: pd.Series[Any]) -> tuple[tuple[str, ...], bool]:
    """The values that get an input each as texts, and whether there are others."""
    counts = counts[counts > 0]
    codes, texts = text_codes(pd.Series(counts.index.to_numpy(dtype=object)))
    own = pd.Series(counts.to_numpy(), index=[texts[code] for code in codes]).groupby(level=0).sum().sort_index()
    return frequent(own.index.tolist(), own.to_numpy(dtype=np.int64))
