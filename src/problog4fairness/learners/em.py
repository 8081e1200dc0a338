"""Any scikit-learn classifier through a belief, by expectation and maximisation.

    E: q_ivf, the posterior of every fair input and fair class, given what was recorded and what is believed so far
    M: fit the estimator on every pair (x_v, f) with weight sum_i q_ivf

What is believed so far must not come from the rows themselves, or an estimator that knows its training rows by heart
would confirm whatever it was told. So it is always predicted out of fold, and the likelihood that says when to stop is
one of held-out rows.
"""

from __future__ import annotations

import warnings
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

from problog4fairness.beliefs.observation import Observation
from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.base import Fitted, Learner, Shape, Task
from problog4fairness.learners.encoder import Encoder, encode, make_encoder, prepared
from problog4fairness.learners.job import check_seed, learning_rows
from problog4fairness.learners.linear import Linear
from problog4fairness.learners.settings import number_option, whole_option
from problog4fairness.rows.types import Codes, Floats

# No estimator is surer than this in the E step; and in what it predicts in the end.
SURE, SUREST = 1e-4, 1e-12
# Pairs of an input and a class with less than this share of the average weight are left out.
LIGHT = 1e-6
# Below this many rows, out-of-fold predictions need larger parts.
FEW = 5_000
# A mean log-likelihood that falls by more than this is worth a word; less is chance, and where EM stops.
FALL = 0.1


class LikelihoodWarning(UserWarning):
    """A round of EM made the recorded labels less likely."""


class Reweighted(Learner):
    """A scikit-learn classifier with ``predict_proba``, fitted with weights that the belief's posterior gives.

    It starts from a linear model through the belief, and stops when the recorded labels no longer become more likely
    out of fold; the best round counts. An estimator whose ``fit`` takes no ``sample_weight`` is fitted on labels drawn
    from the posterior instead, several times, and the predictions are averaged.

    Parameters
    ----------
    estimator
        Such as ``HistGradientBoostingClassifier()``, ``RandomForestClassifier()`` or a ``Pipeline``. A pipeline is
        given the columns as they are; anything else numbers: scaled, missing values marked, categories as indicators.
    max_rounds
        Rounds at most.
    tolerance
        Stop where a round makes a recorded label more likely by less than this factor (as a logarithm, on average).
    folds
        Parts for predictions out of fold; None for 3 below 5,000 rows, otherwise 2.
    draws
        Fits on drawn labels that are averaged, where the estimator takes no weights.
    """

    def __init__(
        self,
        estimator: Any,
        max_rounds: int = 5,
        tolerance: float = 1e-3,
        folds: int | None = None,
        draws: int = 5,
    ) -> None:
        self.estimator = estimator
        self.max_rounds = max_rounds
        self.tolerance = tolerance
        self.folds = folds
        self.draws = draws

    def check_options(self) -> None:
        """See :meth:`Learner.check_options`."""
        name = type(self.estimator).__name__
        if isinstance(self.estimator, type):
            raise TrainingError(f"the learner {self.estimator.__name__} is a class; pass one of it, with ()")
        if not hasattr(self.estimator, "fit") or not hasattr(self.estimator, "get_params"):
            raise TrainingError(f"the learner {name} is not a scikit-learn estimator with fit and get_params")
        if not hasattr(self.estimator, "predict_proba"):
            raise TrainingError(
                f"{name} has no predict_proba; wrap it in sklearn.calibration.CalibratedClassifierCV, or take another"
            )
        whole_option("max_rounds", self.max_rounds)
        whole_option("draws", self.draws)
        number_option("tolerance", self.tolerance, "at least 0", lambda value: value >= 0)
        if self.folds is not None and whole_option("folds", self.folds) < 2:
            raise TrainingError(f"folds={self.folds!r} is not a whole number of at least 2")

    def fit_many(self, tasks: Sequence[Task], progress: bool | None = None) -> list[FittedEstimator]:  # noqa: ARG002
        """See :meth:`Learner.fit_many`; one after another."""
        self.check_options()
        return [self._fit(task) for task in tasks]

    def _fit(self, task: Task) -> FittedEstimator:
        check_seed(task.seed)
        rows = learning_rows(task)
        task.observation.require_possible()
        data = _Data.of(task, rows, isinstance(self.estimator, Pipeline))
        maker = _Maker(self.estimator, int(task.seed), int(self.draws))
        (start,) = Linear().fit_many([task])
        expected = data.expected(start.log_proba(data.table).numpy())
        losses: list[float] = []
        if data.hidden(expected):
            expected = self._rounds(data, maker, expected, losses)
        final = maker.fit_all(data, expected)
        return FittedEstimator(data.encoder, final, task.observation.classes, {"validation": losses})

    def _rounds(self, data: _Data, maker: _Maker, expected: Expected, losses: list[float]) -> Expected:
        """The expectations of the best round; notes the loss of every round up to it."""
        count = self.folds or (3 if data.size < FEW else 2)
        folds, best = data.folds(count, maker.seed), expected
        for number in range(self.max_rounds):
            chance = maker.out_of_fold(data, expected, folds)
            loss = data.loss(chance)
            if losses and losses[-1] - loss < self.tolerance:
                if loss - losses[-1] > FALL:
                    warnings.warn(
                        f"round {number + 1} of EM made recorded labels less likely ({losses[-1]:.3f} to {loss:.3f}); "
                        f"round {number} is kept",
                        LikelihoodWarning,
                        stacklevel=2,
                    )
                break
            losses.append(loss)
            best, expected = expected, data.expected(chance)
        return best


