"""Options of learners, declared with what they may be; and the plain data of model files from strangers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, TypeAlias

import torch

from problog4fairness.errors import TrainingError

# The shape of a tensor and its type.
Shape: TypeAlias = tuple[tuple[int, ...], torch.dtype]


@dataclass(frozen=True)
class Number:
    """A number within bounds, or one of some ``others``, which are texts or None."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    whole: bool = False
    others: tuple[str | None, ...] = ()

    def __call__(self, name: str, value: Any) -> Any:
        """The value as a plain number, or the error that names the option and what it may be."""
        if (value is None or isinstance(value, str)) and value in self.others:
            return value
        right = isinstance(value, Integral if self.whole else Real) and not isinstance(value, bool)
        if not (right and math.isfinite(value) and self._within(float(value))):
            raise TrainingError(f"{name}={value!r} is not {self}")
        return int(value) if self.whole else float(value)

    def _within(self, value: float) -> bool:
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        bounds = (("of at least", self.least), ("above", self.above), ("of at most", self.most), ("below", self.below))
        text = " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
        others = "".join(f", nor {other!r}" for other in self.others)
        return f"a {'whole number' if self.whole else 'number'} {text}{others}"


COUNT = Number(least=1, whole=True)
SHARE = Number(least=0, below=1)
POSITIVE = Number(above=0)
NOT_NEGATIVE = Number(least=0)


def option(default: Any, rule: Number, **more: Any) -> Any:
    """The field of a data class: its default, and what it may be."""
    return field(default=default, metadata={"rule": rule}, **more)


def checked_options(owner: Any) -> dict[str, Any]:
    """The options of a data class that have a rule, as plain numbers; the error names one that breaks it."""
    rules = {one.name: one.metadata["rule"] for one in fields(owner) if "rule" in one.metadata}
    return {name: rule(name, getattr(owner, name)) for name, rule in rules.items()}


def check_seed(seed: object) -> None:
    """A whole number that all random streams accept."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) < 2**63:
        raise TrainingError(f"seed={seed!r} is not a whole number between 0 and 2^63 - 1")


def require(holds: bool, reason: str) -> None:
    """``ValueError`` where plain data from a stranger are not of the known shape."""
    if not holds:
        raise ValueError(reason)
