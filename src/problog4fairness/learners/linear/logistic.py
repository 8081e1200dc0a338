"""Logistic regression through a belief: exact, deterministic, with a coefficient for every column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.data import Floats
from problog4fairness.learners.base import Learner, Task
from problog4fairness.learners.derivatives import Slopes, slopes_of
from problog4fairness.learners.encoder import Encoder, make_encoder, slot_name
from problog4fairness.learners.fitted import Fitted, FittedEncoded, History, State
from problog4fairness.learners.linear.newton import minimise
from problog4fairness.learners.progress import Bar
from problog4fairness.learners.splits import learning_rows
from problog4fairness.learners.validation import NOT_NEGATIVE, Shape, option, require
from problog4fairness.program import log_outcomes

# The penalty where rows are many, and those that are tried where they are not, the strongest first.
DEFAULT, PENALTIES = 1.0, (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
# Rows for each coefficient above which the penalty hardly matters.
MANY = 100
# Folds that are held out, one after another; with so many rows the first one alone.
FOLDS, MANY_ROWS = 5, 10_000
# The largest component of a gradient, relative to the weight of all rows, at the end of fits that only compare
# penalties, or that begin near another fit.
ROUGH = 1e-5
# Fewer audited rows than this say little about the penalty.
ENOUGH_AUDITED = 50
# Rows that are predicted together.
CHUNK = 1 << 16


@dataclass(eq=False, repr=False)
class Linear(Learner):
    """Logistic regression on encoded columns; softmax regression where the label has more than two classes.

    The penalised likelihood of the recorded rows is maximised exactly, in float64:

        sum_i w_i log P(recorded_i) - penalty / 2 sum_j (sd_j coefficient_j)²

    with sd_j the standard deviation of column j, so that the units of a column do not matter; the intercept is free.
    Nothing is random. A row of weight 2 counts exactly as two rows.

    Parameters
    ----------
    penalty
        How strongly coefficients are shrunk to 0; or ``"auto"``: where there are fewer than 100 rows for each
        coefficient the one of seven under which held-out recorded rows are most likely (5 folds, one of them from
        10,000 rows on), otherwise 1. With 50 or more audited rows, the one under which the fair labels of held-out
        ones are most likely, of those that are as good for recorded rows within one standard error.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> p4f.learners.Linear(penalty=1.0).fit(belief, rows).penalty
    1.0
    """

    penalty: float | Literal["auto"] = option("auto", NOT_NEGATIVE.or_else("auto"))

    def fit_task(self, task: Task, bar: Bar) -> FittedLinear:
        observation, rows = task.observation, learning_rows(task)
        slopes = slopes_of(observation, rows, task.weights)
        every = len(slopes.inputs) == len(observation.table)
        table = observation.table if every else observation.table.iloc[slopes.inputs]
        encoder = make_encoder(table)
        matrix = encoder.transform(table, np.float64)
        start = np.zeros((encoder.width + 1, observation.outputs))
        auto = self.penalty == "auto"
        penalty = _chosen_penalty(task, rows, slopes, matrix, start) if auto else float(self.penalty)
        numbers, losses = minimise(slopes, matrix, column_scales(slopes, matrix), penalty, start)
        bar.show(1, losses[-1], 1)
        return FittedLinear(encoder, numbers, penalty, {"training": losses})

    def near(self, fitted: Fitted, quicker: int) -> Callable[[Task], Fitted] | None:
        """See :meth:`Learner.near`: from the coefficients and with the penalty that were found."""
        if not isinstance(fitted, FittedLinear):
            return None
        encoded: dict[int, tuple[pd.DataFrame, Floats]] = {}

        def fit(task: Task) -> FittedLinear:
            table = task.observation.table
            if id(table) not in encoded:
                encoded[id(table)] = table, fitted.encoder.transform(table, np.float64)
            slopes = slopes_of(task.observation, task.train_rows, task.weights)
            matrix = encoded[id(table)][1]
            matrix = matrix if len(slopes.inputs) == len(matrix) else matrix[slopes.inputs]
            scales = column_scales(slopes, matrix)
            numbers, losses = minimise(slopes, matrix, scales, fitted.penalty, fitted.numbers, ROUGH)
            return FittedLinear(fitted.encoder, numbers, fitted.penalty, {"training": losses})

        return fit


def _chosen_penalty(task: Task, rows: Tensor, slopes: Slopes, matrix: Floats, start: Floats) -> float:
    """The penalty that suits these rows; see :class:`Linear`.

    The strongest is tried first, and each fit begins at the one before. Weak ones take by far the most time: they are
    not tried once held-out rows are less likely than before by more than the standard error of that.
    """
    observation = task.observation
    if len(rows) >= MANY * start.size:
        return DEFAULT
    place = np.zeros(len(observation.table), dtype=np.int64)
    place[slopes.inputs] = np.arange(len(slopes.inputs))
    # Rows with the same input share a fold, so that a row of weight 2 is as good as two.
    kinds = np.unique(matrix, axis=0, return_inverse=True)[1].reshape(-1)
    fold_of_kind = np.random.default_rng(0).permutation(int(kinds.max()) + 1) % FOLDS
    folds = fold_of_kind[kinds[place[observation.needs(rows)[:, 0].numpy()]]]
    if folds.max() + 1 < FOLDS:
        return DEFAULT
    count = FOLDS if len(rows) < MANY_ROWS else 1
    weights = np.ones(len(rows)) if task.weights is None else task.weights[rows].double().numpy()
    scales, losses = column_scales(slopes, matrix), np.zeros((0, len(rows)))
    parts = [slopes_of(observation, rows[torch.from_numpy(folds != fold)], task.weights) for fold in range(count)]
    numbers = [start] * count
    for penalty in PENALTIES:
        row_losses = np.zeros(len(rows))
        for fold, part in enumerate(parts):
            held = np.flatnonzero(folds == fold)
            numbers[fold], _ = minimise(part, matrix[place[part.inputs]], scales, penalty, numbers[fold], ROUGH)
            held_rows = rows[torch.from_numpy(held)]
            logits = matrix @ numbers[fold][:-1] + numbers[fold][-1]
            places = torch.from_numpy(place)[observation.needs(held_rows)]
            row_losses[held] = -observation(torch.from_numpy(logits)[places], held_rows).numpy()
        losses = np.vstack([losses, row_losses])
        behind = weights * (row_losses - losses[(losses @ weights).argmin()])
        if behind.sum() > np.sqrt(behind @ behind):
            break
    tested = folds < count
    audited = None if task.audited is None else task.audited[rows].numpy()
    if audited is not None and ((audited > 0).sum() < ENOUGH_AUDITED or not (audited[tested] > 0).any()):
        audited = None
    return PENALTIES[_best(losses[:, tested], weights[tested], None if audited is None else audited[tested])]


def _best(losses: Floats, weights: Floats, audited: Floats | None) -> int:
    """Which penalty has the lowest loss ``[penalties, rows]``; for audited rows, of those as good for the others."""
    if audited is None or (audited > 0).all():
        return int((losses @ weights).argmin())
    known = audited > 0
    others, other_weights = losses[:, ~known], weights[~known]
    behind = others - others[(others @ other_weights).argmin()]
    mean = behind @ other_weights / other_weights.sum()
    as_good = mean * other_weights.sum() <= np.sqrt((behind - mean[:, None]) ** 2 @ other_weights)
    return int(np.where(as_good, losses[:, known] @ (weights * audited)[known], np.inf).argmin())


def column_scales(slopes: Slopes, matrix: Floats) -> Floats:
    """The standard deviation of each column over the rows, by their weight; 1 for a column that is constant."""
    share = slopes.mass / slopes.mass.sum()
    mean = share @ matrix
    spread = np.sqrt(np.maximum(share @ matrix**2 - mean**2, 0))
    return np.where(spread > 1e-7 * (1 + np.abs(mean)), spread, 1.0)


class FittedLinear(FittedEncoded):
    """A linear model and the encoder in front of it.

    Attributes
    ----------
    numbers
        ``[inputs + 1, outputs]``: the weight of each input of the encoder, and the intercept last.
    penalty
        The penalty that was taken.
    history
        The mean penalised loss after each step.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> fitted = p4f.learners.Linear().fit(p4f.NoBias(), rows)
    >>> fitted.log_proba(data.loans[["income", "savings"]]).exp().shape
    torch.Size([300, 2])
    """

    kind = "linear"
    plain_names = ("penalty",)

    def __init__(self, encoder: Encoder, numbers: Floats, penalty: float, history: History) -> None:
        super().__init__(encoder, history)
        self.numbers, self.penalty = numbers, penalty

    @property
    def coefficients(self) -> pd.DataFrame:
        """What each column adds to the log-odds of the fair label, for one unit of the column itself.

        One row for each column or category, and the intercept last; one column for each output: the second class for
        two, every class otherwise.
        """
        scales = np.ones(self.encoder.width)
        scales[: len(self.encoder.scales)] = self.encoder.scales
        slopes = self.numbers[:-1] / scales[:, None]
        shift = self.encoder.means @ slopes[: len(self.encoder.means)] if len(self.encoder.means) else 0.0
        names = [slot_name(slot) for slot in self.encoder.slots]
        return pd.DataFrame(np.vstack([slopes, self.numbers[-1] - shift]), index=[*names, "intercept"])

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        outputs = self.numbers.shape[1]
        logits = np.zeros((outputs, len(table)))
        for start in range(0, len(table), CHUNK):
            x = self.encoder.transform(table.iloc[start : start + CHUNK], np.float64)
            # Column by column, so that a row's logits do not depend, by rounding, on which rows come with it: products
            # of matrices (einsum, too) add up in another order where there is only one row.
            for column, weights in zip(x.T, self.numbers[:-1], strict=True):
                logits[:, start : start + CHUNK] += weights[:, None] * column
        return log_outcomes((outputs,), torch.from_numpy(logits.T + self.numbers[-1]))

    def parts(self) -> State:
        return {"coefficients": torch.from_numpy(self.numbers.copy())}, {"penalty": self.penalty}

    @classmethod
    def part_shapes(cls, plain: Mapping[str, Any], encoder: Encoder, outputs: int) -> dict[str, Shape]:
        require(type(plain["penalty"]) is float and 0 <= plain["penalty"] < np.inf, "its penalty is not a number")
        return {"coefficients": ((encoder.width + 1, outputs), torch.float64)}

    @classmethod
    def of_parts(cls, encoder: Encoder, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedLinear:
        return cls(encoder, tensors["coefficients"].numpy(), plain["penalty"], plain["history"])
