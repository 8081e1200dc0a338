"""A table from which an audit is drawn, as it was read, and what somebody said about it on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from problog4fairness.audit.tables import AuditTable
from problog4fairness.data import (
    Roles,
    TableError,
    Value,
    check_column,
    find_labels,
    find_levels,
    find_roles,
    plain_column,
)
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief


@dataclass(frozen=True)
class PlannedTable(AuditTable):
    """A table that is still to be audited: nothing fair is in it, and ``fair_features`` are columns to fill in."""

    @property
    def has_labels(self) -> bool:
        """Whether the column of the recorded label is named."""
        return self.recorded is not None

    @cached_property
    def roles(self) -> Roles:
        """Which column is what."""
        if self.recorded is None:
            raise P4FError("name the column of the recorded label: recorded=...")
        return find_roles(
            self.frame,
            recorded=self.recorded,
            sensitive=self.sensitive,
            favourable=self.favourable,
            group=self.group,
        )

    @property
    def labels(self) -> tuple[Value, ...]:
        """The labels, the favourable one last."""
        return self.roles.labels

    @cached_property
    def levels(self) -> tuple[Value, ...]:
        """The groups; of two, the sensitive one is the second."""
        if self.recorded is not None:
            return self.roles.levels
        check_column(self.frame, self.sensitive, "sensitive variable", "sensitive")
        return find_levels(self.frame, self.sensitive, self.group)

    @cached_property
    def feature_pairs(self) -> list[tuple[str, str]]:
        """The column of each distorted feature, which for now stands for the audited one as well."""
        if not self.features:
            raise P4FError("name the distorted features: feature=..., once for each")
        if len(self.features) != len(self.fair_features):
            raise P4FError(f"there are {len(self.features)} feature=... and {len(self.fair_features)} fair_feature=...")
        for name in self.features:
            check_column(self.frame, name, "recorded feature", "feature")
        return [(name, name) for name in self.features]

    def coded(self, belief: Belief) -> pd.DataFrame:
        """The table with the values that a belief reads as plain data and its rows numbered from 1."""
        names = {*belief.sensitive_columns, *belief.features, *([self.recorded] if self.recorded else [])}
        there = [name for name in self.frame.columns if name in names]
        found = self.frame.assign(**{name: plain_column(self.frame[name]) for name in there})
        # The rows of a file are numbered from 1.
        return found.set_axis(pd.RangeIndex(1, len(found) + 1))

    def columns(self, belief: Belief, fair: str) -> str | dict[str, str]:
        """The column to fill in, or for each feature one."""
        if not belief.features or self.recorded is not None:
            return fair
        return dict(zip(self.features, self.fair_features, strict=True))

    def filled_in(self, rows: pd.DataFrame, fair: str) -> pd.DataFrame:
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
