"""What a model file from a stranger says: each part is of a known shape, or a ``ValueError`` says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from problog4fairness.classifier.encoder import Encoder
from problog4fairness.errors import P4FError

Array = np.ndarray[Any, np.dtype[Any]]

# The numbers of the encoder.
ENCODER = ("fills", "means", "scales")
MAX_LAYERS = 100
# Types of labels, besides texts.
_LABELS = [np.dtype(kind).str for kind in "?bBhHiIqQefdO"]
# Bytes that safetensors takes to describe a tensor, at most.
_DESCRIPTION = 256


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def whole(value: Any) -> int:
    """A number of 0 or more, as an int."""
    _require(type(value) is int and 0 <= value < 2**63, "it has a number that is no whole one")
    return int(value)


def _places(values: Any, count: int, what: str) -> list[int]:
    """Different positions among ``count``."""
    _require(isinstance(values, list) and all(type(value) is int for value in values), f"its {what} are not numbers")
    fit = all(0 <= value < count for value in values) and len(set(values)) == len(values)
    _require(fit, f"its {what} do not fit its features")
    return list(values)


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
    _require(isinstance(values, list) and len(values) >= 2 and all(map(_is_plain, values)), "its labels are not plain")
    _require(len({type(value) for value in values}) == 1, "its labels are of several types")
    _require(len(set(values)) == len(values), "a label occurs twice")
    _require(kind == "U" or kind in _LABELS, "its labels are of an unknown type")
    classes = np.array(values, dtype=str if kind == "U" else kind)
    _require(classes.tolist() == values, "its labels are not of their type")
    return classes


def names_of(count: Any, values: Any) -> list[str]:
    """The names of all features."""
    _require(isinstance(values, list) and all(isinstance(value, str) for value in values), "its features have no names")
    _require(count == len(values) and len(set(values)) == len(values), "its features do not fit their number")
    return list(values)


def columns_of(values: Any, names: Sequence[str]) -> list[str]:
    """The names of the features that the network reads."""
    return [names[place] for place in _places(values, len(names), "columns")]


def encoder_of(value: Any, names: Sequence[str], columns: Sequence[str]) -> Encoder:
    """The encoder, without its numbers."""
    _require(
        isinstance(value, dict) and set(value) == {"numbers", "marked", "categories"}, "its encoder is another one"
    )
    numbers = _places(value["numbers"], len(names), "columns of numbers")
    marked = _places(value["marked"], len(names), "columns with gaps")
    categories: dict[str, tuple[str, ...]] = {}
    rare = set()
    for entry in value["categories"]:
        _require(isinstance(entry, list) and len(entry) == 3 and isinstance(entry[1], bool), "its categories are wrong")
        (place,) = _places(entry[:1], len(names), "columns of categories")
        values = entry[2]
        _require(isinstance(values, list) and all(isinstance(text, str) for text in values), "a category is no text")
        _require(len(set(values)) == len(values) and names[place] not in categories, "a category occurs twice")
        categories[names[place]] = tuple(values)
        rare |= {names[place]} if entry[1] else set()
    told = [*(names[place] for place in numbers), *categories]
    _require(sorted(told) == sorted(columns), "its encoder does not fit its columns")
    _require(set(marked) <= set(numbers), "its encoder does not fit its columns")
    nothing = np.zeros(0)
    marks = tuple(names[place] for place in marked)
    return Encoder(tuple(told[: len(numbers)]), marks, categories, frozenset(rare), nothing, nothing, nothing)


def options_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a classifier as plain data; a random state that is no number is left out."""
    plain = {name: value for name, value in options.items() if name != "belief"}
    weights = plain["class_weight"]
    if isinstance(weights, Mapping):
        plain["class_weight"] = [[label, weight] for label, weight in weights.items()]
    seed = plain["random_state"]
    plain["random_state"] = int(seed) if isinstance(seed, int | np.integer) else None
    return plain


def options_of(options: Any, names: set[str]) -> dict[str, Any]:
    """The inverse of :func:`options_json`; ``names`` are the options that there are."""
    _require(isinstance(options, dict) and {*options, "belief"} == names, "its options are others")
    sensitive, weights = options["sensitive"], options["class_weight"]
    listed = sensitive if isinstance(sensitive, list) else [] if sensitive is None else [sensitive]
    _require(all(isinstance(name, str) for name in listed), "its sensitive columns are not names")
    _require(isinstance(options["hidden"], list) and len(options["hidden"]) <= MAX_LAYERS, "its layers are too many")
    _require(options["test_features"] in (None, "fair", "biased"), "its test_features are unknown")
    _require(options["favourable"] is None or _is_plain(options["favourable"]), "its favourable label is not plain")
    _require(options["random_state"] is None or type(options["random_state"]) is int, "its random state is no number")
    _require(all(isinstance(options[name], bool) for name in ("independent", "verbose")), "its options are wrong")
    if isinstance(weights, list):
        pairs = all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_plain, pair)) for pair in weights)
        _require(pairs, "its class weights are wrong")
        weights = dict(weights)
    _require(weights is None or weights == "balanced" or isinstance(weights, dict), "its class weights are wrong")
    return {**options, "hidden": tuple(options["hidden"]), "class_weight": weights}


def recorded_of(value: Any) -> str | None:
    """The name of the recorded label."""
    _require(value is None or isinstance(value, str), "the name of its label is not text")
    return None if value is None else str(value)


def history_of(value: Any) -> dict[str, list[float]]:
    """The losses of each epoch."""
    _require(isinstance(value, dict) and set(value) == {"training", "validation"}, "its history is wrong")
    for losses in value.values():
        fit = isinstance(losses, list) and all(isinstance(loss, float | int) for loss in losses)
        _require(fit, "its history is wrong")
    return dict(value)


def tensors_of(content: bytes, encoder: Encoder, sizes: Sequence[int]) -> dict[str, Tensor]:
    """The numbers of the encoder and of a network with layers of these sizes; none is read before their count fits."""
    inputs = len(encoder.numbers) + len(encoder.marked)
    shapes = {"fills": [len(encoder.numbers)], "means": [inputs], "scales": [inputs]}
    for layer, (ins, outs) in enumerate(pairwise(sizes)):
        shapes |= {f"layers.{layer}.weight": [outs, ins], f"layers.{layer}.bias": [outs]}
    size = sum((8 if name in ENCODER else 4) * math.prod(shape) for name, shape in shapes.items())
    _require(size < len(content) <= size + _DESCRIPTION * len(shapes), "its weights do not fit its layers")
    tensors = safetensors.torch.load(content)
    _require(
        {name: list(value.shape) for name, value in tensors.items()} == shapes, "its weights do not fit its layers"
    )
    for name, value in tensors.items():
        kind = torch.float64 if name in ENCODER else torch.float32
        _require(value.dtype == kind and bool(value.isfinite().all()), f"{name} holds what is not a number")
    _require(bool((tensors["scales"] > 0).all()), "a scale is not above 0")
    return tensors
