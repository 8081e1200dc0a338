"""Fairness through unawareness: the network never sees the sensitive variable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.baselines.base import Array, Baseline
from problog4fairness.baselines.groups import beside, named
from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.errors import P4FError


class Unawareness(Baseline):
    """A network trained on recorded features and labels without the sensitive columns (Dwork et al., 2012).

    Features that go along with the sensitive variable stay, and with them much of the bias.

    Parameters
    ----------
    sensitive
        Names of the sensitive columns of X, to be left out. Without it, the columns of X that have the names of
        ``sensitive_features`` are left out.
    favourable
        The label that counts as 1; the larger of the two by default.
    hidden, dropout, learning_rate, weight_decay, batch_size, max_epochs, patience, validation, loss, gamma, \
class_weight, random_state, verbose
        The network and its training; see :class:`~problog4fairness.DebiasedClassifier`.

    Attributes
    ----------
    classes_
        The labels, the favourable one last.
    classifier_
        The trained network, a :class:`~problog4fairness.DebiasedClassifier` without a belief.
    """

    def _train(self, frame: pd.DataFrame, y: Array, sensitive_features: Any, weights: Any) -> DebiasedClassifier:
        omitted = self._omitted(frame, sensitive_features)
        if len(omitted) == len(frame.columns):
            raise P4FError(f"X has {len(omitted)} feature(s), all of them sensitive; none is left for the network")
        return self._network(sensitive=omitted, independent=True).fit(frame, y, sample_weight=weights)

    def _omitted(self, frame: pd.DataFrame, sensitive_features: Any) -> list[str]:
        if self.sensitive is None and sensitive_features is None:
            raise P4FError("unawareness of what? Name columns of X by sensitive=..., or pass sensitive_features")
        omitted = self._sensitive_columns(frame, sensitive_features)
        if sensitive_features is not None and not omitted:
            _refuse_copies(frame, beside(sensitive_features, named(self.sensitive), len(frame)))
        return omitted


def _refuse_copies(frame: pd.DataFrame, sensitive: pd.DataFrame) -> None:
    """A sensitive variable without a name may still be a column of X, which nobody would notice."""
    for name in frame.columns:
        for other in sensitive.columns:
            if np.array_equal(frame[name].to_numpy(), sensitive[other].to_numpy()):
                raise P4FError(f"column {name!r} of X equals sensitive_features; leave it out by sensitive={name!r}")
