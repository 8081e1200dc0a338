"""An audited table as it was read, and what somebody said about it; beliefs are made from it on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.data import (
    Roles,
    TableError,
    Value,
    as_groups,
    check_column,
    conventional,
    counts_of,
    find_levels,
    find_roles,
    listed,
    note,
    rewritten,
    values_of,
    warn,
)
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit.audits import Audit
    from problog4fairness.beliefs import Belief

# A feature with more values than this is a measurement; parameters for each pair of its values could not be estimated.
MAX_VALUES = 12


@dataclass(frozen=True)
class AuditTable:
    """An audited table as it was read.

    Attributes
    ----------
    frame, name
        The table, whose rows may be counted (:mod:`.rows.counted`), and what it is called.
    sensitive, group
        The sensitive column, and the value of the sensitive group where it is not known by convention.
    recorded, fair, favourable
        The columns of the recorded and the fair label, and the favourable label where it is not known by convention.
    features, fair_features
        The recorded column of each distorted feature, and the audited one.
    again
        In place of audited ones, for numbers: the columns of a second measurement.
    negative, positive
        Whether favourable labels are lost and given without reason; whether features are recorded too low and too high.
    only_group
        Whether only the data of the sensitive group are distorted.
    noise
        Whether anybody's label may also be wrong by mistake.
    sequential, drawn_from
        As for :meth:`Belief.estimate`.
    sampling, cluster
        As for :meth:`Audit.of`.
    by, model, when, changed
        What a bias depends on besides the group, as for :func:`by`; the column of days, and when something changed.
    """

    frame: pd.DataFrame
    name: str
    sensitive: str
    recorded: str | None = None
    fair: str | None = None
    favourable: object = None
    group: object = None
    features: Sequence[str] = ()
    fair_features: Sequence[str] = ()
    again: Sequence[str] = ()
    negative: bool = True
    positive: bool = True
    only_group: bool = False
    noise: bool = False
    sequential: bool = False
    drawn_from: pd.DataFrame | None = None
    sampling: str | None = None
    cluster: str | None = None
    by: Sequence[str] = ()
    model: Sequence[str] = ()
    when: str | None = None
    changed: Sequence[str] = ()

    @property
    def options(self) -> dict[str, Any]:
        """What :meth:`Belief.estimate` is told besides, where it is told anything."""
        found = {"sequential": self.sequential or None, "drawn_from": self.drawn_from}
        return {name: value for name, value in found.items() if value is not None}

    def require_no_options(self, what: str) -> None:
        """Raise the error that names an option which is for parameters that are counted."""
        for name in self.options:
            raise P4FError(f"{name}=... is for probabilities that are counted, not for {what}")

    def used_by(self, belief: Belief) -> Belief:
        """The belief itself; or the error of a column that was named for it, and that it does not read."""
        named = {"feature": self.features, "by": self.by, "model": self.model, "when": [self.when] if self.when else []}
        for option, columns in named.items():
            for column in columns:
                if column not in belief.read_columns:
                    kind = type(belief).__name__
                    raise P4FError(f"{option}={column!r} says nothing to {kind}, which does not read it; leave it out")
        if self.changed and belief.when is None:
            raise P4FError(f"changed={self.changed[0]!r} says nothing to {type(belief).__name__}; leave it out")
        return belief

    def sampled(self, rows: pd.DataFrame, *fair: str) -> pd.DataFrame | Audit:
        """Clean rows with what was stated of their design, where something was."""
        if self.sampling is None and self.cluster is None:
            return rows
        from problog4fairness.audit.audits import Audit

        return Audit.of(rows, fair=fair, sampling=self.sampling, cluster=self.cluster)

    @property
    def has_labels(self) -> bool:
        """Whether the columns of the recorded and the fair label are named."""
        return self.recorded is not None and self.fair is not None

    @cached_property
    def levels(self) -> tuple[Value, ...]:
        """The groups; of two, the sensitive one is the second."""
        if self.has_labels:
            return self._roles.levels
        check_column(self.frame, self.sensitive, "sensitive variable", "sensitive")
        return find_levels(self.frame, self.sensitive, self.group)

    @property
    def labels(self) -> tuple[Value, ...]:
        """The labels, the favourable one last."""
        return self._roles.labels

    @property
    def acting(self) -> list[Value] | None:
        """The groups on which the bias acts; None for all."""
        if not self.only_group:
            return None
        if len(self.levels) > 2:
            raise P4FError(
                f"only_group=True: {self.sensitive!r} has the groups {listed(self.levels)}; name the one on "
                "which the bias acts by group=..."
            )
        return [self.levels[1]]

    @cached_property
    def labelled_with_gaps(self) -> tuple[pd.DataFrame, Roles]:
        """As ``labelled``, with the rows of which no label was recorded."""
        return self._roles.clean(self.frame, gaps=True), self._roles

    @cached_property
    def labelled(self) -> tuple[pd.DataFrame, Roles]:
        """Clean rows with the recorded and the fair label, and which column is what."""
        return self._roles.clean(self.frame), self._roles

    @cached_property
    def _roles(self) -> Roles:
        if self.recorded is None or self.fair is None:
            raise P4FError("an audit has a recorded and a fair label: recorded=..., fair=...")
        return find_roles(
            self.frame,
            recorded=self.recorded,
            sensitive=self.sensitive,
            fair=self.fair,
            favourable=self.favourable,
            group=self.group,
        )

    @cached_property
    def feature_pairs(self) -> list[tuple[str, str]]:
        """The recorded and the audited column of each distorted feature."""
        if not self.features:
            raise P4FError("name the distorted features: feature=... and fair_feature=..., once for each")
        if self.again and self.fair_features:
            raise P4FError("name either the audited columns, fair_feature=..., or a second measurement, again=...")
        others, argument = (self.again, "again") if self.again else (self.fair_features, "fair_feature")
        if len(self.features) != len(others):
            raise P4FError(
                f"there are {len(self.features)} feature=... and {len(others)} {argument}=...; "
                "each recorded one has an audited one"
            )
        pairs = list(zip(self.features, others, strict=True))
        for recorded, fair in pairs:
            check_column(self.frame, recorded, "recorded feature", "feature")
            check_column(self.frame, fair, "fair feature", argument)
            if recorded == fair:
                raise P4FError(f"feature {recorded!r} and its {argument}=... are one column; name the audited one")
        return pairs

    @cached_property
    def feature_values(self) -> dict[str, tuple[Value, ...]]:
        """For each distorted feature the values that it can take; of two, the higher one is the second."""
        return {
            recorded: _feature_values(
                recorded, list(dict.fromkeys([*values_of(self._complete[recorded]), *values_of(self._complete[fair])]))
            )
            for recorded, fair in self.feature_pairs
        }

    def values(self, column: str) -> tuple[Value, ...]:
        """The values that a distorted feature can take."""
        return self.feature_values[column]

    @cached_property
    def measured(self) -> pd.DataFrame:
        """Clean rows with recorded and fair features."""
        columns = {self.sensitive: as_groups(self._complete[self.sensitive], self.levels)}
        for pair in self.feature_pairs:
            known = self.feature_values[pair[0]]
            columns |= {name: rewritten(self._complete[name], known, known, f"feature {pair[0]!r}") for name in pair}
        return self._complete.assign(**columns)

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """Clean rows with recorded and fair features that are numbers."""
        groups = as_groups(self._complete[self.sensitive], self.levels)
        return self._complete.assign(**{self.sensitive: groups})

    @cached_property
    def _complete(self) -> pd.DataFrame:
        """The rows that have a group and all features."""
        names = [self.sensitive, *(name for pair in self.feature_pairs for name in pair)]
        missing = self.frame[names].isna().any(axis=1)
        if missing.all():
            raise TableError(f"no row has a value in each of {listed(names)}")
        if missing.any():
            warn(f"{counts_of(self.frame)[missing].sum()} rows lack a value of {listed(names)} and were left out")
        return self.frame[~missing].reset_index(drop=True)

    def notes(self, belief: Belief) -> list[str]:
        """Where the numbers of a belief came from, for the head of its file: the audit, its columns, rows of cells."""
        labelled = self.labelled_with_gaps if belief.missing_labels else self.labelled if self.has_labels else None
        rows = self._complete if belief.features or labelled is None else labelled[0]
        found = [f"Estimated from {counts_of(rows).sum()} audited rows of {self.name}."]
        if belief.design is not None:
            found.append("They were drawn by group and by what was recorded; shares are those of the whole table.")
        if belief.features:
            how = "measured again" if self.again else "audited"
            found += [f"Feature {recorded}: {how} as {fair}." for recorded, fair in self.feature_pairs]
        if belief.recorded_columns:
            return [*found, f"Votes: {', '.join(belief.recorded_columns)}. Fair label: {self.fair}."]
        return found if labelled is None else [*found, *_label_notes(*labelled)]


def _label_notes(rows: pd.DataFrame, roles: Roles) -> list[str]:
    """How many rows of each kind there are, for a person who reads the file."""
    found = [f"Recorded label: {roles.recorded} ({roles.favourable} is favourable). Fair label: {roles.fair}."]
    gaps = rows[roles.recorded].isna().to_numpy()
    classes = len(roles.labels)
    counts = np.zeros((len(roles.levels), classes, classes + 1), dtype=np.int64)
    # Where nothing was recorded, the code is -1: the last place.
    np.add.at(counts, (roles.group_codes(rows), roles.fair_codes(rows), roles.label_codes(rows)), counts_of(rows))
    order = range(classes - 1, -1, -1)
    for group, cells in zip(roles.levels, counts, strict=True):
        said = [f"{cells[f, r]} fair {roles.labels[f]} recorded as {roles.labels[r]}" for f in order for r in order]
        if gaps.any():
            said += [f"{cells[f, -1]} fair {roles.labels[f]} not recorded" for f in order]
        found.append(f"{roles.sensitive} = {group}: {', '.join(said)}.")
    return found


def _feature_values(name: str, found: list[Value]) -> tuple[Value, ...]:
    usual = conventional(found)
    if usual is not None:
        return usual
    if not 2 <= len(found) <= MAX_VALUES:
        raise TableError(
            f"feature {name!r} has {len(found)} values; a distorted feature has two to {MAX_VALUES}: make classes of it"
        )
    values = tuple(sorted(found, key=str))
    if len(values) == 2:
        note(f"{name}: {values[1]!r} is taken as the higher value, {values[0]!r} as the lower one")
    return values
