"""The methods as one scikit-learn estimator: it reads data by scikit-learn's rules, everything else is the method's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight

from problog4fairness.data import Roles, Rows, Sensitive, column_of, named_sensitive_frame
from problog4fairness.errors import P4FError, among
from problog4fairness.estimators import drawn_seed, read_new, read_training
from problog4fairness.evaluation.methods import METHODS
from problog4fairness.evaluation.methods.method import Method, Training
from problog4fairness.evaluation.methods.plain import WithoutSensitive
from problog4fairness.learners import Learner, named_learner
from problog4fairness.metrics import decide

Array = np.ndarray[Any, np.dtype[Any]]


class BaselineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that knows of no belief: what a user would do instead.

    Parameters
    ----------
    method
        Which one, by its name in :data:`~problog4fairness.evaluation.METHODS`: ``"recorded_only"``, ``"oracle"``
        (fair labels of all rows), ``"audit_only"`` (fair labels of some), ``"without_sensitive"``, ``"massaging"``,
        ``"threshold_optimizer"`` or ``"exponentiated_gradient"``. Those that decide by lot give the chances of the
        decision as ``predict_proba``.
    sensitive
        The sensitive column of X, where it is not passed as ``sensitive_features``; those of an array are ``x0``,
        ``x1``, ... The columns are left out by ``"without_sensitive"``, for which there may be several.
    levels
        The groups, the sensitive one second, for methods that treat groups in different ways.
    favourable
        The label that counts as 1. Where groups are treated in different ways it must be known: 0 and 1, false and
        true speak for themselves, any other labels need this.
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
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=5)
    >>> X, granted = data.loans[[*data.features, "poor_area"]], data.loans["granted"]
    >>> model = p4f.evaluation.BaselineClassifier("without_sensitive", sensitive="poor_area", learner="linear")
    >>> model = model.fit(X, granted)
    >>> "poor_area" in model.trained_.features
    False
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True, "fair": True}

    def __init__(
        self,
        method: str = "recorded_only",
        *,
        sensitive: str | list[str] | None = None,
        levels: Sequence[Any] = (0, 1),
        favourable: Any = None,
        learner: Learner | str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.method = method
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
        tags.classifier_tags.multi_class = self.method in METHODS and not METHODS[self.method].needs_groups
        return tags

    def fit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, fair: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train.

        Parameters
        ----------
        X
            Features: an array or a data frame, with numbers and categories. The learner reads nothing else.
        y
            Recorded labels.
        sensitive_features
            The sensitive variable: an array, a series or a frame; not needed where X has the columns.
        fair
            Fair labels, missing where nobody looked, for ``"oracle"`` and ``"audit_only"``.
        sample_weight
            A weight for each row, for the learner.
        """
        if self.method not in METHODS:
            raise P4FError(f"there is no method {self.method!r}; {among(self.method, METHODS)}")
        kind, learner = METHODS[self.method], named_learner(self.learner)
        frame, labels = read_training(self, X, y)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, frame, dtype=np.float64)
        count = len(np.unique(labels))
        if kind.needs_groups and count > 2:  # in scikit-learn's words
            raise P4FError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{count} different labels"
            )
        columns, sensitive = self._groups(kind, frame, sensitive_features)
        roles = Roles(pd.Series(labels, name=getattr(y, "name", None)), fair=fair, favourable=self.favourable)
        ordered = self._states_favourable(kind) and count == 2
        rows = replace(Rows.from_table(columns, roles, features=tuple(frame.columns), ordered=ordered), weights=weights)
        method = kind(sensitive)
        method.check(rows)
        training = Training(rows, drawn_seed(self.random_state), self.class_weight)
        self.trained_ = method.fit(training, learner, None if self.verbose else False)
        self.classes_ = np.asarray(rows.classes)
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(label), ``[rows, classes]``."""
        frame = read_new(self, X)
        return self.trained_.proba(self._new_rows(frame))

    def predict(self, X: Any) -> Array:
        """The more likely label."""
        decisions = decide(self.predict_proba(X))
        return np.asarray(self.classes_[decisions])

    def _states_favourable(self, kind: type[Method]) -> bool:
        """Whether it matters which label is favourable."""
        return kind.needs_groups

    def _groups(
        self, kind: type[Method], frame: pd.DataFrame, sensitive_features: Any
    ) -> tuple[pd.DataFrame, Sensitive]:
        """All columns that the method may ask for, and the sensitive ones among them."""
        names = (self.sensitive,) if isinstance(self.sensitive, str) else tuple(self.sensitive or ())
        if sensitive_features is None:
            for name in names:
                column_of(frame, name, "the sensitive variable", ", or pass it beside X")
            given = frame[list(names)]
        else:
            given = named_sensitive_frame(sensitive_features, names, len(frame))
        if kind is WithoutSensitive:
            return frame, Sensitive(_left_out(frame, given, names))
        if not kind.needs_groups:
            return frame, Sensitive(tuple(given.columns))
        if names and set(names) <= set(given.columns):
            given = given[list(names)]
        count = max(len(given.columns), len(names))
        if count != 1:
            raise P4FError(
                f"{self.method} needs one sensitive column, not {count}: name a column of X by "
                "sensitive=..., or pass it as sensitive_features"
            )
        column = given.columns[0]
        if len(self.levels) != 2 or self.levels[0] == self.levels[1]:
            raise P4FError(f"levels must be two different groups (other, sensitive), not {list(self.levels)}")
        if kind.decides_by_group and column not in frame.columns:
            raise P4FError(f"X has no column {column!r}, but predicting reads the sensitive variable from X: add it")
        return frame.assign(**{column: given[column]}), Sensitive.of(column, self.levels)

    def _new_rows(self, frame: pd.DataFrame) -> Rows:
        return Rows(frame, tuple(frame.columns), tuple(self.classes_))


def _left_out(frame: pd.DataFrame, given: pd.DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """The sensitive columns among the features; an error where a column of another name equals them."""
    if not len(given.columns):
        raise P4FError("without_sensitive needs the columns: name them by sensitive=..., or pass sensitive_features")
    left_out = tuple(name for name in frame.columns if name in {*given.columns, *names})
    for name in () if left_out else frame.columns:
        if any(np.array_equal(frame[name].to_numpy(), given[other].to_numpy()) for other in given.columns):
            raise P4FError(f"column {name!r} of X equals sensitive_features; leave it out by sensitive={name!r}")
    return left_out
