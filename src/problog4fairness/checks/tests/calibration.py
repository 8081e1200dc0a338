"""Whether a model that is trained through the belief says what audited labels say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from problog4fairness.beliefs import Belief, restore
from problog4fairness.checks.case import SIMULATED, Case
from problog4fairness.checks.finding import NEVER, Finding, NotDone, least_shown, normals, share_of_draws
from problog4fairness.data import Codes, Floats
from problog4fairness.learners import Fitted, Task
from problog4fairness.statistics import percent

# Fits on resampled rows, whose predictions differ by as much as those of the model may be off by chance.
REFITS = 16
# Rows of a cell at least, for its share to be compared.
LEAST_CELL = 5
# Random numbers that are held at once.
_AT_ONCE = 1 << 21
# Audited rows from which on sums of residuals are as good as normal.
NORMAL = 2_000


@dataclass(frozen=True, eq=False)
class Residuals:
    """Sums of weight × factor × (1 if this is the fair class, otherwise 0, minus its probability) of audited rows.

    The variance is that by the model: that of the observed products would be 0 in a small group in which no audited row
    has the rare label.
    """

    values: Floats  # [sums]
    simulated: Floats  # [draws, sums]: of fair labels that are drawn from the probabilities
    variance: Floats  # [sums]


def audited_residuals(case: Case, rows: Codes, factors: Floats, rng: np.random.Generator) -> Residuals:
    """Residuals of the fair labels of audited rows, given features, group *and* recorded label.

    The probabilities are P(fair | features, group, recorded). They hold under every way of sampling by these, so that
    weights change what is estimated, a mean of the whole table, and not whether the belief is contradicted by chance.
    ``factors``, ``[rows, classes, sums]``, say how much each class of each row counts in each sum.
    """
    chance = case.posterior[rows]
    counted = factors * case.stands_for[:, None, None]
    flat = counted.reshape(-1, counted.shape[2])
    expected = np.einsum("rk,rks->s", chance, counted)
    hit = np.eye(chance.shape[1])[case.fair]
    values = np.einsum("rk,rks->s", hit, counted) - expected
    means = np.einsum("rk,rks->rs", chance, counted)
    covariance = np.einsum("rk,rks,rkt->st", chance, counted, counted) - means.T @ means
    if len(rows) > NORMAL:
        return Residuals(values, normals(covariance, SIMULATED, rng), np.diag(covariance))
    ends = np.cumsum(chance, axis=1)[:, :-1]
    step = max(1, _AT_ONCE // max(1, len(rows)))
    parts = []
    for start in range(0, SIMULATED, step):
        size = min(step, SIMULATED - start)
        label = (rng.random((size, len(rows), 1)) > ends).sum(axis=2)
        place = label + np.arange(len(rows)) * chance.shape[1]
        parts.append(np.stack([column[place].sum(axis=1) for column in flat.T], axis=1))
    return Residuals(values, np.concatenate(parts) - expected, np.diag(covariance))


@dataclass(frozen=True, eq=False)
class _Shares:
    """The shares that are compared: fair labels in each group, and recorded labels that are wrong."""

    factors: Floats  # [rows, classes, shares]: how much each fair class of an audited row counts
    masks: Codes  # [shares, rows]: the audited rows of which each is a share
    words: list[str]


def calibration_test(case: Case) -> Finding:
    """Whether fair probabilities given the recorded label, out of fold, are as high as audited labels say."""
    rows = case.audited
    shares = _shares(case, rows)
    rng = case.rng(5)
    residuals = audited_residuals(case, rows, shares.factors, rng)
    by_rows, by_parameters = _refitted(case, rows, shares, rng)
    count = len(residuals.simulated)
    # Few refits know their variance to so many degrees of freedom.
    uncertain = np.sqrt((REFITS - 1) / rng.chisquare(REFITS - 1, (count, 1)))
    drawn = residuals.simulated + normals(by_rows, count, rng) * uncertain + normals(by_parameters, count, rng)
    spread = np.sqrt(residuals.variance + np.diag(by_rows) + np.diag(by_parameters)) + 1e-9
    scores = np.abs(residuals.values) / spread
    which = int(scores.argmax())
    mask = shares.masks[which]
    weight = float(case.stands_for @ mask)
    predicted = float(np.einsum("rk,rk->r", case.posterior[rows], shares.factors[:, :, which]) @ case.stands_for)
    observed = predicted + float(residuals.values[which])
    # Of wrong labels minus those that are right are counted.
    added = 1.0 if shares.factors[:, :, which].min() < 0 else 0.0
    ends = [added + value / weight for value in (observed, predicted)]
    sentence = (
        f"{shares.words[which]}: {percent(ends[0])} by the audit, {percent(ends[1])} by a model trained through the "
        "belief."
    )
    advice = (
        "Estimate the parameters anew from this audit, look for a bias that depends on the features, and give the fair "
        "labels to fit(..., fair=...), which calibrates the probabilities."
    )
    p = share_of_draws(np.abs(drawn / spread).max(axis=1), float(scores[which]))
    of = [f" of {words[0].lower()}{words[1:]}" for words in shares.words]
    least = least_shown(spread / (shares.masks @ case.stands_for), of, len(of))
    return Finding(sentence, p, rows[mask], advice, float(scores[which]), NEVER, least)


def _shares(case: Case, rows: Codes) -> _Shares:
    groups, names = case.groups
    masks = [(names[k] or "everybody", groups[rows] == k) for k in np.unique(groups[rows])]
    masks = [(name, mask) for name, mask in masks if mask.sum() >= LEAST_CELL]
    if not masks:
        raise NotDone(f"no group has {LEAST_CELL} audited rows")
    classes = len(case.rows.classes)
    factors, inside, words = [], [], []
    for label in range(1, classes):
        for name, mask in masks:
            factors.append(np.outer(mask, np.arange(classes) == label))
            inside.append(mask)
            words.append(f"Fair {case.rows.classes[label]} where {name}")
    # Recorded labels may be wrong, not only missing.
    if not case.belief.record.gaps:
        factors.append(-np.eye(len(case.outcomes))[case.recorded[rows]][:, :classes])
        inside.append(np.ones(len(rows), dtype=bool))
        words.append("Recorded labels that are wrong")
    return _Shares(np.stack(factors, axis=2).astype(np.float64), np.stack(inside), words)


def _refitted(case: Case, rows: Codes, shares: _Shares, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Covariances of the sums because other rows might have been recorded, and because parameters are uncertain."""
    learner = case.learners["linear"]
    audited = case.rows.take(rows)
    observation = case.belief.observe(case.table)
    weights = [torch.from_numpy(rng.poisson(1, case.size).astype(np.float64) + 1e-6) for _ in range(REFITS)]
    tasks = [Task(observation, case.seed, weights=drawn) for drawn in weights]
    first = learner.fit_many([Task(observation, case.seed)], progress=False)[0]
    fits = first.refit(learner, tasks, progress=False)

    def sums(belief: Belief, fitted: Fitted, given: Floats) -> Floats:
        restored = restore(belief, audited)
        chances = restored.fair_proba(fitted.log_proba(restored.table)).numpy()
        chance = case.conditioned(chances, given, rows) * case.stands_for[:, None]
        return np.asarray(np.einsum("rk,rks->s", chance, shares.factors))

    given = case.given[rows]
    resampled = [sums(case.belief, fit, given) for fit in fits]
    base = sums(case.belief, first, given)
    moves = []
    for place, (other, step, _) in case.moved.items():
        fitted = first.refit(learner, [Task(other.observe(case.table), case.seed)], progress=False)[0]
        change = sums(other, fitted, given + step * case.slopes[place][rows]) - base
        moves.append(change / step * case.spread[place])
    changes = np.stack(moves) if moves else np.zeros((1, len(base)))
    return np.cov(np.stack(resampled), rowvar=False).reshape(len(base), -1), changes.T @ changes
