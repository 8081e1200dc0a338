"""The strata of an audit: kinds of rows that are sampled separately, by group and by what was recorded."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.data import (
    Codes,
    Rows,
    Sensitive,
    column_of,
    days_of,
    find_classes,
    is_frame,
    label_codes,
    plain,
    to_frame,
)
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Cell, Parameter

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief

LABEL = ""
# More kinds of rows than this would each get too few.
MOST_STRATA = 200


@dataclass(frozen=True)
class Strata:
    """Kinds of rows, by group and by what was recorded.

    Attributes
    ----------
    groups
        The groups, in words: ``poor_area = 1``.
    columns
        What is audited: the column of the recorded label, or those of the recorded features.
    values
        The values of each of these, in words.
    things
        What a belief calls each of these: ``""`` for the label, or the feature.
    """

    groups: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    things: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of groups, and of the values of each column."""
        return (len(self.groups), *map(len, self.values))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each stratum in words: ``poor_area = 1, granted = 0``."""
        return tuple(", ".join([self.groups[group], *recorded]) for group, recorded in self._parts())

    def _parts(self) -> list[tuple[int, list[str]]]:
        places = np.ndindex(self.shape)
        return [
            (group, [f"{c} = {v[i]}" for c, v, i in zip(self.columns, self.values, codes, strict=True)])
            for group, *codes in places
        ]

    def table(self) -> pd.DataFrame:
        """A row for each stratum: its ``group``, and what was ``recorded``."""
        parts = self._parts()
        return pd.DataFrame(
            {
                "group": [self.groups[group] for group, _ in parts],
                "recorded": [", ".join(recorded) for _, recorded in parts],
            }
        )

    def codes(self, groups: Codes, *recorded: Codes) -> Codes:
        """The stratum of each row, -1 where its group or something recorded is not known."""
        parts = np.stack([groups, *recorded])
        known = (parts >= 0).all(axis=0)
        return np.where(known, np.ravel_multi_index(tuple(np.maximum(parts, 0)), self.shape), -1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class SamplingFrame:
    """A table from which rows are sampled, with the stratum of each.

    Attributes
    ----------
    frame
        The table.
    strata
        Its kinds of rows.
    codes
        ``[rows]``: the stratum of each row, -1 where it has no group or nothing was recorded.
    index
        The index of the table as it was passed; None where its rows are numbered from 0.
    """

    frame: pd.DataFrame
    strata: Strata
    codes: Codes
    index: pd.Index[Any] | None = None

    @property
    def labels(self) -> pd.Index[Any]:
        """What each row is called."""
        return self.frame.index if self.index is None else self.index

    @property
    def sizes(self) -> Codes:
        """The number of rows of each stratum."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.strata.names))

    @cached_property
    def fingerprint(self) -> str:
        """Tells this table from others, and from itself in another order; that of groups and labels does not matter."""
        names = self.strata.names
        place = np.append(np.argsort(np.argsort(np.asarray(names, dtype=object))), -1)
        text = "\n".join(sorted(names)).encode()
        return hashlib.sha256(text + place[self.codes].astype("<i8").tobytes()).hexdigest()[:12]


@dataclass(frozen=True)
class AuditRules:
    """What an audit must know of a belief besides its columns, its record and its parameters.

    Attributes
    ----------
    variables
        Those by which rows are divided when an audit is sampled: all that are known before it.
    counted
        Whether every parameter is counted in a cell of its own.
    parts
        Into how many parts audited rows are divided by what is found in them: periods around an unknown day.
    cells
        For each fair label and what may be recorded of it the cells that have a parameter each; None where any label
        may be recorded as any other, in all groups.
    affected
        With ``cells``, the groups of the first variable on which the bias acts, by position.
    features, values
        Where rows are sampled by recorded features, their strata, and the values of each feature.
    undivided
        Why rows cannot be divided into strata; empty where they can.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.LabelBias("poor_area").audit_rules.counted
    True
    >>> p4f.RowBias("poor_area", p4f.depends_on({"officer": ("ann", "bob")}), False).audit_rules.counted
    False
    """

    variables: tuple[Sensitive, ...] = ()
    counted: bool = False
    parts: int = 1
    cells: Mapping[tuple[int, int], Any] | None = None
    affected: tuple[int, ...] = ()
    features: Strata | None = None
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    undivided: str = ""

    def acts(self, group: int, fair: int, recorded: int) -> bool:
        """Whether a fair label may be recorded otherwise in a group of ``variables``, by position."""
        if self.cells is None:
            return True
        sizes = [len(variable.levels) for variable in self.variables]
        return (fair, recorded) in self.cells and int(np.unravel_index(group, sizes)[0]) in self.affected

    def occurring(self, parameters: Iterable[Parameter], rows: Rows) -> list[Parameter]:
        """Those of the parameters that are about some of these rows."""
        if self.cells is None:
            return list(parameters)
        occurring: set[Cell] = set()
        for change, cells in self.cells.items():
            places = cells.positions(rows)
            numbers = np.unique(places) if places.ndim == 1 else np.flatnonzero(places.sum(axis=0))
            occurring |= {Cell(int(number), *change) for number in numbers.tolist()}
        return [parameter for parameter in parameters if parameter.cell in occurring]


