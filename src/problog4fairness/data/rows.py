"""A table coded once: what beliefs, learners, metrics and reports work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.data.columns import (
    COUNT,
    column_of,
    column_values,
    counts_of,
    sensitive_frame,
    to_frame,
    warn_swapped,
)
from problog4fairness.data.groups import Sensitive, as_shares
from problog4fairness.data.labels import find_classes, label_codes, majority
from problog4fairness.data.roles import Roles
from problog4fairness.data.values import Codes, Floats
from problog4fairness.errors import P4FError

# Rows on which what takes many fits or tests is computed, at most; more are sampled.
MOST_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Rows:
    """A table coded once.

    Attributes
    ----------
    frame, features
        All columns that somebody may ask for, with the index 0, 1, 2, ...; and those that a learner reads.
    classes
        The labels; the favourable one is the last.
    recorded, fair
        ``[rows]``: the recorded and the fair label by their positions in ``classes``, -1 where there is none or it is
        not known; None for rows to predict, or where the fair label is known of no row.
    weights
        ``[rows]``: how much each row counts in learning; None where all count the same.
    audit_weights
        ``[rows]``: how many people each audited row stands for, with mean 1 over audited rows; None where these are
        a random sample. It does not count in learning, where an audited row only adds its label to what was recorded
        of it, but wherever audited rows are a sample of others: calibration, accuracy, rates.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from problog4fairness.data import Rows
    >>> frame = pd.DataFrame({"income": [1.0, 2.0, 3.0], "poor": [1, 0, 1]})
    >>> rows = Rows(frame, features=("income",), classes=("no", "yes"), recorded=np.array([0, 1, 1]))
    >>> len(rows), len(rows.take(np.array([0, 2])))
    (3, 2)
    """

    frame: pd.DataFrame
    features: tuple[str, ...]
    classes: tuple[Any, ...] = (0, 1)
    recorded: Codes | None = None
    fair: Codes | None = None
    weights: Floats | None = None
    audit_weights: Floats | None = None
    _positions: dict[Sensitive, Codes | Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def from_table(
        cls,
        table: Any,
        roles: Roles,
        belief: Any = None,
        *,
        features: Sequence[str] = (),
        audited: bool = False,
        partly: bool = True,
        ordered: bool = True,
    ) -> Rows:
        """A table as rows: the one place where labels become codes.

        Parameters
        ----------
        table
            A data frame of any library, or an array.
        roles
            Which column is what; columns by name, or their values. With ``roles.labels``, the classes are known.
        belief
            Says which classes and groups there are, whether recorded labels may be missing, and which columns hold the
            votes of several people.
        features
            The columns that a learner reads.
        audited
            Whether these are audited rows alone, in which one of two labels may be lacking.
        partly
            Whether the fair label may be missing in some rows.
        ordered
            Whether it matters which label is favourable; see :func:`find_classes`.

        Examples
        --------
        >>> import pandas as pd
        >>> from problog4fairness.data import Roles, Rows
        >>> table = pd.DataFrame({"income": [1, 2], "granted": ["no", "yes"], "repaid": [None, "yes"]})
        >>> roles = Roles("granted", fair="repaid", favourable="yes")
        >>> rows = Rows.from_table(table, roles, features=("income",))
        >>> rows.recorded.tolist(), rows.fair.tolist()
        ([0, 1], [-1, 1])
        """
        columns = () if belief is None else belief.columns.sensitive
        votes = () if belief is None else belief.columns.recorded
        gaps = belief is not None and belief.record.gaps
        warn_swapped(roles.recorded, roles.fair, roles.sensitive, columns, stacklevel=4)
        frame = to_frame(table)
        recorded = None
        if roles.recorded is not None:
            label = roles.recorded if votes else column_values(frame, roles.recorded, "recorded", gaps, not audited)
            recorded = pd.DataFrame(label if votes else {"": label}).reset_index(drop=True)
        fair = None if roles.fair is None else column_values(frame, roles.fair, "fair", partly, not audited)
        for role, values in (("recorded", recorded), ("fair", fair)):
            if values is not None and len(values) != len(frame):
                raise P4FError(f"there are {len(frame)} rows and {len(values)} {role} labels; give one for each row")
        classes = tuple(roles.labels) or (None if belief is None else belief.record.classes)
        if classes is None:
            parts = [] if recorded is None else [recorded[name] for name in recorded]
            parts += [] if fair is None or not audited else [fair]
            labels = pd.concat(parts).dropna()
            favourable, name = roles.favourable, None if votes else _name_of(roles.recorded)
            if belief is not None:
                favourable = belief.record.favourable_among(labels.unique().tolist(), favourable)
            classes = find_classes(labels.to_numpy(), favourable, name, ordered=ordered, audited=audited)
        if roles.sensitive is not None:
            passed = sensitive_frame(roles.sensitive, columns, len(frame))
            frame = pd.concat([frame.drop(columns=passed.columns, errors="ignore"), passed], axis=1)
        codes = None
        if recorded is not None:
            name, missing = _called(roles.recorded, "y"), gaps or bool(votes)
            each = [label_codes(recorded[column], classes, name, missing) for column in recorded]
            codes = majority(np.stack(each, axis=1), len(classes)) if votes else each[0]
            if votes:
                frame = pd.concat([frame.drop(columns=list(votes), errors="ignore"), recorded], axis=1)
        known = None if fair is None else label_codes(fair, classes, _called(roles.fair, "fair"), partly)
        weights = counts_of(frame).astype(np.float64) if COUNT in frame.columns else None
        return cls(frame, tuple(features), classes, codes, known, weights)

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return f"Rows({len(self)} rows, {len(self.features)} features, classes {self.classes})"

    @property
    def favourable(self) -> int:
        """The position of the favourable label in ``classes``: the last."""
        return len(self.classes) - 1

    @property
    def outputs(self) -> int:
        """How many logits a classifier of the label has: 1 for two classes, k for k."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def positions(self, variable: Sensitive) -> Codes | Floats:
        """The group of each row by position, ``[rows]``; or ``[rows, groups]``, probabilities where it is uncertain."""
        if variable not in self._positions:
            self._positions[variable] = variable.positions(self.frame)
        return self._positions[variable]

    def shares(self, variable: Sensitive) -> Floats:
        """``[rows, groups]``: the probability of each group of a sensitive variable, 0 or 1 where it is recorded."""
        positions = self.positions(variable)
        return as_shares(positions, len(variable.levels))

    def column(self, name: str, needed_for: str) -> pd.Series[Any]:
        """A column by its name; ``needed_for`` says in the error what it is for."""
        return column_of(self.frame, name, needed_for)

    def take(self, rows: Codes) -> Rows:
        """Some of the rows, by number."""
        return replace(
            self,
            frame=self.frame.iloc[rows].reset_index(drop=True),
            recorded=None if self.recorded is None else self.recorded[rows],
            fair=None if self.fair is None else self.fair[rows],
            weights=None if self.weights is None else self.weights[rows],
            audit_weights=None if self.audit_weights is None else self.audit_weights[rows],
            _positions={variable: positions[rows] for variable, positions in self._positions.items()},
        )

    def sampling_weights(self) -> Floats:
        """``[rows]``: :attr:`audit_weights`, 1 for all where audited rows are a random sample."""
        return np.ones(len(self)) if self.audit_weights is None else self.audit_weights

    def with_features(self, features: Sequence[str]) -> Rows:
        """The same rows for a learner that reads other columns."""
        return replace(self, features=tuple(features))

    def with_groups(self, variable: Sensitive, shares: Floats) -> Rows:
        """The same rows with these probabilities of the groups of a variable, ``[rows, groups]``."""
        certain = bool(((shares == 0) | (shares == 1)).all())
        positions = shares.argmax(axis=1) if certain else shares
        frame = self.frame.assign(**dict.fromkeys(variable.columns, np.nan))
        return replace(self, frame=frame, _positions={**self._positions, variable: positions})

    def with_labels(self, recorded: Codes | None) -> Rows:
        """The same rows with these labels on record, and no fair label known beside them."""
        return replace(self, recorded=recorded, fair=None, audit_weights=None)

    def without_record(self) -> Rows:
        """The same rows as if nothing had been recorded: rows to predict."""
        return replace(self, recorded=None, fair=None, weights=None, audit_weights=None)


def _name_of(column: Any) -> str | None:
    """The name of a column that was passed as its name, or as values that know it."""
    name = column if isinstance(column, str) else getattr(column, "name", None)
    return name if isinstance(name, str) else None


def _called(column: Any, argument: str) -> str:
    """What labels are called in errors: the column that was named, or the argument that they were passed as."""
    return f"column {column!r}" if isinstance(column, str) else argument
