"""All that a report shows, before it is written: numbers and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from problog4fairness.app.report.changes import audited_quality, changes, disparities
from problog4fairness.app.report.review import QueueCheck, Review, checked_queue, review
from problog4fairness.audit import Audit
from problog4fairness.beliefs import Label
from problog4fairness.data import (
    MOST_ROWS,
    Codes,
    Floats,
    Grouping,
    Rows,
    complete_rows,
    find_labels,
    label_codes,
    plain,
    plain_feature,
    positions,
    recode,
    values_of,
)
from problog4fairness.errors import P4FError, among
from problog4fairness.estimators import DebiasedClassifier, fair_proba, held_out_proba, new_rows, sampled_audit
from problog4fairness.metrics import decide
from problog4fairness.statistics import in_labels, probabilities

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief
    from problog4fairness.statistics import Parameter


@dataclass(frozen=True)
class Division:
    """What the model changes for one sensitive variable: shares by group, disparities, and quality on audited rows."""

    grouping: Grouping
    changes: pd.DataFrame
    disparities: pd.DataFrame
    audited: pd.DataFrame | None

    def furthest(self, kind: str) -> str:
        """The two groups whose rates of one kind, ``recorded`` or ``decided``, are furthest apart."""
        rates = self.changes.drop(index="all")[kind]
        return f"{rates.idxmax()} above {rates.idxmin()}"


@dataclass(frozen=True, eq=False)
class Audited:
    """A model on audited rows.

    ``sample`` are the rows that have a fair label, in the column ``fair``, and how they were sampled; ``rows`` are the
    same coded. ``proba`` is P(fair label), ``[rows, classes]``: out of fold for the rows that the model has learned
    from (so many are ``learned``), NaN where it has not predicted them out of fold. ``overlap`` rows are also in the
    data.
    """

    sample: Audit
    fair: str
    rows: Rows
    proba: Floats
    learned: int
    overlap: int
    queue: QueueCheck | None

    @property
    def known(self) -> Codes:
        """The rows that were predicted without having been learned from, by number."""
        return np.flatnonzero(~np.isnan(self.proba[:, 0]))

    @property
    def judged(self) -> int:
        """How many these are."""
        return len(self.known)

    @property
    def decisions(self) -> Codes:
        """``[rows]``: the label that is decided for, -1 where nothing was predicted."""
        decided = np.full(len(self.sample), -1, dtype=np.int64)
        decided[self.known] = decide(self.proba[self.known])
        return decided


@dataclass(frozen=True, eq=False)
class Facts:
    """A model on a table of recorded data, and where there is one on an audit.

    ``data`` are the rows that have a recorded label, as a table, and ``rows`` the same coded; ``dropped`` rows have no
    recorded label.
    """

    model: DebiasedClassifier
    label: Label
    data: pd.DataFrame
    rows: Rows
    divisions: list[Division]
    review: Review
    dropped: int
    audit: Audited | None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the belief; what each means is said with the values of the label."""
        values = self.label.values
        return tuple(
            replace(probability, meaning=in_labels(probability.meaning, values))
            for probability in probabilities(self.belief.parameters)
        )

    @property
    def sample(self) -> Audit | None:
        """The audited rows, if there are any."""
        return None if self.audit is None else self.audit.sample

    @property
    def belief(self) -> Belief:
        """The belief of the model."""
        belief: Belief = self.model.belief_
        return belief

    @property
    def estimated(self) -> bool:
        """Whether audited rows gave some parameter of the belief."""
        return any(parameter.rows is not None for parameter in probabilities(self.belief.parameters))


def collect(
    model: DebiasedClassifier,
    data: pd.DataFrame,
    audit: pd.DataFrame | Audit | None,
    fair: str | None,
    recorded: str | None,
) -> Facts:
    """Predict, count and compare; the parameters are those of :func:`~problog4fairness.report`."""
    check_is_fitted(model)
    column = recorded_column(model, recorded)
    kept = _labelled(data, column, "the data")
    rows = coded(model, kept, "the data", recorded=column)
    audited = None if audit is None else _audited(model, audit, fair, column, kept)
    groupings = groupings_of(model, rows)
    sensitive = [name for name in model.belief_.columns.sensitive if name in kept.columns]
    shown = list(dict.fromkeys([column, *sensitive, *feature_names(model)]))
    found, proba = review(model, rows, kept[shown], groupings[0])
    decided = decide(proba)
    divisions = [
        Division(grouping, changes(grouping, rows, decided), disparities(grouping, rows, decided), quality)
        for grouping, quality in zip(groupings, _quality(model, audited, groupings), strict=True)
    ]
    label = Label(column, tuple(model.classes_.tolist()))
    return Facts(model, label, kept, rows, divisions, found, len(data) - len(kept), audited)


def _labelled(frame: pd.DataFrame, column: str, where: str) -> pd.DataFrame:
    """The rows that have a label."""
    require_columns(frame, [column], where)
    kept = frame[frame[column].notna()].reset_index(drop=True)
    if not len(kept):
        raise P4FError(f"no row of {where} has a value of {column!r}")
    return kept