def sampling_frame(belief: Belief, table: Any, recorded: str | None, favourable: Any) -> SamplingFrame:
    """A table by the strata that an audit of a belief is sampled from: by group, and by recorded label or features."""
    rules = belief.audit_rules
    if rules.undivided:
        raise NoStrataError(rules.undivided)
    for name in belief.columns.optional:
        if name not in getattr(table, "columns", ()):
            raise NoStrataError(f"the table has no column {name!r}, which the audit has to find out")
    if rules.features is not None:
        return feature_strata(belief, table, rules.features, rules.values)
    if belief.record.gaps or belief.columns.recorded:
        raise NoStrataError("the record is not one label that every row has")
    frame = label_strata(belief, table, recorded, favourable)
    if belief.columns.date is not None:
        days_of(frame.frame[belief.columns.date])  # days that cannot be read are told before anybody audits a row
    return frame


def ruled_out(belief: Belief, shape: tuple[int, ...]) -> list[int]:
    """Of strata ``[groups, recorded labels]`` those in which, by the belief, what was recorded is fair."""
    if not belief.audit_rules.counted or belief.features or len(shape) != 2:
        return []
    wrong = {
        (parameter.cell.group, parameter.cell.recorded)
        for parameter in belief.parameters
        if parameter.cell is not None and not (parameter.value == 0 and parameter.rows is None)
    }
    return [place for place, stratum in enumerate(np.ndindex(shape)) if stratum not in wrong]


def label_strata(
    belief: Belief, table: Any, recorded: str | None, favourable: Any, divided: bool = True
) -> SamplingFrame:
    """The rows of a table by group, unless they are not ``divided``, and recorded label.

    Rows without one of the two are in no stratum.
    """
    if recorded is None:
        raise P4FError("name the column of the recorded label: recorded=...")
    frame = table_frame(table)
    values = column_of(frame, recorded, "the recorded values").map(plain, na_action="ignore")
    occurring = values.dropna().unique().tolist()
    if not occurring:
        raise P4FError(f"the recorded label {recorded!r} holds no value")
    classes = belief.record.classes or find_classes(
        occurring, belief.record.favourable_among(occurring, favourable), recorded, audited=True
    )
    labels = _codes(values, classes, f"the recorded label {recorded!r}")
    everybody: tuple[Codes, tuple[str, ...]] = np.zeros(len(frame), dtype=np.int64), ("everybody",)
    groups, words = audit_groups(belief, frame) if divided else everybody
    strata = Strata(words, (recorded,), (tuple(str(plain(label)) for label in classes),), (LABEL,))
    _refuse_many(strata)
    return SamplingFrame(frame, strata, strata.codes(groups, labels))


def feature_strata(belief: Belief, table: Any, strata: Strata, values: Mapping[str, Sequence[Any]]) -> SamplingFrame:
    """The rows of a table by group and recorded features."""
    frame = table_frame(table)
    _refuse_many(strata)
    groups, _ = audit_groups(belief, frame)
    codes = [_codes(column_of(frame, name, "the recorded values"), options, name) for name, options in values.items()]
    return SamplingFrame(frame, strata, strata.codes(groups, *codes))


def index_of(table: Any) -> pd.Index[Any] | None:
    """The index of a table, where it tells its rows apart."""
    index = table.index if isinstance(table, pd.DataFrame) else None
    return index if index is not None and index.is_unique and index.nlevels == 1 and index.notna().all() else None


def audit_groups(belief: Belief, frame: pd.DataFrame) -> tuple[Codes, tuple[str, ...]]:
    """The group of each row, -1 where it is missing, and all groups in words.

    Of several sensitive variables, groups are combinations. A belief that does not name its groups has those that
    occur.
    """
    columns = list(belief.columns.sensitive)
    belief.columns.require(Rows(frame, ()))
    known = frame[columns].notna().all(axis=1).to_numpy() if columns else np.ones(len(frame), dtype=bool)
    groups = np.full(len(frame), -1, dtype=np.int64)
    rows = frame[known].reset_index(drop=True)
    if not belief.variables:
        texts = [rows[name].map(plain).map(lambda value, name=name: f"{name} = {value}") for name in columns]
        joined = [" and ".join(parts) for parts in zip(*texts, strict=True)] if texts else ["everybody"] * len(rows)
        groups[known], words = pd.factorize(np.asarray(joined, dtype=object), sort=True)
        return groups, tuple(map(str, words))
    names, places = [""], np.zeros(len(rows), dtype=np.int64)
    for variable in belief.audit_rules.variables:
        positions = variable.positions(rows)
        if positions.ndim != 1:
            raise NoStrataError(f"the groups of {', '.join(variable.columns)} are uncertain")
        texts = [variable.group_text(level) for level in range(len(variable.levels))]
        if len(names) * len(texts) > MOST_STRATA:
            raise NoStrataError("there are too many combinations of groups")
        names = [f"{name} and {text}" if name else text for name in names for text in texts]
        places = places * len(texts) + positions.astype(np.int64)
    groups[known] = places
    return groups, tuple(names)


class NoStrataError(P4FError):
    """Rows that cannot be divided into a few kinds."""


def table_frame(table: Any) -> pd.DataFrame:
    """The table to sample from, as a data frame."""
    if not is_frame(table):
        raise P4FError(f"an audit is planned for a data frame, not for {type(table).__name__}")
    return to_frame(table)


def _codes(values: pd.Series[Any], options: Sequence[Any], name: str) -> Codes:
    return label_codes(values.to_numpy(dtype=object), options, name, missing=True)


def _refuse_many(strata: Strata) -> None:
    count = math.prod(strata.shape)
    if count > MOST_STRATA:
        raise NoStrataError(f"there are {count} kinds of rows, more than {MOST_STRATA}")
