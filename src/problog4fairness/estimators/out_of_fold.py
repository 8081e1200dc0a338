"""Out-of-fold predictions of the audited rows that a model has learned from: what its quality is judged by.

A model that learned from audited rows, or was calibrated on them, is too good on exactly these rows. While it is
fitted, every audited row is also predicted by a classifier that was fitted without it. Those predictions are kept with
the model, under a hash of the row's features and fair label, so that a report from a model file judges out of sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.data import Codes, Floats, numbered
from problog4fairness.learners import Shape

if TYPE_CHECKING:
    from problog4fairness.data import Rows
    from problog4fairness.estimators.classifier import DebiasedClassifier

Bools = np.ndarray[Any, np.dtype[np.bool_]]
KEYS, CHANCES = "out_of_fold.keys", "out_of_fold.chances"


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The audited rows that a model has learned from, as classifiers that were fitted without them predict them.

    Attributes
    ----------
    keys
        ``[rows]``: a hash of the features and the fair label of each row.
    chances
        ``[rows, classes]``: P(fair label); NaN where the rows were too few to be predicted out of fold.
    """

    keys: Codes
    chances: Floats

    @classmethod
    def of(cls, rows: Rows, held_out: Floats | None) -> OutOfFold | None:
        """From the rows that were learned from, and their :attr:`CalibratedFit.held_out`; None without fair labels."""
        if rows.fair is None or (rows.fair < 0).all():
            return None
        known = np.flatnonzero(rows.fair >= 0)
        chances = np.full((len(known), len(rows.classes)), np.nan) if held_out is None else held_out[known]
        return cls(row_keys(rows.take(known)), chances)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """As tensors, for a model file; rows without a prediction have none but zeros."""
        return {KEYS: torch.tensor(self.keys), CHANCES: torch.tensor(np.nan_to_num(self.chances))}

    @staticmethod
    def shapes(rows: int, classes: int) -> dict[str, Shape]:
        """The shapes of :attr:`tensors`."""
        return {KEYS: ((rows,), torch.int64), CHANCES: ((rows, classes), torch.float64)}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor]) -> OutOfFold:
        """The inverse of :attr:`tensors`, which are taken out."""
        keys, chances = tensors.pop(KEYS).numpy(), tensors.pop(CHANCES).numpy()
        unknown = chances.sum(axis=1) == 0
        return cls(keys, np.where(unknown[:, None], np.nan, chances))

    def find(self, rows: Rows) -> Codes:
        """``[rows]``: the position of each audited row among those that were learned from, -1 where it is not one.

        The n-th of several equal rows is the n-th of those that were learned from.
        """
        places = {key: place for place, key in enumerate(numbered(self.keys))}
        return np.array([places.get(key, -1) for key in numbered(row_keys(rows))], dtype=np.int64)


def held_out_proba(model: DebiasedClassifier, rows: Rows, chances: Floats) -> tuple[Floats, Bools]:
    """P(fair label) of audited rows by classifiers that have not learned from them; and which rows those are.

    ``chances`` is what the model itself predicts of the rows, ``[rows, classes]``: right for rows that it has not
    learned from. The others are predicted out of fold; NaN where nothing was.
    """
    if not model.audited_:
        return chances, np.zeros(len(rows), dtype=bool)
    if model.out_of_fold_ is None:  # it does not know which rows it has learned from
        return np.full_like(chances, np.nan), np.ones(len(rows), dtype=bool)
    places = model.out_of_fold_.find(rows)
    learned = places >= 0
    held_out = chances.copy()
    held_out[learned] = model.out_of_fold_.chances[places[learned]]
    return held_out, learned


def row_keys(rows: Rows) -> Codes:
    """``[rows]``: a hash of the features and the fair label, the same for equal rows of any table."""
    columns: dict[str, Any] = {f"{number}": _plain(rows.frame[name]) for number, name in enumerate(rows.features)}
    frame = pd.DataFrame({**columns, "fair": np.asarray(rows.fair, dtype=np.float64)})
    return np.asarray(pd.util.hash_pandas_object(frame, index=False).to_numpy().view(np.int64))


def _plain(column: pd.Series[Any]) -> Any:
    """Numbers as floats and everything else as text, whatever types a table happens to have."""
    numbers = pd.to_numeric(column.astype(object).where(column.notna(), None), errors="coerce")
    if bool((numbers.notna() | column.isna()).all()):
        return numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.astype(object).where(column.notna(), None).map(str).to_numpy(dtype=object)