@dataclass(frozen=True, eq=False)
class Expected:
    """What the E step expects.

    Attributes
    ----------
    weights
        ``[inputs, classes]``: the expected weight of each pair.
    posterior
        ``[rows, variants, classes]``: that of each row.
    """

    weights: Floats
    posterior: Tensor


@dataclass(frozen=True, eq=False)
class _Data:
    """The inputs that rows need, as an estimator reads them."""

    observation: Observation
    rows: Tensor
    weights: Tensor
    table: pd.DataFrame
    places: Tensor
    encoder: Encoder | None
    matrix: Any

    @classmethod
    def of(cls, task: Task, rows: Tensor, as_it_is: bool) -> _Data:
        observation = task.observation
        inputs, places = observation.needs(rows).unique(return_inverse=True)
        table = observation.table.iloc[inputs.numpy()].reset_index(drop=True)
        weights = torch.ones(len(rows)).double() if task.weights is None else task.weights[rows].double()
        encoder = None if as_it_is else make_encoder(prepared(table))
        matrix = table if encoder is None else encode(encoder, table)
        return cls(observation, rows, weights, table, places, encoder, matrix)

    @property
    def size(self) -> int:
        return len(self.rows)

    def take(self, inputs: Codes) -> Any:
        return self.matrix.iloc[inputs] if isinstance(self.matrix, pd.DataFrame) else self.matrix[inputs]

    def expected(self, log_proba: Floats) -> Expected:
        """The E step."""
        kernel, classes = self.observation.observed, self.observation.classes
        if kernel is None:
            raise P4FError("these rows have no recorded label; give one to observe them")
        q = kernel.posterior(self._logits(log_proba).flatten(-2), self.rows).unflatten(-1, (-1, classes))
        own = q * self.weights.reshape(-1, 1, 1)
        total = torch.zeros(len(self.table), q.shape[-1], dtype=torch.float64)
        total.index_add_(0, self.places.reshape(-1), own.reshape(-1, q.shape[-1]))
        return Expected(total.numpy(), q)

    def hidden(self, expected: Expected) -> bool:
        """Whether what is expected depends on what is believed: not where all fair labels are known."""
        classes = expected.weights.shape[1]
        even = self.expected(np.full((len(self.table), classes), -np.log(classes)))
        return not np.allclose(even.weights, expected.weights, atol=1e-9)

    def loss(self, log_proba: Floats) -> float:
        """The mean loss of the recorded labels."""
        found = self.observation(self._logits(log_proba), self.rows)
        return -float(self.weights @ found / self.weights.sum())

    def _logits(self, log_proba: Floats) -> Tensor:
        """``[rows, variants, outputs]``."""
        own = torch.from_numpy(log_proba)
        return (own[:, 1:] - own[:, :1] if self.observation.outputs == 1 else own)[self.places]

    def folds(self, count: int, seed: int) -> Codes:
        """``[inputs]``: the fold of each input; all that a row may stand for is in the same one."""
        group = torch.arange(len(self.table))
        lowest = self.places.min(1, keepdim=True).values.expand_as(self.places)
        group.scatter_reduce_(0, self.places.reshape(-1), lowest.reshape(-1), "amin")
        order = np.random.default_rng(seed).permutation(len(self.table)) % count
        found: Codes = order[group.numpy()]
        return found


