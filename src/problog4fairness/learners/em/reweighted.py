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

import pandas as pd
import torch
from sklearn.pipeline import Pipeline
from torch import Tensor

from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.base import Learner, Task
from problog4fairness.learners.em.expectation import Data, Expected, Maker, log_chances, require_complete
from problog4fairness.learners.encoder import Encoder
from problog4fairness.learners.fitted import Fitted, History, State
from problog4fairness.learners.linear.logistic import Linear
from problog4fairness.learners.progress import Bar, each
from problog4fairness.learners.splits import learning_rows
from problog4fairness.learners.validation import COUNT, NOT_NEGATIVE, Number, option

# No estimator is surer than this in the end.
SUREST = 1e-12
# Below this many rows, out-of-fold predictions need larger parts, and every pair of an input and a class; above, labels
# that are drawn are enough until the last fit, and far quicker.
FEW = 5_000
# A mean log-likelihood that falls by more than this is worth a word; less is chance, and where EM stops.
FALL = 0.1


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
    folds
        Parts for predictions out of fold; None for 3 below 5,000 rows, otherwise 2.
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
    folds: int | None = option(None, Number(least=2, whole=True, others=(None,)))
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
        require_complete(task.observation, rows)
        data, maker, expected = self._begun(task, rows)
        losses: list[float] = []
        if data.hidden(expected):
            expected = self._rounds(data, maker, expected, losses)
        bar.show(1, losses[-1] if losses else float("nan"), 1)
        return self._fitted(data, maker, expected, losses)

    def fit_near(
        self,
        fitted: Fitted,
        tasks: Sequence[Task],
        progress: bool | None = None,
        quicker: int = 1,
    ) -> Sequence[FittedEstimator]:
        """See :meth:`Learner.fit_near`: one round of EM on two halves, and a last fit."""
        self.check_options()

        def near(task: Task) -> FittedEstimator:
            data, maker, expected = self._begun(task, learning_rows(task))
            if data.hidden(expected):
                chance = maker.out_of_fold(data, expected, data.folds(2, maker.seed), drawn=data.size >= FEW)
                expected = data.expected(chance)
            return self._fitted(data, maker, expected, [])

        return each(near, tasks, progress)

    def _begun(self, task: Task, rows: Tensor) -> tuple[Data, Maker, Expected]:
        """The data, what fits the estimator to them, and what a linear model expects of them."""
        data = Data.of(task, rows, isinstance(self.estimator, Pipeline))
        start = Linear().fit_task(task, Bar())
        maker = Maker(self.estimator, int(task.seed), int(self.draws))
        return data, maker, data.expected(start.log_proba(data.table).numpy())

    def _fitted(self, data: Data, maker: Maker, expected: Expected, losses: list[float]) -> FittedEstimator:
        estimators = maker.fit_all(data, expected)
        return FittedEstimator(data.encoder, estimators, data.observation.classes, {"validation": losses})

    def _rounds(self, data: Data, maker: Maker, expected: Expected, losses: list[float]) -> Expected:
        """The expectations of the best round; notes the loss of every round up to it."""
        count = self.folds or (3 if data.size < FEW else 2)
        folds, best = data.folds(count, maker.seed), expected
        for number in range(self.max_rounds):
            chance = maker.out_of_fold(data, expected, folds, drawn=data.size >= FEW)
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
        return torch.from_numpy(log_chances(self.estimators, matrix, self._classes, SUREST))

    def state(self) -> State:
        """See :meth:`Fitted.state`; not for objects of another library."""
        raise P4FError(
            f"a model with the estimator {type(self.estimators[0]).__name__} cannot be saved: reading such a file back "
            "would mean trusting it; take learner='linear', 'boosted' or 'network'"
        )
