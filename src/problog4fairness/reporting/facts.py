"""All that a report shows, before it is written: numbers, tables, and sentences that depend on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.groups import Grouping, groupings
from problog4fairness.errors import P4FError
from problog4fairness.reporting.changes import Audited, audited_quality, changes, disparities
from problog4fairness.reporting.joining import matches
from problog4fairness.reporting.suspects import distortion, suspects, tied
from problog4fairness.reporting.words import Label

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Division:
    """What the model changes for one sensitive variable: shares by group, disparities, and what the audit says."""

    way: Grouping
    changes: pd.DataFrame
    disparities: pd.DataFrame
    audited: pd.DataFrame | None


@dataclass(frozen=True)
class Facts:
    """A model on a table of recorded data, and where there is one on an audit."""

    model: DebiasedClassifier
    label: Label
    data: pd.DataFrame
    audit: pd.DataFrame | None
    fair: str | None
    divisions: list[Division]
    quality: pd.DataFrame | None
    suspects: pd.DataFrame
    suspicion: str
    expected: float
    tied: int
    overlap: int | None
    dropped: int

    @property
    def features(self) -> list[str]:
        """The columns that the model reads."""
        return feature_names(self.model)

    def sensitive(self, frame: pd.DataFrame) -> pd.DataFrame | None:
        """The sensitive columns, where they are not among the features."""
        return sensitive_of(self.model, frame)


def feature_names(model: DebiasedClassifier) -> list[str]:
    """The columns of X that the model was trained on."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise P4FError("the model was trained on an array without column names; train it on a data frame")
    return [str(name) for name in names]


def sensitive_of(model: DebiasedClassifier, frame: pd.DataFrame) -> pd.DataFrame | None:
    """The sensitive columns that are not features, for the methods that take them apart."""
    belief = model.belief_
    names = set(feature_names(model))
    if belief is None or set(belief.sensitive_columns) <= names:
        return None
    missing = [column for column in belief.sensitive_columns if column not in frame.columns]
    if missing:
        raise P4FError(f"no column {missing[0]!r} in the data, which the belief needs")
    return frame[list(belief.sensitive_columns)]


def collect(
    model: DebiasedClassifier,
    data: pd.DataFrame,
    audit: pd.DataFrame | None,
    fair: str | None,
    recorded: str | None,
) -> Facts:
    """Predict, count and compare."""
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise P4FError(f"a report is for labels with two values; the model has {len(model.classes_)}")
    column = recorded or getattr(model, "recorded_", None)
    if column is None:
        raise P4FError("name the column of the recorded label by recorded=...; the model does not know it")
    _need(data, [*feature_names(model), column], "the data")
    kept = data[data[column].notna()].reset_index(drop=True)
    if not len(kept):
        raise P4FError(f"no row of the data has a value of {column!r}")
    label = Label(column, tuple(model.classes_.tolist()))
    known, decided, chance = _predicted(model, kept)
    good = _is_good(model, kept[column], column)
    ways = groupings(model.belief_, known) or [_everybody(len(kept))]
    if audit is not None and fair is not None and fair in audit.columns:
        audit = audit[audit[fair].notna()].reset_index(drop=True)
    judged = None if audit is None else _audited(model, audit, fair, column)
    divisions = [
        Division(
            way,
            changes(way, good, decided),
            disparities(way, recorded=good, decided=decided),
            None if judged is None else audited_quality(judged.ways[number], judged),
        )
        for number, way in enumerate(ways)
    ]
    distorted, suspicion = distortion(model, kept[feature_names(model)], kept[column], sensitive_of(model, kept))
    beside = [c for c in (model.belief_.sensitive_columns if model.belief_ else ()) if c in kept.columns]
    shown = list(dict.fromkeys([column, *beside, *feature_names(model)]))
    overlap = None if audit is None or fair is None else int((matches(kept, audit, fair) >= 0).sum())
    listed = suspects(kept, shown, distorted, chance)
    return Facts(
        model,
        label,
        kept,
        audit,
        fair,
        divisions,
        None if judged is None else divisions[0].audited,
        listed,
        suspicion,
        float(np.nansum(distorted)),
        tied(distorted, len(listed)),
        overlap,
        len(data) - len(kept),
    )


def _predicted(model: DebiasedClassifier, frame: pd.DataFrame) -> tuple[pd.DataFrame, Array, Array]:
    """The rows with their sensitive columns, whether each gets the favourable decision, and its fair probability."""
    known = model._known(frame[feature_names(model)], sensitive_of(model, frame))
    chance = np.exp(model._fair_logs(known)[:, 1])
    return known, chance > 0.5, chance


def _audited(model: DebiasedClassifier, audit: pd.DataFrame, fair: str | None, recorded: str) -> Audited:
    if fair is None:
        raise P4FError("name the column of the fair label in the audit by fair=...")
    _need(audit, [*feature_names(model), fair], "the audit")
    if not len(audit):
        raise P4FError(f"no row of the audit has a value of {fair!r}")
    known, decided, _ = _predicted(model, audit)
    seen = recorded in audit.columns and bool(audit[recorded].notna().all())
    return Audited(
        groupings(model.belief_, known) or [_everybody(len(audit))],
        _is_good(model, audit[fair], fair),
        decided,
        _is_good(model, audit[recorded], recorded) if seen else None,
    )


def _is_good(model: DebiasedClassifier, values: pd.Series, column: str) -> Array:
    bad, good = model.classes_.tolist()
    found = values.isin([bad, good])
    if not found.all():
        strange = values[~found].iloc[0]
        raise P4FError(f"column {column!r} has the value {strange!r}; the model knows {bad!r} and {good!r}")
    return np.asarray(values == good, dtype=bool)


def _need(frame: pd.DataFrame, columns: list[str], where: str) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise P4FError(f"no column {missing[0]!r} in {where}; there are {', '.join(map(str, frame.columns))}")


def _everybody(rows: int) -> Grouping:
    return Grouping("everybody", ("everybody",), np.ones((rows, 1)))
