"""The likelihood of a record by parameters and a linear model of the fair label, both found at once.

    P(record_i) = sum over fair classes f of h_f(x_i) P(record_i | f, groups_i)

The posterior is a normal one around its mode, on the scale of logits, so that intervals stay between 0 and 1; or the
likelihood itself is followed (:mod:`problog4fairness.statistics.profile_likelihood`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import expit
from torch import Tensor
from torch.nn.functional import logsigmoid

from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.statistics import profiled

# log P(record | fair class), [rows, classes], as a function of the parameters.
Terms = Callable[[Tensor], Tensor]

# A priori each parameter is Beta(1.5, 1.5), and each weight of a standardised column normal with this deviation.
PRIOR, DEVIATION = 1.5, 5.0
# For slopes of slopes; and a curvature that counts as none.
STEP, LEAST_CURVATURE = 1e-4, 1e-6


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned.

    Attributes
    ----------
    values
        ``[parameters]``.
    low, high
        Ends of their intervals.
    information
        ``[parameters, parameters]``: how sure they are together, as wide as the intervals are.
    loss
        Minus the log-likelihood at these values, with the penalty of the weights.
    """

    values: Floats
    low: Floats
    high: Floats
    information: Floats
    loss: float


def learn(
    terms: Terms, rows: Rows, matrix: Floats, start: Sequence[float], confidence: float, mirrored: bool = False
) -> Learned:
    """The likeliest weights and parameters, with intervals.

    Parameters
    ----------
    terms
        log P(record | fair class) as a function of the parameters.
    rows, matrix
        Rows, whose known fair labels are used, and ``[rows, columns]`` of the linear model, the constant first.
    start
        A value of each parameter to begin with; of two explanations that mirror each other, the nearer one is found.
    confidence
        Of the intervals.
    mirrored
        Whether all is as likely with fair 0 and 1 exchanged, so that an interval is that of the curvature at the mode;
        otherwise it is that of the likelihood, which may have two tops.
    """
    if len(rows.classes) != 2:
        raise P4FError("parameters are learned from the record for labels of two classes; audit some rows instead")
    record, width = _Record(terms, rows, matrix), matrix.shape[1]
    best = _likeliest(record, width, start)
    covariance = _covariance(lambda point: record.slope(point)[1], best)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    logits, block = best[width:], covariance[width:, width:]
    deviations = np.sqrt(np.diag(block))
    low, high = expit(logits - z * deviations), expit(logits + z * deviations)
    if not mirrored:
        places = range(width, len(best))
        low, high = expit(np.array(profiled(record.likely, best, covariance, places, z)).T)
    # What is less than a row cannot be told from never.
    low, high = np.where(low * len(rows) < 1, 0.0, low), np.where((1 - high) * len(rows) < 1, 1.0, high)
    spread = np.maximum(high - low, 1e-9) / (2 * z)
    scaled = block / np.outer(deviations, deviations) * np.outer(spread, spread)
    return Learned(expit(logits), low, high, np.linalg.pinv(scaled, hermitian=True), record.likely(best)[0])


def least_loss(terms: Terms, rows: Rows, matrix: Floats, start: Sequence[float]) -> float:
    """Minus the log-likelihood at the likeliest point, as :func:`learn` finds it, without intervals."""
    record = _Record(terms, rows, matrix)
    return record.likely(_likeliest(record, matrix.shape[1], start))[0]


def _likeliest(record: _Record, width: int, start: Sequence[float]) -> Floats:
    first = np.concatenate([np.zeros(width), np.log(np.divide(start, np.subtract(1, start)))])
    options = {"maxiter": 2000, "ftol": 1e-12, "gtol": 1e-6}
    return np.asarray(minimize(record.slope, first, jac=True, method="L-BFGS-B", options=options).x)


class _Record:
    """The loss of a point: weights of the linear model, then parameters as logits."""

    def __init__(self, terms: Terms, rows: Rows, matrix: Floats) -> None:
        self._terms, self._x, self._width = terms, torch.from_numpy(matrix), matrix.shape[1]
        # The constant may be far from 0 where one class is rare.
        self._scale = torch.full((self._width,), DEVIATION, dtype=torch.float64)
        self._scale[0] *= 4
        self._ruled = None
        if rows.fair is not None:
            fair = torch.from_numpy(rows.fair).unsqueeze(1)
            self._ruled = (fair >= 0) & (fair != torch.arange(2))

    def slope(self, point: Floats) -> tuple[float, Floats]:
        """The loss with the priors of weights and parameters, and its slopes."""
        return self._sloped(point, PRIOR - 1)

    def likely(self, point: Floats) -> tuple[float, Floats]:
        """The same without the priors of the parameters."""
        return self._sloped(point, 0.0)

    def _sloped(self, point: Floats, prior: float) -> tuple[float, Floats]:
        at = torch.from_numpy(point.copy()).requires_grad_()
        weights, logits = at[: self._width], at[self._width :]
        z = self._x @ weights
        joint = torch.stack([logsigmoid(-z), logsigmoid(z)], dim=1) + self._terms(logits.sigmoid())
        joint = joint if self._ruled is None else joint.masked_fill(self._ruled, -1e30)
        value = 0.5 * ((weights / self._scale) ** 2).sum() - joint.logsumexp(1).sum()
        value = value - prior * (logsigmoid(logits) + logsigmoid(-logits)).sum()
        (gradient,) = torch.autograd.grad(value, at)
        return float(value.detach()), gradient.numpy()


def _covariance(gradient: Callable[[Floats], Floats], best: Floats) -> Floats:
    """The covariance from the curvature; large in directions in which there is none."""
    steps = STEP * np.eye(len(best))
    curvature = np.stack([(gradient(best + step) - gradient(best - step)) / (2 * STEP) for step in steps])
    sizes, directions = np.linalg.eigh((curvature + curvature.T) / 2)
    return np.asarray(directions / np.maximum(sizes, LEAST_CURVATURE) @ directions.T)
