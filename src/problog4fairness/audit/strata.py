"""The strata of an audit: kinds of rows that are sampled separately, by group and by what was recorded."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.data import Codes, Rows, column_of, find_classes, is_frame, label_codes, plain, to_frame
from problog4fairness.errors import P4FError

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
    for variable in belief._audit_variables:
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
