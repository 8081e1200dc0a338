"""From a table, a belief and an audit to what training needs: features, labels and groups, everything else left out."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from problog4fairness.audit import Audit, AuditWarning
from problog4fairness.beliefs import Belief, as_belief, read_belief
from problog4fairness.data import (
    Codes,
    Floats,
    GroupUseNote,
    Value,
    check_column,
    complete_rows,
    conventional,
    feature_columns,
    find_labels,
    find_levels,
    known_levels,
    listed,
    plain_feature,
    recode,
    recode_groups,
    values_of,
    with_audit,
)
from problog4fairness.errors import P4FError
from problog4fairness.estimators.classifier import DebiasedClassifier
from problog4fairness.estimators.group_use import UseSensitive
from problog4fairness.estimators.prediction import predicts_from

# The column that says how many people each audited row stands for.
AUDIT_WEIGHT = "p4f_weight"
AUDIT_CLUSTER = "p4f_cluster"
_DESIGN = (AUDIT_WEIGHT, AUDIT_CLUSTER)


def with_fair(
    data: pd.DataFrame, audit: pd.DataFrame | Audit | None, recorded: str, fair: str | None, drop: Sequence[str] = ()
) -> pd.DataFrame:
    """The data with a column of the fair label, where there is one, and of :data:`AUDIT_WEIGHT`, with ``audit``.

    Without ``audit``, the fair label is a column of ``data``, empty where nobody looked. Audited rows that also occur
    in ``data`` are the same people (:meth:`Audit.of`); the others are added, and need not have the columns to ``drop``.
    """
    if fair == recorded:
        raise P4FError(f"column {recorded!r} cannot be both the recorded and the fair label")
    if audit is None:
        if fair is not None:
            check_column(data, fair, "fair label", "fair")
        return data
    known = read_audit(audit, fair, data)
    needed = [name for name in data.columns if name not in (*drop, fair)]
    return joined(data, known, str(fair), needed)


def joined(data: pd.DataFrame, audit: Audit, fair: str, needed: Sequence[str]) -> pd.DataFrame:
    """The data followed by audited rows that are not in them, with the fair label and what each row stands for."""
    rows, labels = with_audit(data, audit.frame, fair=fair, needed=needed, places=audit.rows)
    places = positions_of(audit, len(data)).rows
    beside = {fair: labels}
    for name, values in ((AUDIT_WEIGHT, audit.weights), (AUDIT_CLUSTER, audit.clusters)):
        if values is not None:
            beside[name] = np.full(len(rows), np.nan)
            beside[name][places] = values
    return rows.assign(**beside)


def positions_of(audit: Audit, rows: int) -> Audit:
    """The audit with its rows' positions in what :func:`joined` gives for a table of so many rows."""
    new = audit.rows < 0
    return replace(audit, rows=np.where(new, rows + np.cumsum(new) - 1, audit.rows))


