"""An encoder as plain data and numbers, and back; what comes from a stranger is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from problog4fairness.learners.base import Shape
from problog4fairness.learners.encoder import Encoder
from problog4fairness.learners.plain import require

NUMBERS = ("fills", "means", "scales")


def encoder_state(encoder: Encoder) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The numbers of an encoder, and the rest as plain data."""
    numbers = {name: torch.from_numpy(np.array(getattr(encoder, name))) for name in NUMBERS}
    categories = [[name, name in encoder.rare, list(values)] for name, values in encoder.categories.items()]
    return numbers, {"numbers": list(encoder.numbers), "marked": list(encoder.marked), "categories": categories}


def encoder_of(plain: Any, columns: Sequence[str] | None = None) -> Encoder:
    """The encoder that plain data describe, without its numbers.

    Parameters
    ----------
    plain
        From :func:`encoder_state`, or from a stranger.
    columns
        The columns that it must read; not checked where they are not given.
    """
    require(isinstance(plain, dict) and set(plain) == {"numbers", "marked", "categories"}, "its encoder is another one")
    numbers, marked = _names(plain["numbers"]), _names(plain["marked"])
    categories: dict[str, tuple[str, ...]] = {}
    rare = set()
    require(isinstance(plain["categories"], list), "its categories are wrong")
    for entry in plain["categories"]:
        require(isinstance(entry, list) and len(entry) == 3 and isinstance(entry[1], bool), "its categories are wrong")
        (name,), values = _names(entry[:1]), _names(entry[2])
        require(name not in categories, "a category occurs twice")
        categories[name] = tuple(values)
        rare |= {name} if entry[1] else set()
    told = [*numbers, *categories]
    fit = columns is None or sorted(told) == sorted(columns)
    require(fit and set(marked) <= set(numbers), "its encoder does not fit its columns")
    nothing = np.zeros(0)
    return Encoder(tuple(numbers), tuple(marked), categories, frozenset(rare), nothing, nothing, nothing)


def encoder_shapes(encoder: Encoder) -> dict[str, Shape]:
    """The shapes of its numbers."""
    inputs = len(encoder.numbers) + len(encoder.marked)
    sizes = {"fills": len(encoder.numbers), "means": inputs, "scales": inputs}
    return {name: ((size,), torch.float64) for name, size in sizes.items()}


def with_numbers(encoder: Encoder, tensors: dict[str, Tensor]) -> Encoder:
    """The encoder with its numbers, which are taken out of ``tensors``."""
    fills, means, scales = (tensors.pop(name).numpy() for name in NUMBERS)
    require(bool((scales > 0).all()), "a scale is not above 0")
    return replace(encoder, fills=fills, means=means, scales=scales)


def _names(values: Any) -> list[str]:
    require(isinstance(values, list) and all(isinstance(value, str) for value in values), "its names are not texts")
    require(len(set(values)) == len(values), "a name or category occurs twice")
    return list(values)
