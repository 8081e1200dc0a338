"""Reports from tables as they were read: which value means what, and which audited rows are whose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.app.report.build import Report, report
from problog4fairness.app.report.facts import collect
from problog4fairness.app.report.record import Record
from problog4fairness.app.report.review import Review
from problog4fairness.audit import Audit
from problog4fairness.data import (
    check_column,
    complete_rows,
    find_labels,
    plain,
    plain_feature,
    recode,
    values_of,
)
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, read_audit

# The column of an audited row's number while rows are left out.
_PLACE = "p4f_place"


def report_tables(
    model: DebiasedClassifier,
    data: pd.DataFrame,
    *,
    audit: pd.DataFrame | Audit | None = None,
    fair: str | None = None,
    recorded: str | None = None,
    favourable: object = None,
    record: Record | None = None,
    **options: Any,
) -> Report:
    """:func:`~problog4fairness.report` on tables as they were read.

    Without ``audit``, rows of ``data`` with a fair label are the audited ones. ``favourable`` is the favourable value
    of the fair label, where that is written in another way than the recorded one. How many rows were left out is noted
    in the sources of the record.
    """
    column = _recorded(model, recorded)
    taken = {*model.belief_.sensitive_columns, *model.feature_names_in_}
    for name, role in ((column, "recorded"), (fair, "fair")):
        if name in taken or (fair == column and role == "fair"):
            raise P4FError(f"column {name!r} cannot be the {role} label: the model knows it as something else")
    check_column(data, column, "recorded label", "recorded")
    if audit is None and fair is not None:
        audit = data
    if audit is not None:
        known = read_audit(audit, fair)
        fair = known.fair[0]
        rows = _clean(model, known.frame.assign(**{_PLACE: np.arange(len(known))}), column)
        audit = known.take(rows.pop(_PLACE).to_numpy())
        audit = replace(audit, frame=rows.assign(**{fair: _fair(model, rows, fair, favourable)}))
    cleaned = _clean(model, data, column).drop(columns=[] if fair is None else [fair], errors="ignore")
    why = f"no {' or '.join([column, *model.belief_.sensitive_columns])}"
    kept = {"data": len(cleaned), "audit": len(audit) if audit is not None else 0}
    made = record or Record()
    sources = [
        replace(source, left_out={why if source.role == "data" else "not audited": source.rows - kept[source.role]})
        if source.rows is not None and source.role in kept
        else source
        for source in made.sources
    ]
    made = replace(made, sources=sources)
    return report(model, cleaned, audit=audit, fair=fair, recorded=column, record=made, **options)


def review_table(model: DebiasedClassifier, data: pd.DataFrame, *, recorded: str | None = None) -> Review:
    """The rows for review of a table as it was read, without the rest of a report."""
    column = _recorded(model, recorded)
    check_column(data, column, "recorded label", "recorded")
    return collect(model, _clean(model, data, column), None, None, column).review


def _recorded(model: DebiasedClassifier, recorded: str | None) -> str:
    column = recorded or model.recorded_
    if column is None:
        raise P4FError("the model does not know the column of the recorded label; name it by recorded=...")
    return column


def _clean(model: DebiasedClassifier, frame: pd.DataFrame, recorded: str) -> pd.DataFrame:
    """A copy in which labels and groups are written as the model knows them; rows without them are left out."""
    belief = model.belief_
    sensitive, features = (
        [c for c in names if c in frame.columns] for names in (belief.sensitive_columns, belief.features)
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


def _fair(model: DebiasedClassifier, audit: pd.DataFrame, fair: str, favourable: object) -> Any:
    """The fair label in the values of the recorded one."""
    classes = model.classes_.tolist()
    known = [plain(value) for value in classes]
    if len(classes) > 2 or set(values_of(audit[fair])) <= set(known):
        return recode(audit[fair], known, classes, "fair label")
    pair, _ = find_labels(audit, fair, None, favourable)
    return recode(audit[fair], pair, classes, "fair label")
