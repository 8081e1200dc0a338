"""A table as it was read, and what was answered about it on the command line or in studio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.audit.audit import Audit
from problog4fairness.data import (
    Roles,
    TableError,
    Value,
    check_column,
    conventional,
    counts_of,
    find_labels,
    find_levels,
    find_roles,
    label_codes,
    listed,
    note,
    plain_column,
    recode,
    recode_groups,
    values_of,
    warn,
)
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.audit.planning.plan import AuditPlan
    from problog4fairness.beliefs import Belief

# A feature with more values than this is a measurement; parameters for each pair of its values could not be estimated.
MAX_VALUES = 12


@dataclass(frozen=True)
class AuditTable:
    """A table that is audited, or to be audited, with what was answered about it.

    Attributes
    ----------
    frame, name
        The table, whose rows may be counted, and what it is called.
    sensitive, group
        The sensitive column, and the value of the sensitive group where it is not known by convention.
    recorded, fair, favourable
        The columns of the recorded and the fair label, and the favourable label where it is not known by convention.
    answers
        What was answered about the bias, by name: ``features`` and ``fair_features``, the recorded columns and the
        audited ones, or ``again``, those of a second measurement; ``negative`` and ``positive``, whether favourable
        labels are lost and given without reason; ``only_group``, ``noise``; ``by``, ``model``, ``when`` and
        ``changed``, what a bias depends on besides the group.
    sampling, cluster
        As for :meth:`Audit.of`.
    drawn_from
        As for :meth:`Belief.estimate`.
    planned
        Whether nothing fair is in it yet: ``fair_features`` are columns to fill in.
    """

    frame: pd.DataFrame
    name: str
    sensitive: str
    recorded: str | None = None
    fair: str | None = None
    favourable: object = None
    group: object = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    sampling: str | None = None
    cluster: str | None = None
    drawn_from: pd.DataFrame | None = None
    planned: bool = False

    def answer(self, name: str, default: Any = None) -> Any:
        """What was answered, or the default where nothing was."""
        value = self.answers.get(name)
        return default if value is None else value

    @property
    def features(self) -> Sequence[str]:
        """The recorded columns of distorted features."""
        return tuple(self.answer("features", ()))

    def require_no_options(self, what: str) -> None:
        """Raise the error that names an option which is for parameters that are counted."""
        if self.drawn_from is not None:
            raise P4FError(f"drawn_from=... is for probabilities that are counted, not for {what}")

    def used_by(self, belief: Belief) -> Belief:
        """The belief itself; or the error of a column that was named for it, and that it does not read."""
        when = self.answer("when")
        named = {"feature": self.features, "by": self.answer("by", ()), "model": self.answer("model", ())}
        for option, columns in (named | {"when": [when] if when else []}).items():
            for column in columns:
                if column not in belief.columns.all:
                    kind = type(belief).__name__
                    raise P4FError(f"{option}={column!r} says nothing to {kind}, which does not read it; leave it out")
        changed = self.answer("changed", ())
        if changed and belief.columns.date is None:
            raise P4FError(f"changed={changed[0]!r} says nothing to {type(belief).__name__}; leave it out")
        return belief

    def sampled(self, rows: pd.DataFrame, *fair: str) -> pd.DataFrame | Audit:
        """Clean rows with what was stated of their design, where something was."""
        if self.sampling is None and self.cluster is None:
            return rows
        return Audit.of(rows, fair=fair, sampling=self.sampling, cluster=self.cluster)

    @property
    def has_labels(self) -> bool:
        """Whether the columns of the labels are named."""
        return self.recorded is not None and (self.planned or self.fair is not None)

    @cached_property
    def levels(self) -> tuple[Value, ...]:
        """The groups; of two, the sensitive one is the second."""
        if self.has_labels:
            return self.roles.levels
        check_column(self.frame, self.sensitive, "sensitive variable", "sensitive")
        return find_levels(self.frame, self.sensitive, self.group)

    @property
    def labels(self) -> tuple[Value, ...]:
        """The labels, the favourable one last."""
        return self.roles.labels

    @property
    def acting(self) -> list[Value] | None:
        """The groups on which the bias acts; None for all."""
        if not self.answer("only_group"):
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
        return self.roles.clean(self.frame, gaps=True), self.roles

    @cached_property
    def labelled(self) -> tuple[pd.DataFrame, Roles]:
        """Clean rows with the recorded and the fair label, and which column is what."""
        return self.roles.clean(self.frame), self.roles

    @cached_property
    def roles(self) -> Roles:
        """Which column is what."""
        if self.recorded is None:
            raise P4FError("name the column of the recorded label: recorded=...")
        if self.fair is None and not self.planned:
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
        """The recorded and the audited column of each distorted feature; the recorded one twice before the audit."""
        if not self.features:
            raise P4FError("name the distorted features: feature=... and fair_feature=..., once for each")
        again, fair_features = self.answer("again", ()), self.answer("fair_features", ())
        if again and fair_features:
            raise P4FError("name either the audited columns, fair_feature=..., or a second measurement, again=...")
        others, argument = (again, "again") if again else (fair_features, "fair_feature")
        if len(self.features) != len(others):
            raise P4FError(
                f"there are {len(self.features)} feature=... and {len(others)} {argument}=...; "
                "each recorded one has an audited one"
            )
        pairs = list(zip(self.features, self.features if self.planned else others, strict=True))
        for recorded, fair in pairs:
            check_column(self.frame, recorded, "recorded feature", "feature")
            if self.planned:
                continue
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
        """The values that a distorted feature can take, or that another column has."""
        if column in self.features:
            return self.feature_values[column]
        check_column(self.frame, column, "answer to a field", "answer")
        return tuple(values_of(self.frame[column]))

    @cached_property
    def measured(self) -> pd.DataFrame:
        """Clean rows with recorded and fair features."""
        columns = {self.sensitive: recode_groups(self._complete[self.sensitive], self.levels)}
        for pair in self.feature_pairs:
            known = self.feature_values[pair[0]]
            columns |= {name: recode(self._complete[name], known, known, f"feature {pair[0]!r}") for name in pair}
        return self._complete.assign(**columns)

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """Clean rows with recorded and fair features that are numbers."""
        groups = recode_groups(self._complete[self.sensitive], self.levels)
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

    def plan(self, belief: Belief, fair: str, pilot: pd.DataFrame | None = None, **options: Any) -> AuditPlan:
        """Which rows to audit for a belief, after those of ``pilot`` that are filled in.

        ``fair`` is the column of fair labels that is filled in; the options are those of :meth:`Belief.plan_audit`.
        """
        by_label = self.recorded is not None and belief.record.classes is None
        return belief.plan_audit(
            self._coded(belief),
            recorded=self.recorded,
            fair=self._to_fill_in(belief, fair),
            pilot=None if pilot is None else self._filled_in(pilot, fair),
            favourable=self.roles.favourable if by_label else None,
            **options,
        )

    def _coded(self, belief: Belief) -> pd.DataFrame:
        """The table with the values that a belief reads as plain data and its rows numbered from 1, as in a file."""
        names = {*belief.columns.sensitive, *belief.features, *([self.recorded] if self.recorded else [])}
        plain = {name: plain_column(self.frame[name]) for name in self.frame.columns if name in names}
        frame = self.frame.assign(**plain)
        return frame.set_axis(pd.RangeIndex(1, len(frame) + 1))

    def _to_fill_in(self, belief: Belief, fair: str) -> str | dict[str, str]:
        """The column to fill in, or for each feature one."""
        if not belief.features or self.recorded is not None:
            return fair
        return dict(zip(self.features, self.answer("fair_features", ()), strict=True))

    def _filled_in(self, rows: pd.DataFrame, fair: str) -> pd.DataFrame:
        """Rows of earlier rounds, with fair labels written as the recorded ones are."""
        if self.recorded is None or fair not in rows.columns or rows[fair].isna().all():
            return rows
        try:
            both = pd.concat([self.frame[self.recorded], rows[fair]], axis=1)
            written, known = find_labels(both, self.recorded, fair, self.roles.favourable)
        except TableError as error:
            raise TableError(f"the rows that were filled in: {error}") from None
        place = dict(zip(known or written, written, strict=True))
        return rows.assign(**{fair: plain_column(rows[fair]).map(place, na_action="ignore")})

    def notes(self, belief: Belief) -> list[str]:
        """Where the numbers of a belief came from, for the head of its file: the audit, its columns, rows of cells."""
        labelled = self.labelled_with_gaps if belief.record.gaps else self.labelled if self.has_labels else None
        rows = self._complete if belief.features or labelled is None else labelled[0]
        lines = [f"Estimated from {counts_of(rows).sum()} audited rows of {self.name}."]
        if "design" in belief.to_json():
            lines.append("They were drawn by group and by what was recorded; shares are those of the whole table.")
        if belief.features:
            how = "measured again" if self.answer("again") else "audited"
            lines += [f"Feature {recorded}: {how} as {fair}." for recorded, fair in self.feature_pairs]
        if belief.columns.recorded:
            return [*lines, f"Votes: {', '.join(belief.columns.recorded)}. Fair label: {self.fair}."]
        return lines if labelled is None else [*lines, *_label_notes(*labelled)]


def _label_notes(rows: pd.DataFrame, roles: Roles) -> list[str]:
    """How many rows of each kind there are, for a person who reads the file."""
    lines = [f"Recorded label: {roles.recorded} ({roles.favourable} is favourable). Fair label: {roles.fair}."]
    gaps = rows[roles.recorded].isna().to_numpy()
    classes = len(roles.labels)
    counts = np.zeros((len(roles.levels), classes, classes + 1), dtype=np.int64)
    columns = ((roles.sensitive, roles.levels), (roles.fair, roles.labels), (roles.recorded, roles.labels))
    # Where nothing was recorded, the code is -1: the last place.
    codes = [label_codes(rows[name], values, f"column {name!r}", missing=True) for name, values in columns]
    np.add.at(counts, tuple(codes), counts_of(rows))
    order = range(classes - 1, -1, -1)
    for group, cells in zip(roles.levels, counts, strict=True):
        parts = [f"{cells[f, r]} fair {roles.labels[f]} recorded as {roles.labels[r]}" for f in order for r in order]
        if gaps.any():
            parts += [f"{cells[f, -1]} fair {roles.labels[f]} not recorded" for f in order]
        lines.append(f"{roles.sensitive} = {group}: {', '.join(parts)}.")
    return lines


def _feature_values(name: str, values: list[Value]) -> tuple[Value, ...]:
    usual = conventional(values)
    if usual is not None:
        return usual
    if not 2 <= len(values) <= MAX_VALUES:
        raise TableError(
            f"feature {name!r} has {len(values)} values; a distorted feature has two to {MAX_VALUES}: make classes "
            "of it"
        )
    low_first = tuple(sorted(values, key=str))
    if len(low_first) == 2:
        note(f"{name}: {low_first[1]!r} is taken as the higher value, {low_first[0]!r} as the lower one")
    return low_first