def sampled_audit(audit: pd.DataFrame | Audit, fair: str, table: pd.DataFrame | None = None) -> Audit:
    """As :func:`read_audit`, without its warning: :meth:`Audit.describe` says how the rows were sampled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        return read_audit(audit, fair, table)


def read_audit(audit: pd.DataFrame | Audit, fair: str | None, table: pd.DataFrame | None = None) -> Audit:
    """The audited rows with a fair label; a data frame becomes an :class:`Audit`, matched to the table."""
    if fair is None:
        raise P4FError("name the column of the fair label in the audit by fair=...")
    check_column(audit.frame if isinstance(audit, Audit) else audit, fair, "fair label", "fair")
    return Audit.of(audit, fair=fair, table=table)


def stated_audit(
    audit: pd.DataFrame | None,
    data: pd.DataFrame,
    fair: str | Sequence[str] | None,
    sampling: str | None,
    cluster: str | None,
) -> Audit:
    """Audited rows, or rows of ``data`` where there are none, with what was stated of their design."""
    columns = [fair] if isinstance(fair, str) else list(fair or ())
    if not columns:
        raise P4FError("sampling=... and cluster=... are about audited rows; name their fair label by fair=...")
    rows = data if audit is None else audit
    for column in columns:
        check_column(rows, column, "fair label", "fair")
    return Audit.of(
        rows, fair=columns, table=data.drop(columns=columns, errors="ignore"), sampling=sampling, cluster=cluster
    )


# The options of training on a table that say which column is what.
_COLUMNS = ("recorded", "sensitive", "audit", "fair", "favourable", "drop", "keep", "features")


@dataclass(frozen=True)
class TrainingRows:
    """What training needs.

    Attributes
    ----------
    features
        The columns to learn from; the sensitive ones are among them only where prediction needs them.
    label
        The recorded label, named as in the table; or the columns of those who labelled, where they are several.
    groups
        The sensitive columns and others that the belief reads and learners do not, or None where it has none.
    favourable
        The favourable label.
    fair
        The fair label in the values of the recorded one, missing where nobody looked; None without such a column.
    dropped, left_out
        How many rows lacked a label or a group, and the columns that are not learnt from.
    places
        ``[rows]``: the position of each row in the table, after whose rows come the audited ones that it lacks.
    audit_weights
        How many people each audited row stands for, missing where nobody looked; None where the fair label is a column
        of the table.
    audit_clusters
        To which cluster each audited row belongs, missing where nobody looked; None without clusters.
    size
        Rows of the table before those that were added.
    """

    features: pd.DataFrame
    label: pd.Series[Any] | pd.DataFrame
    groups: pd.DataFrame | None
    favourable: Value
    fair: pd.Series[Any] | None
    dropped: int
    left_out: list[str]
    places: Codes
    audit_weights: pd.Series[float] | None = None
    audit_clusters: pd.Series[float] | None = None
    size: int = 0

    @property
    def sample_weight(self) -> Floats | None:
        """How much each row counts in learning; None where all count the same.

        A row of the table counts once, audited or not: its fair label is learned beside what was recorded. A row that
        was only audited came into the sample by the design, and counts for all that it stands for.
        """
        added = self.places >= self.size
        if self.audit_weights is None or not added.any():
            return None
        weights = np.where(added, self.audit_weights.fillna(1.0), 1.0)
        return None if (weights == 1).all() else weights

    @property
    def known(self) -> Audit | pd.Series[Any] | None:
        """Fair labels as :meth:`DebiasedClassifier.fit` takes them."""
        if self.fair is None or self.audit_weights is None:
            return self.fair
        places = np.flatnonzero(self.fair.notna())
        weights = self.audit_weights.to_numpy()[places]
        if self.sample_weight is not None:
            # Rows that were only audited count for what they stand for already, wherever the two are multiplied.
            weights = weights / self.sample_weight[places]
        frame = pd.DataFrame({"fair": self.fair.iloc[places].to_numpy(dtype=object)})
        nothing = np.zeros(len(places), dtype=np.int64)
        if not len(weights):
            return self.fair
        sampling: Literal["random", "stratified"] = "random" if np.ptp(weights) == 0 else "stratified"
        clusters = None
        if self.audit_clusters is not None:
            clusters = np.unique(self.audit_clusters.to_numpy()[places], return_inverse=True)[1]
        return Audit(frame, sampling, weights, nothing, np.zeros(0), clusters, places, fair=("fair",))


def training_rows(
    frame: pd.DataFrame,
    belief: Belief,
    *,
    recorded: str,
    sensitive: str | None = None,
    audit: pd.DataFrame | Audit | None = None,
    fair: str | None = None,
    favourable: object = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    features: Sequence[str] | None = None,
    use_sensitive: UseSensitive = "auto",
    biased: bool = False,
) -> TrainingRows:
    """Sort the columns of a table into features, label and groups.

    Rows without a label or a group are left out with a warning, and so are columns that identify rows or hold one value
    only (:func:`~problog4fairness.data.feature_columns`).

    Parameters
    ----------
    frame, belief
        The table as it was read; the groups are those that the belief knows.
    recorded, sensitive
        The columns of the recorded label, and of the sensitive variable, which the belief must be about.
    audit, fair
        Audited rows, and their column of the fair label; see :func:`with_fair`.
    favourable
        The favourable label, or a text that means it; by default the one that the belief knows.
    drop, keep, features
        Columns to leave out, columns to keep whatever they look like, and all that are learned from (None for all).
    use_sensitive
        Whether the sensitive columns are among the features: False for a group-free model; True, and ``"auto"`` where
        the fit decides, for features that contain them.
    biased
        Whether new rows will be as biased as these, so that prediction needs the sensitive variable.
    """
    columns = [name for name in (*belief.columns.sensitive, *belief.columns.withheld) if name in belief.columns.all]
    # Of an unknown group the table may have the column, with gaps.
    optional = [name for name in belief.columns.sensitive if name not in columns and name in frame.columns]
    votes = list(belief.columns.recorded)
    if votes and recorded not in votes:
        raise P4FError(f"the belief reads the votes {listed(votes)}; name one of them as the recorded label")
    if sensitive is not None:
        check_column(frame, sensitive, "sensitive variable", "sensitive")
        if columns and sensitive not in (*columns, *optional):
            raise P4FError(f"the belief is about {listed(columns)}, not about the column {sensitive!r}")
    check_column(frame, recorded, "recorded label", "recorded")
    for name in columns:
        check_column(frame, name, "sensitive variable of the belief", "sensitive")
    for name in (*belief.features, *belief.columns.others, *votes):
        check_column(frame, name, "column that the belief is about", "belief")
    if recorded in columns:
        raise P4FError(f"column {recorded!r} cannot be both the recorded label and the sensitive variable")
    size = len(frame)
    frame = with_fair(frame, audit, recorded, fair, drop)
    labels = agreed_labels(frame, recorded, belief, favourable)
    written = None
    if fair is not None:
        both, written = find_labels(frame, recorded, fair, labels[-1])
        labels = both if len(both) > 2 else labels
    gaps = belief.record.gaps or bool(votes)
    complete = columns if gaps else [recorded, *columns]
    rows = complete_rows(frame, complete)
    cleaned: dict[str, Any] = {
        name: recode(rows[name], labels, labels, "recorded label") for name in votes or [recorded]
    }
    for name, levels in belief.columns.groups.items():
        cleaned[name] = recode_groups(rows[name], known_levels(rows, name, levels))
    cleaned |= {name: _plain_feature(rows[name]) for name in belief.features}
    rows = rows.assign(**cleaned)
    needed = bool(columns) and (use_sensitive is not False or biased or belief.kind.predicts_from == "biased")
    others = {
        recorded,
        *votes,
        *optional,
        *belief.columns.withheld,
        *_DESIGN,
        *([] if fair is None else [fair]),
        *([] if needed else columns),
    }
    if sensitive is not None and use_sensitive is not True:
        others |= {sensitive} - (set(columns) if needed else set())
    insisted = [*keep, *belief.features, *(columns if needed else ())]
    names = feature_columns(rows, leave_out=others, drop=drop, keep=insisted, features=features, label=recorded)
    return TrainingRows(
        rows[names],
        rows[votes] if votes else rows[recorded],
        rows[[*columns, *optional]] if columns or optional else None,
        labels[-1],
        None
        if written is None
        else pd.Series(recode(rows[str(fair)], written, labels, "fair label"), index=rows.index, dtype=object),
        len(frame) - len(rows),
        [
            str(name)
            for name in frame.columns
            if name not in {*names, recorded, *votes, *columns, AUDIT_WEIGHT, AUDIT_CLUSTER}
        ],
        np.flatnonzero(frame[complete].notna().all(axis=1)),
        rows.get(AUDIT_WEIGHT),
        rows.get(AUDIT_CLUSTER),
        size,
    )


def belief_for(file: Path, frame: pd.DataFrame, *, sensitive: str | None = None, group: object = None) -> Belief:
    """The belief of a belief file, or of any program, bound to a table.

    For a program, ``sensitive`` is its sensitive column and ``group`` the sensitive group; a belief that was estimated
    knows both.
    """
    pair = None
    if sensitive is not None:
        check_column(frame, sensitive, "sensitive variable", "sensitive")
        pair = find_levels(frame, sensitive, group) if group is not None else conventional(values_of(frame[sensitive]))
    belief = read_belief(file, sensitive=sensitive, groups=pair)
    if group is not None:
        _check_group(belief, frame, sensitive, group)
    return belief


def _check_group(belief: Belief, frame: pd.DataFrame, sensitive: str | None, group: object) -> None:
    """The sensitive group that was named is the one that the belief knows."""
    for column, levels in belief.columns.groups.items():
        if len(levels) != 2 or column not in frame.columns or sensitive not in (None, column):
            continue
        named = find_levels(frame, column, group)[1]
        if named in levels and named != levels[1]:
            raise P4FError(
                f"group={group!r} contradicts the belief, in which {levels[1]!r} is the sensitive group of {column!r}; "
                "leave it out, or estimate the belief anew"
            )


def agreed_labels(frame: pd.DataFrame, recorded: str, belief: Belief, favourable: object = None) -> tuple[Value, ...]:
    """The labels of the recorded column, the favourable one last, as it was said and as the belief knows it."""
    known, values = None, values_of(frame[recorded])
    # A belief from a table that writes the label in another way says nothing about this one.
    with contextlib.suppress(P4FError):
        good = belief.record.favourable_among(values) if len(values) > 2 else belief.favourable
        known = None if good is None else find_labels(frame, recorded, None, good)[0]
    labels = known if known is not None and favourable is None else find_labels(frame, recorded, None, favourable)[0]
    if known is not None and labels != known:
        raise P4FError(
            f"favourable={favourable!r} contradicts the belief, in which {known[-1]!r} is the favourable label; "
            "leave it out, or estimate the belief anew"
        )
    return labels


def train_on_table(
    frame: pd.DataFrame,
    belief: Belief | None,
    *,
    use_sensitive: UseSensitive = "auto",
    test_features: Literal["fair", "biased"] | None = None,
    **options: Any,
) -> tuple[DebiasedClassifier, TrainingRows]:
    """Train on a table as it was read; fair labels, where somebody checked, are learned from, too.

    Options are those of :func:`training_rows` and of :class:`DebiasedClassifier`.
    """
    known = as_belief(belief)
    columns = {name: options.pop(name) for name in _COLUMNS if name in options}
    rows = training_rows(frame, known, use_sensitive=use_sensitive, biased=test_features == "biased", **columns)
    del frame
    model = DebiasedClassifier(
        known, use_sensitive=use_sensitive, test_features=test_features, favourable=rows.favourable, **options
    )
    with warnings.catch_warnings():
        # The words about the model say it.
        warnings.simplefilter("ignore", GroupUseNote)
        model.fit(
            rows.features, rows.label, sensitive_features=rows.groups, fair=rows.known, sample_weight=rows.sample_weight
        )
    return model, _group_free(model, rows) if use_sensitive == "auto" else rows


def _group_free(model: DebiasedClassifier, rows: TrainingRows) -> TrainingRows:
    """The rows without the sensitive columns, where the model came out group-free and new rows do not need them."""
    names = model.group_use_.columns
    if model.group_use_.used or predicts_from(model) == "biased" or not names:
        return rows
    kept = [name for name in rows.features.columns if name not in names]
    model.names_, model.n_features_in_ = kept, len(kept)
    model.feature_names_in_ = np.array(kept, dtype=object)
    return replace(rows, features=rows.features[kept])


def _plain_feature(column: pd.Series[Any]) -> Any:
    """A distorted feature of every row, as plain data."""
    missing = int(column.isna().sum())
    if missing:
        raise P4FError(f"feature {column.name!r} of the belief has {missing} missing values; drop these rows")
    return plain_feature(column)
