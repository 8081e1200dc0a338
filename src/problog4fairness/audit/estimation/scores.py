"""A small model of who is distorted: a penalised logistic regression, cut into bands, where the audit supports it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import expit
from scipy.stats import chi2

from problog4fairness.audit.reading import warn_audit
from problog4fairness.data import Floats, Score

# The chance at which an audit that shows nothing is taken to show something.
LEVEL = 0.05
# Slopes of columns with deviation 1 have a normal prior with deviation 1.
PENALTY = 1.0
# Bands of a score, and audited rows that one needs.
MOST_BANDS, LEAST_BAND = 5, 40
# Newton steps; far fewer are needed.
STEPS = 50


def fitted_score(columns: Mapping[str, Floats], hit: Floats, groups: Floats, weights: Floats | None) -> Score | None:
    """The score of the rows that were distorted against those that were not; None where the audit shows none.

    A likelihood ratio test against one probability for each group decides, at 5%.

    Parameters
    ----------
    columns
        For each name the numbers of the audited rows, NaN where one is missing.
    hit
        ``[rows]``: 1 where the label was distorted.
    groups
        ``[rows, groups]``.
    weights
        How much each row counts; 1 where there are none.
    """
    weight = np.ones(len(hit)) if weights is None else weights
    names = [name for name, values in columns.items() if np.nanstd(values) > 0]
    bands = int(min(MOST_BANDS, weight.sum() // LEAST_BAND))
    listed = ", ".join(columns)
    if not names or bands < 2 or not 0 < (weight * hit).sum() < weight.sum():
        warn_audit(f"too few audited rows tell whether the bias depends on {listed}; that is left out")
        return None
    raw = np.column_stack([columns[name] for name in names])
    middles, scales = np.nanmean(raw, axis=0), np.nanstd(raw, axis=0)
    x = np.nan_to_num((raw - middles) / scales)
    occurring = groups[:, groups.sum(axis=0) > 0]
    none = regression(occurring, hit, weight, np.zeros(occurring.shape[1]))
    free, penalty = np.column_stack([occurring, x]), np.r_[np.zeros(occurring.shape[1]), np.full(len(names), 1e-6)]
    gain = likelihood(free, hit, weight, regression(free, hit, weight, penalty))
    p = float(chi2.sf(2 * (gain - likelihood(occurring, hit, weight, none)), len(names)))
    if p > LEVEL:
        warn_audit(f"the audit does not show that the bias depends on {listed} (p = {p:.2f}); that is left out")
        return None
    penalty[occurring.shape[1] :] = PENALTY
    slopes = regression(free, hit, weight, penalty)[occurring.shape[1] :] / scales
    # The score of one column is that column, whatever its slope.
    slopes = np.ones(1) if len(names) == 1 else slopes / np.abs(slopes * scales).max()
    score = np.where(np.isnan(raw), middles, raw) @ slopes
    cuts = np.unique(np.quantile(score, np.arange(1, bands) / bands))
    cuts = cuts[cuts > score.min()]
    if not len(cuts):
        return None
    plain = (tuple(map(float, values)) for values in (slopes, middles, cuts))
    return Score(tuple(names), tuple(range(1, len(cuts) + 2)), "score", False, *plain)


def regression(x: Floats, hit: Floats, weight: Floats, penalty: Floats) -> Floats:
    """The coefficients of a logistic regression, each with its penalty, by Newton's method."""
    coefficients = np.zeros(x.shape[1])
    for _ in range(STEPS):
        chance = expit(x @ coefficients)
        slope = x.T @ (weight * (hit - chance)) - penalty * coefficients
        # A tiny ridge keeps groups in which nobody, or everybody, was distorted from running away.
        curve = (x.T * (weight * chance * (1 - chance))) @ x + np.diag(penalty + 1e-3)
        step = np.linalg.solve(curve, slope)
        coefficients = coefficients + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return coefficients


def likelihood(x: Floats, hit: Floats, weight: Floats, coefficients: Floats) -> float:
    """The log-likelihood of a logistic regression."""
    z = x @ coefficients
    return float((weight * (hit * z - np.logaddexp(0, z))).sum())
