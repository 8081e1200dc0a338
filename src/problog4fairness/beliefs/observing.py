"""A belief as a program with parameters, applied to rows."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from problog4fairness.beliefs.description import BeliefKind, Columns, LabelRecord
from problog4fairness.beliefs.fields import plain_label
from problog4fairness.beliefs.likelihood.general import observe_program
from problog4fairness.beliefs.likelihood.inputs import FairInputs, fair_inputs
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.data import Grouping, Rows, Sensitive
from problog4fairness.errors import P4FError, UnknownNameError
from problog4fairness.program import Program
from problog4fairness.statistics import (
    Beta,
    Parameter,
    bind,
    check_known,
    checked_priors,
    known_values,
    pooled,
    table,
)

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Design
    from problog4fairness.program import Leaf


class Observing(ABC):
    """The part of a :class:`Belief` that observes rows through its program; the attributes are described there."""

    kind: BeliefKind = BeliefKind()
    variables: tuple[Sensitive, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    features: tuple[str, ...] = ()
    favourable: bool | int | float | str | None = None
    _classifier: str = "h"
    _design: Design | None = None

    @abstractmethod
    def text(self) -> str:
        """The program as text."""

    def program(self) -> Program:
        """The program that is compiled."""
        return Program(self.text())

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
        return LabelRecord(favourable=self.favourable, classifier=self._classifier)

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
        self.columns.require(rows)
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

    def groupings(self, rows: Rows) -> list[Grouping]:
        """The ways to divide rows into groups: one for each sensitive variable of which the rows have the columns."""
        return [
            Grouping.of(variable, rows)
            for variable in self.variables
            if variable.people and set(variable.columns) <= set(rows.frame.columns)
        ]

    def bind(
        self, values: Mapping[str, float | Parameter | None] | None, *, favourable: bool | float | str | None = None
    ) -> Self:
        """The same assumption with stated values of some parameters, and perhaps the label that counts as 1.

        A parameter that is bound to None is open again; ``bind(None)`` opens all of them.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> belief = p4f.LabelBias("poor_area", positive=False, affected=[1]).bind({"p1": 0.3}, favourable="yes")
        >>> belief.parameters[0].value, belief.favourable, belief.bind(None).parameters[0].value
        (0.3, 'yes', None)
        """
        bound = self._with_parameters(bind(self.parameters, values))
        return bound if favourable is None else bound._with_favourable(favourable)

    def with_priors(self, prior: Mapping[str, Beta]) -> Self:
        """A belief with what is known of some parameters beside an audit: ``{"p1": p4f.statistics.Beta(2, 8)}``.

        A parameter that was counted is counted on from its prior; one that was stated, or is unknown, is as its prior
        says. For parameters that are estimated together, say ``estimate(..., prior=...)``.
        """
        known = checked_priors(prior, self.parameters)
        return self._with_parameters(
            tuple(
                parameter.with_prior(known[parameter.name]) if parameter.name in known else parameter
                for parameter in self.parameters
            )
        )

    def pooled(self) -> Self:
        """The same belief, in which parameters that no audited row tells of are taken from the other groups.

        They are as the other groups let expect, more uncertain the less these are alike; their ``source`` says so.

        Examples
        --------
        >>> import warnings
        >>> import pandas as pd
        >>> import problog4fairness as p4f
        >>> audit = pd.DataFrame({"region": ["north"] * 40, "recorded": [0] * 10 + [1] * 30, "fair": [1] * 40})
        >>> belief = p4f.LabelBias("region", positive=False, groups=["east", "north"])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     estimated = belief.estimate(audit, recorded="recorded", fair="fair")
        >>> [p.value is None for p in estimated.parameters], [f"{p.value:.2f}" for p in estimated.pooled().parameters]
        ([False, True], ['0.25', '0.34'])
        """
        return self._with_parameters(pooled(self.parameters))

    def parameter_table(self) -> pd.DataFrame:
        """The parameters as a table: value, interval, rows used, rows still needed to know them within 0.1."""
        return table(self.parameters)

    def _with_parameters(self, parameters: tuple[Parameter, ...]) -> Self:
        """The same assumption with other values; a parameter of the same name is about the same cell."""
        cells = {parameter.name: parameter.cell for parameter in self.parameters}
        other = copy.copy(self)
        other.parameters = tuple(replace(given, cell=cells.get(given.name, given.cell)) for given in parameters)
        return other

    def _with_favourable(self, label: Any) -> Self:
        """The same assumption about labels of which this one counts as 1."""
        other = copy.copy(self)
        other.favourable = plain_label(label)
        return other

    def _require_known(self) -> None:
        """Raise the error that names unknown parameters, if there are any."""
        check_known(self.parameters)

    def _check_rows(self, rows: Rows) -> None:
        """Raise the error that says why these rows cannot be learned from: every group must occur."""
        self.columns.require(rows)
        for variable in self.variables:
            absent = [variable.group_text(i) for i, rate in enumerate(rows.shares(variable).sum(axis=0)) if rate == 0]
            if absent:
                raise P4FError(f"no row has {absent[0]}; leave that group out of the belief's groups")

    def _restore(self, rows: Rows) -> Observation:
        """The fair features that recorded ones may stand for, as :meth:`Observation.fair_proba` needs them."""
        return self.observe(rows.without_record())

    def _bound_program(self) -> Program:
        """The same program with its numbers beside it: it is compiled once, whatever they are."""
        try:
            return Program(self.bind(None).text()).bind(self._values_in_use())
        except UnknownNameError:
            # A belief of somebody's own may write its numbers into the text and nothing else.
            return self.program()

    def _values_in_use(self) -> dict[str, float]:
        """The values that its program computes with, by name; outcomes exclude each other within a part only."""
        parts = ([parameter for parameter in part if parameter.is_probability] for part in self._counted_parts())
        return {name: value for part in parts for name, value in known_values(part).items()}

    def _counted_parts(self) -> list[tuple[Parameter, ...]]:
        """The parameters, in parts that were counted separately."""
        return [self.parameters]

    def _network_columns(self) -> dict[str, str]:
        """The column that each network of its program reads, where it is one."""
        return {v.name: v.columns[0] for v in self.variables if len(v.columns) == 1}

    @property
    def _class_count(self) -> int:
        """Number of classes of the label."""
        classes = self.record.classes
        return 2 if classes is None else len(classes)

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


def _columns(variables: Iterable[Sensitive]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for variable in variables for column in variable.columns))
