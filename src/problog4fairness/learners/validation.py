"""Options of learners, declared with what they may be; and the plain data of model files from strangers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, TypeAlias

import torch

from problog4fairness.errors import TrainingError

# The shape of a tensor and its type.
Shape: TypeAlias = tuple[tuple[int, ...], torch.dtype]


@dataclass(frozen=True)
class Number:
    """What an option may be: a number that is accepted, or one of some ``others``, which are texts or None."""

    text: str
    accepts: Callable[[float], bool]
    others: tuple[str | None, ...] = ()

    def __call__(self, name: str, value: Any) -> Any:
        """The value as a plain number, or the error that names the option and what it may be."""
        if (value is None or isinstance(value, str)) and value in self.others:
            return value
        whole = "whole" in self.text
        right = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
        if not (right and math.isfinite(value) and self.accepts(float(value))):
            others = "".join(f", nor {other!r}" for other in self.others)
            raise TrainingError(f"{name}={value!r} is not a {self.text}{others}")
        return int(value) if whole else float(value)

    def or_else(self, other: str | None) -> Number:
        """The same, or this value."""
        return replace(self, others=(*self.others, other))


COUNT = Number("whole number of at least 1", lambda value: value >= 1)
SHARE = Number("number of at least 0 and below 1", lambda value: 0 <= value < 1)
POSITIVE = Number("number above 0", lambda value: value > 0)
NOT_NEGATIVE = Number("number of at least 0", lambda value: value >= 0)


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
