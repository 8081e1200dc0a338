"""What a learner gives: a classifier of the fair label, which a model file can hold."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import pandas as pd
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.learners.encoder import Encoder
from problog4fairness.learners.validation import Shape, require

History: TypeAlias = Mapping[str, list[float]]
# All that was learned: as tensors and as plain data.
State: TypeAlias = tuple[dict[str, Tensor], dict[str, Any]]


class Fitted(ABC):
    """A classifier of the fair label.

    Attributes
    ----------
    kinds
        The kinds of fitted classifiers by name, for reading model files.
    history
        How training went: for each quantity its value after every round.
    concerns
        What speaks against this classifier, a sentence each: that training stopped too early.

    Examples
    --------
    >>> from problog4fairness.learners import Fitted
    >>> {"linear", "boosted", "network"} <= set(Fitted.kinds)  # what model files may hold
    True
    """

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Fitted]]] = {}
    history: History
    concerns: Sequence[str] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in vars(cls):
            Fitted.kinds[cls.kind] = cls

    @abstractmethod
    def log_proba(self, table: pd.DataFrame) -> Tensor:
        """log P(fair class), ``[rows, classes]`` in float64, of inputs with the columns that were learned from."""

    def check(self, table: pd.DataFrame) -> None:  # noqa: B027  most learners take any cell
        """Raise the error that names row and column of a cell that is not of the kind that was learned from."""

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        """The columns that are texts to this classifier, and the values that it knows of each."""
        return {}

    def state(self) -> State:
        """All that was learned, as tensors and as plain data; :meth:`from_state` makes an equal classifier of it."""
        raise P4FError(f"a model with the classifier {type(self).__name__} cannot be saved")

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        """The tensors that go with plain data from a stranger; ``ValueError`` where that is not of the known shape.

        Parameters
        ----------
        plain
            The plain data of :meth:`state`.
        columns
            The columns that the classifier reads.
        classes
            How many classes the label has.
        """
        raise ValueError(f"its classifier {cls.kind} is in no file")

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> Fitted:
        """The inverse of :meth:`state`, after :meth:`shapes` has checked it."""
        raise ValueError(f"its classifier {cls.kind} is in no file")


class FittedEncoded(Fitted):
    """A classifier behind an encoder.

    Attributes
    ----------
    encoder
        Makes numbers of the columns that the classifier reads.
    """

    # What its plain data hold besides encoder and history.
    plain_names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, encoder: Encoder, history: History) -> None:
        self.encoder, self.history = encoder, history

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        return self.encoder.categories

    def check(self, table: pd.DataFrame) -> None:
        self.encoder.check(table)

    @abstractmethod
    def parts(self) -> State:
        """What was learned behind the encoder; the plain data have :attr:`plain_names`."""

    @classmethod
    @abstractmethod
    def part_shapes(cls, plain: Mapping[str, Any], encoder: Encoder, outputs: int) -> dict[str, Shape]:
        """As :meth:`shapes`, of :meth:`parts` alone."""

    @classmethod
    @abstractmethod
    def of_parts(cls, encoder: Encoder, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedEncoded:
        """The classifier with these parts."""

    def state(self) -> State:
        numbers, encoder = self.encoder.state()
        tensors, plain = self.parts()
        return numbers | tensors, {"encoder": encoder, **plain, "history": dict(self.history)}

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        require(set(plain) == {"encoder", "history", *cls.plain_names}, f"its {cls.kind} classifier is another one")
        _check_history(plain["history"])
        encoder = Encoder.of_plain(plain["encoder"], columns)
        return encoder.shapes() | cls.part_shapes(plain, encoder, 1 if classes == 2 else classes)

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedEncoded:
        rest = dict(tensors)
        encoder = Encoder.of_plain(plain["encoder"]).with_numbers(rest)
        return cls.of_parts(encoder, rest, plain)


class FittedAround(Fitted):
    """A classifier around another one.

    Attributes
    ----------
    fitted
        The other one.
    """

    def __init__(self, fitted: Fitted) -> None:
        self.fitted, self.history, self.concerns = fitted, fitted.history, fitted.concerns

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        return self.fitted.log_proba(table)

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        return self.fitted.categories

    def check(self, table: pd.DataFrame) -> None:
        self.fitted.check(table)

    @abstractmethod
    def around(self) -> dict[str, Any]:
        """Plain data besides those of the other one."""

    @classmethod
    @abstractmethod
    def check_around(cls, plain: Mapping[str, Any], classes: int) -> None:
        """``ValueError`` where :meth:`around` did not give these."""

    @classmethod
    @abstractmethod
    def of_around(cls, fitted: Fitted, plain: Mapping[str, Any]) -> FittedAround:
        """The classifier around this one."""

    def state(self) -> State:
        tensors, plain = self.fitted.state()
        return tensors, {**self.around(), "fitted": {"kind": self.fitted.kind, **plain}}

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        inner = plain.get("fitted")
        known = isinstance(inner, dict) and inner.get("kind") in Fitted.kinds
        require(known and inner["kind"] != cls.kind, f"its {cls.kind} classifier is around another one")  # type: ignore[index]
        cls.check_around({name: value for name, value in plain.items() if name != "fitted"}, classes)
        kind, inside = cls._inside(plain)
        return kind.shapes(inside, columns, classes)

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedAround:
        kind, inside = cls._inside(plain)
        return cls.of_around(kind.from_state(tensors, inside), plain)

    @staticmethod
    def _inside(plain: Mapping[str, Any]) -> tuple[type[Fitted], dict[str, Any]]:
        inside = dict(plain["fitted"])
        return Fitted.kinds[inside.pop("kind")], inside


def _check_history(value: Any) -> None:
    require(isinstance(value, dict) and all(isinstance(name, str) for name in value), "its history is wrong")
    for numbers in value.values():
        fit = isinstance(numbers, list) and all(isinstance(n, float | int) and math.isfinite(n) for n in numbers)
        require(fit, "its history is wrong")
