"""From tables as they come to the case against a belief."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.audit import Audit, warn_audit
from problog4fairness.beliefs import Belief
from problog4fairness.checks.case import Case
from problog4fairness.data import (
    MOST_ROWS,
    FileNote,
    Roles,
    Rows,
    check_column,
    is_frame,
    positions,
    to_frame,
    with_audit,
)
from problog4fairness.errors import P4FError
from problog4fairness.estimators import TrainingRows, joined, training_rows, with_fair
from problog4fairness.statistics import check_known, count


def read_case(
    belief: Belief,
    table: Any,
    *,
    recorded: str | None,
    audit: Any = None,
    fair: str | Mapping[str, str] | None = None,
    favourable: Any = None,
    use_sensitive: bool = False,
    features: Sequence[str] | None = None,
    when: str | None = None,
    seed: int = 0,
    drop: Sequence[str] = (),
) -> Case:
    """The case against a belief; the parameters are those of :func:`~problog4fairness.check`."""
    check_known(belief.parameters)
    if belief.columns.recorded:
        raise P4FError(
            "beliefs about one recorded label are compared, not about votes; take those of p4f.beliefs.by_column(...)"
        )
    when = belief.columns.date if when is None else when
    options: dict[str, Any] = {"use_sensitive": use_sensitive, "seed": seed, "when": when}
    if isinstance(table, Rows):
        return _sampled(_of_rows(belief, table, audit, options))
    if not is_frame(table):
        raise P4FError(f"the table is a data frame or Rows, not {type(table).__name__}")
    if recorded is None:
        raise P4FError("name the column of the recorded label by recorded=...")
    frame = to_frame(table)
    if isinstance(table, pd.DataFrame):
        frame.index = table.index
    audited = audit if audit is None or isinstance(audit, Audit | pd.DataFrame) else to_frame(audit)
    pairs = {recorded: fair} if isinstance(fair, str) else dict(fair or {})
    fair = pairs.pop(recorded, None)
    whole, audited_features = _joined(belief, frame, audited, recorded, fair, pairs, drop)
    days = [] if when is None else [when]
    for name in days:
        check_column(whole, name, "day", "when")
    unused = [*drop, *days, *(name for name in pairs.values() if name in whole.columns)]
    with warnings.catch_warnings():
        # Which of 0 and 1 is favourable needs no word here.
        warnings.simplefilter("ignore", FileNote)
        given = training_rows(
            whole,
            belief,
            recorded=recorded,
            fair=fair,
            favourable=favourable,
            use_sensitive=use_sensitive,
            drop=unused,
            features=features,
        )
    kept = given.places
    rows = _rows(belief, given, recorded, whole.iloc[kept], days)
    known = {name: values.iloc[kept].reset_index(drop=True) for name, values in audited_features.items()}
    numbers, size = np.where(kept < len(frame), kept, -1), int((kept < len(frame)).sum())
    return _sampled(Case(belief, rows, size, label=recorded, fair_features=known, numbers=numbers, **options))


def _joined(
    belief: Belief,
    frame: pd.DataFrame,
    audit: pd.DataFrame | Audit | None,
    recorded: str,
    fair: str | None,
    fair_features: Mapping[str, str],
    drop: Sequence[str],
) -> tuple[pd.DataFrame, dict[str, pd.Series[Any]]]:
    """The table with the fair label, followed by audited rows that are not in it; and audited features beside."""
    for name in fair_features:
        if name not in belief.features:
            raise P4FError(
                f"the belief does not distort {name!r}; it distorts {', '.join(belief.features) or 'nothing'}"
            )
    unused = [*drop, *fair_features.values()]
    if audit is None:
        for column in fair_features.values():
            check_column(frame, column, "fair feature", "fair")
        return with_fair(frame, None, recorded, fair), {name: frame[column] for name, column in fair_features.items()}
    if fair is None and not fair_features:
        raise P4FError("name the column of the fair label in the audit by fair=...")
    columns = [*([fair] if fair else []), *fair_features.values()]
    for column in columns:
        rows = audit.frame if isinstance(audit, Audit) else audit
        check_column(rows, column, "fair label" if column == fair else "fair feature", "fair")
    needed = [name for name in frame.columns if name not in (*unused, fair)]
    known = [name for name in frame.columns if name not in columns]
    audited = Audit.of(audit, fair=columns, table=frame[known])
    if audited.clusters is not None:
        warn_audit(
            "the checks take the audited rows of one cluster as independent of each other, and reject too often for it"
        )
    rows, features = frame[known], {}
    for name, column in fair_features.items():
        rows, features[name] = with_audit(frame[known], audited.frame, fair=column, needed=needed, places=audited.rows)
    if fair is not None:
        rows = joined(frame[known], audited, fair, needed)
    return rows, features


def _rows(belief: Belief, given: TrainingRows, recorded: str, frame: pd.DataFrame, days: Sequence[str]) -> Rows:
    """The rows with all columns that are read, and features without those that no learner may read."""
    labels = sorted(given.label.dropna().unique().tolist(), key=lambda value: value == given.favourable)
    classes = belief.record.classes or tuple(labels)
    if len(classes) < 2:
        raise P4FError(f"column {recorded!r} of the label has one value only ({classes[0]!r})")
    whole = given.features
    if given.groups is not None:
        whole = pd.concat([whole, given.groups.drop(columns=whole.columns, errors="ignore")], axis=1)
    lacking = [name for name in dict.fromkeys([*belief.columns.others, *days]) if name not in whole.columns]
    if lacking:
        whole = pd.concat([whole, frame[lacking].reset_index(drop=True)], axis=1)
    weights = None
    if given.audit_weights is not None and given.audit_weights.nunique() > 1:
        weights = given.audit_weights.fillna(0.0).to_numpy()
    withheld = belief.columns.withheld
    features = tuple(name for name in map(str, given.features.columns) if name not in withheld)
    roles = Roles(given.label, fair=given.fair, labels=classes)
    return replace(Rows.from_table(whole, roles, belief, features=features), audit_weights=weights)


def _of_rows(belief: Belief, rows: Rows, audit: Any, options: dict[str, Any]) -> Case:
    if rows.recorded is None:
        raise P4FError("these rows have no recorded label")
    if audit is None:
        return Case(belief, rows, len(rows), numbers=np.arange(len(rows)), **options)
    if not isinstance(audit, Rows) or audit.recorded is None or audit.fair is None:
        raise P4FError("the audit of Rows is Rows, with recorded and fair labels")
    columns = list(rows.frame.columns)
    table, checked = (part.frame[columns].assign(**{"recorded label": part.recorded}) for part in (rows, audit))
    places = positions(table, checked)[0]
    new, fair = places < 0, np.full(len(rows), -1, dtype=np.int64)
    fair[places[~new]] = audit.fair[~new]
    joined = Rows(
        pd.concat([rows.frame, audit.frame.loc[new, columns]], ignore_index=True),
        rows.features,
        rows.classes,
        np.concatenate([rows.recorded, audit.recorded[new]]),
        np.concatenate([fair, audit.fair[new]]),
    )
    numbers = np.where(np.arange(len(joined)) < len(rows), np.arange(len(joined)), -1)
    return Case(belief, joined, len(rows), numbers=numbers, **options)


def _sampled(case: Case) -> Case:
    """At most so many rows of the table, and so many that were audited."""
    rng, notes = np.random.default_rng([case.seed, 0]), []
    audited = np.zeros(len(case.rows), dtype=bool)
    audited[case.audited] = True
    for fair in case.fair_features.values():
        audited |= fair.notna().to_numpy()
    chosen = np.arange(case.size)
    if case.size > MOST_ROWS:
        chosen = np.sort(rng.choice(case.size, MOST_ROWS, replace=False))
        notes.append(f"Of {count(case.size, 'recorded row')}, {count(MOST_ROWS)} were drawn at random and checked.")
    others = np.setdiff1d(np.flatnonzero(audited), chosen)
    room = MOST_ROWS - int(audited[chosen].sum())
    if len(others) > room:
        others = np.sort(rng.choice(others, room, replace=False))
        notes.append(f"Of {count(audited.sum(), 'audited row')}, {count(MOST_ROWS)} were drawn at random and checked.")
    if not notes:
        return case
    order = np.concatenate([chosen, others])
    features = {name: fair.iloc[order].reset_index(drop=True) for name, fair in case.fair_features.items()}
    return replace(
        case,
        rows=case.rows.take(order),
        size=len(chosen),
        fair_features=features,
        numbers=case.numbers[order],
        notes=tuple(notes),
    )
