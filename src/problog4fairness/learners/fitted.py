"""What a learner gives: a classifier of the fair label, which a model file can hold."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pandas as pd
import torch
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.learners.encoder import Encoder
from problog4fairness.learners.validation import Shape, require

if TYPE_CHECKING:
    from problog4fairness.learners.base import Learner, Task

History: TypeAlias = Mapping[str, list[float]]
# All that was learned: as tensors and as plain data.
State: TypeAlias = tuple[dict[str, Tensor], dict[str, Any]]
# Between these a slope is found, and shifts between minus and plus the largest: beyond, few rows would make it certain.
SLOPES, LARGEST_SHIFT = (0.05, 10.0), 10.0
# Standard errors by which probabilities must be off for a warning.
FAR = 3.0
# How many times quicker trees are fitted again, with as many times fewer of them.
SPEEDUP = 4


class Fitted(ABC):
    """A classifier of the fair label.

    Attributes
    ----------
    kinds
        The kinds of fitted classifiers by name, for reading model files.
    history
        How training went: for each quantity its value after every round.
    training_warnings
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
    training_warnings: Sequence[str] = ()

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

    def refit(
        self, learner: Learner, tasks: Sequence[Task], progress: bool | None = None, speedup: int = SPEEDUP
    ) -> Sequence[Fitted]:
        """Fit one classifier for each task, near this one, which ``learner`` fitted; see :meth:`Learner.refit`."""
        return learner.refit(self, tasks, progress, speedup)

    def state(self) -> State:
        """All that was learned, as tensors and as plain data; :meth:`from_state` makes an equal classifier of it."""
        raise P4FError(f"a model with the classifier {type(self).__name__} cannot be saved")

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        """The tensors that go with plain data from a stranger, of a classifier that reads these columns.

        ``ValueError`` where the data are not of the known shape.
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

    # What its plain data hold besides the other one: attributes and arguments.
    plain_names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, fitted: Fitted, **_: Any) -> None:
        self.fitted, self.history, self.training_warnings = fitted, fitted.history, fitted.training_warnings

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        return self.fitted.log_proba(table)

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        return self.fitted.categories

    def check(self, table: pd.DataFrame) -> None:
        self.fitted.check(table)

    @classmethod
    @abstractmethod
    def check_plain(cls, plain: Mapping[str, Any], classes: int) -> None:
        """``ValueError`` where the attributes :attr:`plain_names` cannot have these values."""

    def state(self) -> State:
        tensors, plain = self.fitted.state()
        attributes = {name: getattr(self, name) for name in self.plain_names}
        return tensors, {**attributes, "fitted": {"kind": self.fitted.kind, **plain}}

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        inner = plain.get("fitted")
        known = isinstance(inner, dict) and inner.get("kind") in Fitted.kinds and inner["kind"] != cls.kind
        require(known and set(plain) == {*cls.plain_names, "fitted"}, f"its {cls.kind} classifier is another one")
        cls.check_plain(plain, classes)
        kind, inside = cls._inside(plain)
        return kind.shapes(inside, columns, classes)

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedAround:
        kind, inside = cls._inside(plain)
        return cls(kind.from_state(tensors, inside), **{name: plain[name] for name in cls.plain_names})

    @staticmethod
    def _inside(plain: Mapping[str, Any]) -> tuple[type[Fitted], dict[str, Any]]:
        inside = dict(plain["fitted"])
        return Fitted.kinds[inside.pop("kind")], inside


def recalibrated(log_proba: Tensor, slope: Tensor | float, shifts: Tensor) -> Tensor:
    """log P(class), ``[rows, classes]``: P'(f) is in proportion to P(f)^slope exp(shift_f), with shift 0 of class 0."""
    moved = slope * log_proba.clamp_min(-1e4) + torch.cat([shifts.new_zeros(1), shifts])
    return moved.log_softmax(-1)


class Calibrated(FittedAround):
    """A fitted classifier, and the slope and shifts that its log-probabilities need to be right.

    Attributes
    ----------
    fitted
        What was learned.
    slope
        Above 1 the classifier was too cautious, below 1 too sure.
    shifts
        What is added to the log-odds of each class but the first.
    gain, error
        By how much that lowers the mean of -log P(fair label) of audited rows that it was not fitted on, and the
        standard error of that.
    """

    kind = "calibrated"
    plain_names = ("slope", "shifts", "gain", "error")

    def __init__(self, fitted: Fitted, slope: float, shifts: Sequence[float], gain: float, error: float) -> None:
        super().__init__(fitted)
        self.slope, self.shifts = float(slope), tuple(map(float, shifts))
        self.gain, self.error = gain, error
        if gain > FAR * error:
            warning = (
                f"its fair probabilities disagree with the audited rows, on which they were calibrated (log loss "
                f"lower by {gain:.3f}, standard error {error:.3f}, out of fold); the belief may not hold"
            )
            self.training_warnings = [*fitted.training_warnings, warning]

    def refit(
        self, learner: Learner, tasks: Sequence[Task], progress: bool | None = None, speedup: int = SPEEDUP
    ) -> list[Calibrated]:
        """See :meth:`Fitted.refit`; the calibration is kept."""
        fits = self.fitted.refit(learner, tasks, progress, speedup)
        return [Calibrated(fit, self.slope, self.shifts, self.gain, self.error) for fit in fits]

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        return recalibrated(self.fitted.log_proba(table), self.slope, torch.tensor(self.shifts, dtype=torch.float64))

    @classmethod
    def check_plain(cls, plain: Mapping[str, Any], classes: int) -> None:
        shifts = plain["shifts"]
        require(isinstance(shifts, list) and len(shifts) == classes - 1, "its calibration does not fit its labels")
        numbers = [plain["slope"], plain["gain"], plain["error"], *shifts]
        plausible = all(type(value) is float and math.isfinite(value) and abs(value) <= 100 for value in numbers)
        require(plausible and plain["slope"] > 0, "its calibration is not in numbers")


def _check_history(value: Any) -> None:
    require(isinstance(value, dict) and all(isinstance(name, str) for name in value), "its history is wrong")
    for numbers in value.values():
        fit = isinstance(numbers, list) and all(isinstance(n, float | int) and math.isfinite(n) for n in numbers)
        require(fit, "its history is wrong")
