"""Boosted trees as plain arrays: what a model file holds, and what LightGBM reads only after it was checked.

LightGBM's own text is read by a parser in C++ that trusts it. So a model file holds numbers, they are checked to be
trees, and the text that LightGBM is given is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from problog4fairness.data import Codes, Floats
from problog4fairness.errors import P4FError
from problog4fairness.learners.validation import Shape, require

NODES = {
    "feature": "split_feature",
    "threshold": "threshold",
    "decision": "decision_type",
    "left": "left_child",
    "right": "right_child",
}
# Bits of a decision: is it categorical, do missing values go left, and what counts as missing (two bits, below 3).
CATEGORICAL, DECISIONS = 1, 12
# What a leaf may add at most, so that no sum of them overflows.
LARGEST = 1e9


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees one after another; a child of 0 or more is a node of the same tree, ``-1 - child`` one of its leaves.

    ``leaves`` and ``sets`` ``[trees]`` count the leaves of each tree and the sets of categories that it asks about.
    ``feature``, ``threshold``, ``decision``, ``left`` and ``right`` are of all nodes, of which a tree has one less than
    leaves; the threshold of a categorical decision is the number of its set. ``value`` is of all leaves. ``bits`` are
    the sets, 32 categories in each number; ``bounds`` says for each tree where its sets begin, and the last one ends.
    """

    leaves: Codes
    sets: Codes
    feature: Codes
    threshold: Floats
    decision: Codes
    left: Codes
    right: Codes
    value: Floats
    bounds: Codes
    bits: Codes

    @classmethod
    def of(cls, text: str) -> Trees:
        """The trees of a model as LightGBM writes it."""
        blocks = [dict(_pairs(block)) for block in text.partition("end of trees")[0].split("\nTree=")[1:]]
        leaves = [int(block["num_leaves"]) for block in blocks]
        sets = [int(block["num_cat"]) for block in blocks]
        many = [block for block, count in zip(blocks, leaves, strict=True) if count > 1]
        nodes = {name: _numbers([block[key] for block in many], name) for name, key in NODES.items()}
        some = [block for block, count in zip(blocks, sets, strict=True) if count]
        return cls(
            leaves=np.array(leaves, dtype=np.int64),
            sets=np.array(sets, dtype=np.int64),
            value=_numbers([block["leaf_value"] for block in blocks], "value"),
            bounds=_numbers([block["cat_boundaries"] for block in some], "bounds"),
            bits=_numbers([block["cat_threshold"] for block in some], "bits"),
            **nodes,
        )

    def check(self, features: int) -> None:
        """``ValueError`` where these numbers are not trees over so many features."""
        # Each count by itself first: sums of numbers that are not bounded wrap, and then agree with anything.
        require(_within(self.leaves, 1, len(self.value)), "a tree has other leaves")
        require(_within(self.sets, 0, len(self.bounds)), "its sets of categories are wrong")
        require(_within(self.bounds, 0, len(self.bits)), "its sets of categories are wrong")
        require(int(self.leaves.sum()) == len(self.value), "a tree has other leaves")
        require(len(self.left) == len(self.value) - len(self.leaves), "a tree has other leaves")
        inner = self.leaves - 1
        first, tree = np.cumsum(inner) - inner, np.repeat(np.arange(len(inner)), inner)
        number = np.arange(len(self.left)) - first[tree]
        seen_nodes, seen_leaves = np.zeros(len(self.left), dtype=np.int64), np.zeros(len(self.value), dtype=np.int64)
        starts = np.cumsum(self.leaves) - self.leaves
        for child in (self.left, self.right):
            fit = (child < inner[tree]) & (child >= -self.leaves[tree]) & ((child < 0) | (child > number))
            require(bool(fit.all()), "a tree has a child that is not there")
            down = child >= 0
            np.add.at(seen_nodes, (child + first[tree])[down], 1)
            np.add.at(seen_leaves, (-1 - child + starts[tree])[~down], 1)
        # Every node but the root, and every leaf, is the child of one node that comes before it.
        seen_nodes[first[inner > 0]] += 1
        seen_leaves[starts[self.leaves == 1]] += 1
        require(bool((seen_nodes == 1).all() and (seen_leaves == 1).all()), "its trees are not trees")
        require(bool(((self.feature >= 0) & (self.feature < features)).all()), "its trees ask about unknown columns")
        require(bool(((self.decision >= 0) & (self.decision < DECISIONS)).all()), "its trees decide in unknown ways")
        require(bool((np.abs(self.value) < LARGEST).all()), "its trees are too sure")
        chosen = (self.decision & CATEGORICAL) > 0
        number = self.threshold[chosen]
        fit = (number >= 0) & (number < self.sets[tree[chosen]]) & (number == np.floor(number))
        require(bool(fit.all()), "its trees ask about unknown sets of categories")
        self._check_sets()

    def _check_sets(self) -> None:
        require(bool(((self.bits >= 0) & (self.bits < 1 << 32)).all()), "its sets of categories are wrong")
        place, used = 0, 0
        for count in self.sets[self.sets > 0].tolist():
            bounds = self.bounds[place : place + count + 1]
            require(len(bounds) == count + 1 and int(bounds[0]) == 0, "its sets of categories are wrong")
            rising = bool((np.diff(bounds) > 0).all() and bounds[-1] <= len(self.bits))
            require(rising, "its sets of categories are wrong")
            place, used = place + count + 1, used + int(bounds[-1])
        require(place == len(self.bounds) and used == len(self.bits), "its sets of categories are wrong")

    def booster(self, features: int, outputs: int) -> Any:
        """The model that LightGBM predicts with, after :meth:`check`."""
        head = {
            "version": "v4",
            "num_class": outputs,
            "num_tree_per_iteration": outputs,
            "label_index": 0,
            "max_feature_idx": features - 1,
            "feature_names": " ".join(f"Column_{number}" for number in range(features)),
            "feature_infos": " ".join(["none"] * features),
        }
        lines = ["tree", *(f"{name}={value}" for name, value in head.items()), ""]
        node = leaf = bound = bit = 0
        for number, (leaves, sets) in enumerate(zip(self.leaves.tolist(), self.sets.tolist(), strict=True)):
            lines += [f"Tree={number}", f"num_leaves={leaves}", f"num_cat={sets}"]
            if leaves > 1:
                part = slice(node, node + leaves - 1)
                lines += [f"{key}={_text(getattr(self, name)[part])}" for name, key in NODES.items()]
            if sets:
                bounds = self.bounds[bound : bound + sets + 1]
                lines += [
                    f"cat_boundaries={_text(bounds)}",
                    f"cat_threshold={_text(self.bits[bit : bit + bounds[-1]])}",
                ]
                bound, bit = bound + sets + 1, bit + int(bounds[-1])
            lines += [f"leaf_value={_text(self.value[leaf : leaf + leaves])}", "is_linear=0", "shrinkage=1", "", ""]
            node, leaf = node + leaves - 1, leaf + leaves
        lines += ["end of trees", "", "pandas_categorical:null", ""]
        return light().Booster(model_str="\n".join(lines))

    def tensors(self) -> dict[str, Tensor]:
        """All of it, for a model file."""
        return {field.name: torch.from_numpy(np.ascontiguousarray(getattr(self, field.name))) for field in fields(self)}