def _audited(
    model: DebiasedClassifier, audit: pd.DataFrame | Audit, fair: str | None, recorded: str, data: pd.DataFrame
) -> Audited:
    if fair is None:
        raise P4FError("name the column of the fair label in the audit by fair=...")
    sample = sampled_audit(audit if isinstance(audit, Audit) else _labelled(audit, fair, "the audit"), fair)
    frame = sample.frame
    has_record = recorded in frame.columns and bool(frame[recorded].notna().all())
    rows = coded(model, frame, "the audit", recorded=recorded if has_record else None, fair=fair)
    proba, learned = held_out_proba(model, rows, fair_proba(model, rows))
    overlap = int((positions(data, frame, leave_out=[fair])[0] >= 0).sum())
    queue = checked_queue(model, rows, proba, learned, sample)
    return Audited(sample, fair, rows, proba, int(learned.sum()), overlap, queue)


def _quality(
    model: DebiasedClassifier, audited: Audited | None, groupings: list[Grouping]
) -> list[pd.DataFrame] | list[None]:
    """By sensitive variable, how often decisions on audited rows are right, for all ``groupings`` of the data."""
    if audited is None:
        return [None] * len(groupings)
    quality = [
        audited_quality(grouping, audited.rows, audited.decisions, audited.sample)
        for grouping in groupings_of(model, audited.rows)
    ]
    # Nobody of a group may have been audited.
    nobody = {"rows": 0, "judged": 0}
    pairs = zip(quality, groupings, strict=True)
    return [frame.reindex([*grouping.groups, "all"]).fillna(nobody) for frame, grouping in pairs]


def coded(
    model: DebiasedClassifier, frame: pd.DataFrame, where: str, *, recorded: str | None = None, fair: str | None = None
) -> Rows:
    """A table as rows, labels and groups coded as the model knows them; ``where`` is what errors call the table."""
    labels = {role: name for role, name in (("recorded", recorded), ("fair", fair)) if name is not None}
    require_columns(frame, [*feature_names(model), *model.belief_.columns.context, *labels.values()], where)
    rows = new_rows(model, frame[feature_names(model)], sensitive_of(model, frame))
    return replace(
        rows,
        **{role: label_codes(frame[name], rows.classes, f"column {name!r}") for role, name in labels.items()},  # type: ignore[arg-type]
    )


def groupings_of(model: DebiasedClassifier, rows: Rows) -> list[Grouping]:
    """The groups of each sensitive variable of the belief; all rows in one group where it names none."""
    return model.belief_.groupings(rows) or [Grouping("everybody", ("everybody",), np.ones((len(rows), 1)))]


def feature_names(model: DebiasedClassifier) -> list[str]:
    """The columns of X that the model was trained on."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise P4FError("the model was trained on an array without column names; train it on a data frame")
    return [str(name) for name in names]


def sensitive_of(model: DebiasedClassifier, frame: pd.DataFrame) -> pd.DataFrame | None:
    """The columns that the belief reads besides; None where all of them are features."""
    columns = list(model.belief_.columns.context)
    columns += [name for name in model.belief_.columns.sensitive if name in frame.columns and name not in columns]
    return None if set(columns) <= set(feature_names(model)) else frame[columns]


def require_columns(frame: pd.DataFrame, columns: list[str], where: str) -> None:
    """Raise the error that names a column which is missing."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise P4FError(f"no column {missing[0]!r} in {where}; {among(missing[0], frame.columns)}")


def recorded_column(model: DebiasedClassifier, recorded: str | None) -> str:
    """The column of the recorded label: as it was named, or as it was called in training."""
    column = recorded or model.recorded_
    if column is None:
        raise P4FError("name the column of the recorded label by recorded=...; the model does not know it")
    return column


def clean(model: DebiasedClassifier, frame: pd.DataFrame, recorded: str) -> pd.DataFrame:
    """A copy in which labels and groups are written as the model knows them; rows without them are left out."""
    belief = model.belief_
    sensitive, features = (
        [c for c in names if c in frame.columns] for names in (belief.columns.sensitive, belief.features)
    )
    labels = [recorded] if recorded in frame.columns else []
    kept = complete_rows(frame, [*sensitive, *labels])
    cleaned: dict[str, Any] = {name: plain_feature(kept[name]) for name in features}
    for name in sensitive:
        values = values_of(kept[name])
        cleaned[name] = recode(kept[name], values, values, "sensitive variable")
    classes = model.classes_.tolist()
    for name in labels:
        cleaned[name] = recode(kept[name], [plain(value) for value in classes], classes, "recorded label")
    return kept.assign(**cleaned)


def fair_labels(model: DebiasedClassifier, audit: pd.DataFrame, fair: str, favourable: object) -> Any:
    """The fair label in the values of the recorded one."""
    classes = model.classes_.tolist()
    known = [plain(value) for value in classes]
    if len(classes) > 2 or set(values_of(audit[fair])) <= set(known):
        return recode(audit[fair], known, classes, "fair label")
    pair, _ = find_labels(audit, fair, None, favourable)
    return recode(audit[fair], pair, classes, "fair label")


def rows_to_fit(facts: Facts, seed: int) -> Codes:
    """The rows that are fitted on again, by number: all, or 20,000 of more, drawn at random."""
    count = len(facts.data)
    if count <= MOST_ROWS:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, MOST_ROWS, replace=False))
