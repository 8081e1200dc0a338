"""The two steps of EM on rows: what is expected given what is believed, and an estimator fitted on what is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter
from torch import Tensor

from problog4fairness.beliefs import Observation
from problog4fairness.data import Codes, Floats
from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.base import Task
from problog4fairness.learners.encoder import Encoder, make_encoder
from problog4fairness.program import log_outcomes

# No estimator is surer than this in the E step.
SURE = 1e-4
# Pairs of an input and a class with less than this share of the average weight are left out.
LIGHT = 1e-6
# Rows times fair inputs that an estimator can be expected to fit.
MOST = 1 << 25
# Rows that are looked at to see whether EM suits a belief.
CHECKED = 64


def require_complete(observation: Observation, rows: Tensor) -> None:
    """Refuse a program whose evidence depends on the classifier: rows that the evidence rules out are not there.

    The posterior is the slope of the likelihood of what is there, log P(recorded, evidence). Where that is not the one
    of log P(recorded | evidence), EM would learn the fair label of those who were selected.
    """
    kernel, outputs = observation.observed, observation.outputs
    if kernel is None:
        raise P4FError("these rows have no recorded label; give one to observe them")
    some = rows[:CHECKED]
    logits = torch.linspace(-1, 1, len(some) * observation.variants * outputs).double().view(len(some), -1)
    with torch.enable_grad():
        leaf = logits.requires_grad_()
        (slope,) = torch.autograd.grad(kernel(leaf, some).sum(), leaf)
    q = kernel.posterior(logits.detach(), some).unflatten(-1, (observation.variants, -1))
    chance = log_outcomes(kernel.widths, logits.detach()).exp().view_as(q)
    expected = (q - q.sum(-1, keepdim=True) * chance)[..., -outputs:]
    if not torch.allclose(slope.view_as(expected), expected, atol=1e-6):
        raise TrainingError(
            "the program's evidence depends on the classifier, so rows are missing that EM would need; "
            "take learner='linear', 'boosted' or 'network'"
        )


@dataclass(frozen=True, eq=False)
class Expected:
    """What the E step expects: the weights ``[inputs, classes]``, and the posterior ``[rows, variants, classes]``."""

    weights: Floats
    posterior: Tensor


@dataclass(frozen=True, eq=False)
class Data:
    """The inputs that rows need, as an estimator reads them: those of the first row first, then those of the next.

    Rows with equal inputs stay apart: estimators count rows in a leaf and draw rows, whatever their weight.
    """

    observation: Observation
    rows: Tensor
    weights: Tensor
    table: pd.DataFrame
    encoder: Encoder | None
    matrix: Any

    @classmethod
    def of(cls, task: Task, rows: Tensor, as_it_is: bool) -> Data:
        """The inputs of some rows; their columns as they are, or encoded."""
        observation = task.observation
        inputs = observation.needs(rows)
        if inputs.numel() > MOST:
            raise TrainingError(
                f"{len(rows)} rows that may stand for {observation.variants} fair inputs each are too many for EM; "
                "take learner='linear', 'boosted' or 'network'"
            )
        table = observation.table.iloc[inputs.reshape(-1).numpy()].reset_index(drop=True)
        weights = torch.ones(len(rows)).double() if task.weights is None else task.weights[rows].double()
        encoder = None if as_it_is else make_encoder(table)
        return cls(observation, rows, weights, table, encoder, encoder.transform(table) if encoder else table)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    @property
    def row_of(self) -> Codes:
        """``[inputs]``: the row that needs each."""
        return np.repeat(np.arange(self.size), self.observation.variants)

    def take(self, inputs: Codes) -> Any:
        """Some of the inputs."""
        return self.matrix.iloc[inputs] if isinstance(self.matrix, pd.DataFrame) else self.matrix[inputs]

    def expected(self, log_proba: Floats) -> Expected:
        """The E step."""
        kernel = self.observation.observed
        posterior = kernel.posterior(  # type: ignore[union-attr]  # there is a record, which was checked
            self._logits(log_proba).flatten(-2), self.rows
        ).unflatten(-1, (-1, self.observation.classes))
        weights = (posterior * self.weights.reshape(-1, 1, 1)).flatten(0, 1)
        return Expected(weights.numpy(), posterior)

    def hidden(self, expected: Expected) -> bool:
        """Whether what is expected depends on what is believed: not where all fair labels are known."""
        classes = expected.weights.shape[1]
        even = self.expected(np.full((len(self.table), classes), -np.log(classes)))
        return not np.allclose(even.weights, expected.weights, atol=1e-9)

    def loss(self, log_proba: Floats) -> float:
        """The mean loss of the recorded labels."""
        logs = self.observation(self._logits(log_proba), self.rows)
        return -float(self.weights @ logs / self.weights.sum())

    def _logits(self, log_proba: Floats) -> Tensor:
        """``[rows, variants, outputs]``."""
        logs = torch.from_numpy(log_proba)
        logits = logs[:, 1:] - logs[:, :1] if self.observation.outputs == 1 else logs
        return logits.view(self.size, self.observation.variants, -1)

    def folds(self, count: int, seed: int) -> Codes:
        """``[inputs]``: the fold of each input; all that a row may stand for is in the same one."""
        order: Codes = np.random.default_rng(seed).permutation(len(self.table)) % count
        return order[self.row_of * self.observation.variants]


class Maker:
    """Fits the estimator on what is expected."""

    def __init__(self, estimator: Any, seed: int, draws: int) -> None:
        self._estimator, self.seed, self._draws = estimator, seed, draws
        self._random = np.random.default_rng(seed)
        last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        self._weighted = has_fit_parameter(last, "sample_weight")
        self._key = f"{estimator.steps[-1][0]}__sample_weight" if isinstance(estimator, Pipeline) else "sample_weight"

    def out_of_fold(self, data: Data, expected: Expected, folds: Codes, drawn: bool) -> Floats:
        """log P(fair class), ``[inputs, classes]``, by estimators that have not seen the input.

        With ``drawn``, labels are drawn from what is expected, one for each row, instead of one for each class.
        """
        logs = np.empty_like(expected.weights)
        for fold in np.unique(folds):
            inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            fitted = self._fit(data, expected, outside, drawn)
            logs[inside] = log_chances([fitted], data.take(inside), logs.shape[1], SURE)
        return logs

    def fit_all(self, data: Data, expected: Expected) -> list[Any]:
        """The estimator fitted on everything; several of them where labels must be drawn."""
        count = 1 if self._weighted else self._draws
        return [self._fit(data, expected, np.arange(len(data.table)), drawn=False) for _ in range(count)]

    def _fit(self, data: Data, expected: Expected, inputs: Codes, drawn: bool) -> Any:
        if self._weighted and not drawn:
            weights = expected.weights[inputs]
            # Small weights cost as much time as large ones; the largest of a class stays, so that every class is there.
            kept = weights >= LIGHT * weights.mean()
            kept[weights.argmax(0), np.arange(weights.shape[1])] = True
            chosen, labels = np.nonzero(kept)
            options = {self._key: weights[chosen, labels]}
            return self._fitted(data.take(inputs[chosen]), labels, options)
        chosen, labels = self._drawn(data, expected, inputs)
        return self._fitted(data.take(chosen), labels, {})

    def _drawn(self, data: Data, expected: Expected, inputs: Codes) -> tuple[Codes, Codes]:
        """As many inputs as there are rows, with labels: rows drawn by weight, what they stand for by posterior."""
        within = np.isin(np.arange(data.size), data.row_of[inputs])
        weights = np.where(within, data.weights.numpy(), 0.0)
        if np.ptp(weights[within]) == 0:
            rows = np.flatnonzero(within)
        else:
            rows = self._random.choice(len(weights), int(within.sum()), p=weights / weights.sum())
        chances = expected.posterior.flatten(1).numpy()[rows].cumsum(1)
        drawn = (chances < self._random.random(len(rows))[:, None] * chances[:, -1:]).sum(1)
        variant, label = np.divmod(np.minimum(drawn, chances.shape[1] - 1), expected.weights.shape[1])
        return rows * data.observation.variants + variant, label

    def _fitted(self, matrix: Any, labels: Codes, options: Mapping[str, Floats]) -> Any:
        estimator = clone(self._estimator)
        options_of = estimator.get_params()
        unset = [name for name, value in options_of.items() if name.endswith("random_state") and value is None]
        estimator.set_params(**dict.fromkeys(unset, self.seed % (1 << 32)))
        try:
            return estimator.fit(matrix, labels, **options)
        except (TypeError, ValueError) as error:
            weights = " with weights" if options else ""
            reason = " ".join(str(error).split())
            raise TrainingError(f"{type(estimator).__name__} cannot be fitted{weights}: {reason}") from error


def log_chances(estimators: Sequence[Any], matrix: Any, classes: int, least: float) -> Floats:
    """The logarithm of the mean of what estimators say, ``[inputs, classes]``, no probability below ``least``."""
    total = np.zeros((len(matrix), classes))
    for estimator in estimators:
        total[:, np.asarray(estimator.classes_, dtype=np.int64)] += estimator.predict_proba(matrix)
    chance = np.clip(total / len(estimators), least, None)
    logs: Floats = np.log(chance / chance.sum(1, keepdims=True))
    return logs
