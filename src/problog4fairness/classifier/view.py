"""Rows as a mechanism sees them: groups, recorded features, and the inputs at which the network is needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.mechanisms.base import Mechanism
from problog4fairness.mechanisms.combinations import Combinations, observed

Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

# Inputs at which the network may be needed.
MOST_INPUTS = 1 << 25


@dataclass(frozen=True)
class Inputs:
    """The distinct rows at which the network is needed, and which of them each row of the data needs.

    Attributes
    ----------
    frame
        Distinct rows, before encoding.
    index
        ``[rows, 1]``; or ``[rows]``, where each row needs a run of ``variants`` inputs: the number of its run.
    variants
        How many inputs a row needs.
    """

    frame: pd.DataFrame
    index: Tensor
    variants: int = 1

    def needed(self, rows: slice = slice(None)) -> Tensor:
        """``[rows, variants]``: the inputs that some rows need."""
        part = self.index[rows]
        return part if self.variants == 1 else (part * self.variants).unsqueeze(1) + torch.arange(self.variants)


def groups_of(mechanism: Mechanism | None, frame: pd.DataFrame) -> Combinations:
    """The combinations of groups that occur, and which of them each row has; a single one without a mechanism."""
    return observed(() if mechanism is None else mechanism.variables, frame)


def check_groups(mechanism: Mechanism, frame: pd.DataFrame) -> None:
    """Every group of every sensitive variable must occur; otherwise its parameters would act on nobody."""
    for variable in mechanism.variables:
        present = variable.shares(frame).sum(axis=0)
        for level in range(len(variable.levels)):
            if present[level] == 0:
                raise P4FError(
                    f"no row has {variable.group_text(level)}; leave that group out of the mechanism's levels"
                )


def feature_codes(mechanism: Mechanism, frame: pd.DataFrame) -> dict[str, Codes]:
    """The recorded value of each distorted feature, by its position among the values that the mechanism knows."""
    codes = {}
    for feature, values in mechanism.feature_values().items():
        if feature not in frame.columns:
            raise P4FError(f"no column {feature!r} for the mechanism; there are {', '.join(map(str, frame.columns))}")
        place = {value: i for i, value in enumerate(values)}
        column = frame[feature]
        unknown = [value for value in column.unique().tolist() if value not in place]
        if unknown:
            raise P4FError(
                f"feature {feature!r} has the value {unknown[0]!r}, which is not among {', '.join(map(repr, values))}; "
                "a distorted feature must be binary or categorical, with its values named"
            )
        codes[feature] = np.asarray(column.map(place), dtype=np.int64)
    return codes


def inputs_of(mechanism: Mechanism | None, frame: pd.DataFrame, columns: Sequence[str]) -> Inputs:
    """The inputs that the rows of ``frame`` need; ``columns`` are those that the network reads."""
    visible = frame[list(columns)]
    values = mechanism.feature_values() if mechanism is not None else {}
    if mechanism is None or not values:
        distinct, place = _distinct(visible)
        return Inputs(distinct, torch.from_numpy(place).unsqueeze(1))
    feature_codes(mechanism, frame)  # values of another type cannot stand in the columns below
    others = [name for name in columns if name not in values]
    contexts, place = (
        _distinct(visible[others]) if others else (pd.DataFrame(index=range(1)), np.zeros(len(frame), int))
    )
    count = math.prod(map(len, values.values()))
    if count * len(contexts) > MOST_INPUTS:
        raise P4FError(
            f"{len(values)} distorted features have {count:,} combinations of fair values, for {len(contexts):,} "
            f"different rows: more than {MOST_INPUTS:,} inputs; name fewer features in the mechanism"
        )
    variants = list(product(*values.values()))
    table = contexts.loc[contexts.index.repeat(len(variants))].reset_index(drop=True)
    for position, feature in enumerate(values):
        table[feature] = pd.Series(
            [variant[position] for variant in variants] * len(contexts), dtype=frame[feature].dtype
        )
    return Inputs(table[list(columns)], torch.from_numpy(place.astype(np.int64)), len(variants))


def _distinct(frame: pd.DataFrame) -> tuple[pd.DataFrame, Codes]:
    """Distinct rows where rows repeat a lot; otherwise the rows themselves."""
    sample = frame.iloc[: min(len(frame), 2000)]
    if len(frame) < 200 or len(sample.drop_duplicates()) > len(sample) // 4 or not len(frame.columns):
        return frame, np.arange(len(frame))
    place = frame.groupby(list(frame.columns), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    _, first = np.unique(place, return_index=True)
    return frame.iloc[first].reset_index(drop=True), np.array(place, dtype=np.int64)