class _Maker:
    """Fits the estimator on what is expected."""

    def __init__(self, estimator: Any, seed: int, draws: int) -> None:
        self._estimator, self.seed, self._draws = estimator, seed, draws
        self._random = np.random.default_rng(seed)
        last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        self._weighted = has_fit_parameter(last, "sample_weight")
        self._key = f"{estimator.steps[-1][0]}__sample_weight" if isinstance(estimator, Pipeline) else "sample_weight"

    def out_of_fold(self, data: _Data, expected: Expected, folds: Codes) -> Floats:
        """log P(fair class), ``[inputs, classes]``, by estimators that have not seen the input."""
        found = np.empty_like(expected.weights)
        for fold in np.unique(folds):
            inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            fitted = self._fit(data, expected, outside)
            found[inside] = log_chances([fitted], data.take(inside), found.shape[1], SURE)
        return found

    def fit_all(self, data: _Data, expected: Expected) -> list[Any]:
        """The estimator fitted on everything; several of them where labels must be drawn."""
        count = 1 if self._weighted else self._draws
        return [self._fit(data, expected, np.arange(len(data.table))) for _ in range(count)]

    def _fit(self, data: _Data, expected: Expected, inputs: Codes) -> Any:
        if self._weighted:
            weights = expected.weights[inputs]
            # Small weights cost as much time as large ones; the largest of a class stays, so that every class is there.
            kept = weights >= LIGHT * weights.mean()
            kept[weights.argmax(0), np.arange(weights.shape[1])] = True
            chosen, labels = np.nonzero(kept)
            options = {self._key: weights[chosen, labels]}
            return self._fitted(data.take(inputs[chosen]), labels, options)
        chosen, labels = self._drawn(data, expected, inputs)
        return self._fitted(data.take(chosen), labels, {})

    def _drawn(self, data: _Data, expected: Expected, inputs: Codes) -> tuple[Codes, Codes]:
        """As many inputs as there are rows, with labels: rows drawn by weight, what they stand for by posterior."""
        within = np.isin(data.places[:, 0].numpy(), inputs)
        weights = np.where(within, data.weights.numpy(), 0.0)
        if np.ptp(weights[within]) == 0:
            rows = np.flatnonzero(within)
        else:
            rows = self._random.choice(len(weights), int(within.sum()), p=weights / weights.sum())
        chances = expected.posterior.flatten(1).numpy()[rows].cumsum(1)
        drawn = (chances < self._random.random(len(rows))[:, None] * chances[:, -1:]).sum(1)
        variant, label = np.divmod(np.minimum(drawn, chances.shape[1] - 1), expected.weights.shape[1])
        return data.places.numpy()[rows, variant], label

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
    found: Floats = np.log(chance / chance.sum(1, keepdims=True))
    return found


class FittedEstimator(Fitted):
    """A fitted scikit-learn estimator, or several whose predictions are averaged."""

    kind = "estimator"

    def __init__(
        self, encoder: Encoder | None, estimators: Sequence[Any], classes: int, history: Mapping[str, list[float]]
    ) -> None:
        self.encoder, self.estimators, self._classes, self._history = encoder, estimators, classes, history

    @property
    def history(self) -> Mapping[str, list[float]]:
        """See :meth:`Fitted.history`: the loss of recorded labels out of fold after every round; it never rises."""
        return self._history

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        """See :meth:`Fitted.categories`."""
        return {} if self.encoder is None else self.encoder.categories

    def check(self, table: pd.DataFrame) -> None:
        """See :meth:`Fitted.check`."""
        if self.encoder is not None:
            self.encoder.check(table)

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        """See :meth:`Fitted.log_proba`."""
        if not len(table):
            return torch.zeros(0, self._classes, dtype=torch.float64)
        matrix = table if self.encoder is None else encode(self.encoder, table)
        return torch.from_numpy(log_chances(self.estimators, matrix, self._classes, SUREST))

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """See :meth:`Fitted.state`; not for objects of another library."""
        raise P4FError(
            f"a model with the estimator {type(self.estimators[0]).__name__} cannot be saved: reading such a file back "
            "would mean trusting it; take learner='linear', 'boosted' or 'network'"
        )

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:  # noqa: ARG003
        """See :meth:`Fitted.shapes`; there is no such file."""
        raise ValueError("its classifier is an estimator of another library")

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedEstimator:  # noqa: ARG003
        """See :meth:`Fitted.from_state`; there is no such file."""
        raise ValueError("its classifier is an estimator of another library")
