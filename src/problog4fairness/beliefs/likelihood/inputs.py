"""The fair inputs that recorded rows may stand for: where a learner is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.data import Codes, Rows
from problog4fairness.errors import P4FError

# Inputs that are listed, at most.
MOST_INPUTS = 1 << 25


@dataclass(frozen=True, eq=False)
class FairInputs:
    """The distinct fair inputs, and which of them each row may stand for.

    Attributes
    ----------
    table
        The distinct inputs: the columns that a learner reads.
    index
        ``[rows, variants]``; or ``[rows]``, where a row stands for a run of ``variants`` inputs: the number of its run.
    variants
        How many inputs a row may stand for.
    apart
        Whether each row has inputs of its own: one that no row stands for is of no interest then.
    """

    table: pd.DataFrame
    index: Tensor
    variants: int = 1
    apart: bool = False

    def needed(self, rows: slice = slice(None)) -> Tensor:
        """``[rows, variants]``: the inputs of some rows."""
        part = self.index[rows]
        return part if part.ndim == 2 else (part * self.variants).unsqueeze(1) + torch.arange(self.variants)

    def only(self, places: Tensor) -> tuple[FairInputs, Tensor]:
        """The inputs that rows need, and which of them each needs, both from ``places [rows, variants]``."""
        kept, index = torch.unique(places, return_inverse=True)
        table = self.table.iloc[kept.numpy()].reset_index(drop=True)
        return FairInputs(table, index, int(index.shape[1]), self.apart), index


_KNOWN: WeakKeyDictionary[Rows, dict[object, FairInputs]] = WeakKeyDictionary()


def fair_inputs(rows: Rows, values: Mapping[str, Sequence[Any]] | None = None) -> FairInputs:
    """The inputs that rows may stand for.

    Parameters
    ----------
    rows
        The rows; ``rows.features`` are the columns of an input.
    values
        For each distorted feature the values that its fair counterpart may have. The variants of a row are all their
        combinations, the last feature fastest.

    Returns
    -------
    FairInputs
        The same object for the same rows, so that beliefs which differ in their parameters share what is learned from.
    """
    known = _KNOWN.setdefault(rows, {})
    key = (rows.features, tuple((name, tuple(value)) for name, value in (values or {}).items()))
    if key not in known:
        known[key] = _all_inputs(rows, values)
    return known[key]


def _all_inputs(rows: Rows, values: Mapping[str, Sequence[Any]] | None) -> FairInputs:
    visible = rows.frame[list(rows.features)]
    if not values:
        table, place = _distinct(visible)
        return FairInputs(table, torch.from_numpy(place).unsqueeze(1))
    others = [name for name in rows.features if name not in values]
    contexts, place = _distinct(visible[others]) if others else (pd.DataFrame(index=range(1)), np.zeros(len(rows), int))
    count = math.prod(map(len, values.values()))
    if count * len(contexts) > MOST_INPUTS:
        raise P4FError(
            f"{len(values)} distorted features have {count:,} combinations of fair values, for {len(contexts):,} "
            f"different rows: more than {MOST_INPUTS:,} inputs; name fewer features in the belief"
        )
    variants = list(product(*values.values()))
    table = contexts.loc[contexts.index.repeat(len(variants))].reset_index(drop=True)
    for position, feature in enumerate(values):
        column = [variant[position] for variant in variants] * len(contexts)
        table[feature] = pd.Series(column, dtype=rows.frame[feature].dtype)
    return FairInputs(table[list(rows.features)], torch.from_numpy(place.astype(np.int64)), len(variants))


def own_inputs(rows: Rows, values: Mapping[str, Any]) -> FairInputs:
    """The inputs that rows may stand for, where each has variants of its own.

    Parameters
    ----------
    rows
        The rows; ``rows.features`` are the columns of an input.
    values
        For each distorted feature the values that it may have in each row, ``[rows, variants]``.
    """
    count = next(iter(values.values())).shape[1]
    if len(rows) * count > MOST_INPUTS:
        raise P4FError(f"{len(rows):,} rows stand for {count:,} inputs each, more than {MOST_INPUTS:,}; say fewer")
    others = [name for name in rows.features if name not in values]
    _, place = _distinct(rows.frame[others]) if others else (None, np.zeros(len(rows), dtype=np.int64))
    row = np.arange(len(rows)).repeat(count)
    known = {name: value.reshape(-1) for name, value in values.items() if name in rows.features}
    key, size = place[row], int(place.max(initial=0)) + 1
    for value in known.values():
        code, options = pd.factorize(value)
        if size * len(options) >= 1 << 62:
            key, size = pd.factorize(key)[0], len(key)
        key, size = key * len(options) + code, size * len(options)
    index, distinct = pd.factorize(key)
    first = np.zeros(len(distinct), dtype=np.int64)
    first[index[::-1]] = np.arange(len(index))[::-1]
    table = rows.frame[list(rows.features)].iloc[row[first]].reset_index(drop=True)
    for name, column in known.items():
        table[name] = (
            column[first] if column.dtype.kind == "f" else pd.Series(column[first]).astype(rows.frame[name].dtype)
        )
    return FairInputs(table, torch.from_numpy(index.reshape(len(rows), count)), count, apart=True)


def _mostly_distinct(sample: pd.DataFrame) -> bool:
    """Whether more than a quarter of the rows are different; one column is often enough to see it."""
    most = len(sample) // 4
    return (
        any(column.nunique(dropna=False) > most for _, column in sample.items()) or len(sample.drop_duplicates()) > most
    )


def _distinct(frame: pd.DataFrame) -> tuple[pd.DataFrame, Codes]:
    """Distinct rows where rows repeat a lot; otherwise the rows themselves."""
    if len(frame) < 200 or not len(frame.columns) or _mostly_distinct(frame.iloc[:2000]):
        return frame, np.arange(len(frame))
    place = frame.groupby(list(frame.columns), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    _, first = np.unique(place, return_index=True)
    return frame.iloc[first].reset_index(drop=True), np.array(place, dtype=np.int64)
