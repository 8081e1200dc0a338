"""Audited rows put the fair probabilities right: out of fold, and only where that helps beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from problog4fairness.beliefs import Belief, Observation
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.learners import (
    LARGEST_SHIFT,
    SLOPES,
    Auto,
    Calibrated,
    Fitted,
    FittedChoice,
    Learner,
    Task,
    fit_tasks,
    named_learner,
    recalibrated,
)

# Fewer audited rows than this say too little about probabilities.
ENOUGH = 50
FOLDS = 5
# From so many rows on, the fits without each fold are quick ones near the whole fit (:mod:`.learners.again`): whole
# ones cost five times as much, and gain no likelihood there.
MANY = 2_000
# From so many rows on, there are three folds, and these fits learn from as many rows without a fair label at most.
LARGE, FEWER_FOLDS = 20_000, 3


@dataclass(frozen=True, eq=False)
class Fold:
    """Audited rows to be left out of a fit.

    Attributes
    ----------
    task
        The fit without them.
    held
        Which rows they are, by number.
    """

    task: Task
    held: Codes


@dataclass(frozen=True, eq=False)
class Unseen:
    """What is said of audited rows by classifiers that have not seen them.

    Attributes
    ----------
    rows
        Which rows, by number.
    chances
        ``[rows, classes]``: P(fair class), put right as far as that helps.
    """

    rows: Codes
    chances: Floats


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned, and what it would have said of audited rows; None where they are too few for that."""

    fitted: Fitted
    unseen: Unseen | None = None


def learned(belief: Belief, rows: Rows, task: Task, learner: Learner, progress: bool | None = None) -> Learned:
    """Fit, and calibrate by audited rows where there are enough.

    Parameters
    ----------
    belief, rows
        What is believed, and what to learn from.
    task
        The fit.
    learner
        What learns.
    progress
        As for :meth:`Learner.fit_many`.
    """
    folds = audited_folds(rows, task)
    others = [fold.task for fold in folds]
    if isinstance(learner, Auto) and folds and len(rows) < MANY:
        # One choice, by all rows.
        chosen = learner.fit_many([task], progress)[0]
        return checked(belief, rows, chosen, folds, settled(learner, chosen).fit_many(others, progress))
    if len(rows) >= MANY:
        fitted = learner.fit_many([task], progress)[0]
        return checked(belief, rows, fitted, folds, fit_tasks(learner, fold_tasks(folds, fitted, rows), progress))
    fitted, *fits = learner.fit_many([task, *others], progress)
    return checked(belief, rows, fitted, folds, fits)


def fold_tasks(folds: Sequence[Fold], fitted: Fitted, rows: Rows) -> list[Task]:
    """The fits without each fold: near the whole one where rows are many.

    Parameters
    ----------
    folds
        As :func:`audited_folds` gives them.
    fitted
        What was learned from all rows.
    rows
        All rows.
    """
    return [fold.task if len(rows) < MANY else replace(fold.task, near=fitted) for fold in folds]


def choice_of(fitted: Fitted) -> FittedChoice | None:
    """How a learner was chosen; None where it was named."""
    own = fitted.fitted if isinstance(fitted, Calibrated) else fitted
    return own if isinstance(own, FittedChoice) else None


def settled(learner: Learner, fitted: Fitted) -> Learner:
    """The learner to fit again with: the one that was chosen, where there was a choice."""
    choice = choice_of(fitted)
    return learner if choice is None else named_learner(choice.chosen)


