"""Which column is what, and which value means what; stated by the user, or by a convention that is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.data.columns import complete_rows
from problog4fairness.data.groups import has_others, others_of
from problog4fairness.data.labels import find_labels
from problog4fairness.data.problems import TableError, listed, note
from problog4fairness.data.values import Value, conventional, match, plain, values_of

# A sensitive column with more values than this is a measurement, not a group.
MAX_GROUPS = 20


@dataclass(frozen=True)
class Roles:
    """Which column is what, and which value means what.

    Attributes
    ----------
    recorded, fair
        The column of the recorded label, and of the fair one where there is one: by name, or for
        :meth:`Rows.from_table` also the values themselves.
    sensitive
        The sensitive column; for :meth:`Rows.from_table` also columns beside the table.
    labels
        The label's values, the favourable one last; empty as long as they are not known.
    levels
        The groups; with two, the sensitive one is the second.
    fair_labels
        The same as ``labels`` in the notation of the fair column.
    favourable
        The favourable label; None where nobody stated it, and the labels are not known.

    Examples
    --------
    >>> from problog4fairness.data import Roles
    >>> roles = Roles("granted", "poor_area", "repaid", labels=("no", "yes"), levels=(0, 1))
    >>> roles.favourable, roles.group, roles.binary
    ('yes', 1, True)
    """

    recorded: Any = None
    sensitive: Any = None
    fair: Any = None
    labels: tuple[Value, ...] = ()
    levels: tuple[Value, ...] = ()
    fair_labels: tuple[Value, ...] | None = None
    favourable: Any = None

    def __post_init__(self) -> None:
        if self.labels:
            object.__setattr__(self, "favourable", self.labels[-1])

    @property
    def binary(self) -> bool:
        """Whether there are two groups."""
        return len(self.levels) == 2

    @property
    def group(self) -> Value | None:
        """The sensitive group, or None where there are more than two groups."""
        return self.levels[1] if self.binary else None

    def clean(self, frame: pd.DataFrame, *, gaps: bool = False) -> pd.DataFrame:
        """A table with known values in these columns.

        Rows without a group or a label are dropped, with a warning that counts them. Whole numbers that were read with
        a decimal point are whole again, and the fair label is written as the recorded one is. A column for the recorded
        or the fair label that the table does not have is passed over.

        Parameters
        ----------
        frame
            The table.
        gaps
            Whether rows without a recorded label stay.
        """
        label_columns = {}
        if self.recorded in frame.columns:
            label_columns[self.recorded] = ("recorded label", self.labels, self.labels)
        if self.fair is not None and self.fair in frame.columns:
            label_columns[self.fair] = ("fair label", self.fair_labels or self.labels, self.labels)
        check_column(frame, self.sensitive, "sensitive variable", "sensitive")
        complete = [name for name in label_columns if not (gaps and name == self.recorded)]
        frame = complete_rows(frame, [self.sensitive, *complete])
        columns = {self.sensitive: recode_groups(frame[self.sensitive], self.levels)} | {
            name: recode(frame[name], known, written, role) for name, (role, known, written) in label_columns.items()
        }
        return frame.assign(**columns).reset_index(drop=True)


def find_roles(
    frame: pd.DataFrame,
    *,
    recorded: str,
    sensitive: str,
    fair: str | None = None,
    favourable: object = None,
    group: object = None,
) -> Roles:
    """Find out which value means what.

    Labels 0 and 1, false and true mean what they say, unless the name of the column says that 1 is bad, as ``default``
    does: the second is favourable. No and yes of a fair label follow a recorded label written as 0 and 1. Of groups, no
    and yes mean what they say, too: the second is the sensitive one. A note tells that this was assumed. Of any other
    two values, and of three or more classes, the caller has to name one; the error lists them.

    Parameters
    ----------
    frame
        The table.
    recorded, sensitive, fair
        Names of columns.
    favourable
        The favourable label, or a text that means it: ``1``, ``1.0``, ``True``, ``yes``.
    group
        The sensitive group, or a text that means it; of more than two, it is compared with all others as one.

    Examples
    --------
    >>> import pandas as pd
    >>> from problog4fairness.data import find_roles
    >>> frame = pd.DataFrame({"decision": ["in", "out", "in"], "sex": ["f", "m", "m"]})
    >>> roles = find_roles(frame, recorded="decision", sensitive="sex", favourable="in", group="f")
    >>> roles.labels, roles.levels
    (('out', 'in'), ('m', 'f'))
    """
    check_column(frame, recorded, "recorded label", "recorded")
    check_column(frame, sensitive, "sensitive variable", "sensitive")
    if fair is not None:
        check_column(frame, fair, "fair label", "fair")
    names = [name for name in (recorded, sensitive, fair) if name is not None]
    if len(set(names)) != len(names):
        raise TableError(f"the recorded label, the fair label and the sensitive variable are {listed(names)}; "
                         "each must be a column of its own")  # fmt: skip
    labels, fair_labels = find_labels(frame, recorded, fair, favourable)
    return Roles(recorded, sensitive, fair, labels, find_levels(frame, sensitive, group), fair_labels)


def check_column(frame: pd.DataFrame, name: str, role: str, argument: str) -> None:
    """Raise the error that lists the columns where one is missing, and the name that may be meant.

    ``role`` is what the column is for, in words, and ``argument`` the argument that named it.
    """
    if name in frame.columns:
        return
    known = [str(column) for column in frame.columns]
    near = get_close_matches(name.lower(), [column.lower() for column in known], n=1)
    suggestion = next((f"; did you mean {column!r}?" for column in known if near and column.lower() == near[0]), ";")
    raise TableError(
        f"{argument}={name!r}: there is no such column for the {role}{suggestion} there are {listed(known)}",
        argument=argument,
    )


def find_levels(frame: pd.DataFrame, sensitive: str, group: object) -> tuple[Value, ...]:
    """The groups of a sensitive column, the sensitive one of two last; ``group`` as in :func:`find_roles`."""
    values = values_of(frame[sensitive])
    usual = conventional(values)
    if not values or (len(values) == 1 and usual is None) or len(values) > MAX_GROUPS:
        held = "no value" if not values else f"one value only ({values[0]!r})"
        held = f"{len(values)} different values" if len(values) > MAX_GROUPS else held
        raise TableError(f"column {sensitive!r} has {held}; a sensitive variable has two groups or a few more")
    if len(values) > 2:
        if group is not None:
            chosen = match(group, values, sensitive, "group")
            note(f"{sensitive}: {chosen} is compared with the {len(values) - 1} other groups together")
            return others_of([chosen]), chosen
        note(f"{sensitive}: there are {len(values)} groups, {listed(values)}")
        return tuple(values)
    if group is not None:
        pair = values if len(values) == 2 else list(usual or ())
        chosen = match(group, pair, sensitive, "group")
        return next(value for value in pair if value != chosen), chosen
    if usual is None:
        raise TableError(
            f"column {sensitive!r} has the values {listed(values)}; say which one is the sensitive group by group=...",
            argument="group",
        )
    note(f"{sensitive}: {usual[1]} is the sensitive group, {usual[0]} is not; override with group=...")
    return usual


def known_levels(frame: pd.DataFrame, sensitive: str, levels: Sequence[Value]) -> tuple[Value, ...]:
    """The groups that are known already, after a check that the table has these and no others."""
    values = values_of(frame[sensitive])
    unknown = [value for value in values if value not in levels]
    if has_others(levels) and set(levels[1:]) & set(values):
        unknown, values = [], [levels[0] if value in unknown else value for value in values]
    if unknown and len(unknown) == len(values):
        raise TableError(
            f"column {sensitive!r} has the values {listed(values, 6)}, the belief knows {listed(levels)}; recode the "
            "column, or, for a program, say which group is the sensitive one by group=...",
            argument="group",
        )
    if unknown:
        count = int(frame[sensitive].map(plain, na_action="ignore").isin(unknown).sum())
        raise TableError(
            f"column {sensitive!r} has the value {unknown[0]!r}, which the belief does not know ({count} rows; it "
            f"knows {listed(levels)}): audit that group too, or leave these rows out"
        )
    absent = [level for level in levels if level not in values]
    if absent:
        raise TableError(
            f"no row has {sensitive} = {absent[0]}, a group that the belief is about; estimate it from an audit of the "
            "groups that the data have"
        )
    return tuple(levels)


def plain_feature(column: pd.Series[Any]) -> Any:
    """A distorted feature with whole numbers as such; one of other numbers stays as it is."""
    if pd.api.types.is_float_dtype(column) and bool((column.dropna() % 1 != 0).any()):
        return column
    values = values_of(column)
    return recode(column, values, values, "feature")


def recode_groups(column: pd.Series[Any], levels: Sequence[Value]) -> Any:
    """A sensitive column with its groups as plain data; where one group is compared with all others, these are one."""
    known = values_of(column) if has_others(levels) else levels
    written = [value if value in levels else levels[0] for value in known]
    return recode(column, known, written, "sensitive variable")


def recode(column: pd.Series[Any], known: Sequence[Value], written: Sequence[Value], role: str) -> Any:
    """A column with its values as plain data: ``written`` for each of those that are ``known``, None where missing.

    ``role`` says in the error what the column is.
    """
    codes, values = pd.factorize(column)
    place = dict(zip(known, written, strict=True))
    unknown = [plain(value) for value in values if plain(value) not in place]
    if unknown:
        raise TableError(
            f"column {column.name!r} of the {role} has the value {unknown[0]!r}, which is not among {listed(known)}"
        )
    texts = [place[plain(value)] for value in values]
    if (codes < 0).any():
        return np.array([*texts, None], dtype=object)[codes]
    return pd.Series(texts).take(codes).to_numpy() if texts else column
