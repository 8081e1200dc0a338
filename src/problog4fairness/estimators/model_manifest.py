"""What a model file from a stranger says: each part is of a known shape, or a ``ValueError`` says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import safetensors.torch
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.learners import Shape, require

Array = np.ndarray[Any, np.dtype[Any]]

# Types of labels, besides texts.
_LABELS = [np.dtype(kind).str for kind in "?bBhHiIqQefdO"]
# Bytes that safetensors takes to describe a tensor, at most.
_DESCRIPTION = 256
# What speaks against a model: so many sentences of so many characters, at most.
MOST_WARNINGS, LONGEST_WARNING = 20, 2000
# Rows of a table of posterior intervals, at most.
MOST_INTERVALS = 200

# Its columns.
INTERVAL_COLUMNS = ("quantity", "group", "value", "low", "high")


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def whole(value: Any) -> int:
    """A number of 0 or more, as an int."""
    require(type(value) is int and 0 <= value < 2**63, "it has a number that is no whole one")
    return int(value)


def label_type(classes: Array) -> str:
    """The type of labels, for a manifest."""
    if classes.dtype.kind == "U":
        return "U"
    if classes.dtype.str not in _LABELS:
        raise P4FError(
            f"the model cannot be saved: labels of type {classes.dtype} are not plain; train on numbers or texts"
        )
    return classes.dtype.str


def classes_of(values: Any, kind: Any) -> Array:
    """The labels."""
    require(isinstance(values, list) and len(values) >= 2 and all(map(_is_plain, values)), "its labels are not plain")
    require(len({type(value) for value in values}) == 1, "its labels are of several types")
    require(len(set(values)) == len(values), "a label occurs twice")
    require(kind == "U" or kind in _LABELS, "its labels are of an unknown type")
    classes = np.array(values, dtype=str if kind == "U" else kind)
    require(classes.tolist() == values, "its labels are not of their type")
    return classes


def names_of(count: Any, values: Any) -> list[str]:
    """The names of all features."""
    require(_are_texts(values), "its features have no names")
    require(count == len(values) and len(set(values)) == len(values), "its features do not fit their number")
    return list(values)


def columns_of(values: Any, names: Sequence[str]) -> list[str]:
    """The names of the features that the learner reads, from their positions."""
    require(isinstance(values, list) and all(type(value) is int for value in values), "its columns are not numbers")
    fit = all(0 <= value < len(names) for value in values) and len(set(values)) == len(values)
    require(fit, "its columns do not fit its features")
    return [names[value] for value in values]


def options_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a classifier as plain data; a random state that is no number is left out."""
    plain = {name: value for name, value in options.items() if name not in ("belief", "learner")}
    weights = plain["class_weight"]
    if isinstance(weights, Mapping):
        plain["class_weight"] = [[label, weight] for label, weight in weights.items()]
    seed = plain["random_state"]
    plain["random_state"] = int(seed) if isinstance(seed, int | np.integer) else None
    return plain


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _are_pairs(values: Any) -> bool:
    pairs = isinstance(values, list) and all(isinstance(value, list) and len(value) == 2 for value in values)
    return pairs and all(_is_plain(value) for pair in values for value in pair)


# What each option may be.
_OPTIONS: dict[str, Callable[[Any], bool]] = {
    "sensitive": lambda value: value is None or isinstance(value, str) or _are_texts(value),
    "use_sensitive": lambda value: isinstance(value, bool) or value == "auto",
    "test_features": lambda value: value in (None, "fair", "biased"),
    "favourable": lambda value: value is None or _is_plain(value),
    "class_weight": lambda value: value in (None, "balanced") or _are_pairs(value),
    "random_state": lambda value: value is None or type(value) is int,
    "verbose": lambda value: isinstance(value, bool),
}


def options_of(options: Any) -> dict[str, Any]:
    """The inverse of :func:`options_json`."""
    require(isinstance(options, dict) and set(options) == set(_OPTIONS), "its options are others")
    for name, may_be in _OPTIONS.items():
        require(may_be(options[name]), f"its option {name} is not what it may be")
    weights = options["class_weight"]
    return {**options, "class_weight": dict(weights) if isinstance(weights, list) else weights}


def recorded_of(value: Any) -> str | None:
    """The name of the recorded label."""
    require(value is None or isinstance(value, str), "the name of its label is not text")
    return None if value is None else str(value)


def warnings_of(value: Any) -> list[str]:
    """What speaks against the model."""
    require(_are_texts(value), "its training warnings are not sentences")
    require(
        len(value) <= MOST_WARNINGS and max(map(len, value), default=0) <= LONGEST_WARNING,
        "its training warnings are long",
    )
    return list(value)


def uncertainty_json(table: pd.DataFrame | None) -> dict[str, Any]:
    """The table of intervals as part of a manifest; nothing where there is none."""
    if table is None or not len(table):
        return {}
    rows = table.head(MOST_INTERVALS).astype(object)
    return {"uncertainty": rows.where(rows.notna(), None).to_numpy().tolist()}


def uncertainty_read(value: Any) -> pd.DataFrame | None:
    """The inverse of :func:`uncertainty_json`."""
    if value is None:
        return None
    require(isinstance(value, list) and len(value) <= MOST_INTERVALS, "its intervals are too many")
    for row in value:
        require(isinstance(row, list) and len(row) == len(INTERVAL_COLUMNS), "its intervals are others")
        require(all(isinstance(text, str) for text in row[:2]), "its intervals have no names")
        numbers = [number for number in row[2:] if number is not None]
        require(all(type(number) is float and -1 <= number <= 1 for number in numbers), "its intervals are no shares")
    table = pd.DataFrame(value, columns=list(INTERVAL_COLUMNS))
    return table.astype(dict.fromkeys(INTERVAL_COLUMNS[2:], "float64"))


def tensors_of(content: bytes, shapes: Mapping[str, Shape]) -> dict[str, Tensor]:
    """The tensors of a model file; none is read before their count fits the shapes that the manifest implies."""
    size = sum(kind.itemsize * math.prod(shape) for shape, kind in shapes.values())
    require(size <= len(content) <= size + _DESCRIPTION * (len(shapes) + 1), "its weights do not fit its layers")
    tensors = safetensors.torch.load(content)
    present = {name: (tuple(value.shape), value.dtype) for name, value in tensors.items()}
    require(present == dict(shapes), "its weights do not fit its layers")
    for name, value in tensors.items():
        require(bool(value.isfinite().all()), f"{name} holds what is not a number")
    return tensors