def audited_folds(rows: Rows, task: Task, parts: int | None = None) -> list[Fold]:
    """The fits that audited rows are left out of in turn; none where they are too few to calibrate by.

    Parameters
    ----------
    rows
        What is learned from, with fair labels where they are known.
    task
        The fit on all of them.
    parts
        Into how many parts audited rows are dealt; by default 5, and 3 from 20,000 rows on.
    """
    known = np.flatnonzero(rows.fair >= 0) if rows.fair is not None else np.zeros(0, dtype=np.int64)
    if len(known) < ENOUGH or rows.fair is None or len(np.unique(rows.fair[known])) < len(rows.classes):
        return []
    if parts is None:
        parts = FOLDS if len(rows) < LARGE else FEWER_FOLDS
    # Each fair label is spread evenly over the folds.
    shuffled = np.random.default_rng(task.seed).permutation(known)
    dealt = shuffled[np.argsort(rows.fair[shuffled], kind="stable")]
    others = np.random.default_rng(task.seed).permutation(np.flatnonzero(rows.fair < 0))[:LARGE]
    learned_from = np.sort(np.concatenate([known, others]))
    found = []
    for fold in range(parts):
        held = np.sort(dealt[fold::parts])
        others = np.setdiff1d(learned_from, held, assume_unique=True)
        found.append(Fold(replace(task, train_rows=torch.from_numpy(others)), held))
    return found


def calibrated(belief: Belief, rows: Rows, fitted: Fitted, folds: Sequence[Fold], fits: Sequence[Fitted]) -> Fitted:
    """What was learned, with its probabilities put right as far as that helps; see :func:`checked`."""
    return checked(belief, rows, fitted, folds, fits).fitted


def checked(belief: Belief, rows: Rows, fitted: Fitted, folds: Sequence[Fold], fits: Sequence[Fitted]) -> Learned:
    """What was learned, with its probabilities put right; as it is where that would not help beyond chance.

    Slope and shifts maximise the likelihood of the audited rows' fair labels, each predicted by a fit that has not seen
    the row. They are taken where they make rows that they were not fitted on more likely, by more than the standard
    error of that. The fit on all rows has learned from more audited rows than those, and needs less correction; its
    shifts are adjusted to give unaudited rows the mean probabilities that the fits without a fold give, calibrated.

    Parameters
    ----------
    belief, rows
        What is believed, and what was learned from.
    fitted
        What was learned from all rows.
    folds, fits
        As :func:`audited_folds` gives them, and what was learned in each.
    """
    parts = [_Part.of(belief, rows, fold.held, fit) for fold, fit in zip(folds, fits, strict=True)]
    if not parts:
        return Learned(fitted)
    classes = len(rows.classes)
    plain = _start(classes)
    others = [torch.from_numpy(_best([other for other in parts if other is not part], classes)) for part in parts]
    with torch.no_grad():
        better = [part.losses(plain) - part.losses(own) for part, own in zip(parts, others, strict=True)]
    gain, weight = torch.cat(better).numpy(), torch.cat([part.weights for part in parts]).numpy()
    mean = float(weight @ gain / weight.sum())
    error = float(np.sqrt((weight**2) @ (gain - mean) ** 2) / weight.sum())
    helps = mean > error
    chances = [part.chances(own if helps else plain).numpy() for part, own in zip(parts, others, strict=True)]
    unseen = Unseen(np.concatenate([fold.held for fold in folds]), np.concatenate(chances))
    if not helps:
        return Learned(fitted, unseen)
    slope, *shifts = _levelled(belief, rows, fitted, fits, _best(parts, classes)).tolist()
    return Learned(Calibrated(fitted, slope, shifts, mean, error), unseen)


def fair_losses(belief: Belief, rows: Rows, folds: Sequence[Fold], fits: Sequence[Fitted]) -> tuple[Floats, Floats]:
    """-log P(fair label) of each audited row by the fit that has not seen it, and its weight, in the order of folds."""
    own = rows.take(np.concatenate([fold.held for fold in folds]))
    observation = belief.restore(own.without_record())
    logs = torch.zeros((len(observation.table), len(rows.classes)), dtype=torch.float64)
    fair, losses, start = torch.from_numpy(np.asarray(own.fair)), [], 0
    for fold, fit in zip(folds, fits, strict=True):
        held = torch.arange(start, start + len(fold.held))
        inputs = observation.needs(held).unique()
        logs[inputs] = fit.log_proba(observation.table.iloc[inputs.numpy()])
        chances = observation.fair_proba(logs)[held].gather(1, fair[held].unsqueeze(1)).squeeze(1)
        losses.append(-chances.clamp_min(1e-300).log())
        start += len(fold.held)
    return torch.cat(losses).numpy(), _counted(own)


