"""What methods are compared on: rows, groups, and which rows stay together in every split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from problog4fairness.audit import Audit
from problog4fairness.beliefs import Belief
from problog4fairness.data import (
    MAX_CLASSES,
    Codes,
    Level,
    Roles,
    Rows,
    Sensitive,
    beside,
    require_column,
    to_frame,
)
from problog4fairness.errors import P4FError
from problog4fairness.estimators import is_plain, read_record
from problog4fairness.metrics import plain

# More groups than this are no groups.
MOST_GROUPS = 50
# Rows on which fits are compared with each other, at most.
MOST_WITNESSES = 2000


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Recorded data to compare methods on; made by :func:`compared_rows`.

    Attributes
    ----------
    rows
        The rows with their recorded labels, and fair ones where they are known. All columns are features, the sensitive
        ones too.
    sensitive
        Says the group of each row.
    groups
        ``[rows]``: that group, by its position in ``sensitive.levels``; of two, 1 is the sensitive one.
    split_groups
        ``[rows]``: rows with equal numbers stay on one side of every split; None where each row is alone.
    audit
        How the rows with a fair label were sampled, in their order; None where there are none.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> from problog4fairness.evaluation import compared_rows
    >>> data = p4f.datasets.loans(rows=1, audited=40, new=1)
    >>> columns = [*data.features, "poor_area"]
    >>> table = compared_rows(data.audit[columns], data.audit["granted"], sensitive_features="poor_area")
    >>> bool((table.groups == data.audit["poor_area"]).all()), table.fair.max()  # no fair label is known
    (True, np.int64(-1))
    """

    rows: Rows
    sensitive: Sensitive
    groups: Codes
    split_groups: Codes | None = None
    audit: Audit | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def recorded(self) -> Codes:
        """``[rows]``: the recorded label by its position among the classes, the last of which is favourable."""
        return np.zeros(len(self), dtype=np.int64) if self.rows.recorded is None else self.rows.recorded

    @property
    def fair(self) -> Codes:
        """``[rows]``: the fair label, -1 where it is not known."""
        return np.full(len(self), -1, dtype=np.int64) if self.rows.fair is None else self.rows.fair

    @property
    def witnesses(self) -> Codes:
        """Rows with a fair label, on which fits are compared with each other: all, or some of very many."""
        known = np.flatnonzero(self.fair >= 0)
        return known[:: -(-len(known) // MOST_WITNESSES) or 1]

    def known_places(self, rows: Codes) -> Codes:
        """The places of rows among those with a fair label."""
        return np.searchsorted(np.flatnonzero(self.fair >= 0), rows)

    def sampled(self, rows: Codes) -> Audit | None:
        """How some of the rows with a fair label were sampled."""
        return None if self.audit is None else self.audit.take(self.known_places(rows))


def compared_rows(
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    fair: Any = None,
    favourable: Any = None,
    classes: Sequence[Any] | None = None,
    levels: Sequence[Any] | None = None,
    split_groups: Any = None,
    names: Sequence[str] = (),
    beliefs: Sequence[Belief] = (),
    audit: Audit | None = None,
) -> ComparedRows:
    """From what a user has.

    Parameters
    ----------
    X
        Features: numbers and categories.
    y
        Recorded labels; with gaps, or in several columns, where the belief says so.
    sensitive_features
        Names of columns of X, or the columns themselves, which join the features.
    fair
        Fair labels by row, missing (None, NaN or ``pd.NA``) where not known.
    favourable
        The favourable label; the largest one by default.
    classes
        All labels, where a belief names them, the favourable one last; by default those that occur.
    levels
        The groups, the sensitive one of two last. By default 0 and 1, or all that occur if they are more than two.
    split_groups
        The name of a column of X, which is then no feature, or a value for each row: a pupil, a household.
    names
        Names for sensitive columns that come without.
    beliefs
        They say whether labels may be missing, or are the votes of several people, and which columns no learner reads.
    audit
        How the rows with a fair label were sampled: matched to X by its ``rows``, or, where these are not known, in the
        order of X. Without it they are taken as a random sample.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> from problog4fairness.evaluation import compared_rows
    >>> data = p4f.datasets.loans(rows=1, audited=40, new=1)
    >>> columns = [*data.features, "poor_area"]
    >>> table = compared_rows(
    ...     data.audit[columns], data.audit["granted"], sensitive_features="poor_area", fair=data.audit["repaid"]
    ... )
    >>> len(table), table.sensitive.columns
    (40, ('poor_area',))
    """
    frame = to_frame(X)
    if not len(frame):
        raise P4FError("X has no rows")
    if isinstance(split_groups, str):
        require_column(split_groups, frame, "split_groups")
        split_groups, frame = frame[split_groups], frame.drop(columns=split_groups)
    frame, columns = _with_sensitive(frame, sensitive_features, names)
    # People are not compared by what says how the record came about.
    withheld = {name for own in beliefs for name in own.withheld}
    columns = tuple(name for name in columns if name not in withheld)
    belief = next((own for own in beliefs if own.recorded_columns or own.missing_labels), None)
    votes = () if belief is None else belief.recorded_columns
    features = [name for name in frame.columns if name not in {*withheld, *votes}]
    plain_label = belief is None or is_plain(belief, y)
    if plain_label:
        _check_labels(y, len(frame))
    record = y if belief is None or plain_label else read_record(belief, y)
    roles = Roles(record, fair=fair, labels=tuple(classes or ()) if plain_label else (), favourable=favourable)
    rows = Rows.from_table(frame, roles, None if plain_label else belief, features=features, ordered=classes is None)
    frame, known = rows.frame, rows.fair
    sensitive = _sensitive(frame, columns, levels)
    groups = rows.positions(sensitive)
    if groups.ndim == 2:
        raise P4FError(f"column {columns[0]!r} has probabilities of groups; a comparison needs the group of every row")
    for level in range(len(sensitive.levels)):
        if not (groups == level).any():
            raise P4FError(f"no row has {sensitive.group_text(level)}; leave that group out of levels")
    together = None if split_groups is None else _split_groups(split_groups, len(frame))
    sampled = None if known is None else _sampled(audit, np.flatnonzero(known >= 0), len(known))
    if sampled is not None and known is not None and sampled.sampling == "stratified":
        weights = np.zeros(len(known))
        weights[known >= 0] = sampled.weights
        rows = replace(rows, audit_weights=weights)
    return ComparedRows(rows, sensitive, groups.astype(np.int64), together, sampled)


def _sampled(audit: Audit | None, known: Codes, rows: int) -> Audit | None:
    """The audit of the rows with a fair label, in their order; where all have one, nothing was sampled."""
    if not len(known):
        return None
    if audit is None:
        nothing = np.zeros(len(known), dtype=np.int64)
        how: Literal["random", "unknown"] = "random" if len(known) == rows else "unknown"
        return Audit(pd.DataFrame(index=range(len(known))), how, np.ones(len(known)), nothing, np.zeros(0), None, known)
    if (audit.rows < 0).all() and len(audit) == len(known):
        return audit
    place = {row: number for number, row in enumerate(audit.rows.tolist()) if row >= 0}
    lacking = [row for row in known.tolist() if row not in place]
    if lacking:
        raise P4FError(
            f"row {lacking[0]} of X has a fair label, but the audit does not have it: Audit.of(..., table=X)"
        )
    return audit.take(np.array([place[row] for row in known.tolist()], dtype=np.int64))


def _with_sensitive(
    frame: pd.DataFrame, sensitive_features: Any, names: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    given = [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
    if given is None or (isinstance(given, list | tuple) and not given):
        raise P4FError("which columns are sensitive? Name columns of X by sensitive_features=..., or pass them")
    texts = isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)
    # As many texts as rows are values, unless all of them are columns.
    if texts and (len(given) != len(frame) or set(given) <= set(frame.columns)):
        for name in given:
            require_column(name, frame)
        return frame, tuple(dict.fromkeys(given))
    joined = beside(given, names, len(frame))
    kept = frame.drop(columns=[name for name in joined.columns if name in frame.columns])
    return pd.concat([kept, joined], axis=1), tuple(joined.columns)


def _check_labels(y: Any, rows: int) -> None:
    if np.ndim(y) != 1 or len(y) != rows:
        raise P4FError(f"y must be one column of {rows} labels, as X has rows, not of the shape {list(np.shape(y))}")
    missing = int(np.sum(pd.isna(y)))
    if missing:
        raise P4FError(f"y has {missing} missing values; drop those rows")
    count = len(pd.unique(pd.Series(np.asarray(y))))
    if count > MAX_CLASSES:
        raise P4FError(f"y has {count} labels, more than {MAX_CLASSES}; make classes of them")


def _sensitive(frame: pd.DataFrame, columns: tuple[str, ...], levels: Sequence[Any] | None) -> Sensitive:
    return Sensitive.of(columns, _default_levels(frame, columns) if levels is None else levels)


def _default_levels(frame: pd.DataFrame, columns: tuple[str, ...]) -> tuple[Level, ...]:
    """0 and 1, or all of more than two groups, whose order does not matter; never a guess at which one is sensitive."""
    single = len(columns) == 1
    values = frame[list(columns)].dropna().drop_duplicates()
    present = [plain(row[0]) if single else tuple(map(plain, row)) for row in values.itertuples(index=False, name=None)]
    shown = repr(columns[0]) if single else f"({', '.join(map(repr, columns))})"
    if single and set(present) <= {0, 1}:
        return (0, 1)
    if len(present) == 2:
        raise P4FError(
            f"sensitive column {shown} has the values {present[0]!r} and {present[1]!r}; "
            "say which one is the sensitive group by levels=(other, sensitive)"
        )
    if len(present) > MOST_GROUPS:
        raise P4FError(f"sensitive column {shown} has {len(present)} different values; groups must be few")
    return tuple(sorted(present, key=lambda value: (type(value).__name__, value)))


def _split_groups(split_groups: Any, rows: int) -> Codes:
    values = pd.Series(np.asarray(split_groups, dtype=object).reshape(-1))
    if len(values) != rows:
        raise P4FError(f"split_groups has {len(values)} values, X has {rows} rows")
    codes, _ = pd.factorize(values)
    alone = codes < 0  # a missing value is not the same as another missing value
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return np.asarray(codes, dtype=np.int64)
