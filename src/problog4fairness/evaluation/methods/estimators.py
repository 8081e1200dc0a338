"""The methods as scikit-learn estimators: reading data by its rules, everything else is the method's."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight

from problog4fairness.data import Rows, Sensitive, beside, find_classes, label_codes, require_column
from problog4fairness.errors import P4FError
from problog4fairness.estimators import drawn_seed, learner_of, read_new, read_training
from problog4fairness.evaluation.methods.method import Method, Training
from problog4fairness.evaluation.methods.plain import RecordAsItIs, WithoutSensitive
from problog4fairness.learners import Learner

Array = np.ndarray[Any, np.dtype[Any]]


class Baseline(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier that does not know of any belief.

    Parameters
    ----------
    sensitive
        Names of the sensitive columns of X; those of an array are ``x0``, ``x1``, ...
    levels
        The two groups, the sensitive one second, for baselines that treat them in different ways.
    favourable
        The label that counts as 1. Where groups are treated in different ways it must be known: 0 and 1, false and
        true say it themselves, any other labels need this.
    learner, class_weight, random_state, verbose
        As for :class:`~problog4fairness.DebiasedClassifier`.

    Attributes
    ----------
    classes_
        The labels, the favourable one last.
    trained_
        The classifier that predicts, a :class:`~problog4fairness.evaluation.Trained`.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> issubclass(p4f.evaluation.Massaging, p4f.evaluation.Baseline)  # as LowerBaseline, Unawareness, ParityThresholds
    True
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    method: ClassVar[type[Method]]
    _ordered: ClassVar[bool] = False  # whether it matters which label is favourable

    def __init__(
        self,
        *,
        sensitive: str | list[str] | None = None,
        levels: Sequence[Any] = (0, 1),
        favourable: Any = None,
        learner: Learner | str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.sensitive = sensitive
        self.levels = levels
        self.favourable = favourable
        self.learner = learner
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
            Features: an array or a data frame, with numbers and categories. The learner reads nothing else.
        y
            Labels.
        sensitive_features
            The sensitive variable: an array, a series or a frame; not needed where X has the columns.
        sample_weight
            A weight for each row, for the learner.
        """
        learner = learner_of(self.learner)
        frame, labels = read_training(self, X, y)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, frame, dtype=np.float64)
        classes = find_classes(
            labels, self.favourable, getattr(y, "name", None), stated=self._ordered and len(np.unique(labels)) == 2
        )
        known, sensitive = self._groups(frame, sensitive_features)
        rows = Rows(known, tuple(frame.columns), classes, label_codes(labels, classes), weights=weights)
        method = self.method(sensitive)
        method.check(rows)
        training = Training(rows, drawn_seed(self.random_state), self.class_weight)
        self.trained_ = method.fit(training, learner, None if self.verbose else False)
        self.classes_ = np.asarray(classes)
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(label), ``[rows, classes]``."""
        frame = self._new(read_new(self, X))
        return self.trained_.proba(Rows(frame, tuple(frame.columns), tuple(self.classes_)))

    def predict(self, X: Any) -> Array:
        """The more likely label."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _groups(self, frame: pd.DataFrame, sensitive_features: Any) -> tuple[pd.DataFrame, Sensitive]:
        """All columns that the method may ask for, and the sensitive ones among them."""
        names = named(self.sensitive)
        if sensitive_features is None:
            for name in names:
                require_column(name, frame)
        else:
            names = (*names, *beside(sensitive_features, names, len(frame)).columns)
        return frame, Sensitive(tuple(name for name in frame.columns if name in names))

    def _new(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The same columns of new rows."""
        return frame


class LowerBaseline(Baseline):
    """The record as it is: recorded features and labels, as if they were fair.

    Sensitive columns of X are kept. ``sensitive_features`` are accepted, so that all methods can be called alike, but
    what the learner reads is X. Parameters and attributes are those of :class:`Baseline`.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=5)
    >>> columns = [*data.features, "poor_area"]
    >>> model = p4f.evaluation.LowerBaseline(learner="linear", random_state=0)
    >>> model.fit(data.loans[columns], data.loans["granted"]).predict(data.new[columns]).shape
    (5,)
    """

    method = RecordAsItIs


class UpperBaseline(LowerBaseline):
    """Knowing the fair labels: :class:`LowerBaseline`, given *fair* features and labels.

    It can only be trained where the fair data are known: on synthetic data, or on an audit. What makes it the upper
    baseline is the data that ``fit`` gets, nothing else.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=5)
    >>> columns = [*data.features, "poor_area"]
    >>> model = p4f.evaluation.UpperBaseline(learner="linear", random_state=0)
    >>> model.fit(data.loans[columns], data.loans_repaid).predict(data.new[columns]).shape
    (5,)
    """


class Unawareness(Baseline):
    """Recorded features and labels without the sensitive columns (Dwork et al., 2012).

    Features that go along with the sensitive variable stay, and with them much of the bias. The columns named by
    ``sensitive`` are left out; without it, those that have the names of ``sensitive_features``. Other parameters and
    attributes are those of :class:`Baseline`.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=5)
    >>> columns = [*data.features, "poor_area"]
    >>> model = p4f.evaluation.Unawareness(sensitive="poor_area", learner="linear", random_state=0)
    >>> model = model.fit(data.loans[columns], data.loans["granted"])
    >>> "poor_area" in model.trained_.features
    False
    """

    method = WithoutSensitive

    def _groups(self, frame: pd.DataFrame, sensitive_features: Any) -> tuple[pd.DataFrame, Sensitive]:
        if self.sensitive is None and sensitive_features is None:
            raise P4FError("unawareness of what? Name columns of X by sensitive=..., or pass sensitive_features")
        frame, sensitive = super()._groups(frame, sensitive_features)
        if sensitive_features is not None and not sensitive.columns:
            _refuse_copies(frame, beside(sensitive_features, named(self.sensitive), len(frame)))
        return frame, sensitive


def named(sensitive: str | list[str] | None) -> tuple[str, ...]:
    """The names that a user wrote."""
    return () if sensitive is None else (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)


def _refuse_copies(frame: pd.DataFrame, sensitive: pd.DataFrame) -> None:
    """A sensitive variable without a name may still be a column of X, which nobody would notice."""
    for name in frame.columns:
        for other in sensitive.columns:
            if np.array_equal(frame[name].to_numpy(), sensitive[other].to_numpy()):
                raise P4FError(f"column {name!r} of X equals sensitive_features; leave it out by sensitive={name!r}")
