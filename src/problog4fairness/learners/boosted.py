"""Boosted trees through a belief: one run of LightGBM whose gradient and curvature come from the posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.errors import TrainingError
from problog4fairness.learners.base import Fitted, Learner, Shape, Task
from problog4fairness.learners.encoder import Encoder, make_encoder, prepared
from problog4fairness.learners.encoder_state import encoder_of, encoder_shapes, encoder_state, with_numbers
from problog4fairness.learners.job import check_seed, split
from problog4fairness.learners.newton import minimise
from problog4fairness.learners.plain import check_history, require
from problog4fairness.learners.settings import number_option, whole_option
from problog4fairness.learners.slopes import Slopes, slopes_of
from problog4fairness.learners.trees import Trees, light, trees_of, trees_shapes
from problog4fairness.program.observed import log_outcomes
from problog4fairness.rows.types import Codes, Floats

# Rows that are predicted together.
CHUNK = 1 << 16
# How sure the constant that trees are added to may be.
CERTAIN = 10.0


class Boosted(Learner):
    """Gradient-boosted trees by LightGBM: missing values and categories as they are, nothing scaled.

    The fair inputs that rows may stand for are the rows of the booster. Training stops when the recorded labels of
    held-out rows no longer become more likely through the belief, and the best number of trees is kept.

    Parameters
    ----------
    learning_rate
        How much of each tree is added.
    leaves
        Leaves of a tree at most.
    min_rows
        Rows in a leaf at least; on average, where rows share inputs.
    penalty
        How strongly the values of leaves are drawn to 0.
    max_trees
        Trees at most, for each class where there are more than two.
    patience
        Stop after this many trees in a row that brought no lower validation loss.
    validation
        Share of the training rows that is held out, at random, to choose the number of trees; 0 takes ``max_trees``.
    threads
        Processor threads. With one, equal trainings give equal trees on any machine of a kind.
    """

    def __init__(
        self,
        learning_rate: float = 0.1,
        leaves: int = 31,
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
        for name in ("leaves", "min_rows", "max_trees", "patience", "threads"):
            whole_option(name, getattr(self, name))
        if self.leaves < 2:
            raise TrainingError(f"leaves={self.leaves!r} is not a whole number of at least 2")
        number_option("learning_rate", self.learning_rate, "above 0 and at most 1", lambda value: 0 < value <= 1)
        number_option("penalty", self.penalty, "at least 0", lambda value: value >= 0)
        number_option("validation", self.validation, "at least 0 and below 1", lambda value: 0 <= value < 1)

    def fit_many(self, tasks: Sequence[Task], progress: bool | None = None) -> list[FittedBoosted]:  # noqa: ARG002
        """See :meth:`Learner.fit_many`; one after another."""
        self.check_options()
        return [self._fit(task) for task in tasks]

    def _fit(self, task: Task) -> FittedBoosted:
        observation = task.observation
        check_seed(task.seed)
        chosen = split(
            len(observation),
            task.train_rows,
            task.validation_rows,
            task.weights,
            self.validation,
            torch.Generator().manual_seed(int(task.seed)),
        )
        own, held = (slopes_of(observation, rows, task.weights) for rows in (chosen.train, chosen.validation))
        stops = self.validation > 0 or task.validation_rows is not None
        encoder = make_encoder(prepared(_inputs(observation.table, own.inputs)))
        constant = best_constant(own, observation.outputs)
        run = _Run(own, held if stops else None, constant)
        share = len(own.inputs) / (len(chosen.train) * observation.variants)
        text = run.train(encoder, observation.table, self._parameters(task.seed, share), self.max_trees, self.patience)
        return FittedBoosted(encoder, Trees.of(text), constant, {"validation": run.losses})

    def _parameters(self, seed: int, share: float = 1.0) -> dict[str, Any]:
        """``share`` is the number of inputs, which LightGBM takes for rows, for each row that needs one."""
        return {
            "learning_rate": float(self.learning_rate),
            "num_leaves": int(self.leaves),
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


class _Run:
    """One run of LightGBM."""

    def __init__(self, own: Slopes, held: Slopes | None, constant: Floats) -> None:
        self._own, self._held, self._constant = own, held, constant
        self.losses: list[float] = []

    def train(
        self, encoder: Encoder, table: pd.DataFrame, parameters: dict[str, Any], trees: int, patience: int
    ) -> str:
        """The trees up to the best one, as LightGBM writes them."""
        package = light()
        outputs = len(self._constant)
        matrix = encoder.columns(_inputs(table, self._own.inputs))
        if not (matrix != matrix[:1]).any():
            return ""  # nothing to split by, which LightGBM takes for a mistake
        parameters |= {"objective": self._slope, "metric": "none", "num_class": outputs}
        places = list(range(len(encoder.numbers), len(encoder.numbers) + len(encoder.categories)))
        data = package.Dataset(
            matrix,
            categorical_feature=places,
            init_score=self._start(self._own),
            free_raw_data=True,
        )
        options: dict[str, Any] = {}
        if self._held is not None:
            columns = encoder.columns(_inputs(table, self._held.inputs))
            options["valid_sets"] = [data.create_valid(columns, init_score=self._start(self._held))]
            options["feval"] = self._loss
            options["callbacks"] = [package.early_stopping(patience, verbose=False)]
        booster = package.train(parameters, data, trees, **options)
        best = booster.best_iteration if self._held is not None else -1
        return str(booster.model_to_string(num_iteration=best))

    def _start(self, slopes: Slopes) -> Floats:
        if len(self._constant) == 1:
            return np.full(len(slopes.inputs), self._constant[0])
        return np.tile(self._constant, (len(slopes.inputs), 1))

    def _slope(self, scores: Floats, _: Any) -> tuple[Floats, Floats]:
        gradient, curvature = self._own.curved(scores.reshape(-1, len(self._constant), order="A"))
        return (gradient[:, 0], curvature[:, 0]) if len(self._constant) == 1 else (gradient, curvature)

    def _loss(self, scores: Floats, _: Any) -> tuple[str, float, bool]:
        if self._held is None:
            raise TypeError
        loss = self._held.loss(scores.reshape(-1, len(self._constant), order="A")) / self._held.total
        self.losses.append(loss)
        return "loss", loss, False


def _inputs(table: pd.DataFrame, chosen: Codes) -> pd.DataFrame:
    return table if len(chosen) == len(table) else table.iloc[chosen]


def best_constant(slopes: Slopes, outputs: int) -> Floats:
    """The logits ``[outputs]`` of the best classifier that says the same of all inputs."""
    nothing = np.zeros((len(slopes.inputs), 0))
    found, _ = minimise(slopes, nothing, np.zeros(0), 0.0, np.zeros((1, outputs)))
    constant: Floats = np.clip(found[0], -CERTAIN, CERTAIN)
    return constant


class FittedBoosted(Fitted):
    """Trees, what they are added to, and which columns they read."""

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