def trees_shapes(sizes: Any) -> dict[str, Shape]:
    """The shapes of the arrays of trees, from how many of each there are; ``ValueError`` where that cannot be."""
    require(isinstance(sizes, dict) and set(sizes) == {"trees", "leaves", "bounds", "bits"}, "its trees are others")
    require(all(type(size) is int and 0 <= size < 1 << 40 for size in sizes.values()), "its trees are not numbers")
    trees, leaves = sizes["trees"], sizes["leaves"]
    require(leaves >= trees, "a tree has no leaves")
    shapes: dict[str, Shape] = dict.fromkeys(("leaves", "sets"), ((trees,), torch.int64))
    for name in NODES:
        shapes[name] = (leaves - trees,), torch.float64 if name == "threshold" else torch.int64
    shapes["value"] = (leaves,), torch.float64
    return shapes | {name: ((sizes[name],), torch.int64) for name in ("bounds", "bits")}


def trees_of(tensors: Mapping[str, Tensor]) -> Trees:
    """The inverse of :meth:`Trees.tensors`, before :meth:`Trees.check`."""
    return Trees(**{field.name: tensors[field.name].numpy() for field in fields(Trees)})


def light() -> Any:
    """The package lightgbm; importing it takes a while, so only what needs it does."""
    try:
        import lightgbm
    except (ImportError, OSError) as error:  # OSError: its library for threads is missing
        reason = " ".join(str(error).split())
        raise P4FError(f"boosted trees need the package lightgbm, which cannot be imported ({reason})") from None
    return lightgbm


def _within(counts: Codes, low: int, high: int) -> bool:
    return bool(((counts >= low) & (counts <= high)).all())


def _pairs(block: str) -> list[tuple[str, str]]:
    return [(line.partition("=")[0], line.partition("=")[2]) for line in block.splitlines()[1:] if "=" in line]


def _numbers(texts: Sequence[str], name: str) -> Any:
    kind = np.float64 if name in ("threshold", "value") else np.int64
    return np.array(" ".join(texts).split(), dtype=kind)


def _text(values: Codes | Floats) -> str:
    return " ".join(map(repr, values.tolist()))
