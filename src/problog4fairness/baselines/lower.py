"""The lower baseline: what one gets by doing nothing about bias."""

from __future__ import annotations

from typing import Any

import pandas as pd

from problog4fairness.baselines.base import Array, Baseline
from problog4fairness.classifier import DebiasedClassifier


class LowerBaseline(Baseline):
    """A network trained on recorded features and labels, as if they were fair.

    Sensitive columns of X are kept. ``sensitive_features`` are accepted, so that all methods can be called alike, but
    what the network reads is X.

    It has the parameters and attributes of all baselines:

    Parameters
    ----------
    sensitive
        Names of the sensitive columns of X; not needed.
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
        self._sensitive_columns(frame, sensitive_features)
        return self._network().fit(frame, y, sample_weight=weights)
