"""Fit and calibrate: fair probabilities are calibrated on audited rows, out of fold, where that helps beyond chance.

A model that learned from audited rows, or was calibrated on them, is too good on exactly these rows. While it is
fitted, every audited row is also predicted by a classifier that was fitted without it. Those predictions are kept with
the model, under a hash of the row's features and fair label, so that a report from a model file judges out of sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from scipy.optimize import minimize
from torch import Tensor

from problog4fairness.beliefs import Belief, Observation, restore
from problog4fairness.data import Codes, Floats, Rows, occurrences
from problog4fairness.learners import (
    LARGEST_SHIFT,
    SLOPES,
    Auto,
    Calibrated,
    Fitted,
    FittedChoice,
    Learner,
    Shape,
    Task,
    fit_tasks,
    named_learner,
    recalibrated,
)

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier

Bools = np.ndarray[Any, np.dtype[np.bool_]]

# Fewer audited rows than this say too little about probabilities.
ENOUGH = 50
FOLDS = 5
# From so many rows on, the fits without each fold are quick ones near the whole fit: whole ones cost five times as
# much, and gain no likelihood there.
MANY = 2_000
# From so many rows on, there are three folds, and these fits learn from as many rows without a fair label at most.
LARGE, FEWER_FOLDS = 20_000, 3
# Out-of-fold predictions in a model file.
KEYS, CHANCES = "out_of_fold.keys", "out_of_fold.chances"


@dataclass(frozen=True, eq=False)
class CalibratedFit:
    """What was learned, and ``[rows, classes]`` P(fair class) of audited rows by fits that have not seen them.

    The latter is NaN for the other rows, and None where audited rows are too few.
    """

    fitted: Fitted
    held_out: Floats | None = None


@dataclass(frozen=True, eq=False)
class AuditedFolds:
    """Audited rows that are left out of a fit in turn, so that their fair labels can calibrate it."""

    belief: Belief
    rows: Rows
    task: Task  # the fit on all rows
    held: tuple[Codes, ...]  # the rows that each fold leaves out; no folds where audited rows are too few

    @classmethod
    def of(cls, belief: Belief, rows: Rows, task: Task, folds: int | None = None) -> AuditedFolds:
        """Deal audited rows into folds: by default 5, and 3 from 20,000 rows on."""
        fair = np.full(len(rows), -1) if rows.fair is None else rows.fair
        known = np.flatnonzero(fair >= 0)
        if len(known) < ENOUGH or len(np.unique(fair[known])) < len(rows.classes):
            return cls(belief, rows, task, ())
        if folds is None:
            folds = FOLDS if len(rows) < LARGE else FEWER_FOLDS
        # Each fair label is spread evenly over the folds.
        shuffled = np.random.default_rng(task.seed).permutation(known)
        dealt = shuffled[np.argsort(fair[shuffled], kind="stable")]
        return cls(belief, rows, task, tuple(np.sort(dealt[fold::folds]) for fold in range(folds)))

    def __len__(self) -> int:
        return len(self.held)

    def tasks(self, fitted: Fitted | None = None) -> list[Task]:
        """The fits without each fold; near ``fitted``, the one on all rows, where rows are many."""
        previous = fitted if len(self.rows) >= MANY else None
        fair = np.full(len(self.rows), -1) if self.rows.fair is None else self.rows.fair
        others = np.random.default_rng(self.task.seed).permutation(np.flatnonzero(fair < 0))[:LARGE]
        learned_from = np.sort(np.concatenate([np.flatnonzero(fair >= 0), others]))
        parts = [np.setdiff1d(learned_from, held, assume_unique=True) for held in self.held]
        return [replace(self.task, train_rows=torch.from_numpy(part), previous=previous) for part in parts]

    def losses(self, fits: Sequence[Fitted]) -> tuple[Floats, Floats]:
        """-log P(fair label) of each audited row by the fit that has not seen it, and its weight, in order of folds."""
        parts, plain = self._parts(fits), _identity(len(self.rows.classes))
        with torch.no_grad():
            losses = torch.cat([part.losses(plain) for part in parts])
        return losses.numpy(), torch.cat([part.weights for part in parts]).numpy()

    def calibrate(self, fitted: Fitted, fits: Sequence[Fitted]) -> CalibratedFit:
        """The fit on all rows, calibrated; as it is where that would not help beyond chance.

        Slope and shifts maximise the likelihood of the audited rows' fair labels, each predicted by a fit that has not
        seen the row. They are taken where they make rows that they were not fitted on more likely, by more than the
        standard error of that. The fit on all rows has learned from more audited rows than those, and needs less
        correction; its shifts are adjusted to give unaudited rows the mean probabilities that the fits without a fold
        give, calibrated.
        """
        parts = self._parts(fits)
        if not parts:
            return CalibratedFit(fitted)
        classes = len(self.rows.classes)
        plain = _identity(classes)
        others = [
            torch.from_numpy(_likeliest([other for other in parts if other is not part], classes)) for part in parts
        ]
        with torch.no_grad():
            gains = [part.losses(plain) - part.losses(other) for part, other in zip(parts, others, strict=True)]
        gain, weight = torch.cat(gains).numpy(), torch.cat([part.weights for part in parts]).numpy()
        mean, error = mean_and_error(gain, weight)
        helps = mean > error
        held_out = np.full((len(self.rows), classes), np.nan)
        for held, part, other in zip(self.held, parts, others, strict=True):
            held_out[held] = part.chances(other if helps else plain).numpy()
        if not helps:
            return CalibratedFit(fitted, held_out)
        slope, *shifts = self._levelled(fitted, fits, _likeliest(parts, classes)).tolist()
        return CalibratedFit(Calibrated(fitted, slope, shifts, mean, error), held_out)

    def _parts(self, fits: Sequence[Fitted]) -> list[_Part]:
        return [_Part.of(self.belief, self.rows.take(held), fit) for held, fit in zip(self.held, fits, strict=True)]

    def _levelled(self, fitted: Fitted, fits: Sequence[Fitted], numbers: Floats) -> Floats:
        """Slope and shifts with which the whole fit has the mean fair probabilities of the folds' calibrated fits."""
        others = np.flatnonzero(np.asarray(self.rows.fair) < 0)
        if len(others) < ENOUGH:
            return numbers
        chosen = np.random.default_rng(0).permutation(others)[:MANY]
        observation = restore(self.belief, self.rows.take(np.sort(chosen)))

        def mean(log_proba: Tensor, values: Floats) -> Floats:
            moved = recalibrated(log_proba, float(values[0]), torch.from_numpy(values[1:]))
            return np.asarray(observation.fair_proba(moved).mean(0).clamp_min(1e-12).numpy(), dtype=np.float64)

        with torch.no_grad():
            target = np.mean([mean(fit.log_proba(observation.table), numbers) for fit in fits], axis=0)
            log_proba, levelled = fitted.log_proba(observation.table), numbers.copy()
            for _ in range(30):
                step = np.log(target / mean(log_proba, levelled))
                levelled[1:] = np.clip(levelled[1:] + step[1:] - step[0], -LARGEST_SHIFT, LARGEST_SHIFT)
        return levelled


