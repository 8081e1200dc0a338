"""What a belief says of itself as data: of its kind, which columns it reads, how the label is on record."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from problog4fairness.errors import P4FError, among

if TYPE_CHECKING:
    from problog4fairness.beliefs.fields import Field
    from problog4fairness.data import Codes, Rows


class Question(NamedTuple):
    """How a person finds the belief that is theirs.

    Attributes
    ----------
    doubted
        What cannot be trusted: ``label``, ``feature``, ``group`` or ``other``.
    answer, example
        How that came about, and a case of it.
    boxes
        A sketch: the causes above and the effects below; ``*`` marks what the classifier gives, ``?`` what nobody saw.
    """

    doubted: str
    answer: str
    example: str
    boxes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class BeliefKind:
    """What is said of all beliefs of a kind.

    Attributes
    ----------
    fields
        The arguments of its constructor but ``favourable``; see :mod:`problog4fairness.beliefs.fields`.
    command
        Its name for ``p4f estimate --belief``; None where it is stated in Python only.
    question
        How a person finds it in a form.
    identified_by
        What tells its parameters, in a few words.
    overlap
        Whether two of its parameters may explain the same errors.
    predicts_from
        Whether new rows have ``"fair"`` features, or ``"biased"`` ones to which the belief is applied first.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.LabelBias.kind.command, [field.name for field in p4f.LabelBias.kind.fields][:3]
    ('label', ['sensitive', 'negative', 'positive'])
    """

    fields: tuple[Field, ...] = ()
    command: str | None = None
    question: Question | None = None
    identified_by: str = ""
    overlap: bool = False
    predicts_from: Literal["fair", "biased"] = "fair"


@dataclass(frozen=True)
class Columns:
    """The columns that a belief reads, by what they are for it.

    Attributes
    ----------
    sensitive
        The sensitive columns.
    others
        Columns of what else the bias depends on: who decided, when, proxies of the group.
    recorded
        The columns that hold the record, where it is in several: votes.
    features, numbers
        The recorded features that it changes, and those of them that are numbers.
    audited
        The features whose fair values an audit finds out.
    withheld
        Those that no learner may read.
    optional
        Sensitive columns that a table need not have.
    date
        The column with the day of each row, where the bias depends on it.
    groups
        For each sensitive column that alone says the group, its groups; of two, the sensitive one is the second.
    anything
        Whether it may read any other column, too.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> columns = p4f.SelectiveLabels("poor_area", decided_by={"officer": ("ann", "bob")}).columns
    >>> columns.sensitive, columns.withheld, columns.all
    (('poor_area',), ('officer',), ('poor_area', 'officer'))
    """

    sensitive: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    audited: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    date: str | None = None
    groups: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    anything: bool = False

    @property
    def all(self) -> tuple[str, ...]:
        """All columns that a table must have, besides a single recorded label."""
        names = dict.fromkeys((*self.sensitive, *self.others, *self.recorded, *self.features))
        return tuple(name for name in names if name not in self.optional)

    @property
    def context(self) -> tuple[str, ...]:
        """What must be known besides the features and the record: groups, who decided, proxies."""
        return tuple(name for name in self.all if name not in {*self.recorded, *self.features})

    def require(self, rows: Rows) -> None:
        """Raise the error that names a column which the belief reads and the rows do not have."""
        for column in self.all:
            unrecorded = rows.recorded is None and column in self.recorded
            if column not in rows.frame.columns and not unrecorded:
                nearest = among(column, rows.frame.columns)
                raise P4FError(f"the belief needs the column {column!r}; {nearest}, or pass sensitive_features")

    def distinct(self, rows: Rows) -> Rows:
        """One row of each kind that the belief can tell apart."""
        if self.anything:
            return rows
        columns = [name for name in (*self.all, *self.optional) if name in rows.frame.columns]
        if not columns:
            return rows.take(np.arange(min(1, len(rows))))
        return rows.take(np.flatnonzero(~rows.frame[columns].duplicated().to_numpy()))


class Outcomes(NamedTuple):
    """What was recorded in rows, among what can be.

    Attributes
    ----------
    size
        How many different things can be recorded: the classes, and perhaps that nothing is; 1 where the program reads
        the record, and its query is that it is so.
    codes
        ``[rows]``: which of them was; None for rows to predict.
    """

    size: int
    codes: Codes | None


@dataclass(frozen=True)
class LabelRecord:
    """How the label is on record.

    Attributes
    ----------
    columns
        The columns that hold it, where it is in several.
    gaps
        Whether rows without a recorded label count: that nothing was recorded says something, too.
    copied
        Whether it is a copy of the fair label, right or distorted, so that the two can be compared.
    classes
        Its classes where the belief names them, the favourable one last.
    favourable
        The label that counts as 1; None while nobody said.
    ordered
        Whether, of more than two labels, the last in order is the favourable one.
    classifier
        The network of the program that gives the fair label, which is learned.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.SelectiveLabels("poor_area").record.gaps
    True
    """

    columns: tuple[str, ...] = ()
    gaps: bool = False
    copied: bool = True
    classes: tuple[int | str, ...] | None = None
    favourable: bool | int | float | str | None = None
    ordered: bool = False
    classifier: str = "h"

    def outcomes(self, rows: Rows) -> Outcomes:
        """What was recorded in rows: the classes, and where the record has gaps, last, that nothing was."""
        codes, classes = rows.recorded, len(rows.classes)
        if self.columns:
            return Outcomes(1, None if codes is None else np.ones(len(rows), dtype=np.int64))
        if self.gaps:
            return Outcomes(classes + 1, None if codes is None else np.where(codes < 0, classes, codes))
        missing = 0 if codes is None else int((codes < 0).sum())
        if missing:
            raise P4FError(
                f"{missing} rows have no recorded label, and the belief does not say when that happens; drop them, or "
                "believe in SelectiveLabels"
            )
        return Outcomes(classes, codes)

    def favourable_among(self, labels: Collection[Any], given: Any = None) -> Any:
        """Which of these labels counts as 1: what is said now, or what the belief knows; None where neither does.

        A belief that knows another of these labels contradicts what is said, which is an error. A belief that was made
        with labels written in another way does not, but then somebody has to say which one is meant.
        """
        known = sorted(labels)[-1] if self.ordered and len(labels) > 2 else self.favourable
        if known is None or (given is not None and known not in labels):
            return given
        if known not in labels:
            raise P4FError(
                f"the belief's favourable label is {known!r}, which is not among {list(labels)}; "
                "say which one it is by favourable=..."
            )
        if given is not None and given != known:
            raise P4FError(
                f"favourable={given!r} contradicts the belief, in which {known!r} is the favourable label; "
                "leave it out, or estimate the belief anew"
            )
        return known