def _counted(rows: Rows) -> Floats:
    """How much audited rows count: an audited row is a sample of others, and counts for all that it stands for."""
    return rows.standing() * (1.0 if rows.weights is None else rows.weights.astype(np.float64))


@dataclass(frozen=True, eq=False)
class _Part:
    """Audited rows, and what a classifier that has not seen them says."""

    observation: Observation
    log_proba: Tensor
    fair: Tensor
    weights: Tensor

    @classmethod
    def of(cls, belief: Belief, rows: Rows, held: Codes, fitted: Fitted) -> _Part:
        own = rows.take(held)
        observation = belief.restore(own.without_record())
        fair = torch.from_numpy(np.asarray(own.fair))
        return cls(observation, fitted.log_proba(observation.table), fair, torch.from_numpy(_counted(own)))

    def chances(self, numbers: Tensor) -> Tensor:
        """P(fair class), ``[rows, classes]``, with slope and shifts."""
        return self.observation.fair_proba(recalibrated(self.log_proba, numbers[0], numbers[1:]))

    def losses(self, numbers: Tensor) -> Tensor:
        """-log P(fair label) of each row, with slope and shifts."""
        return -self.chances(numbers).gather(1, self.fair.unsqueeze(1)).squeeze(1).clamp_min(1e-300).log()


def _start(classes: int) -> Tensor:
    """Slope 1 and no shift."""
    return torch.tensor([1.0, *[0.0] * (classes - 1)], dtype=torch.float64)


def _levelled(belief: Belief, rows: Rows, fitted: Fitted, fits: Sequence[Fitted], numbers: Floats) -> Floats:
    """Slope and shifts with which the whole fit has the mean fair probabilities of the calibrated fits of the folds."""
    others = np.flatnonzero(rows.fair < 0) if rows.fair is not None else np.zeros(0, dtype=np.int64)
    if len(others) < ENOUGH:
        return numbers
    chosen = np.random.default_rng(0).permutation(others)[:MANY]
    observation = belief.restore(rows.take(np.sort(chosen)).without_record())

    def mean(log_proba: Tensor, values: Floats) -> Floats:
        moved = recalibrated(log_proba, float(values[0]), torch.from_numpy(values[1:]))
        return np.asarray(observation.fair_proba(moved).mean(0).clamp_min(1e-12).numpy(), dtype=np.float64)

    with torch.no_grad():
        wanted = np.mean([mean(fit.log_proba(observation.table), numbers) for fit in fits], axis=0)
        log_proba, found = fitted.log_proba(observation.table), numbers.copy()
        for _ in range(30):
            step = np.log(wanted / mean(log_proba, found))
            found[1:] = np.clip(found[1:] + step[1:] - step[0], -LARGEST_SHIFT, LARGEST_SHIFT)
    return found


def _best(parts: Sequence[_Part], classes: int) -> Floats:
    """The slope and the shifts under which the fair labels are most likely."""

    def loss(values: Floats) -> tuple[float, Floats]:
        numbers = torch.from_numpy(values.copy()).requires_grad_()
        with torch.enable_grad():
            total = torch.stack([part.weights @ part.losses(numbers) for part in parts]).sum()
            (slope,) = torch.autograd.grad(total, numbers)
        return float(total.detach()), slope.numpy()

    bounds = [SLOPES, *[(-LARGEST_SHIFT, LARGEST_SHIFT)] * (classes - 1)]
    found: Floats = minimize(loss, _start(classes).numpy(), jac=True, bounds=bounds, method="L-BFGS-B").x
    return found
