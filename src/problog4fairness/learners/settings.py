"""How to train a network: the one set of defaults. The paper's numbers are in its studies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from problog4fairness.errors import TrainingError

Loss = Literal["cross_entropy", "focal"]


@dataclass(frozen=True)
class Settings:
    """How to train a network.

    Parameters
    ----------
    hidden
        Width of each hidden layer; ``()`` is logistic regression.
    dropout
        Share of hidden units that are switched off in each training step.
    learning_rate, weight_decay
        Step size and weight decay of AdamW; None for a step size that suits the batch size.
    batch_size
        Rows in one training step; None for one that suits the number of rows, between 64 and 1024.
    max_epochs
        Passes over the training rows at most. The paper does not say how many it made; 200 is more than early stopping
        leaves most fits.
    patience
        Stop after this many epochs in a row without a lower validation loss; None for 10 below 4,000 rows, where the
        loss of few held-out rows jumps, and otherwise 5.
    validation
        Share of the training rows that is held out, at random, to choose the best epoch; 0 takes the training rows
        themselves instead.
    loss
        ``"cross_entropy"``, or ``"focal"`` to look mostly at the rows that are explained badly.
    gamma
        How strongly the focal loss does so; 0 is cross-entropy.

    Examples
    --------
    >>> from problog4fairness.learners import Settings
    >>> Settings(max_epochs=50, batch_size=64).max_epochs
    50
    """

    hidden: tuple[int, ...] = (32, 32, 32)
    dropout: float = 0.0
    learning_rate: float | None = None
    weight_decay: float = 0.01
    batch_size: int | None = None
    max_epochs: int = 200
    patience: int | None = None
    validation: float = 0.1
    loss: Loss = "cross_entropy"
    gamma: float = 2.0

    def __post_init__(self) -> None:
        try:
            hidden = tuple(self.hidden)
        except TypeError:
            raise TrainingError(f"hidden={self.hidden!r} is not a sequence of widths such as (32, 32, 32)") from None
        object.__setattr__(self, "hidden", tuple(whole_option(f"hidden[{i}]", width) for i, width in enumerate(hidden)))
        for name in ("batch_size", "max_epochs", "patience"):
            if getattr(self, name) is None and name != "max_epochs":
                continue
            object.__setattr__(self, name, whole_option(name, getattr(self, name)))
        for name, rule, accepts in _RANGES:
            if getattr(self, name) is None and name == "learning_rate":
                continue
            object.__setattr__(self, name, number_option(name, getattr(self, name), rule, accepts))
        if self.loss not in get_args(Loss):
            raise TrainingError(f"loss={self.loss!r} is unknown; take one of {', '.join(get_args(Loss))}")

    def suited(self, rows: int) -> SuitedSettings:
        """The same with a batch size, a learning rate and a patience that suit so many rows.

        Batches of 1/20 of the rows, a power of 2 between 64 and 1024; the learning rate grows from 1e-3 at 64 to 4e-3
        at 512, because the gradient of a larger batch is surer. On 10,000 synthetic rows this takes a third of the
        time of batches of 128 with a learning rate of 1.4e-3 and a patience of 10, and ends as well.
        """
        batch = 64
        while batch < 1024 and rows >= 20 * batch:
            batch *= 2
        # Batches are padded to their size: larger ones than there are rows would only take memory.
        size = min(batch if self.batch_size is None else self.batch_size, max(1, rows))
        rate = 1e-3 * (size / 64) ** (2 / 3) if self.learning_rate is None else self.learning_rate
        patience = (10 if rows < 4_000 else 5) if self.patience is None else self.patience
        return SuitedSettings(**{**vars(self), "batch_size": size, "learning_rate": rate, "patience": patience})


@dataclass(frozen=True)
class SuitedSettings(Settings):
    """Settings in which nothing is left open."""

    learning_rate: float = 1e-3
    batch_size: int = 64
    patience: int = 10


_RANGES: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
    ("dropout", "at least 0 and below 1", lambda value: 0 <= value < 1),
    ("learning_rate", "above 0", lambda value: value > 0),
    ("weight_decay", "at least 0", lambda value: value >= 0),
    ("validation", "at least 0 and below 1", lambda value: 0 <= value < 1),
    ("gamma", "at least 0", lambda value: value >= 0),
)


def whole_option(name: str, value: Any) -> int:
    """A whole number of at least 1, or the error that names the option."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise TrainingError(f"{name}={value!r} is not a whole number of at least 1")
    return int(value)


def number_option(name: str, value: Any, rule: str, accepts: Callable[[float], bool]) -> float:
    """A number that is accepted, or the error that names the option and the rule."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or not accepts(float(value)):
        raise TrainingError(f"{name}={value!r} is not a number {rule}")
    return float(value)
