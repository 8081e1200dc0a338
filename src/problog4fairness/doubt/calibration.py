"""Whether a model that is trained through the belief says what audited labels say."""

from __future__ import annotations

import numpy as np
import torch
from scipy.stats import norm

from problog4fairness.beliefs.amounts import percent
from problog4fairness.doubt.audited import LEAST_CELL, random_rows
from problog4fairness.doubt.case import SIMULATED, Case
from problog4fairness.doubt.finding import Finding, NotDone
from problog4fairness.learners.again import fit_again
from problog4fairness.learners.base import Task
from problog4fairness.rows.types import Codes, Floats

# Fits on rows drawn anew, which tell how far predictions are off by chance.
REDRAWN = 16


def calibration_test(case: Case) -> Finding:
    """Whether fair probabilities, out of fold, are as high as audited labels say, and as many labels distorted."""
    rows = random_rows(case)
    if not case.rows.features:
        raise NotDone("there are no features")
    groups, names = case.groups
    masks = [(names[k] or "everybody", groups[rows] == k) for k in np.unique(groups[rows])]
    masks = [(name, own) for name, own in masks if own.sum() >= LEAST_CELL]
    chances = case.chances[rows]
    values, noise, told = _calibration(case, rows, chances, masks)
    if not told:
        raise NotDone(f"no group has {LEAST_CELL} audited rows")
    others = _refitted(case, rows, masks)
    spread = np.sqrt(noise + others)
    scores = np.abs(values) / np.maximum(spread, 1e-9)
    which = int(scores.argmax())
    p = max(min(1.0, 2 * norm.sf(scores[which]) * len(values)), 1 / (SIMULATED + 1))
    what, observed, predicted, own = told[which]
    sentence = f"{what}: {percent(observed)} by the audit, {percent(predicted)} by a model trained through the belief."
    advice = (
        "Estimate the parameters anew from this audit, look for a bias that depends on the features, and give the fair "
        "labels to fit(..., fair=...), which puts the probabilities right."
    )
    return Finding(sentence, float(p), rows[own], advice)


def _calibration(
    case: Case, rows: Codes, chances: Floats, masks: list[tuple[str, Codes]]
) -> tuple[Floats, Floats, list[tuple[str, float, float, Codes]]]:
    """Audited minus expected numbers of fair labels in each group, and of distorted ones; variances; and words."""
    values, noise, told = [], [], []
    for label in range(1, len(case.rows.classes)):
        for name, own in masks:
            chance, hit, weights = chances[:, label], case.fair == label, case.stands_for
            values.append(float(weights[own] @ (hit - chance)[own]))
            noise.append(float(weights[own] ** 2 @ _noise(case, rows, chances, label)[own]))
            what = f"Fair {case.rows.classes[label]} where {name}"
            told.append((what, case.average(hit, own), case.average(chance, own), own))
    if case.belief.missing_labels:
        return np.array(values), np.array(noise), told
    wrong = _distorted(case, rows, chances)
    seen = case.fair != case.recorded[rows]
    everybody = np.ones(len(rows), dtype=bool)
    values.append(float(case.stands_for @ (seen - wrong)))
    noise.append(float(case.stands_for**2 @ (wrong * (1 - wrong))))
    rates = (case.average(own, everybody) for own in (seen, wrong))
    told.append(("Recorded labels that are wrong", *rates, seen))
    return np.array(values), np.array(noise), told


def _noise(case: Case, rows: Codes, chances: Floats, label: int) -> Floats:
    """The expected square of (audited minus expected) of each row.

    Rows that were drawn by recorded label have the fair labels of people so recorded, not of all who are alike.
    """
    chance = chances[:, label]
    if case.rows.audit_weights is None:
        return np.asarray(chance * (1 - chance))
    joint = chances * case.given[rows][np.arange(len(rows)), :, case.recorded[rows]]
    after = joint[:, label] / np.maximum(joint.sum(axis=1), 1e-12)
    return np.asarray(after * (1 - chance) ** 2 + (1 - after) * chance**2)


def _distorted(case: Case, rows: Codes, chances: Floats, given: Floats | None = None) -> Floats:
    """P(recorded label is not the fair one | what was recorded) of audited rows."""
    table = case.given[rows] if given is None else given
    joint = chances * table[np.arange(len(rows)), :, case.recorded[rows]]
    right = joint[np.arange(len(rows)), case.recorded[rows]]
    return np.asarray(1 - right / np.maximum(joint.sum(axis=1), 1e-12))


def _refitted(case: Case, rows: Codes, masks: list[tuple[str, Codes]]) -> Floats:
    """How much the values vary because other rows might have been recorded, and parameters are uncertain."""
    learner, rng = case.learners["linear"], case.rng(5)
    audited = case.rows.take(rows)
    observation = case.belief.observe(case.table)
    seen = case.belief.restore(audited.without_record())
    tasks = [
        Task(observation, case.seed, weights=torch.from_numpy(rng.poisson(1, case.size).astype(np.float64) + 1e-6))
        for _ in range(REDRAWN)
    ]
    first = learner.fit_many([Task(observation, case.seed)], progress=False)[0]
    fits = fit_again(learner, first, tasks, progress=False)

    own = [
        _totals(case, rows, seen.fair_proba(fit.log_proba(seen.table)).numpy(), case.given[rows], masks) for fit in fits
    ]
    base = _totals(case, rows, seen.fair_proba(first.log_proba(seen.table)).numpy(), case.given[rows], masks)
    variance = np.var(np.stack(own), axis=0, ddof=1)
    for place, (other, step, _) in case.moved.items():
        fitted = fit_again(learner, first, [Task(other.observe(case.table), case.seed)], progress=False)[0]
        seen_other = other.restore(audited.without_record())
        chances = seen_other.fair_proba(fitted.log_proba(seen_other.table)).numpy()
        given = case.given[rows] + step * case.slopes[place][rows]
        variance += ((_totals(case, rows, chances, given, masks) - base) / step * case.spread[place]) ** 2
    return np.asarray(variance)


def _totals(case: Case, rows: Codes, chances: Floats, given: Floats, masks: list[tuple[str, Codes]]) -> Floats:
    """Expected numbers of fair labels in each group, and of distorted ones."""
    weights = case.stands_for
    fair = [weights[own] @ chances[own, label] for label in range(1, len(case.rows.classes)) for _, own in masks]
    wrong = [] if case.belief.missing_labels else [weights @ _distorted(case, rows, chances, given)]
    return np.array([*fair, *wrong])
