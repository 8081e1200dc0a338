"""Boosted trees through a belief: one run of LightGBM whose gradient and curvature come from the posterior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from sklearn.base import clone
from torch import Tensor

from problog4fairness.data import Floats
from problog4fairness.learners.base import FEW, Learner, Task
from problog4fairness.learners.encoder import Encoder, make_encoder
from problog4fairness.learners.fitted import Fitted, FittedEncoded, History, State
from problog4fairness.learners.linear import minimise
from problog4fairness.learners.objective import Objective, objective_of
from problog4fairness.learners.progress import Bar, each
from problog4fairness.learners.splits import kinds_of, random_parts, split
from problog4fairness.learners.trees import Trees, light, trees_of, trees_shapes
from problog4fairness.learners.validation import COUNT, NOT_NEGATIVE, SHARE, Number, Shape, option, require
from problog4fairness.program import log_outcomes

# Rows that are predicted together.
CHUNK = 1 << 16
# Below ``FEW`` rows all of them say when to stop, held out in so many parts.
PARTS = 3
LEAVES_AT_LEAST = Number("whole number of at least 2", lambda value: value >= 2)
# Leaves of trees that are tried where rows are few; the last where they are many.
LEAVES = (2, 31)
# Trees of two leaves say so little each that more of them may be added at once.
RATE = 3
# The largest learning rate of a quick fit.
QUICKEST = 0.5
# How sure the constant that trees are added to may be.
CERTAIN = 10.0


@dataclass(eq=False, repr=False)
class Boosted(Learner):
    """Gradient-boosted trees by LightGBM: missing values and categories as they are, nothing scaled.

    The fair inputs that rows may stand for are the rows of the booster. Training stops when the recorded labels of
    held-out rows no longer become more likely through the belief, and the best number of trees is kept. Below 20,000
    rows every row is held out once, in 3 parts, and the trees are then grown from all rows: one part of so few rows
    often stops too soon, and probabilities suffer.

    Parameters
    ----------
    learning_rate
        How much of each tree is added; three times as much of a tree of 2 leaves.
    leaves
        Leaves of a tree at most; or ``"auto"``: 31, and below 20,000 rows 2, which adds up columns without
        interactions, where held-out rows are more likely so.
    min_rows
        Rows in a leaf at least; on average, where rows share inputs.
    penalty
        How strongly the values of leaves are drawn to 0.
    max_trees
        Trees at most, for each class where there are more than two.
    patience
        Stop after this many trees in a row that brought no lower validation loss.
    validation
        Share of the training rows that is held out, at random, to choose the number of trees, from 20,000 rows on; 0
        takes ``max_trees`` for any number of rows.
    threads
        Processor threads. With one, equal trainings give equal trees on any machine of a kind.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> fitted = p4f.learners.Boosted(leaves=7, max_trees=20).fit(belief, rows)
    >>> fitted.log_proba(data.loans[["income", "savings"]]).shape
    torch.Size([300, 2])
    """

    learning_rate: float = option(0.1, Number("number above 0 and at most 1", lambda value: 0 < value <= 1))
    leaves: int | Literal["auto"] = option("auto", LEAVES_AT_LEAST.or_else("auto"))
    min_rows: int = option(20, COUNT)
    penalty: float = option(1.0, NOT_NEGATIVE)
    max_trees: int = option(1000, COUNT)
    patience: int = option(30, COUNT)
    validation: float = option(0.1, SHARE)
    threads: int = option(1, COUNT)

    unit = "tree"

    @property
    def most_rounds(self) -> int:
        return self.max_trees

    def refit(
        self, fitted: Fitted, tasks: Sequence[Task], progress: bool | None = None, speedup: int = 1
    ) -> Sequence[Fitted]:
        """See :meth:`Learner.refit`: fewer trees at a higher learning rate, from the start.

        A booster that went on from its own trees would keep what they say.
        """
        if not isinstance(fitted, FittedBoosted):
            return self.fit_many(tasks, progress)
        trees = math.ceil(len(fitted.trees.leaves) / max(1, fitted.constant.size) / speedup)
        quick: Boosted = clone(self).set_params(
            learning_rate=max(self.learning_rate, min(QUICKEST, speedup * self.learning_rate)),
            max_trees=max(1, trees),
            leaves=max(2, int(np.max(fitted.trees.leaves, initial=2))),
            validation=0,
        )
        return each(lambda task: quick.fit_many([task])[0], tasks, progress)

    def fit_task(self, task: Task, bar: Bar) -> FittedBoosted:
        generator = torch.Generator().manual_seed(int(task.seed))
        kinds = kinds_of(task.observation)
        train, held = split(task, self.validation, generator, kinds)
        all_rows = torch.cat([train, held])
        encoder = make_encoder(objective_of(task.observation, all_rows).inputs_of(task.observation.table))
        if self.validation == 0 and task.validation_rows is None:
            return self._grown(task, encoder, train, None, bar)
        if task.validation_rows is not None or len(all_rows) >= FEW:
            return self._grown(task, encoder, train, held, bar)
        order = all_rows[torch.randperm(len(all_rows), generator=generator)]
        return self._chosen(task, encoder, random_parts(order, kinds, PARTS), bar)

    def _grown(self, task: Task, encoder: Encoder, train: Tensor, held: Tensor | None, bar: Bar) -> FittedBoosted:
        """Trees up to the best one for the held-out rows, or all."""
        run = self._run(task, encoder, train, held, LEAVES[-1])
        losses = _grow([run], self.max_trees, self.patience, bar)
        return _fitted(run, encoder, losses)

    def _chosen(self, task: Task, encoder: Encoder, parts: Sequence[Tensor], bar: Bar) -> FittedBoosted:
        """As many trees of the size under which all rows, each held out once, are most likely; from all rows."""
        sizes = LEAVES if self.leaves == "auto" else (self.leaves,)
        losses: dict[int, list[float]] = {}
        for leaves in sizes:
            runs = [
                self._run(task, encoder, torch.cat([part for part in parts if part is not held]), held, leaves)
                for held in parts
            ]
            losses[leaves] = _grow(runs, self.max_trees, self.patience, bar)
        best = min(losses, key=lambda leaves: min(losses[leaves]))
        run = self._run(task, encoder, torch.cat(list(parts)), None, best)
        _grow([run], int(np.argmin(losses[best])) + 1, self.patience, bar)
        return _fitted(run, encoder, losses[best])

    def _run(self, task: Task, encoder: Encoder, train: Tensor, held: Tensor | None, leaves: int) -> _Growth:
        observation = task.observation
        learned = objective_of(observation, train, task.weights)
        other = None if held is None else objective_of(observation, held, task.weights)
        share = len(learned.inputs) / (len(train) * observation.variants)
        parameters = self.parameters(task.seed, share, leaves)
        return _Growth(learned, other, observation.outputs, encoder, observation.table, parameters)

    def parameters(self, seed: int, share: float = 1.0, leaves: int = LEAVES[-1]) -> dict[str, Any]:
        """Those of LightGBM; ``share`` is the number of inputs, which it takes for rows, for each row."""
        size = leaves if self.leaves == "auto" else int(self.leaves)
        return {
            "learning_rate": min(1.0, float(self.learning_rate) * (RATE if size == 2 else 1)),
            "num_leaves": size,
            "min_data_in_leaf": max(1, round(self.min_rows * min(1.0, share))),
            "lambda_l2": float(self.penalty),
            "num_threads": int(self.threads),
            "seed": int(seed) % (1 << 31),
            # Small tables are split, too.
            "min_data_in_bin": 1,
            "feature_pre_filter": False,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }


def _fitted(run: _Growth, encoder: Encoder, losses: list[float]) -> FittedBoosted:
    best = int(np.argmin(losses)) + 1 if losses else -1
    return FittedBoosted(encoder, Trees.of(run.text(best)), run.constant, {"validation": losses})


class FittedBoosted(FittedEncoded):
    """Trees, what they are added to, and which columns they read.

    The ``trees`` are added to the logits ``constant [outputs]``; ``history`` has the validation loss after every tree.
    """

    kind = "boosted"
    plain_names = ("sizes",)

    def __init__(self, encoder: Encoder, trees: Trees, constant: Floats, history: History) -> None:
        super().__init__(encoder, history)
        self.trees, self.constant = trees, constant
        width = len(encoder.numbers) + len(encoder.categories)
        self._booster = trees.booster(width, len(constant)) if len(trees.leaves) else None

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        outputs = len(self.constant)
        scores = np.tile(self.constant, (len(table), 1))
        for start in range(0, len(table), CHUNK):
            if self._booster is not None:
                columns = self.encoder.columns(table.iloc[start : start + CHUNK])
                sums = self._booster.predict(columns, raw_score=True, num_threads=1)
                scores[start : start + CHUNK] += np.reshape(sums, (-1, outputs))
        return log_outcomes((outputs,), torch.from_numpy(scores))

    def parts(self) -> State:
        trees = self.trees
        names = {"trees": trees.leaves, "leaves": trees.value, "bounds": trees.bounds, "bits": trees.bits}
        tensors = trees.tensors() | {"constant": torch.from_numpy(self.constant.copy())}
        return tensors, {"sizes": {name: len(values) for name, values in names.items()}}

    @classmethod
    def part_shapes(cls, plain: Mapping[str, Any], encoder: Encoder, outputs: int) -> dict[str, Shape]:
        shapes = trees_shapes(plain["sizes"])
        require(plain["sizes"]["trees"] % outputs == 0, "its trees do not fit its labels")
        return shapes | {"constant": ((outputs,), torch.float64)}

    @classmethod
    def of_parts(cls, encoder: Encoder, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedBoosted:
        trees = trees_of(tensors)
        trees.check(len(encoder.numbers) + len(encoder.categories))
        return cls(encoder, trees, tensors["constant"].numpy(), plain["history"])


class _Growth:
    """Trees in growth, on the rows of ``train``, while ``held`` says when to stop; None where nothing does.

    Trees read all inputs of the observation, ``table``, through the encoder, and are added to ``constant``, the logits
    ``[outputs]`` of the best classifier that says the same of all inputs.
    """

    def __init__(
        self,
        train: Objective,
        held: Objective | None,
        outputs: int,
        encoder: Encoder,
        table: pd.DataFrame,
        parameters: dict[str, Any],
    ) -> None:
        self._train, self.held = train, held
        self.constant = best_constant(train, outputs)
        self._booster: Any = None
        matrix = encoder.columns(train.inputs_of(table))
        package = light()
        if not (matrix != matrix[:1]).any():
            return  # nothing to split by, which LightGBM takes for a mistake
        places = list(range(len(encoder.numbers), len(encoder.numbers) + len(encoder.categories)))
        options = {**parameters, "objective": "none", "metric": "none", "num_class": outputs}
        data = package.Dataset(
            matrix, categorical_feature=places, init_score=self._start(train), params=options, free_raw_data=True
        )
        self._booster = package.Booster(options, data)
        if held is not None:
            columns = encoder.columns(held.inputs_of(table))
            valid = data.create_valid(columns, init_score=self._start(held), params=data.params)
            self._booster.add_valid(valid, "held")

    def grow(self) -> bool:
        """Add a tree for each output; whether there was one to add."""
        return self._booster is not None and not self._booster.update(fobj=self._derivatives)

    def loss(self) -> float:
        """The loss of the held-out rows, summed."""
        if self.held is None:
            return 0.0
        if self._booster is None:
            return self.held.loss(np.tile(self.constant, (len(self.held.inputs), 1)))
        return float(self._booster.eval_valid(self._evaluated)[0][2])

    def text(self, trees: int) -> str:
        """So many trees for each output, as LightGBM writes them."""
        return "" if self._booster is None else str(self._booster.model_to_string(num_iteration=trees))

    def _start(self, objective: Objective) -> Floats:
        if len(self.constant) == 1:
            return np.full(len(objective.inputs), self.constant[0])
        return np.tile(self.constant, (len(objective.inputs), 1))

    def _derivatives(self, scores: Floats, _: Any) -> tuple[Floats, Floats]:
        gradient, curvature = self._train.gradient_and_curvature(scores.reshape(-1, len(self.constant), order="A"))
        return (gradient[:, 0], curvature[:, 0]) if len(self.constant) == 1 else (gradient, curvature)

    def _evaluated(self, scores: Floats, _: Any) -> tuple[str, float, bool]:
        if self.held is None:
            raise TypeError
        return "loss", self.held.loss(scores.reshape(-1, len(self.constant), order="A")), False


def _grow(runs: Sequence[_Growth], trees: int, patience: int, bar: Bar) -> list[float]:
    """Grow all runs, tree by tree, until their held-out rows did not become more likely for ``patience`` trees.

    The mean loss of held-out rows after each tree; empty where nothing is held out, and all trees are grown.
    """
    total = sum(run.held.total for run in runs if run.held is not None)
    losses: list[float] = []
    for tree in range(trees):
        more = [run.grow() for run in runs]
        if total:
            losses.append(sum(run.loss() for run in runs) / total)
        bar.show(tree + 1, losses[-1] if losses else float("nan"), 1)
        if not any(more) or (losses and len(losses) - 1 - int(np.argmin(losses)) >= patience):
            break
    return losses


def best_constant(objective: Objective, outputs: int) -> Floats:
    """The logits ``[outputs]`` of the best classifier that says the same of all inputs."""
    nothing = np.zeros((len(objective.inputs), 0))
    numbers, _ = minimise(objective, nothing, np.zeros(0), 0.0, np.zeros((1, outputs)))
    constant: Floats = np.clip(numbers[0], -CERTAIN, CERTAIN)
    return constant
