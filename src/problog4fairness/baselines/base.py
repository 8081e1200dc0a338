"""What all baselines share: the options of the network, reading data, and predicting with the trained classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from problog4fairness.baselines.groups import sensitive_columns
from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.reading import read_new, read_training

Array = np.ndarray[Any, np.dtype[Any]]


class Baseline(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A network that does not know of any belief. A subclass says on which columns and labels it is trained.

    Parameters
    ----------
    sensitive
        Names of the sensitive columns of X.
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

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    def __init__(
        self,
        *,
        sensitive: str | list[str] | None = None,
        favourable: Any = None,
        hidden: tuple[int, ...] = (32, 32, 32),
        dropout: float = 0.0,
        learning_rate: float = 3e-4,
        weight_decay: float = 0.01,
        batch_size: int = 64,
        max_epochs: int = 200,
        patience: int = 20,
        validation: float = 0.1,
        loss: Literal["cross_entropy", "focal"] = "cross_entropy",
        gamma: float = 2.0,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.sensitive = sensitive
        self.favourable = favourable
        self.hidden = hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation = validation
        self.loss = loss
        self.gamma = gamma
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        X
            Features: an array or a data frame, with numbers and categories. The network reads nothing else.
        y
            Labels.
        sensitive_features
            The sensitive variable: an array, a series or a frame; not needed where X has the columns.
        sample_weight
            A weight for each row, for the network.
        """
        frame, y = read_training(self, X, y)
        self.classifier_ = self._train(frame, y, sensitive_features, sample_weight)
        self.classes_ = self.classifier_.classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(label), ``[rows, classes]``."""
        frame = read_new(self, X)
        return self.classifier_.predict_proba(frame)

    def predict(self, X: Any) -> Array:
        """The more likely label."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    @abstractmethod
    def _train(self, frame: pd.DataFrame, y: Array, sensitive_features: Any, weights: Any) -> DebiasedClassifier:
        """The classifier that predicts."""

    def _network(self, **options: Any) -> DebiasedClassifier:
        """An untrained network with the options of this baseline, changed by ``options``."""
        own = {"sensitive", "levels"}
        shared = {name: value for name, value in self.get_params(deep=False).items() if name not in own}
        return DebiasedClassifier(**{**shared, **options})

    def _sensitive_columns(self, frame: pd.DataFrame, sensitive_features: Any) -> list[str]:
        """The sensitive columns that X has."""
        return sensitive_columns(self.sensitive, frame, sensitive_features)
