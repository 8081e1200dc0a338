"""What all mechanisms have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.beliefs.combinations import Codes, answers
from problog4fairness.beliefs.rates import Rate, bind, check_known, table
from problog4fairness.rows.sensitive import Sensitive
from problog4fairness.rows.types import Level
from problog4fairness.program.program import Program

if TYPE_CHECKING:
    import pandas as pd


class Mechanism(ABC):
    """An assumption on how the recorded data came from the fair data; it *writes ProbLog*.

    ``str(mechanism)`` is the program, with the numbers in it where they are known, and it is that program which is
    compiled. Immutable: :meth:`bind` and ``estimate`` give new ones.

    Attributes
    ----------
    variables
        The sensitive variables that it depends on.
    rates
        Its parameters.
    features
        The recorded features that it changes.
    """

    variables: tuple[Sensitive, ...]
    rates: tuple[Rate, ...]
    features: tuple[str, ...] = ()
    kinds: ClassVar[dict[str, type[Mechanism]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Mechanism.kinds[cls.__name__] = cls

    @abstractmethod
    def text(self) -> str:
        """The program as text."""

    @abstractmethod
    def with_rates(self, rates: tuple[Rate, ...]) -> Self:
        """The same assumption with other values."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain data from which :meth:`from_json` makes an equal mechanism."""

    @classmethod
    @abstractmethod
    def _from_json(cls, value: dict[str, Any]) -> Self: ...

    @staticmethod
    def from_json(value: dict[str, Any]) -> Mechanism:
        """The mechanism that :meth:`to_json` described."""
        kind = Mechanism.kinds.get(str(value.get("kind")))
        if kind is None:
            raise P4FError(f"there is no mechanism {value.get('kind')!r}")
        return kind._from_json(value)

    def program(self) -> Program:
        """The program that is compiled."""
        return Program(self.text())

    @property
    def parameters(self) -> pd.DataFrame:
        """The parameters as a table: value, interval, rows used, rows still needed to know them within 0.1."""
        return table(self.rates)

    def bind(self, values: Mapping[str, float]) -> Self:
        """A mechanism with stated values for some parameters."""
        return self.with_rates(bind(self.rates, values))

    def require_rates(self) -> None:
        """Raise the error that names unknown parameters, if there are any."""
        check_known(self.rates)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """All sensitive columns, each once."""
        return tuple(dict.fromkeys(column for variable in self.variables for column in variable.columns))

    def label_table(self, groups: Codes | None = None) -> Tensor | None:  # noqa: ARG002
        """P(recorded label | fair label, groups), ``[groups, fair, recorded]``; None where labels are not distorted.

        ``groups`` are combinations of groups, ``[combinations, variables]`` by position; all of them by default.
        """
        return None

    def feature_tables(self, groups: Codes | None = None) -> dict[str, Tensor]:  # noqa: ARG002
        """For each changed feature P(fair value | recorded value, groups), ``[groups, recorded, fair]``."""
        return {}

    def feature_values(self) -> dict[str, tuple[Level, ...]]:
        """For each changed feature the values that it can take."""
        return {}

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        known = ", ".join(
            f"{rate.name}={'?' if rate.value is None else format(rate.value, '.3g')}" for rate in self.rates
        )
        return f"{type(self).__name__}({', '.join(self.sensitive_columns)}: {known or 'no parameters'})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.text())


def label_table(program: Program, variables: tuple[Sensitive, ...], classes: int, groups: Codes) -> Tensor:
    """The label table of a program with one classifier ``h``, for some combinations of groups."""
    circuit = program.compile()
    h = torch.arange(2).double() if classes == 2 else torch.eye(classes).double()
    labels = [i for i, query in enumerate(circuit.queries) if query.startswith("y_(")]
    recorded = answers(circuit, variables, groups, {"h": h})[..., labels]
    return torch.cat([1 - recorded, recorded], dim=-1) if classes == 2 else recorded


def rate_json(rates: tuple[Rate, ...]) -> list[dict[str, Any]]:
    """Rates as plain data."""
    return [vars(rate) for rate in rates]


def rates_from_json(value: list[dict[str, Any]]) -> tuple[Rate, ...]:
    """The inverse of :func:`rate_json`."""
    return tuple(Rate(**entry) for entry in value)


def level_json(levels: tuple[Level, ...]) -> list[Any]:
    """Groups as plain data."""
    return [list(level) if isinstance(level, tuple) else level for level in levels]


def levels_from_json(value: list[Any]) -> tuple[Level, ...]:
    """The inverse of :func:`level_json`."""
    return tuple(tuple(level) if isinstance(level, list) else level for level in value)
