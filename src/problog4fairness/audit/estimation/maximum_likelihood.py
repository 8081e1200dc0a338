"""Penalised maximum likelihood through a program's own circuit, for parameters that cannot be counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from problog4fairness.audit.estimation.counting import label_codes_of
from problog4fairness.audit.estimation.diagnostics import SHRUNK
from problog4fairness.audit.reading import warn_audit
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.program import Program
from problog4fairness.statistics import Beta, Estimate, Parameter, interval

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief
    from problog4fairness.program import Leaf

# How near to 0 and 1 the search goes, and how far slopes look to either side.
MARGIN = 1e-6
STEP = 1e-4
# Log-likelihood that a whole unit of bias costs: enough to decide between equals, far less than a row.
LEAST = 1.0
SOURCE = f"likelihood penalised by {LEAST:g} per unit"
# Directions with less than this part of the largest information are those that no row tells about.
ALIKE = 1e-8
# Distinct kinds of audited rows that a circuit is evaluated for at once.
MOST_KINDS = 1 << 16


class LabelModel:
    """P(recorded | fair, groups) of every kind of row, ``[cells, recorded]``, as a function of the parameters.

    Parameters
    ----------
    belief
        Whose program it is.
    read
        What rows know of a network of the program other than the classifier.
    program
        The program, with the probabilities as named parameters.
    parameters
        What is to be estimated.
    rows
        With what the networks read.
    fair
        ``[rows, ...]``: one fair class of each row, or several that it may have.

    Attributes
    ----------
    cells
        ``[rows, ...]``: which kind each row is of, with each of these fair classes.
    size
        How many kinds there are.
    """

    def __init__(
        self,
        belief: Belief,
        read: Callable[[Leaf, Rows], Tensor],
        program: Program,
        parameters: Sequence[Parameter],
        rows: Rows,
        fair: Codes,
    ) -> None:
        self._circuit, classes = program.compile(), len(rows.classes)
        self._names = [parameter.name for parameter in parameters]
        networks = [leaf for leaf in self._circuit.leaves if leaf.kind == "network"]
        if any(leaf.name == belief.record.classifier and leaf.arguments != ("x",) for leaf in networks):
            raise P4FError("only beliefs that ask the classifier about the row x itself can be estimated from labels")
        known = [leaf for leaf in networks if leaf.name != belief.record.classifier]
        values = [read(leaf, rows).reshape(len(rows), -1) for leaf in known]
        columns = np.column_stack([*values, np.zeros((len(rows), 0))]).repeat(fair.size // len(rows), axis=0)
        kinds, places = np.unique(np.column_stack([columns, fair.reshape(-1)]), axis=0, return_inverse=True)
        self.cells, self.size = places.reshape(fair.shape), len(kinds)
        *inputs, h = torch.from_numpy(kinds).split([*(value.shape[1] for value in values), 1], dim=1)
        self._nn = {
            belief.record.classifier: h.reshape(-1) if classes == 2 else torch.eye(classes).double()[h[:, 0].long()]
        }
        self._nn |= {str(leaf): x if leaf.outcomes else x.reshape(-1) for leaf, x in zip(known, inputs, strict=True)}

    def table(self, values: Tensor) -> Tensor:
        """The probability of each recorded label in each cell."""
        parameters = dict(zip(self._names, values, strict=True))
        answer = self._circuit.probability(nn=self._nn, parameters=parameters)
        return torch.cat([1 - answer, answer], dim=-1) if answer.shape[-1] == 1 else answer

    def slopes(self, values: Tensor) -> Tensor:
        """``[probabilities, cells, recorded]``: how the table moves with each of them."""
        slopes = []
        for i in range(len(values)):
            low, high = values.clone(), values.clone()
            low[i], high[i] = (values[i] - STEP).clamp(min=0), (values[i] + STEP).clamp(max=1)
            slopes.append((self.table(high) - self.table(low)) / (high[i] - low[i]))
        return torch.stack(slopes)

    def information(self, values: Tensor, seen: Tensor) -> Tensor:
        """The Fisher information ``[probabilities, probabilities]`` of the audited rows."""
        slopes, rows = self.slopes(values), seen.sum(-1, keepdim=True)
        return torch.einsum("icr,jcr->ij", slopes * rows / self.table(values).clamp(min=MARGIN), slopes)

    def deviations(self, information: Tensor) -> Tensor:
        """Standard deviations of the probabilities, from their information.

        Infinite for those that no number of rows could tell apart: in a chain, one stage can do another's work, and
        only their combined effect is known.
        """
        sizes, directions = torch.linalg.eigh(information)
        known = sizes > ALIKE * sizes.max()
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


def most_likely(
    belief: Belief,
    read: Callable[[Leaf, Rows], Tensor],
    program: Program,
    parameters: Sequence[Parameter],
    rows: Rows,
    confidence: float,
    starts: Sequence[float | None] | None = None,
) -> tuple[Parameter, ...]:
    """The parameters that make the audited labels most likely, all at once, through a program.

    Parameters
    ----------
    belief, read
        As for :class:`LabelModel`.
    program
        In which the parameters are open.
    parameters
        What is to be estimated.
    rows
        With recorded and fair labels.
    confidence
        Of the intervals.
    starts
        Where the search begins.
    """
    parameters = [_by_mode(parameter) for parameter in parameters]
    recorded, fair, outcomes = label_codes_of(belief, rows)
    model = LabelModel(belief, read, program, parameters, rows, fair)
    if model.size > MOST_KINDS:
        raise P4FError(
            f"the audit has {model.size:,} different kinds of rows, more than {MOST_KINDS:,}; believe in fewer groups"
        )
    counts = np.zeros((model.size, outcomes))
    np.add.at(counts, (model.cells, recorded), 1 if rows.weights is None else rows.weights)
    return _maximise(model, parameters, torch.from_numpy(counts), starts or [0.1] * len(parameters), confidence)


def _by_mode(parameter: Parameter) -> Parameter:
    """A parameter that was shrunk, with the prior under which its likeliest value is what was its mean."""
    if parameter.source != SHRUNK or parameter.prior is None:
        return parameter
    return replace(parameter, prior=Beta(parameter.prior.a + 1, parameter.prior.b + 1))


def _maximise(
    model: LabelModel,
    parameters: Sequence[Parameter],
    counts: Tensor,
    starts: Sequence[float | None],
    confidence: float,
) -> tuple[Parameter, ...]:
    """The most likely values with intervals, from audited rows ``counts [cells, recorded]``.

    The log-likelihood is penalised by ``LEAST`` times the sum of all parameters, which each of them names as its
    source; where one has a prior, the logarithm of that stands in for its penalty.
    """
    # Without a prior, among explanations that are equally likely, the one with the least bias is the cheapest.
    priors = [parameter.prior for parameter in parameters]
    unit = torch.tensor([LEAST if prior is None else 0.0 for prior in priors], dtype=torch.float64)
    shapes = [(1.0, 1.0) if prior is None else (prior.a, prior.b) for prior in priors]
    a, b = torch.tensor(shapes, dtype=torch.float64).reshape(-1, 2).unbind(1)
    # What priors add to the information: that of the rows that they are worth.
    known_before = torch.diag(torch.tensor([0.0 if p is None else p.information for p in priors], dtype=torch.float64))

    def slope(point: Floats) -> tuple[float, Floats]:
        values = torch.tensor(point, dtype=torch.float64, requires_grad=True)
        cost = unit * values - (a - 1) * values.log() - (b - 1) * torch.log1p(-values)
        loss = cost.sum() - torch.xlogy(counts, model.table(values).clamp(min=1e-300)).sum()
        (gradient,) = torch.autograd.grad(loss, values)
        return float(loss.detach()), gradient.numpy()

    first = np.clip([0.1 if start is None else start for start in starts], 0.01, 0.99)
    bounds = [(MARGIN, 1 - MARGIN)] * len(parameters)
    best = minimize(slope, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-8}).x
    values = torch.tensor(best)
    rows_of = model.rows(values, counts)
    deviations = model.deviations(model.information(values, counts) + known_before).tolist()
    # At 0 and 1 the information has no limit: posterior draws start half a row inside.
    total = torch.tensor(rows_of, dtype=torch.float64)
    inside = (values * total + 0.5) / (total + 1)
    information = (model.information(inside, counts) + known_before).tolist()
    names = [parameter.name for parameter in parameters]
    estimated = []
    for parameter, value, rows, deviation, row in zip(
        parameters, best.tolist(), rows_of, deviations, information, strict=True
    ):
        value = 0.0 if value <= 2 * MARGIN else 1.0 if value >= 1 - 2 * MARGIN else value
        # The rows that a plain proportion would need to be known as well as this parameter is.
        effective = most = rows if parameter.prior is None else rows + parameter.prior.a + parameter.prior.b
        if math.isinf(deviation):
            effective = 0.0
        elif deviation > 0 and 0 < value < 1:
            effective = min(most, value * (1 - value) / deviation**2)
        estimate = Estimate(value, *interval(value, effective, confidence), round(rows))
        source = SOURCE if parameter.prior is None else f"likelihood with the prior {parameter.prior}"
        known = tuple(zip(names, row, strict=True))
        estimated.append(replace(parameter.estimated(estimate, source), information=known))
    apart = [name for name, deviation in zip(names, deviations, strict=True) if math.isinf(deviation)]
    if apart:
        warn_audit(f"no audit can tell {', '.join(apart)} apart; only their combined effect on the label is known")
    return tuple(estimated)
