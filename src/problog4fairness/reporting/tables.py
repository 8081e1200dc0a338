"""Comparisons and reports from tables as they were read: which value means what, and which audited rows are whose."""

from __future__ import annotations

import io
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.table import agreed_labels, training_rows
from problog4fairness.comparison import Comparison, compare
from problog4fairness.errors import P4FError
from problog4fairness.files.problems import warn
from problog4fairness.files.roles import check_column, find_labels, rewritten
from problog4fairness.files.values import plain, values_of
from problog4fairness.files.writing import write_whole
from problog4fairness.mechanisms import Mechanism
from problog4fairness.reporting.build import Report, report
from problog4fairness.reporting.joining import with_audit


def compare_tables(
    data: pd.DataFrame,
    belief: Mechanism | None,
    *,
    recorded: str,
    sensitive: str | None = None,
    audit: pd.DataFrame | None = None,
    fair: str | None = None,
    favourable: object = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    independent: bool = True,
    methods: Sequence[str] | None = None,
    seeds: int | Sequence[int] = 5,
    folds: int = 5,
    progress: bool | None = None,
) -> Comparison:
    """:func:`~problog4fairness.compare` on a table as it was read, with the audited rows of another one.

    Parameters
    ----------
    data
        Recorded data.
    belief
        How they came from the fair data.
    recorded, sensitive, fair
        Columns of the recorded label, the sensitive variable and the fair label. Without ``audit``, the fair label is a
        column of ``data``, empty where nobody looked.
    audit
        Audited rows: those that also occur in ``data``, equal in all shared columns, are the same people; the others
        are added.
    favourable
        The favourable label, or a text that means it.
    drop, keep
        Columns not to learn from, and columns to keep whatever they look like.
    independent, methods, seeds, folds, progress
        As for :func:`~problog4fairness.compare`.
    """
    fair_labels, truth = None, None
    check_column(data, recorded, "recorded label", "--recorded")
    if fair == recorded:
        raise P4FError(f"column {recorded!r} cannot be both the recorded and the fair label")
    if audit is not None:
        if fair is None:
            raise P4FError("name the column of the fair label in the audit with --fair")
        check_column(audit, fair, "fair label", "--fair")
        data, truth = with_audit(
            data,
            audit[audit[fair].notna()],
            fair=fair,
            needed=[name for name in data.columns if name not in (*drop, fair)],
        )
    elif fair is not None:
        check_column(data, fair, "fair label", "--fair")
        truth = data[fair]
        data = data.drop(columns=fair)
    if truth is not None:
        if belief is not None and belief.favourable is not None:
            favourable = agreed_labels(data, recorded, belief, favourable)[1]
        both = pd.DataFrame({recorded: data[recorded], fair: truth})
        labels, fair_labels = find_labels(both, recorded, fair, favourable)
        favourable = labels[1]
    rows = training_rows(
        data, belief, recorded=recorded, sensitive=sensitive, favourable=favourable, drop=drop, keep=keep,
        independent=independent,
    )  # fmt: skip
    labels_of_rows = None
    if truth is not None and fair_labels is not None:
        columns = [recorded, *(belief.sensitive_columns if belief is not None else ())]
        kept = truth[data[columns].notna().all(axis=1).to_numpy()].reset_index(drop=True)
        known = kept.notna()
        bad = next(value for value in values_of(rows.label) if value != rows.favourable)
        labels_of_rows = pd.Series(None, index=kept.index, dtype=object)
        written = (bad, plain(rows.favourable))
        labels_of_rows[known] = rewritten(kept[known].rename(fair), fair_labels, written, "fair label")
    return compare(
        rows.features,
        rows.label,
        belief,
        sensitive_features=rows.groups if rows.groups is not None else sensitive,
        fair=labels_of_rows,
        favourable=rows.favourable,
        independent=independent,
        methods=methods,
        seeds=seeds,
        folds=folds,
        progress=progress,
    )


