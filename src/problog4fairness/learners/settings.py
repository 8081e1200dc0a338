"""How to train: the numbers in the paper's table of hyper-parameters, and the few that it leaves open.

The defaults are those of the synthetic studies: three hidden layers of 32, no dropout, AdamW at 3e-4, batches of 64,
cross-entropy. The student study is ``Settings(hidden=(256, 256, 256), dropout=0.2, loss="focal")``.
"""

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
        Of AdamW.
    batch_size
        Rows in one training step.
    max_epochs
        Passes over the training rows at most. The paper does not say how many it made; 200 is more than early stopping
        leaves most fits.
    patience
        Stop after this many epochs in a row without a lower validation loss.
    validation
        Share of the training rows that is held out, at random, to choose the best epoch; 0 takes the training rows
        themselves instead.
    loss
        ``"cross_entropy"``, or ``"focal"`` to look mostly at the rows that are explained badly.
    gamma
        How strongly the focal loss does so; 0 is cross-entropy.
    """

    hidden: tuple[int, ...] = (32, 32, 32)
    dropout: float = 0.0
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    batch_size: int = 64
    max_epochs: int = 200
    patience: int = 20
    validation: float = 0.1
    loss: Loss = "cross_entropy"
    gamma: float = 2.0

    def __post_init__(self) -> None:
        try:
            hidden = tuple(self.hidden)
        except TypeError:
            raise TrainingError(f"hidden={self.hidden!r} is not a sequence of widths such as (32, 32, 32)") from None
        object.__setattr__(self, "hidden", tuple(_whole(f"hidden[{i}]", width) for i, width in enumerate(hidden)))
        for name in ("batch_size", "max_epochs", "patience"):
            object.__setattr__(self, name, _whole(name, getattr(self, name)))
        for name, rule, accepts in _RANGES:
            object.__setattr__(self, name, _number(name, getattr(self, name), rule, accepts))
        if self.loss not in get_args(Loss):
            raise TrainingError(f"loss={self.loss!r} is unknown; take one of {', '.join(get_args(Loss))}")


_RANGES: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
    ("dropout", "at least 0 and below 1", lambda value: 0 <= value < 1),
    ("learning_rate", "above 0", lambda value: value > 0),
    ("weight_decay", "at least 0", lambda value: value >= 0),
    ("validation", "at least 0 and below 1", lambda value: 0 <= value < 1),
    ("gamma", "at least 0", lambda value: value >= 0),
)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise TrainingError(f"{name}={value!r} is not a whole number of at least 1")
    return int(value)


def _number(name: str, value: Any, rule: str, accepts: Callable[[float], bool]) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or not accepts(float(value)):
        raise TrainingError(f"{name}={value!r} is not a number {rule}")
    return float(value)
