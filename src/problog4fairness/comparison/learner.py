"""A classifier whose training can wait, so that many are trained as one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.columns import encode, make_encoder, prepared
from problog4fairness.classifier.encoder import Encoder, Slot
from problog4fairness.classifier.view import inputs_of
from problog4fairness.comparison.table import Array, Codes
from problog4fairness.errors import P4FError
from problog4fairness.learners import MLP, Fit, Job
from problog4fairness.mechanisms import Mechanism

# Numbers in encoded inputs that are kept for other methods on the same rows: 256 MiB.
_KEPT = 1 << 26


class Learner(DebiasedClassifier):
    """A :class:`~problog4fairness.DebiasedClassifier` that is fitted in two steps, with the same result as ``fit``.

    Only its inputs may be wider: they have a column for every category of the whole table, whether or not the training
    rows have it, because networks of one stack need inputs of one width. A column that the training rows lack is 0
    throughout, also where a tested row has that category; scales and fillings, and which of very many categories are
    rare enough to share a column, come from the training rows alone.
    """

    mechanism: Mechanism | None

    def prepare(self, frame: pd.DataFrame, label: Codes, encoders: Encoders, rows: Hashable) -> Job:
        """What is to be fitted.

        Parameters
        ----------
        frame
            The training rows, sensitive columns included.
        label
            Their labels, 0 or 1.
        encoders
            Of the table.
        rows
            The same for the same training rows, whose encoded form is then shared.
        """
        expected = getattr(self.mechanism, "class_count", None)
        if expected not in (None, 2):
            raise P4FError(f"the belief is for {expected} classes; two are compared")
        self._encoders, self._rows = encoders, rows
        return self._job(frame, label)

    def _encoded(self, frame: pd.DataFrame) -> tuple[Any, Tensor]:
        return self._encoders.encoded(self, frame, self._rows)

    def finish(self, fit: Fit[MLP]) -> None:
        """Take over the network that was fitted."""
        self._take(fit)

    def chance(self, frame: pd.DataFrame) -> Array:
        """P(fair label = 1) of each row."""
        return np.asarray(self.predict_proba(frame)[:, 1], dtype=np.float64)


class Encoders:
    """Encoders fitted on parts of a table, all of which give inputs of the same width.

    Parameters
    ----------
    frame
        The whole table.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self._slots: dict[Hashable, list[Slot]] = {}
        self._kept: dict[Hashable, tuple[Any, Tensor]] = {}
        self._room = _KEPT

    def encoded(self, learner: Learner, frame: pd.DataFrame, rows: Hashable) -> tuple[Any, Tensor]:
        """An encoder fitted on the inputs of some rows, with zeros for what only other rows have; and these inputs.

        Parameters
        ----------
        learner
            Says which columns are read, and which features vary.
        frame
            The inputs.
        rows
            Names the rows that the inputs come from.
        """
        mechanism = learner._training_mechanism()
        values = {} if mechanism is None else mechanism.feature_values()
        key = (tuple(learner.columns_), tuple(values.items()))
        if (rows, key) in self._kept:
            return self._kept[rows, key]
        if key not in self._slots:
            whole = inputs_of(mechanism, self._frame, learner.columns_).frame
            self._slots[key] = make_encoder(prepared(whole)).slots
        encoder = _widened(make_encoder(prepared(frame)), self._slots[key])
        matrix = torch.from_numpy(encode(encoder, frame))
        self._room -= matrix.numel()
        if self._room >= 0:
            self._kept[rows, key] = encoder, matrix
        return encoder, matrix


def _widened(encoder: Encoder, whole: list[Slot]) -> Any:
    slots = encoder.slots
    if slots == whole:
        return encoder
    return _Widened(encoder, _places(slots, whole), len(whole))


def _places(slots: list[Slot], whole: list[Slot]) -> Codes:
    """Where each input goes among those of the whole table.

    A category that is rare in the whole table but frequent in a part takes a free place of its column. There always is
    one: a part has no more categories than the whole, and of each column at most ``MAX_CATEGORIES`` are told apart.
    """
    place = {slot: number for number, slot in enumerate(whole)}
    free: dict[Slot, list[int]] = {}
    for slot in sorted(set(whole) - set(slots), key=place.__getitem__, reverse=True):
        free.setdefault(slot[:2], []).append(place[slot])
    return np.array([place[slot] if slot in place else free[slot[:2]].pop() for slot in slots], dtype=np.int64)


class _Widened:
    """An encoder with further columns that are always 0."""

    def __init__(self, encoder: Encoder, places: Codes, width: int) -> None:
        self._encoder, self._places, self.width = encoder, places, width
        self.check = encoder.check

    def transform(self, frame: pd.DataFrame) -> Array:
        """The input."""
        wide = np.zeros((len(frame), self.width))
        wide[:, self._places] = self._encoder.transform(frame)
        return wide
