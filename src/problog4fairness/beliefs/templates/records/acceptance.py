"""Whether acceptance follows the fair label or the columns on record, by the likelihood of the record.

By the fair label, as whoever decides with private knowledge does:

    P(accepted | fair = f, x, A) = s_f,A

By the columns, as a score does: among people alike in them, acceptance says nothing of the label,

    P(accepted | fair = f, x, A) = logistic(x, A)

The two explain different records. Under the second the likelihood of the fair label is that of the accepted people
alone, which s_1,A = s_0,A says in the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_expit

from problog4fairness.audit import warn_audit
from problog4fairness.data import Floats, Rows
from problog4fairness.statistics import Parameter, interval

if TYPE_CHECKING:
    from problog4fairness.audit import Learned
    from problog4fairness.beliefs.templates.records.selection import Selection

Acceptance: TypeAlias = Literal["auto", "label", "features"]
ACCEPTANCE = ("auto", "label", "features")
SOURCE = "acceptance follows the features; people alike in them are accepted whatever their label"
# Standard deviation of the weights of standardised columns beforehand; four times that for the constant.
DEVIATION = 5.0


def by_features(
    belief: Selection,
    rows: Rows,
    matrix: Floats,
    features: Sequence[str],
    learned: Learned | None,
    confidence: float,
) -> tuple[Parameter, ...] | None:
    """The parameters where acceptance follows the features; None where it rather follows the fair label.

    The two are compared by BIC.

    Parameters
    ----------
    belief
        Its parameters are P(accepted | fair, stratum).
    rows
        With a recorded label of those who were accepted.
    matrix, features
        Of the linear model of the fair label.
    learned
        What was learned if acceptance follows the label; None where somebody states that it does not.
    confidence
        Of the intervals.
    """
    recorded = np.asarray(rows.recorded)
    accepted = (recorded >= 0).astype(np.float64)
    fair = np.where(recorded >= 0, recorded, -1 if rows.fair is None else rows.fair)
    count, strata = belief.strata(rows)
    shares: Floats = np.asarray(strata if strata.ndim == 2 else np.eye(count)[strata.astype(np.int64)], dtype=float)
    by_columns = np.concatenate([matrix[:, 1:], shares], axis=1)
    if learned is not None:
        known = fair >= 0
        loss = _loss(by_columns, accepted) + _loss(matrix[known], fair[known].astype(np.float64))
        ours = 2 * loss + (by_columns.shape[1] + matrix.shape[1]) * np.log(len(rows))
        others = 2 * learned.loss + (matrix.shape[1] + len(belief.parameters)) * np.log(len(rows))
        if ours >= others:
            return None
        warn_audit(
            f"who was accepted follows {', '.join(features)} rather than the fair label (BIC {ours:.0f} against "
            f"{others:.0f}): people alike in these are taken as accepted whatever their label; say "
            "acceptance='label' where whoever decided knew more"
        )
    return tuple(_accepted(own, accepted, shares, confidence) for own in belief.parameters)


def _accepted(own: Parameter, accepted: Floats, shares: Floats, confidence: float) -> Parameter:
    """The share of a stratum that was accepted, whatever the label."""
    weights = shares[:, 0 if own.cell is None else own.cell.group]
    rows = float(weights.sum())
    value = float(weights @ accepted) / rows
    low, high = interval(value, rows, confidence)
    return replace(own, value=value, low=low, high=high, rows=round(rows), source=SOURCE)


def _loss(matrix: Floats, hit: Floats) -> float:
    """Minus the log-likelihood of a logistic model, penalised as the one of the fair label is."""
    scale = np.full(matrix.shape[1], DEVIATION)
    constant = np.ptp(matrix, axis=0) == 0
    scale[constant] *= 4
    sign = 2 * hit - 1

    def slope(weights: Floats) -> tuple[float, Floats]:
        margins = sign * (matrix @ weights)
        loss = 0.5 * float(((weights / scale) ** 2).sum()) - float(log_expit(margins).sum())
        return loss, weights / scale**2 - matrix.T @ (sign * np.exp(log_expit(-margins)))

    return float(minimize(slope, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B").fun)