def save_comparison(comparison: Comparison, folder: str | PathLike[str]) -> list[Path]:
    """Write ``comparison.csv`` (every fold), ``summary.csv``, ``figure.png`` and ``figure.pdf``; the paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in COMPARISON_FILES]
    figure = comparison.plot()
    drawn = {}
    for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=160, metadata=metadata)
        drawn[kind] = file.getvalue()
    comparison.to_csv(paths[0])
    write_whole(paths[1], comparison.summary.to_csv(index=False))
    write_whole(paths[2], drawn["png"])
    write_whole(paths[3], drawn["pdf"])
    return paths


COMPARISON_FILES = ("comparison.csv", "summary.csv", "figure.png", "figure.pdf")


def report_tables(
    model: DebiasedClassifier,
    data: pd.DataFrame,
    *,
    audit: pd.DataFrame | None = None,
    fair: str | None = None,
    recorded: str | None = None,
    favourable: object = None,
    **options: Any,
) -> Report:
    """:func:`~problog4fairness.report` on tables as they were read.

    Parameters
    ----------
    model
        A trained model.
    data, audit
        Recorded data and audited rows. Without ``audit``, rows of ``data`` with a fair label are the audited ones.
    fair, recorded
        Columns of the fair and of the recorded label; the latter is known to most models.
    favourable
        The favourable value of the fair label, where that is written in another way than the recorded one.
    options
        As for :func:`~problog4fairness.report`.
    """
    column = recorded or model.recorded_
    if column is None:
        raise P4FError("the model does not know the column of the recorded label; name it with --recorded")
    sensitive = model.mechanism_.sensitive_columns if model.mechanism_ is not None else ()
    for name, role in ((column, "recorded"), (fair, "fair")):
        if name in (*sensitive, *model.feature_names_in_) or (fair == column and role == "fair"):
            raise P4FError(f"column {name!r} cannot be the {role} label: the model knows it as something else")
    check_column(data, column, "recorded label", "--recorded")
    if audit is None and fair is not None:
        check_column(data, fair, "fair label", "--fair")
        audit = data[data[fair].notna()]
    if audit is not None:
        if fair is None:
            raise P4FError("name the column of the fair label in the audit with --fair")
        check_column(audit, fair, "fair label", "--fair")
        audit = _clean(model, audit[audit[fair].notna()], column)
        audit[fair] = _fair(model, audit, fair, favourable)
    cleaned = _clean(model, data, column)
    if fair is not None and fair in cleaned.columns:
        cleaned = cleaned.drop(columns=fair)
    return report(model, cleaned, audit=audit, fair=fair, recorded=column, **options)


def _clean(model: DebiasedClassifier, frame: pd.DataFrame, recorded: str) -> pd.DataFrame:
    """A copy in which labels and groups are written as the model knows them; rows without them are left out."""
    mechanism = model.mechanism_
    columns = [name for name in (mechanism.sensitive_columns if mechanism is not None else ()) if name in frame.columns]
    needed = [*columns, *([recorded] if recorded in frame.columns else [])]
    missing = frame[needed].isna()
    for name in needed:
        if missing[name].any():
            warn(f"column {name!r} has {int(missing[name].sum())} missing values; these rows were left out")
    kept = frame[~missing.any(axis=1)].reset_index(drop=True)
    if not len(kept):
        raise P4FError(f"no row has a value in each of {', '.join(map(repr, needed))}")
    exact = [
        *columns,
        *(name for name in (mechanism.features if mechanism is not None else ()) if name in kept.columns),
    ]
    cleaned: dict[str, Any] = {}
    for name in exact:
        values = values_of(kept[name])
        cleaned[name] = rewritten(kept[name], values, values, "sensitive variable")
    if recorded in kept.columns:
        classes = model.classes_.tolist()
        cleaned[recorded] = rewritten(kept[recorded], [plain(value) for value in classes], classes, "recorded label")
    return kept.assign(**cleaned)


def _fair(model: DebiasedClassifier, audit: pd.DataFrame, fair: str, favourable: object) -> Any:
    """The fair label in the values of the recorded one."""
    classes = model.classes_.tolist()
    known = [plain(value) for value in classes]
    if set(values_of(audit[fair])) <= set(known):
        return rewritten(audit[fair], known, classes, "fair label")
    pair, _ = find_labels(audit, fair, None, favourable)
    return rewritten(audit[fair], pair, classes, "fair label")
