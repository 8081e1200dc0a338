"""Penalised maximum likelihood through a program's own circuit, for parameters that cannot be counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from problog4fairness.beliefs.audit import tell
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.beliefs.proportions import Estimate, interval
from problog4fairness.program.program import Program
from problog4fairness.rows.types import Floats

# How near to 0 and 1 the search goes, and how far slopes look to either side.
MARGIN = 1e-6
STEP = 1e-4
# Log-likelihood that a whole unit of bias costs: enough to decide between equals, far less than a row.
LEAST = 1.0
SOURCE = f"likelihood penalised by {LEAST:g} per unit"


class LabelModel:
    """P(recorded | fair, groups) of every kind of audited row, ``[cells, recorded]``, as a function of the parameters.

    Parameters
    ----------
    program
        With the probabilities as named parameters.
    nn
        What its networks say for each cell, the fair label as the classifier's output among them.
    probabilities
        What is to be estimated.
    """

    def __init__(self, program: Program, nn: Mapping[str, Tensor], probabilities: Sequence[Parameter]) -> None:
        self._circuit = program.compile()
        self._names = [parameter.name for parameter in probabilities]
        self._nn = dict(nn)

    def table(self, values: Tensor) -> Tensor:
        """The probability of each recorded label in each cell."""
        parameters = dict(zip(self._names, values, strict=True))
        answer = self._circuit.probability(nn=self._nn, parameters=parameters)
        return torch.cat([1 - answer, answer], dim=-1) if answer.shape[-1] == 1 else answer

    def deviations(self, values: Tensor, seen: Tensor) -> Tensor:
        """Standard deviations of the probabilities, from the Fisher information of the audited rows.

        Infinite for those that no number of rows could tell apart: in a chain, one stage can do another's work, and
        only their combined effect is known.
        """
        table = self.table(values).clamp(min=MARGIN)
        slopes = []
        for i in range(len(values)):
            low, high = values.clone(), values.clone()
            low[i], high[i] = (values[i] - STEP).clamp(min=0), (values[i] + STEP).clamp(max=1)
            slopes.append((self.table(high) - self.table(low)) / (high[i] - low[i]))
        jacobian = torch.stack(slopes)
        rows = seen.sum(-1, keepdim=True)
        sizes, directions = torch.linalg.eigh(torch.einsum("icr,jcr->ij", jacobian * rows / table, jacobian))
        known = sizes > 1e-8 * sizes.max()
        variances = (directions[:, known] ** 2 / sizes[known]).sum(-1)
        lost = (directions[:, ~known] ** 2).sum(-1) > 1e-6
        return torch.where(lost, torch.inf, variances.sqrt())

    def rows(self, values: Tensor, seen: Tensor) -> list[float]:
        """For each parameter the audited rows in cells whose probabilities it changes."""
        table = self.table(values)
        rows = []
        for i in range(len(values)):
            moved = values.clone()
            moved[i] = 0.25 if moved[i] > 0.5 else 0.75
            changes = (self.table(moved) - table).abs().amax(-1) > 1e-9
            rows.append(float(seen[changes].sum()))
        return rows


def maximise(
    model: LabelModel,
    probabilities: Sequence[Parameter],
    seen: Tensor,
    starts: Sequence[float | None],
    confidence: float,
) -> tuple[Parameter, ...]:
    """The probabilities that make the audited labels most likely, through the program's own circuit.

    The log-likelihood is penalised by ``LEAST`` times the sum of all probabilities, which each of them says as its
    source.

    Parameters
    ----------
    model
        The probability of recorded labels.
    probabilities
        What is to be estimated.
    seen
        ``[cells, recorded]``: how many audited rows there are of each kind.
    starts
        Where the search begins.
    confidence
        Of the intervals.
    """

    def slope(point: Floats) -> tuple[float, Floats]:
        values = torch.tensor(point, dtype=torch.float64, requires_grad=True)
        total = torch.xlogy(seen, model.table(values).clamp(min=1e-300)).sum()
        (gradient,) = torch.autograd.grad(total, values)
        # Among explanations that are equally likely, the one with the least bias.
        return LEAST * float(point.sum()) - float(total.detach()), LEAST - gradient.numpy()

    first = np.clip([0.1 if start is None else start for start in starts], 0.01, 0.99)
    bounds = [(MARGIN, 1 - MARGIN)] * len(probabilities)
    best = minimize(slope, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-8}).x
    found = torch.tensor(best)
    deviations = model.deviations(found, seen).tolist()
    estimated = []
    for parameter, value, deviation, rows in zip(probabilities, best, deviations, model.rows(found, seen), strict=True):
        value = 0.0 if value <= 2 * MARGIN else 1.0 if value >= 1 - 2 * MARGIN else float(value)
        # The rows that a plain proportion would need to be known as well as this parameter is.
        effective = rows
        if math.isinf(deviation):
            effective = 0.0
        elif deviation > 0 and 0 < value < 1:
            effective = min(rows, value * (1 - value) / deviation**2)
        estimate = Estimate(value, *interval(value, effective, confidence), round(rows))
        estimated.append(parameter.estimated(estimate, SOURCE))
    apart = [
        parameter.name for parameter, deviation in zip(probabilities, deviations, strict=True) if math.isinf(deviation)
    ]
    if apart:
        tell(f"no audit can tell {', '.join(apart)} apart; only their combined effect on the label is known")
    return tuple(estimated)
