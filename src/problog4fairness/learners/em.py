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

from problog4fairness.beliefs import Observation
from problog4fairness.data import Codes, Floats
from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.base import Learner, Task
from problog4fairness.learners.encoder import Encoder, make_encoder
from problog4fairness.learners.fitted import Fitted, History, State
from problog4fairness.learners.linear import Linear
from problog4fairness.learners.progress import Bar, each
from problog4fairness.learners.splits import learning_rows
from problog4fairness.learners.validation import COUNT, NOT_NEGATIVE, option
from problog4fairness.program import log_outcomes

# No estimator is surer than the first in the E step, and than the second in the end.
SURE, SUREST = 1e-4, 1e-12
# Below this many rows, out-of-fold predictions need larger parts, and every pair of an input and a class; above, labels
# that are drawn are enough until the last fit, and far quicker.
FEW = 5_000
# A mean log-likelihood that falls by more than this is worth a word; less is chance, and where EM stops.
FALL = 0.1
# Pairs of an input and a class with less than this share of the average weight are left out.
LIGHT = 1e-6
# Rows times fair inputs that an estimator can be expected to fit.
MOST = 1 << 25
# Rows that are looked at to see whether EM suits a belief.
CHECKED = 64


class LikelihoodWarning(UserWarning):
    """A round of EM made the recorded labels less likely."""


