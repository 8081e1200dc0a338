"""Massaging: change as few recorded labels as make both groups fare alike, then train."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from problog4fairness.baselines.base import Array
from problog4fairness.baselines.grouped import GroupedBaseline, require_two_labels, scores_of
from problog4fairness.baselines.relabelling import massage
from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.reading import label_codes


class Massaging(GroupedBaseline):
    """A network trained on massaged labels (Kamiran and Calders, 2009).

    A first network, fitted to the recorded data, ranks the rows. The highest-ranked unfavourable labels of the
    sensitive group are promoted and as many of the lowest-ranked favourable labels of the other group demoted: exactly
    as many as bring the difference of the groups' rates nearest to 0 (:func:`~problog4fairness.baselines.massage`),
    none where the sensitive group is not behind. A second network is trained on the result. Rows are counted without
    their weights.

    Parameters
    ----------
    sensitive
        The sensitive column of X, where it is not passed as ``sensitive_features``. It stays among the features.
    levels
        The two groups as the column has them, the sensitive one second.
    favourable
        The label that counts as 1; the larger of the two by default.
    hidden, dropout, learning_rate, weight_decay, batch_size, max_epochs, patience, validation, loss, gamma, \
class_weight, random_state, verbose
        Both networks and their training; see :class:`~problog4fairness.DebiasedClassifier`.

    Attributes
    ----------
    classes_
        The labels, the favourable one last.
    n_flipped_
        How many labels were changed in all: half of them promoted, half of them demoted.
    labels_
        The massaged labels.
    ranker_
        The network that ranked the rows.
    classifier_
        The network that predicts; ``ranker_`` itself where no label was changed.
    """

    def _train(self, frame: pd.DataFrame, y: Array, sensitive_features: Any, weights: Any) -> DebiasedClassifier:
        require_two_labels(y)
        classes, recorded = label_codes(y, self.favourable)
        groups = self._training_groups(frame, sensitive_features)
        # One seed for both networks and the ties, so that an integer gives the ranker of `LowerBaseline`.
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = int(check_random_state(seed).randint(np.iinfo(np.int32).max))
        self.ranker_ = self._network(random_state=seed).fit(frame, y, sample_weight=weights)
        massaged = massage(recorded, scores_of(self.ranker_, frame), groups, np.random.default_rng(int(seed)))
        self.labels_ = classes[massaged]
        self.n_flipped_ = int((massaged != recorded).sum())
        if self.n_flipped_ == 0:
            return self.ranker_
        return self._network(random_state=seed).fit(frame, self.labels_, sample_weight=weights)