def fit_calibrated(
    belief: Belief, rows: Rows, task: Task, learner: Learner, progress: bool | None = None
) -> CalibratedFit:
    """Fit, and calibrate on audited rows where there are enough; ``progress`` as for :meth:`Learner.fit_many`."""
    folds = AuditedFolds.of(belief, rows, task)
    if len(rows) >= MANY or (isinstance(learner, Auto) and len(folds)):
        fitted = learner.fit_many([task], progress)[0]
        if len(rows) >= MANY:
            return folds.calibrate(fitted, fit_tasks(learner, folds.tasks(fitted), progress))
        # One choice, by all rows.
        return folds.calibrate(fitted, settled(learner, fitted).fit_many(folds.tasks(), progress))
    fitted, *fits = learner.fit_many([task, *folds.tasks()], progress)
    return folds.calibrate(fitted, fits)


def choice_of(fitted: Fitted) -> FittedChoice | None:
    """How a learner was chosen; None where it was named."""
    chosen = fitted.fitted if isinstance(fitted, Calibrated) else fitted
    return chosen if isinstance(chosen, FittedChoice) else None


def settled(learner: Learner, fitted: Fitted) -> Learner:
    """The learner to fit again with: the one that was chosen, where there was a choice."""
    choice = choice_of(fitted)
    return learner if choice is None else named_learner(choice.chosen)


def refit_learner(model: DebiasedClassifier) -> Learner:
    """The learner to fit a model's form again with."""
    return settled(named_learner(model.learner), model.fitted_)


def mean_and_error(values: Floats, weights: Floats) -> tuple[float, float]:
    """The weighted mean, and its standard error."""
    mean = float(weights @ values / weights.sum())
    return mean, float(np.sqrt((weights**2) @ (values - mean) ** 2) / weights.sum())


@dataclass(frozen=True, eq=False)
class _Part:
    """Audited rows, and what a classifier that has not seen them says."""

    observation: Observation
    log_proba: Tensor
    fair: Tensor
    weights: Tensor

    @classmethod
    def of(cls, belief: Belief, rows: Rows, fitted: Fitted) -> _Part:
        observation = restore(belief, rows)
        # An audited row is a sample of others, and counts for all that it stands for.
        weights = rows.sampling_weights() * (1.0 if rows.weights is None else rows.weights.astype(np.float64))
        fair = torch.from_numpy(np.asarray(rows.fair))
        return cls(observation, fitted.log_proba(observation.table), fair, torch.from_numpy(weights))

    def chances(self, numbers: Tensor) -> Tensor:
        """P(fair class), ``[rows, classes]``, with slope and shifts."""
        return self.observation.fair_proba(recalibrated(self.log_proba, numbers[0], numbers[1:]))

    def losses(self, numbers: Tensor) -> Tensor:
        """-log P(fair label) of each row, with slope and shifts."""
        return -self.chances(numbers).gather(1, self.fair.unsqueeze(1)).squeeze(1).clamp_min(1e-300).log()