@dataclass(eq=False, repr=False)
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
        Predictions are out of 3 folds below 5,000 rows, otherwise of 2.
    draws
        Fits on drawn labels that are averaged, where the estimator takes no weights.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> fitted = p4f.learners.Reweighted(GaussianNB()).fit(belief, rows)
    >>> fitted.log_proba(data.loans[["income", "savings"]]).shape
    torch.Size([300, 2])
    """

    estimator: Any
    max_rounds: int = option(4, COUNT)
    tolerance: float = option(1e-3, NOT_NEGATIVE)
    draws: int = option(5, COUNT)

    def check_options(self) -> None:
        name = type(self.estimator).__name__
        if isinstance(self.estimator, type):
            raise TrainingError(f"the learner {self.estimator.__name__} is a class; pass one of it, with ()")
        if not hasattr(self.estimator, "fit") or not hasattr(self.estimator, "get_params"):
            raise TrainingError(f"the learner {name} is not a scikit-learn estimator with fit and get_params")
        if not hasattr(self.estimator, "predict_proba"):
            raise TrainingError(
                f"{name} has no predict_proba; wrap it in sklearn.calibration.CalibratedClassifierCV, or take another"
            )
        super().check_options()

    def fit_task(self, task: Task, bar: Bar) -> FittedEstimator:
        rows = learning_rows(task)
        task.observation.require_possible()
        _require_complete(task.observation, rows)
        steps = _Steps(self, task, rows)
        expected, losses = steps.started(), list[float]()
        if steps.hidden(expected):
            expected, losses = self._rounds(steps, expected)
        bar.show(1, losses[-1] if losses else float("nan"), 1)
        return steps.fitted(expected, losses)

    def refit(
        self, fitted: Fitted, tasks: Sequence[Task], progress: bool | None = None, speedup: int = 1
    ) -> Sequence[Fitted]:
        """See :meth:`Learner.refit`: one round of EM on two halves, and a last fit."""
        self.check_options()

        def fit(task: Task) -> FittedEstimator:
            steps = _Steps(self, task, learning_rows(task))
            expected = steps.started()
            if steps.hidden(expected):
                expected = steps.expected(steps.out_of_fold(expected, steps.folds(2)))
            return steps.fitted(expected, [])

        return each(fit, tasks, progress)

    def _rounds(self, steps: _Steps, expected: _Expected) -> tuple[_Expected, list[float]]:
        """The expectations of the best round, and the loss of every round up to it."""
        folds, best = steps.folds(3 if steps.size < FEW else 2), expected
        losses: list[float] = []
        for number in range(self.max_rounds):
            log_proba = steps.out_of_fold(expected, folds)
            loss = steps.loss(log_proba)
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
            best, expected = expected, steps.expected(log_proba)
        return best, losses


class FittedEstimator(Fitted):
    """A fitted scikit-learn estimator, or several whose predictions are averaged.

    The encoder is None where the estimators read columns themselves; ``history`` has the loss of recorded labels out of
    fold after every round, which never rises.
    """

    kind = "estimator"

    def __init__(self, encoder: Encoder | None, estimators: Sequence[Any], classes: int, history: History) -> None:
        self.encoder, self.estimators, self._classes, self.history = encoder, estimators, classes, history

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        return {} if self.encoder is None else self.encoder.categories

    def check(self, table: pd.DataFrame) -> None:
        if self.encoder is not None:
            self.encoder.check(table)

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        if not len(table):
            return torch.zeros(0, self._classes, dtype=torch.float64)
        matrix = table if self.encoder is None else self.encoder.transform(table)
        return torch.from_numpy(_log_chances(self.estimators, matrix, self._classes, SUREST))

    def state(self) -> State:
        """See :meth:`Fitted.state`; not for objects of another library."""
        raise P4FError(
            f"a model with the estimator {type(self.estimators[0]).__name__} cannot be saved: reading such a file back "
            "would mean trusting it; take learner='linear', 'boosted' or 'network'"
        )


def _require_complete(observation: Observation, rows: Tensor) -> None:
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
class _Expected:
    """What the E step expects: the weights ``[inputs, classes]``, and the posterior ``[rows, variants, classes]``."""

    weights: Floats
    posterior: Tensor


class _Steps:
    """The two steps of EM on some rows.

    The inputs are those that the rows need, those of the first row first. Rows with equal inputs stay apart: estimators
    count rows in a leaf and draw rows, whatever their weight.
    """

    def __init__(self, learner: Reweighted, task: Task, rows: Tensor) -> None:
        observation = task.observation
        inputs = observation.needs(rows)
        if inputs.numel() > MOST:
            raise TrainingError(
                f"{len(rows)} rows that may stand for {observation.variants} fair inputs each are too many for EM; "
                "take learner='linear', 'boosted' or 'network'"
            )
        self._task, self._observation, self._rows, self.size = task, observation, rows, len(rows)
        self._table = observation.table.iloc[inputs.reshape(-1).numpy()].reset_index(drop=True)
        self._weights = torch.ones(len(rows)).double() if task.weights is None else task.weights[rows].double()
        # ``[inputs]``: the row that needs each.
        self._row_of = np.repeat(np.arange(self.size), observation.variants)
        self._estimator, self._draws, self._seed = learner.estimator, int(learner.draws), int(task.seed)
        self._random = np.random.default_rng(self._seed)
        pipeline = isinstance(self._estimator, Pipeline)
        name, last = self._estimator.steps[-1] if pipeline else ("", self._estimator)
        self._weighted = has_fit_parameter(last, "sample_weight")
        self._key = f"{name}__sample_weight" if pipeline else "sample_weight"
        self._encoder = None if pipeline else make_encoder(self._table)
        self._matrix: Any = self._encoder.transform(self._table) if self._encoder else self._table

    def started(self) -> _Expected:
        """What a linear model through the belief expects."""
        return self.expected(Linear().fit_task(self._task, Bar()).log_proba(self._table).numpy())

    def expected(self, log_proba: Floats) -> _Expected:
        """The E step."""
        kernel = self._observation.observed
        posterior = kernel.posterior(  # type: ignore[union-attr]  # there is a record, which was checked
            self._logits(log_proba).flatten(-2), self._rows
        ).unflatten(-1, (-1, self._observation.classes))
        weights = (posterior * self._weights.reshape(-1, 1, 1)).flatten(0, 1)
        return _Expected(weights.numpy(), posterior)

    def hidden(self, expected: _Expected) -> bool:
        """Whether what is expected depends on what is believed: not where all fair labels are known."""
        classes = expected.weights.shape[1]
        even = self.expected(np.full((len(self._table), classes), -np.log(classes)))
        return not np.allclose(even.weights, expected.weights, atol=1e-9)

    def loss(self, log_proba: Floats) -> float:
        """The mean loss of the recorded labels."""
        logs = self._observation(self._logits(log_proba), self._rows)
        return -float(self._weights @ logs / self._weights.sum())

    def _logits(self, log_proba: Floats) -> Tensor:
        """``[rows, variants, outputs]``."""
        return self._observation.logits(torch.from_numpy(log_proba)).view(self.size, self._observation.variants, -1)

    def folds(self, count: int) -> Codes:
        """``[inputs]``: the fold of each input; all that a row may stand for is in the same one."""
        order: Codes = np.random.default_rng(self._seed).permutation(len(self._table)) % count
        return order[self._row_of * self._observation.variants]

    def out_of_fold(self, expected: _Expected, folds: Codes) -> Floats:
        """log P(fair class), ``[inputs, classes]``, by estimators that have not seen the input.

        With many rows, labels are drawn from what is expected, one for each row, instead of one for each class.
        """
        logs = np.empty_like(expected.weights)
        for fold in np.unique(folds):
            inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            estimator = self._fit(expected, outside, draw_labels=self.size >= FEW)
            logs[inside] = _log_chances([estimator], self._take(inside), logs.shape[1], SURE)
        return logs

    def fitted(self, expected: _Expected, losses: list[float]) -> FittedEstimator:
        """The estimator fitted on everything; several of them where labels must be drawn."""
        count = 1 if self._weighted else self._draws
        all_inputs = np.arange(len(self._table))
        estimators = [self._fit(expected, all_inputs, draw_labels=False) for _ in range(count)]
        return FittedEstimator(self._encoder, estimators, self._observation.classes, {"validation": losses})

    def _take(self, inputs: Codes) -> Any:
        return self._matrix.iloc[inputs] if isinstance(self._matrix, pd.DataFrame) else self._matrix[inputs]

    def _fit(self, expected: _Expected, inputs: Codes, draw_labels: bool) -> Any:
        """The M step on some inputs."""
        options: Mapping[str, Floats] = {}
        if self._weighted and not draw_labels:
            weights = expected.weights[inputs]
            # Small weights cost as much time as large ones; the largest of a class stays, so that every class is there.
            kept = weights >= LIGHT * weights.mean()
            kept[weights.argmax(0), np.arange(weights.shape[1])] = True
            chosen, labels = np.nonzero(kept)
            options = {self._key: weights[chosen, labels]}
            chosen = inputs[chosen]
        else:
            chosen, labels = self._drawn(expected, inputs)
        estimator = clone(self._estimator)
        parameters = estimator.get_params()
        unset = [name for name, value in parameters.items() if name.endswith("random_state") and value is None]
        estimator.set_params(**dict.fromkeys(unset, self._seed % (1 << 32)))
        try:
            return estimator.fit(self._take(chosen), labels, **options)
        except (TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            with_weights = " with weights" if options else ""
            raise TrainingError(f"{type(estimator).__name__} cannot be fitted{with_weights}: {reason}") from error

    def _drawn(self, expected: _Expected, inputs: Codes) -> tuple[Codes, Codes]:
        """As many inputs as there are rows, with labels: rows drawn by weight, what they stand for by posterior."""
        within = np.isin(np.arange(self.size), self._row_of[inputs])
        weights = np.where(within, self._weights.numpy(), 0.0)
        if np.ptp(weights[within]) == 0:
            rows = np.flatnonzero(within)
        else:
            rows = self._random.choice(len(weights), int(within.sum()), p=weights / weights.sum())
        chances = expected.posterior.flatten(1).numpy()[rows].cumsum(1)
        outcome = (chances < self._random.random(len(rows))[:, None] * chances[:, -1:]).sum(1)
        variant, label = np.divmod(np.minimum(outcome, chances.shape[1] - 1), expected.weights.shape[1])
        return rows * self._observation.variants + variant, label


def _log_chances(estimators: Sequence[Any], matrix: Any, classes: int, least: float) -> Floats:
    """The logarithm of the mean of what estimators say, ``[inputs, classes]``, no probability below ``least``."""
    total = np.zeros((len(matrix), classes))
    for estimator in estimators:
        total[:, np.asarray(estimator.classes_, dtype=np.int64)] += estimator.predict_proba(matrix)
    chance = np.clip(total / len(estimators), least, None)
    logs: Floats = np.log(chance / chance.sum(1, keepdims=True))
    return logs
