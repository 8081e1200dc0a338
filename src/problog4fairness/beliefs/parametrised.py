"""A program and its parameters: values, priors, and draws from the posterior."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from problog4fairness.beliefs.description import BeliefKind
from problog4fairness.beliefs.fields import plain_label
from problog4fairness.data import Rows, Sensitive
from problog4fairness.errors import UnknownNameError
from problog4fairness.program import Program
from problog4fairness.statistics import (
    Beta,
    Parameter,
    bind,
    check_known,
    checked_priors,
    known_values,
    table,
)

if TYPE_CHECKING:
    import pandas as pd


class Parametrised(ABC):
    """The part of a :class:`Belief` that is about its parameters; the attributes are described there."""

    kind: BeliefKind = BeliefKind()
    variables: tuple[Sensitive, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    features: tuple[str, ...] = ()
    favourable: bool | int | float | str | None = None

    @abstractmethod
    def text(self) -> str:
        """The program as text."""

    def program(self) -> Program:
        """The program that is compiled."""
        return Program(self.text())

    def _bound_program(self) -> Program:
        """The same program with its numbers beside it: it is compiled once, whatever they are."""
        try:
            return Program(self.bind(None).text()).bind(self._values_in_use())
        except UnknownNameError:
            # A belief of somebody's own may write its numbers into the text and nothing else.
            return self.program()

    def _with_parameters(self, parameters: tuple[Parameter, ...]) -> Self:
        """The same assumption with other values; a parameter of the same name is about the same cell."""
        cells = {parameter.name: parameter.cell for parameter in self.parameters}
        other = copy.copy(self)
        other.parameters = tuple(replace(given, cell=cells.get(given.name, given.cell)) for given in parameters)
        return other

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

    def _with_favourable(self, label: Any) -> Self:
        """The same assumption about labels of which this one counts as 1."""
        other = copy.copy(self)
        other.favourable = plain_label(label)
        return other

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
        ...     found = belief.estimate(audit, recorded="recorded", fair="fair")
        >>> [own.value is None for own in found.parameters], [f"{o.value:.2f}" for o in found.pooled().parameters]
        ([False, True], ['0.25', '0.34'])
        """
        from problog4fairness.statistics import pooled

        return self._with_parameters(pooled(self.parameters))

    def parameter_table(self) -> pd.DataFrame:
        """The parameters as a table: value, interval, rows used, rows still needed to know them within 0.1."""
        return table(self.parameters)

    def _require_known(self) -> None:
        """Raise the error that names unknown parameters, if there are any."""
        check_known(self.parameters)

    def _awaiting(self, prior: Mapping[str, Beta] | None, confidence: float) -> Self:
        """The belief whose parameters are estimated with priors and intervals of this confidence."""
        known = checked_priors(prior, self.parameters)
        return self._with_parameters(
            tuple(
                replace(parameter, prior=known.get(parameter.name), confidence=confidence)
                for parameter in self.parameters
            )
        )

    def _values_in_use(self) -> dict[str, float]:
        """The values that its program computes with, by name; outcomes exclude each other within a part only."""
        parts = ([own for own in part if own.is_probability] for part in self._counted_parts())
        return {name: value for part in parts for name, value in known_values(part).items()}

    def _counted_parts(self) -> list[tuple[Parameter, ...]]:
        """The parameters, in parts that were counted separately."""
        return [self.parameters]

    @property
    def _counted(self) -> bool:
        """Whether every parameter is counted in a cell of its own."""
        cells = [parameter.cell for parameter in self.parameters]
        return bool(cells) and not self.kind.overlap and len(self.variables) == 1 and None not in cells

    def _ruled_out(self, shape: tuple[int, ...]) -> list[int]:
        """Of strata ``[groups, recorded labels]`` those in which, by the belief, what was recorded is fair."""
        if not self._counted or self.features or len(shape) != 2:
            return []
        wrong = {
            (parameter.cell.group, parameter.cell.recorded)
            for parameter in self.parameters
            if parameter.cell is not None and not (parameter.value == 0 and parameter.rows is None)
        }
        return [place for place, stratum in enumerate(np.ndindex(shape)) if stratum not in wrong]

    def _acts(self, group: int, fair: int, recorded: int) -> bool:  # noqa: ARG002
        """Whether the belief may record a fair label otherwise in a group of :attr:`_audit_variables`, by position."""
        return True

    def _occurring(self, parameters: Iterable[Parameter], rows: Rows) -> list[Parameter]:  # noqa: ARG002
        """Those of the parameters that are about some of these rows."""
        return list(parameters)
