"""A belief applied to rows: which columns it reads, and what it says of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from problog4fairness.beliefs.description import Columns, LabelRecord
from problog4fairness.beliefs.likelihood.general import observe_program
from problog4fairness.beliefs.likelihood.inputs import FairInputs, fair_inputs
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.parametrised import Parametrised
from problog4fairness.data import Grouping, Rows, Sensitive
from problog4fairness.errors import P4FError, among

if TYPE_CHECKING:
    from problog4fairness.program import Leaf


class Observing(Parametrised):
    """The part of a :class:`Belief` that observes rows; the attributes are described there."""

    classes: tuple[int | str, ...] | None = None
    _classifier: str = "h"

    @property
    def columns(self) -> Columns:
        """The columns that it reads, by what they are for it."""
        return Columns(
            sensitive=_columns(variable for variable in self.variables if variable.people),
            others=_columns(variable for variable in self.variables if not variable.people),
            recorded=self.record.columns,
            features=self.features,
            groups={v.columns[0]: v.levels for v in self.variables if len(v.columns) == 1 and v.people},
        )

    @property
    def record(self) -> LabelRecord:
        """How the label is on record, and which one is favourable."""
        return LabelRecord(classes=self.classes, favourable=self.favourable, classifier=self._classifier)

    def _network_columns(self) -> dict[str, str]:
        """The column that each network of its program reads, where it is one."""
        return {v.name: v.columns[0] for v in self.variables if len(v.columns) == 1}

    @property
    def _class_count(self) -> int:
        """Number of classes of the label."""
        return 2 if self.classes is None else len(self.classes)

    def observe(self, rows: Rows) -> Observation:
        """Apply the belief to rows: the likelihood of what was recorded, and what it tells of what was fair.

        In general the program is compiled once and specialised to the groups that occur in the rows. A template may
        have a quicker way, as its ``_observation``; it gives the same numbers.

        Parameters
        ----------
        rows
            What was recorded; without recorded labels, the observation still tells what would be recorded.
        """
        self._require_known()
        self._require_columns(rows)
        return self._observation(rows)

    def _observation(self, rows: Rows) -> Observation:
        """Rows that have all its columns, observed through its program; its parameters are known."""
        inputs = self._inputs(rows)
        return observe_program(
            self._bound_program(),
            rows,
            inputs,
            self.record.outcomes(rows),
            classifier=self._classifier,
            value=lambda leaf: self._leaf_value(leaf, rows),
            place=lambda leaf: self._leaf_input(leaf, rows, inputs),
        )

    def _inputs(self, rows: Rows) -> FairInputs:
        """What the program may ask the classifier about: the row itself, where it says nothing else."""
        return fair_inputs(rows)

    def _leaf_input(self, leaf: Leaf, rows: Rows, inputs: FairInputs) -> Tensor:  # noqa: ARG002
        """``[rows]``: which of the inputs a leaf of the classifier is about."""
        if leaf.arguments != ("x",):
            raise P4FError(f"the program asks for {leaf}; a belief about the label asks the classifier about x only")
        return inputs.index[:, 0]

    def _leaf_value(self, leaf: Leaf, rows: Rows) -> Tensor:
        """What rows know of a network of the program other than the classifier, ``[rows]`` or ``[rows, outcomes]``."""
        for variable in self.variables:
            if variable.name == leaf.name:
                shares = torch.from_numpy(rows.shares(variable))
                return shares[:, 1] if variable.binary else shares
        raise P4FError(f"the program reads the network {leaf.name}, and no sensitive variable has that name")

    def _restore(self, rows: Rows) -> Observation:
        """The fair features that recorded ones may stand for, as :meth:`Observation.fair_proba` needs them."""
        return self.observe(rows.without_record())

    def _require_columns(self, rows: Rows) -> None:
        """Raise the error that names a column which the belief reads and the rows do not have."""
        for column in self.columns.all:
            unrecorded = rows.recorded is None and column in self.columns.recorded
            if column not in rows.frame.columns and not unrecorded:
                nearest = among(column, rows.frame.columns)
                raise P4FError(f"the belief needs the column {column!r}; {nearest}, or pass sensitive_features")

    def _check_rows(self, rows: Rows) -> None:
        """Raise the error that says why these rows cannot be learned from: every group must occur."""
        self._require_columns(rows)
        for variable in self.variables:
            absent = [variable.group_text(i) for i, rate in enumerate(rows.shares(variable).sum(axis=0)) if rate == 0]
            if absent:
                raise P4FError(f"no row has {absent[0]}; leave that group out of the belief's groups")

    def groupings(self, rows: Rows) -> list[Grouping]:
        """The ways to divide rows into groups: one for each sensitive variable of which the rows have the columns."""
        return [
            Grouping.of(variable, rows)
            for variable in self.variables
            if variable.people and set(variable.columns) <= set(rows.frame.columns)
        ]

    def _noted(self, estimated: Self, favourable: Any) -> Self:
        """The belief with the label that was counted as 1: what was said, what it knew already, or 1 itself."""
        if self.classes is not None:
            return estimated
        known = self.favourable if favourable is None else favourable
        return estimated._with_favourable(1 if known is None else known)


def _columns(variables: Iterable[Sensitive]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for variable in variables for column in variable.columns))
