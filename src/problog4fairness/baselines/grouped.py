"""What the baselines share that act on two groups in different ways."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target

from problog4fairness.baselines.base import Array, Baseline
from problog4fairness.baselines.groups import Codes, beside, group_codes, named, require
from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.errors import P4FError


class GroupedBaseline(Baseline):
    """A baseline for two labels and two groups.

    Parameters
    ----------
    sensitive
        The sensitive column of X, where it is not passed as ``sensitive_features``; those of an array are ``x0``,
        ``x1``, ...
    levels
        The two groups as the column has them, the sensitive one second.
    """

    def __init__(
        self,
        *,
        sensitive: str | None = None,
        levels: tuple[Any, Any] = (0, 1),
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
        super().__init__(
            sensitive=sensitive,
            favourable=favourable,
            hidden=hidden,
            dropout=dropout,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            batch_size=batch_size,
            max_epochs=max_epochs,
            patience=patience,
            validation=validation,
            loss=loss,
            gamma=gamma,
            class_weight=class_weight,
            random_state=random_state,
            verbose=verbose,
        )
        self.levels = levels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _training_groups(self, frame: pd.DataFrame, sensitive_features: Any) -> Codes:
        """A of each row; notes the name of its column, and refuses an empty group."""
        levels = tuple(self.levels)
        if len(levels) != 2 or levels[0] == levels[1]:
            raise P4FError(f"levels must be two different groups (other, sensitive), not {list(levels)}")
        column = self._sensitive_column(frame, sensitive_features)
        self.sensitive_ = str(column.name)
        groups = group_codes(column, levels)
        for code, level in enumerate(levels):
            if not (groups == code).any():
                raise P4FError(f"no row is of the group {self.sensitive_} = {level!r}; both groups must occur")
        return groups

    def _new_groups(self, frame: pd.DataFrame) -> Codes:
        """A of each row of new data."""
        return group_codes(frame[self.sensitive_], self.levels)

    def _sensitive_column(self, frame: pd.DataFrame, sensitive_features: Any) -> pd.Series[Any]:
        names = named(self.sensitive)
        if len(names) > 1:
            raise P4FError(f"{type(self).__name__} takes one sensitive column, not {', '.join(names)}")
        if sensitive_features is not None:
            given = beside(sensitive_features, names, len(frame))
            if names and names[0] in given.columns:
                return given[names[0]]
            if len(given.columns) != 1:
                there = ", ".join(given.columns)
                raise P4FError(f"sensitive_features have {len(given.columns)} columns ({there}); name one by sensitive")
            return given.iloc[:, 0].rename(names[0] if names else given.columns[0])
        if not names:
            raise P4FError(
                f"{type(self).__name__} needs the sensitive variable: name a column of X by sensitive=..., "
                "or pass sensitive_features"
            )
        require(names[0], frame)
        return frame[names[0]]


def require_two_labels(y: Array) -> None:
    """An error, in scikit-learn's words, where there are more than two labels."""
    kind = type_of_target(y)
    if kind != "binary":
        raise P4FError(
            f"Only binary classification is supported. The type of the target is {kind}: "
            f"{len(np.unique(y))} different labels"
        )


def scores_of(classifier: DebiasedClassifier, frame: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]]:
    """P(favourable label) of each row, the same to the last bit for rows that are the same.

    A batch of float32 does not promise that, and a tie that is broken by rounding is not broken at random.
    """
    place = frame.groupby(list(frame.columns), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    _, first, place = np.unique(place, return_index=True, return_inverse=True)
    distinct = frame.iloc[first].reset_index(drop=True)
    return np.asarray(classifier.predict_proba(distinct)[:, 1][place], dtype=np.float64)
