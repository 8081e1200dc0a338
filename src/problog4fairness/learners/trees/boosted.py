"""Boosted trees through a belief: one run of LightGBM whose gradient and curvature come from the posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.data import Floats
from problog4fairness.errors import TrainingError
from problog4fairness.learners.base import Fitted, Learner, Shape, Task
from problog4fairness.learners.derivatives import slopes_of
from problog4fairness.learners.encoder import Encoder, make_encoder, prepared
from problog4fairness.learners.encoder_state import encoder_of, encoder_shapes, encoder_state, with_numbers
from problog4fairness.learners.job import check_seed, dealt, kinds_of, split
from problog4fairness.learners.plain import check_history, require
from problog4fairness.learners.progress import Bar, progress_bar
from problog4fairness.learners.settings import number_option, whole_option
from problog4fairness.learners.trees.arrays import Trees, trees_of, trees_shapes
from problog4fairness.learners.trees.growth import Growth, grow, inputs_of
from problog4fairness.program import log_outcomes

# Rows that are predicted together.
CHUNK = 1 << 16
# Below this many rows, a part of them says too little about when to stop: all of them do, held out in so many parts.
FEW, PARTS = 20_000, 3
# Leaves of trees that are tried where rows are few; the last where they are many.
LEAVES = (2, 31)
# Trees of two leaves say so little each that more of them may be added at once.
RATE = 3


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

    def __init__(
        self,
        learning_rate: float = 0.1,
        leaves: int | Literal["auto"] = "auto",
        min_rows: int = 20,
        penalty: float = 1.0,
        max_trees: int = 1000,
        patience: int = 30,
        validation: float = 0.1,
        threads: int = 1,
    ) -> None:
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.min_rows = min_rows
        self.penalty = penalty
        self.max_trees = max_trees
        self.patience = patience
        self.validation = validation
        self.threads = threads

    def check_options(self) -> None:
        """See :meth:`Learner.check_options`."""
        for name in ("min_rows", "max_trees", "patience", "threads"):
            whole_option(name, getattr(self, name))
        if self.leaves != "auto" and whole_option("leaves", self.leaves) < 2:
            raise TrainingError(f"leaves={self.leaves!r} is not a whole number of at least 2")
        number_option("learning_rate", self.learning_rate, "above 0 and at most 1", lambda value: 0 < value <= 1)
        number_option("penalty", self.penalty, "at least 0", lambda value: value >= 0)
        number_option("validation", self.validation, "at least 0 and below 1", lambda value: 0 <= value < 1)

    def fit_many(self, tasks: Sequence[Task], progress: bool | None = None) -> list[FittedBoosted]:
        """See :meth:`Learner.fit_many`; one after another."""
        self.check_options()
        fits = []
        with progress_bar(len(tasks) * self.max_trees, self.max_trees, progress, "tree") as bar:
            for number, task in enumerate(tasks, start=1):
                bar.begin(f"{number}/{len(tasks)} boosted")
                fits.append(self._fit(task, bar))
        return fits

    def _fit(self, task: Task, bar: Bar) -> FittedBoosted:
        check_seed(task.seed)
        generator = torch.Generator().manual_seed(int(task.seed))
        size, rows = len(task.observation), (task.train_rows, task.validation_rows, task.weights)
        kinds = kinds_of(task.observation)
        chosen = split(size, *rows, self.validation, generator, kinds)
        every = torch.cat([chosen.train, chosen.validation])
        encoder = make_encoder(prepared(inputs_of(task.observation.table, slopes_of(task.observation, every).inputs)))
        if self.validation == 0 and task.validation_rows is None:
            return self._grown(task, encoder, chosen.train, None, bar)
        if task.validation_rows is not None or len(every) >= FEW:
            return self._grown(task, encoder, chosen.train, chosen.validation, bar)
        order = every[torch.randperm(len(every), generator=generator)]
        return self._chosen(task, encoder, dealt(order, kinds, PARTS), bar)

    def _grown(self, task: Task, encoder: Encoder, train: Tensor, held: Tensor | None, bar: Bar) -> FittedBoosted:
        """Trees up to the best one for the held-out rows, or all."""
        run = self._run(task, encoder, train, held, LEAVES[-1])
        losses = grow([run], self.max_trees, self.patience, bar)
        return _fitted(run, encoder, losses)

    def _chosen(self, task: Task, encoder: Encoder, parts: Sequence[Tensor], bar: Bar) -> FittedBoosted:
        """As many trees of the size under which all rows, each held out once, are most likely; from all rows."""
        sizes = LEAVES if self.leaves == "auto" else (self.leaves,)
        found: dict[int, list[float]] = {}
        for leaves in sizes:
            runs = [
                self._run(task, encoder, torch.cat([own for own in parts if own is not held]), held, leaves)
                for held in parts
            ]
            found[leaves] = grow(runs, self.max_trees, self.patience, bar)
        best = min(found, key=lambda leaves: min(found[leaves]))
        run = self._run(task, encoder, torch.cat(list(parts)), None, best)
        grow([run], int(np.argmin(found[best])) + 1, self.patience, bar)
        return _fitted(run, encoder, found[best])

    def _run(self, task: Task, encoder: Encoder, train: Tensor, held: Tensor | None, leaves: int) -> Growth:
        observation = task.observation
        own = slopes_of(observation, train, task.weights)
        other = None if held is None else slopes_of(observation, held, task.weights)
        share = len(own.inputs) / (len(train) * observation.variants)
        parameters = self.parameters(task.seed, share, leaves)
        return Growth(own, other, observation.outputs, encoder, observation.table, parameters)

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


def _fitted(run: Growth, encoder: Encoder, losses: list[float]) -> FittedBoosted:
    best = int(np.argmin(losses)) + 1 if losses else -1
    return FittedBoosted(encoder, Trees.of(run.text(best)), run.constant, {"validation": losses})


class FittedBoosted(Fitted):
    """Trees, what they are added to, and which columns they read.

    Parameters
    ----------
    encoder
        Makes numbers of the columns that it reads.
    trees
        What was grown.
    constant
        ``[outputs]``: what trees are added to.
    history
        The course of training, by the name of a curve.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> fitted = p4f.learners.Boosted(max_trees=20).fit(p4f.NoBias(), rows)
    >>> fitted.kind, 1 <= len(fitted.history["validation"]) <= 20
    ('boosted', True)
    """

    kind = "boosted"

    def __init__(self, encoder: Encoder, trees: Trees, constant: Floats, history: Mapping[str, list[float]]) -> None:
        self.encoder, self.trees, self._constant, self._history = encoder, trees, constant, history
        width = len(encoder.numbers) + len(encoder.categories)
        self._booster = trees.booster(width, len(constant)) if len(trees.leaves) else None

    @property
    def constant(self) -> Floats:
        """``[outputs]``: the logits that the trees are added to."""
        return self._constant

    @property
    def history(self) -> Mapping[str, list[float]]:
        """See :meth:`Fitted.history`: the validation loss after every tree."""
        return self._history

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        """See :meth:`Fitted.categories`."""
        return self.encoder.categories

    def check(self, table: pd.DataFrame) -> None:
        """See :meth:`Fitted.check`."""
        self.encoder.check(table)

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        """See :meth:`Fitted.log_proba`."""
        outputs = len(self._constant)
        scores = np.tile(self._constant, (len(table), 1))
        for start in range(0, len(table), CHUNK):
            if self._booster is not None:
                columns = self.encoder.columns(table.iloc[start : start + CHUNK])
                found = self._booster.predict(columns, raw_score=True, num_threads=1)
                scores[start : start + CHUNK] += np.reshape(found, (-1, outputs))
        return log_outcomes((outputs,), torch.from_numpy(scores))

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """See :meth:`Fitted.state`."""
        numbers, plain = encoder_state(self.encoder)
        trees = self.trees
        sizes = {
            "trees": len(trees.leaves),
            "leaves": len(trees.value),
            "bounds": len(trees.bounds),
            "bits": len(trees.bits),
        }
        tensors = numbers | trees.tensors() | {"constant": torch.from_numpy(self._constant.copy())}
        return tensors, {"encoder": plain, "sizes": sizes, "history": dict(self._history)}

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        """See :meth:`Fitted.shapes`."""
        require(set(plain) == {"encoder", "sizes", "history"}, "its boosted trees are others")
        check_history(plain["history"])
        shapes = encoder_shapes(encoder_of(plain["encoder"], columns)) | trees_shapes(plain["sizes"])
        outputs = 1 if classes == 2 else classes
        require(plain["sizes"]["trees"] % outputs == 0, "its trees do not fit its labels")
        return shapes | {"constant": ((outputs,), torch.float64)}

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedBoosted:
        """See :meth:`Fitted.from_state`."""
        own = dict(tensors)
        encoder = with_numbers(encoder_of(plain["encoder"]), own)
        trees = trees_of(own)
        trees.check(len(encoder.numbers) + len(encoder.categories))
        return cls(encoder, trees, own["constant"].numpy(), plain["history"])
