"""Logistic regression through a belief: exact, deterministic, with a coefficient for every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.optimize
import torch
from torch import Tensor

from problog4fairness.data import Floats
from problog4fairness.learners.base import Learner, Task
from problog4fairness.learners.encoder import Encoder, make_encoder, slot_name
from problog4fairness.learners.fitted import Fitted, FittedEncoded, History, State
from problog4fairness.learners.objective import BinaryObjective, Objective, objective_of
from problog4fairness.learners.progress import Bar, each
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
# The largest component of the gradient at the end, relative to the total weight of the rows; and where rows are so many
# that a part of them is enough to begin with and to tell the curvature from. Chance alone moves it far more than that.
TOLERANCE, TOLERANCE_LARGE, TOLERANCE_SAMPLE = 1e-9, 1e-5, 1e-3
LARGE, SAMPLE = 20_000, 10_000
MAX_STEPS, MAX_HALVINGS = 100, 30
# By how much a loss may seem to rise, relative to it, where only rounding tells: there the gradient still says where to
# go, and shorter steps would say no more.
ROUNDING = 1e-14
# Where a step makes the gradient smaller by this factor, the curvature is good enough for the next one.
QUICK = 8


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
        objective = objective_of(observation, rows, task.weights)
        table = objective.inputs_of(observation.table)
        encoder = make_encoder(table)
        matrix = encoder.transform(table, np.float64)
        start = np.zeros((encoder.width + 1, observation.outputs))
        auto = self.penalty == "auto"
        penalty = _chosen_penalty(task, rows, objective, matrix, start) if auto else float(self.penalty)
        numbers, losses = minimise(objective, matrix, column_scales(objective, matrix), penalty, start)
        bar.show(1, losses[-1], 1)
        return FittedLinear(encoder, numbers, penalty, {"training": losses})

    def refit(
        self, fitted: Fitted, tasks: Sequence[Task], progress: bool | None = None, speedup: int = 1
    ) -> Sequence[Fitted]:
        """See :meth:`Learner.refit`: from the coefficients and with the penalty of the previous fit."""
        if not isinstance(fitted, FittedLinear):
            return self.fit_many(tasks, progress)
        encoded: dict[int, tuple[pd.DataFrame, Floats]] = {}

        def fit(task: Task) -> FittedLinear:
            table = task.observation.table
            if id(table) not in encoded:
                encoded[id(table)] = table, fitted.encoder.transform(table, np.float64)
            objective = objective_of(task.observation, task.train_rows, task.weights)
            matrix = encoded[id(table)][1]
            matrix = matrix if len(objective.inputs) == len(matrix) else matrix[objective.inputs]
            scales = column_scales(objective, matrix)
            numbers, losses = minimise(objective, matrix, scales, fitted.penalty, fitted.numbers, ROUGH)
            return FittedLinear(fitted.encoder, numbers, fitted.penalty, {"training": losses})

        return each(fit, tasks, progress)


def _chosen_penalty(task: Task, rows: Tensor, objective: Objective, matrix: Floats, start: Floats) -> float:
    """The penalty that suits these rows; see :class:`Linear`.

    The strongest is tried first, and each fit begins at the one before. Weak ones take by far the most time: they are
    not tried once held-out rows are less likely than before by more than the standard error of that.
    """
    observation = task.observation
    if len(rows) >= MANY * start.size:
        return DEFAULT
    place = np.zeros(len(observation.table), dtype=np.int64)
    place[objective.inputs] = np.arange(len(objective.inputs))
    # Rows with the same input share a fold, so that a row of weight 2 is as good as two.
    kinds = np.unique(matrix, axis=0, return_inverse=True)[1].reshape(-1)
    fold_of_kind = np.random.default_rng(0).permutation(int(kinds.max()) + 1) % FOLDS
    folds = fold_of_kind[kinds[place[observation.needs(rows)[:, 0].numpy()]]]
    if folds.max() + 1 < FOLDS:
        return DEFAULT
    count = FOLDS if len(rows) < MANY_ROWS else 1
    weights = np.ones(len(rows)) if task.weights is None else task.weights[rows].double().numpy()
    scales, losses = column_scales(objective, matrix), np.zeros((0, len(rows)))
    parts = [objective_of(observation, rows[torch.from_numpy(folds != fold)], task.weights) for fold in range(count)]
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


def column_scales(objective: Objective, matrix: Floats) -> Floats:
    """The standard deviation of each column over the rows, by their weight; 1 for a column that is constant."""
    share = objective.input_weights / objective.input_weights.sum()
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
        weights = self.numbers[:-1] / scales[:, None]
        shift = self.encoder.means @ weights[: len(self.encoder.means)] if len(self.encoder.means) else 0.0
        names = [slot_name(slot) for slot in self.encoder.slots]
        return pd.DataFrame(np.vstack([weights, self.numbers[-1] - shift]), index=[*names, "intercept"])

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


def minimise(
    objective: Objective, matrix: Floats, scales: Floats, penalty: float, start: Floats, tolerance: float = TOLERANCE
) -> tuple[Floats, list[float]]:
    """The coefficients ``[width + 1, outputs]``, the intercept last; and the mean loss after each step.

        minimise over w and b:   loss(X w + b) + penalty / 2 sum_j (scale_j w_j)²

    in float64, from ``start``, until the largest component of the gradient, relative to the total weight of the rows,
    is below the tolerance. Where each row needs one input and the label has two classes, by Fisher scoring, which takes
    a handful of steps; otherwise by L-BFGS.
    """
    ridge = penalty * scales**2
    if isinstance(objective, BinaryObjective) and objective.single_input:
        numbers, losses = _scoring(objective, matrix, ridge, start[:, 0], tolerance)
        return numbers[:, None], losses
    return _descent(objective, matrix, ridge, start, tolerance)


def _scoring(
    objective: BinaryObjective, matrix: Floats, ridge: Floats, start: Floats, tolerance: float
) -> tuple[Floats, list[float]]:
    """Newton's method with the expected information in place of the curvature, which may be negative."""
    part, sample, curvature, before = None, matrix, None, np.inf
    if len(matrix) > max(LARGE, 20 * matrix.shape[1]):
        tolerance = max(tolerance, TOLERANCE_LARGE)
        part, inputs = objective.sample(max(SAMPLE, len(matrix) // 20))
        sample = matrix[inputs]
        start, _ = _scoring(part, sample, ridge, start, TOLERANCE_SAMPLE)
    w, z = start, _logits(matrix, start)
    value, by_input, information = _penalised(objective, z, w, ridge)
    losses = [value / objective.total]
    for _ in range(MAX_STEPS):
        gradient = np.append(by_input @ matrix + ridge * w[:-1], by_input.sum())
        largest = float(np.abs(gradient).max())
        if largest <= tolerance * objective.total:
            break
        if part is None and largest > before / QUICK:
            curvature = None
        before = largest
        if curvature is None:
            known = information if part is None else part.loss_gradient_information(_logits(sample, w)[:, None])[2]
            curvature = _information(sample, known, ridge)
        step = _solve(curvature, gradient)
        change = _logits(matrix, step)
        size = 1.0
        for _ in range(MAX_HALVINGS):
            tried = _penalised(objective, z - size * change, w - size * step, ridge)
            if tried[0] <= value + ROUNDING * abs(value):
                break
            size /= 2
        else:
            break  # as good as rounding allows
        if size < 1:
            curvature = None  # no longer right
        w, z = w - size * step, z - size * change
        value, by_input, information = tried
        losses.append(value / objective.total)
    return w, losses


def _penalised(objective: BinaryObjective, z: Floats, w: Floats, ridge: Floats) -> tuple[float, Floats, Floats]:
    loss, by_input, information = objective.loss_gradient_information(z[:, None])
    return loss + 0.5 * float(ridge @ w[:-1] ** 2), by_input, information


def _information(matrix: Floats, information: Floats, ridge: Floats) -> Floats:
    width = matrix.shape[1]
    rooted = matrix * np.sqrt(information)[:, None]
    full = np.empty((width + 1, width + 1))
    full[:width, :width] = rooted.T @ rooted
    full[:width, width] = full[width, :width] = matrix.T @ information
    full[width, width] = information.sum()
    # Columns that the rows tell nothing about, without a penalty: the least bit that makes the matrix regular.
    full[np.arange(width), np.arange(width)] += ridge
    full[np.diag_indices(width + 1)] += 1e-12 * max(1e-12, float(full.diagonal().max()))
    return full


def _solve(curvature: Floats, gradient: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(curvature, gradient, rcond=None)[0], dtype=np.float64)


def _descent(
    objective: Objective, matrix: Floats, ridge: Floats, start: Floats, tolerance: float
) -> tuple[Floats, list[float]]:
    shape = start.shape
    losses: list[float] = []

    def value(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(shape)
        loss, by_input = objective.gradient(matrix @ w[:-1] + w[-1])
        gradient = np.vstack([matrix.T @ by_input + ridge[:, None] * w[:-1], by_input.sum(0)])
        total = loss + 0.5 * float((ridge[:, None] * w[:-1] ** 2).sum())
        return total / objective.total, gradient.reshape(-1) / objective.total

    def note(intermediate_result: Any) -> None:
        losses.append(float(intermediate_result.fun))

    options = {"maxiter": 1000, "maxcor": 20, "ftol": 1e-15, "gtol": tolerance}
    optimum = scipy.optimize.minimize(
        value, start.reshape(-1), jac=True, method="L-BFGS-B", callback=note, options=options
    )
    return optimum.x.reshape(shape), losses


def _logits(matrix: Floats, w: Floats) -> Floats:
    z: Floats = matrix @ w[:-1]
    z += w[-1]
    return z
