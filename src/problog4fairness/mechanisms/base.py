"""What all mechanisms have in common."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.mechanisms.combinations import Codes, answers
from problog4fairness.mechanisms.rates import Rate, bind, check_known, table
from problog4fairness.mechanisms.sensitive import Sensitive
from problog4fairness.mechanisms.text import Level
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
    favourable
        The label that counts as 1, once it was stated or an audit was read; None while nobody said.
    """

    variables: tuple[Sensitive, ...]
    rates: tuple[Rate, ...]
    features: tuple[str, ...] = ()
    favourable: bool | int | float | str | None = None
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

    def with_favourable(self, label: Any) -> Self:
        """The same assumption about labels of which this one counts as 1."""
        other = copy.copy(self)
        other.favourable = plain_label(label)
        return other

    def favourable_among(self, labels: Collection[Any], said: Any = None) -> Any:
        """Which of these labels counts as 1: what is said now, or what the belief knows; None where neither does.

        A belief that knows another of these labels contradicts what is said, which is an error. A belief that was made
        with labels written in another way does not, but then somebody has to say which one is meant.
        """
        known = self.favourable
        if known is None or (said is not None and known not in labels):
            return said
        if known not in labels:
            raise P4FError(
                f"the belief's favourable label is {known!r}, which is not among {list(labels)}; "
                "say which one it is by favourable=..."
            )
        if said is not None and said != known:
            raise P4FError(
                f"favourable={said!r} contradicts the belief, in which {known!r} is the favourable label; "
                "leave it out, or estimate the belief anew"
            )
        return known

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


def plain_label(label: Any) -> bool | int | float | str | None:
    """A label as plain data, which a file can hold."""
    label = label.item() if hasattr(label, "item") else label
    if label is not None and not isinstance(label, bool | int | float | str):
        raise P4FError(f"the favourable label {label!r} is neither text nor a number nor a truth value; recode it")
    return label


def favourable_json(mechanism: Mechanism) -> dict[str, Any]:
    """The favourable label as an entry of a mechanism's plain data, where it is known."""
    return {} if mechanism.favourable is None else {"favourable": mechanism.favourable}


def favourable_comment(mechanism: Mechanism) -> list[str]:
    """The same as a line for the head of a program, where it is not 1."""
    known = mechanism.favourable
    return [] if known is None or known == 1 else [f"The favourable label, which counts as 1, is {known}."]


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
