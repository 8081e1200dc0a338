"""From a table and a belief to what training needs: features, labels and groups, with everything else left out."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from problog4fairness.classifier.estimator import DebiasedClassifier
from problog4fairness.errors import P4FError
from problog4fairness.files.features import feature_columns
from problog4fairness.files.problems import TableError, listed, warn
from problog4fairness.files.roles import check_column, find_labels, find_levels, known_levels, rewritten
from problog4fairness.files.values import Value, conventional, plain, values_of
from problog4fairness.mechanisms import HistoricalBias, Mechanism, read_belief
from problog4fairness.mechanisms.custom import ProgramMechanism


@dataclass(frozen=True)
class TrainingRows:
    """What training needs.

    Attributes
    ----------
    features
        The columns to learn from; the sensitive ones are among them only where prediction needs them.
    label
        The recorded label, named as in the table.
    groups
        The sensitive columns, or None where the belief has none.
    favourable
        The favourable label.
    dropped
        Rows that lacked a label or a group.
    left_out
        Columns that are not learnt from.
    """

    features: pd.DataFrame
    label: pd.Series[Any]
    groups: pd.DataFrame | None
    favourable: Value
    dropped: int
    left_out: list[str]


def training_rows(
    frame: pd.DataFrame,
    mechanism: Mechanism | None,
    *,
    recorded: str,
    sensitive: str | None = None,
    fair: str | None = None,
    favourable: object = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    independent: bool = True,
    biased: bool = False,
) -> TrainingRows:
    """Sort the columns of a table into features, label and groups.

    Rows without a label or a group are left out with a warning, and so are columns that identify rows or hold one value
    only (:func:`~problog4fairness.files.feature_columns`).

    Parameters
    ----------
    frame
        The table as it was read.
    mechanism
        The belief; the groups are those that it knows.
    recorded
        The column of the recorded label.
    sensitive
        The sensitive column; must be one that the belief is about.
    fair
        A column that holds fair labels, which is not to be learnt from.
    favourable
        The favourable label, or a text that means it; by default the one that the belief knows.
    drop, keep
        Columns to leave out, and columns to keep whatever they look like.
    independent
        Whether the fair label is independent of the sensitive variable, so that it is not learnt from.
    biased
        Whether new rows will be as biased as these, so that prediction needs the sensitive variable.
    """
    columns = [] if mechanism is None else list(mechanism.sensitive_columns)
    if sensitive is not None:
        check_column(frame, sensitive, "sensitive variable", "--sensitive")
        if columns and sensitive not in columns:
            raise P4FError(f"the belief is about {listed(columns)}, not about the column {sensitive!r}")
    check_column(frame, recorded, "recorded label", "--recorded")
    for name in columns:
        check_column(frame, name, "sensitive variable of the belief", "--sensitive")
    for name in mechanism.features if mechanism is not None else ():
        check_column(frame, name, "feature that the belief is about", "--belief")
    if recorded in columns:
        raise P4FError(f"column {recorded!r} cannot be both the recorded label and the sensitive variable")
    labels = agreed_labels(frame, recorded, mechanism, favourable)
    rows, dropped = _complete(frame, [recorded, *columns])
    cleaned: dict[str, Any] = {recorded: rewritten(rows[recorded], labels, labels, "recorded label")}
    cleaned |= _groups(rows, mechanism)
    cleaned |= {name: _plain_feature(rows[name]) for name in (mechanism.features if mechanism is not None else ())}
    rows = rows.assign(**cleaned)
    needed = bool(columns) and (not independent or biased or isinstance(mechanism, HistoricalBias))
    others = {recorded, *([] if fair is None else [fair]), *([] if needed else columns)}
    if sensitive is not None and independent:
        others |= {sensitive} - (set(columns) if needed else set())
    insisted = [*keep, *(mechanism.features if mechanism is not None else ()), *(columns if needed else ())]
    names = feature_columns(rows, leave_out=others, drop=drop, keep=insisted, label=recorded)
    return TrainingRows(
        rows[names],
        rows[recorded],
        rows[columns] if columns else None,
        labels[1],
        dropped,
        [str(name) for name in frame.columns if name not in names and name not in (recorded, *columns)],
    )


def belief_for(file: Path, frame: pd.DataFrame, *, sensitive: str | None = None, group: object = None) -> Mechanism:
    """The belief of a file, bound to a table.

    Parameters
    ----------
    file
        A belief file, or any program.
    frame
        The table as it was read.
    sensitive
        The sensitive column, for a program that does not name it.
    group
        The sensitive group, for a program of one's own; a belief that was estimated knows it.
    """
    pair = None
    if sensitive is not None:
        check_column(frame, sensitive, "sensitive variable", "--sensitive")
        pair = find_levels(frame, sensitive, group) if group is not None else conventional(values_of(frame[sensitive]))
    belief = read_belief(file, sensitive=sensitive, levels=pair)
    if group is not None:
        _check_group(belief, frame, sensitive, group)
    return belief


def _check_group(belief: Mechanism, frame: pd.DataFrame, sensitive: str | None, group: object) -> None:
    """The sensitive group that was named is the one that the belief knows."""
    for column, levels in _known_groups(belief).items():
        if len(levels) != 2 or column not in frame.columns or sensitive not in (None, column):
            continue
        said = find_levels(frame, column, group)[1]
        if said in levels and said != levels[1]:
            raise P4FError(
                f"--group {group} contradicts the belief, in which {levels[1]!r} is the sensitive group of {column!r}; "
                "leave it out, or estimate the belief anew"
            )


def agreed_labels(
    frame: pd.DataFrame, recorded: str, belief: Mechanism | None, favourable: object = None
) -> tuple[Value, Value]:
    """(unfavourable, favourable) in the recorded column, as it was said and as the belief knows it."""
    known = None
    if belief is not None and belief.favourable is not None:
        # A belief from a table that writes the label in another way says nothing about this one.
        with contextlib.suppress(TableError):
            known = find_labels(frame, recorded, None, belief.favourable)[0]
    if favourable is None and known is not None:
        return known
    labels = find_labels(frame, recorded, None, favourable)[0]
    if known is not None and labels != known:
        raise P4FError(
            f"--favourable {favourable} contradicts the belief, in which {known[1]!r} is the favourable label; "
            "leave it out, or estimate the belief anew"
        )
    return labels


def train_on_table(
    frame: pd.DataFrame,
    mechanism: Mechanism | None,
    *,
    recorded: str,
    sensitive: str | None = None,
    fair: str | None = None,
    favourable: object = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    independent: bool = True,
    test_features: Literal["fair", "biased"] | None = None,
    batch_size: int | None = None,
    **options: Any,
) -> tuple[DebiasedClassifier, TrainingRows]:
    """Train on a table as it was read.

    Parameters
    ----------
    frame, mechanism, recorded, sensitive, fair, favourable, drop, keep, independent
        As for :func:`training_rows`.
    test_features, options
        As for :class:`DebiasedClassifier`.
    batch_size
        By default 64, and more for large tables, so that an epoch takes a few hundred steps.
    """
    rows = training_rows(
        frame,
        mechanism,
        recorded=recorded,
        sensitive=sensitive,
        fair=fair,
        favourable=favourable,
        drop=drop,
        keep=keep,
        independent=independent,
        biased=test_features == "biased",
    )
    del frame
    model = DebiasedClassifier(
        mechanism,
        independent=independent,
        test_features=test_features,
        favourable=rows.favourable,
        batch_size=suited_batch_size(len(rows.features)) if batch_size is None else batch_size,
        **options,
    )
    return model.fit(rows.features, rows.label, sensitive_features=rows.groups), rows


def suited_batch_size(rows: int) -> int:
    """64 rows, doubled until an epoch takes at most about a thousand steps."""
    size = 64
    while rows > 1024 * size:
        size *= 2
    return size


def _complete(frame: pd.DataFrame, names: Sequence[str]) -> tuple[pd.DataFrame, int]:
    missing = frame[list(names)].isna()
    for name in names:
        count = int(missing[name].sum())
        if count:
            warn(f"column {name!r} has {count} missing values; these rows were left out")
    gone = missing.any(axis=1)
    dropped = int(gone.sum())
    if dropped == len(frame):
        raise P4FError(f"no row has a value in each of {listed(names)}")
    return (frame[~gone].reset_index(drop=True) if dropped else frame), dropped


def _groups(rows: pd.DataFrame, mechanism: Mechanism | None) -> dict[str, Any]:
    """The sensitive columns with the values that the belief knows."""
    cleaned = {}
    for column, levels in _known_groups(mechanism).items():
        if isinstance(mechanism, ProgramMechanism) and not set(values_of(rows[column])) <= set(levels):
            seen = listed(values_of(rows[column]), 6)
            raise P4FError(
                f"column {column!r} has the values {seen}, the program knows {listed(levels)}; recode the column, or "
                "say which group is the sensitive one with --group VALUE"
            )
        levels = known_levels(rows, column, levels)
        cleaned[column] = rewritten(rows[column], levels, levels, "sensitive variable")
    return cleaned


def _known_groups(mechanism: Mechanism | None) -> dict[str, Sequence[Value]]:
    """The groups of each sensitive column that the belief knows."""
    known: dict[str, Sequence[Value]] = {}
    if isinstance(mechanism, ProgramMechanism):
        outcomes = {network.name: network.outcomes for network in mechanism.program().networks}
        for network, column in mechanism.columns.items():
            if column in mechanism.sensitive_columns and outcomes[network] is None:
                known[column] = mechanism.values.get(network, (0, 1))
    elif mechanism is not None:
        known = {v.columns[0]: v.levels for v in mechanism.variables if len(v.columns) == 1}  # type: ignore[misc]
    return known


def _plain_feature(column: pd.Series[Any]) -> Any:
    """A distorted feature with whole numbers as such."""
    missing = int(column.isna().sum())
    if missing:
        raise P4FError(f"feature {column.name!r} of the belief has {missing} missing values; drop these rows")
    values = [plain(value) for value in column.unique().tolist()]
    return rewritten(column, values, values, "feature")