def _identity(classes: int) -> Tensor:
    """Slope 1 and no shift."""
    return torch.tensor([1.0, *[0.0] * (classes - 1)], dtype=torch.float64)


def _likeliest(parts: Sequence[_Part], classes: int) -> Floats:
    """The slope and the shifts under which the fair labels are most likely."""

    def loss(values: Floats) -> tuple[float, Floats]:
        numbers = torch.from_numpy(values.copy()).requires_grad_()
        with torch.enable_grad():
            total = torch.stack([part.weights @ part.losses(numbers) for part in parts]).sum()
            (slope,) = torch.autograd.grad(total, numbers)
        return float(total.detach()), slope.numpy()

    bounds = [SLOPES, *[(-LARGEST_SHIFT, LARGEST_SHIFT)] * (classes - 1)]
    best: Floats = minimize(loss, _identity(classes).numpy(), jac=True, bounds=bounds, method="L-BFGS-B").x
    return best


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The audited rows that a model has learned from, as classifiers that were fitted without them predict them."""

    keys: Codes  # [rows]: a hash of features and fair label
    chances: Floats  # [rows, classes]: P(fair label); NaN where rows were too few to be predicted out of fold

    @classmethod
    def of(cls, rows: Rows, held_out: Floats | None) -> OutOfFold | None:
        """From the rows that were learned from, and their :attr:`CalibratedFit.held_out`; None without fair labels."""
        if rows.fair is None or (rows.fair < 0).all():
            return None
        known = np.flatnonzero(rows.fair >= 0)
        chances = np.full((len(known), len(rows.classes)), np.nan) if held_out is None else held_out[known]
        return cls(row_keys(rows.take(known)), chances)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """As tensors, for a model file; rows without a prediction have none but zeros."""
        return {KEYS: torch.tensor(self.keys), CHANCES: torch.tensor(np.nan_to_num(self.chances))}

    @staticmethod
    def shapes(rows: int, classes: int) -> dict[str, Shape]:
        """The shapes of :attr:`tensors`."""
        return {KEYS: ((rows,), torch.int64), CHANCES: ((rows, classes), torch.float64)}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor]) -> OutOfFold:
        """The inverse of :attr:`tensors`, which are taken out."""
        keys, chances = tensors.pop(KEYS).numpy(), tensors.pop(CHANCES).numpy()
        unknown = chances.sum(axis=1) == 0
        return cls(keys, np.where(unknown[:, None], np.nan, chances))

    def find(self, rows: Rows) -> Codes:
        """``[rows]``: the position of each audited row among those that were learned from, -1 where it is not one.

        The n-th of several equal rows is the n-th of those that were learned from.
        """
        places = {key: place for place, key in enumerate(occurrences(self.keys))}
        return np.array([places.get(key, -1) for key in occurrences(row_keys(rows))], dtype=np.int64)


def held_out_proba(model: DebiasedClassifier, rows: Rows, chances: Floats) -> tuple[Floats, Bools]:
    """P(fair label) of audited rows by classifiers that have not learned from them; and which rows those are.

    ``chances`` is what the model itself predicts of the rows, ``[rows, classes]``: right for rows that it has not
    learned from. The others are predicted out of fold; NaN where nothing was.
    """
    if not model.audited_:
        return chances, np.zeros(len(rows), dtype=bool)
    if model.out_of_fold_ is None:  # it does not know which rows it has learned from
        return np.full_like(chances, np.nan), np.ones(len(rows), dtype=bool)
    places = model.out_of_fold_.find(rows)
    learned = places >= 0
    held_out = chances.copy()
    held_out[learned] = model.out_of_fold_.chances[places[learned]]
    return held_out, learned


def row_keys(rows: Rows) -> Codes:
    """``[rows]``: a hash of the features and the fair label, the same for equal rows of any table."""
    columns: dict[str, Any] = {f"{number}": _plain(rows.frame[name]) for number, name in enumerate(rows.features)}
    frame = pd.DataFrame({**columns, "fair": np.asarray(rows.fair, dtype=np.float64)})
    return np.asarray(pd.util.hash_pandas_object(frame, index=False).to_numpy().view(np.int64))


def _plain(column: pd.Series[Any]) -> Any:
    """Numbers as floats and everything else as text, whatever types a table happens to have."""
    numbers = pd.to_numeric(column.astype(object).where(column.notna(), None), errors="coerce")
    if bool((numbers.notna() | column.isna()).all()):
        return numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.astype(object).where(column.notna(), None).map(str).to_numpy(dtype=object)
