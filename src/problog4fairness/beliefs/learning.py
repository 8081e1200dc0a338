"""Parameters that are learned from the record, together with a linear model of the fair label.

    P(record_i) = sum over fair classes f of h_f(x_i) P(record_i | f, groups_i)

Both parts are found at once: the weights of h, and the parameters, which the belief's own circuit takes. The posterior
is a normal one around its mode, on the scale of logits, so that intervals stay between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import logsigmoid

from problog4fairness.beliefs.audit import read_audit, tell
from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.maximum import LabelModel
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.errors import P4FError
from problog4fairness.rows.counted import one_by_one
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.types import Floats

if TYPE_CHECKING:
    import pandas as pd

B = TypeVar("B", bound=Belief)
# log P(record | fair class), [rows, classes], as a function of the parameters.
Terms = Callable[[Tensor], Tensor]

# A priori each parameter is Beta(1.5, 1.5), and each weight of a standardised column normal with this deviation.
PRIOR, DEVIATION = 1.5, 5.0
SOURCE = "learned from the record with a linear model of the fair label"
# A parameter that is not known better than this is told of.
WIDE = 0.5
MOST_FEATURES = 200
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
    log_fair
        ``[rows, classes]``: log P(fair class) by the linear model, before the record is looked at.
    """

    values: Floats
    low: Floats
    high: Floats
    log_fair: Tensor


def learned_from(
    belief: B,
    table: Any,
    recorded: Any,
    fair: Any,
    sensitive_features: Any,
    favourable: Any,
    features: Sequence[str],
    confidence: float,
    independent: bool,
) -> B:
    """The belief with parameters learned from a table; the arguments are those of :meth:`Selection.estimate`."""
    rows = read_audit(belief, one_by_one(table), recorded, fair, sensitive_features, favourable, partly=True)
    matrix = design(belief, rows, features, independent)
    found = learn(record_terms(belief, rows), rows, matrix, [0.5] * len(belief.probabilities), confidence)
    return belief.with_probabilities(with_learned(belief.probabilities, found, len(rows)))


def with_learned(parameters: Sequence[Parameter], found: Learned, rows: int) -> tuple[Parameter, ...]:
    """The parameters with what was learned of them; warns of those that the record hardly tells."""
    values = zip(found.values.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    learned = tuple(
        replace(own, value=value, low=low, high=high, rows=rows, source=SOURCE)
        for own, (value, low, high) in zip(parameters, values, strict=True)
    )
    for own in learned:
        if (own.high or 1) - (own.low or 0) > WIDE:
            tell(
                f"the record hardly tells {own.name} ({own.meaning}): between {own.low:.2f} and {own.high:.2f}; "
                "audit some rows, or state it"
            )
    return learned


def record_terms(belief: Belief, rows: Rows) -> Terms:
    """log P(record | fair class) of each row by the belief's program, in which all parameters are open."""
    record, classes = belief.record(rows), len(rows.classes)
    if record.codes is None:
        raise P4FError("parameters are learned from rows that have a record")
    program = belief.unknown().program()
    known = [leaf for leaf in program.compile().leaves if leaf.kind == "network" and leaf.name != belief.classifier]
    values = [belief.leaf_value(leaf, rows).reshape(len(rows), -1) for leaf in known]
    columns = np.column_stack([*values, np.zeros(len(rows))])
    kinds, place = np.unique(columns, axis=0, return_inverse=True)
    cells = torch.from_numpy(kinds).repeat_interleave(classes, 0).split([v.shape[1] for v in values] + [1], dim=1)
    h = torch.arange(classes).repeat(len(kinds))
    nn = {belief.classifier: h.double() if classes == 2 else torch.eye(classes).double()[h]}
    nn |= {str(leaf): cell if leaf.outcomes else cell.reshape(-1) for leaf, cell in zip(known, cells, strict=False)}
    model = LabelModel(program, nn, belief.probabilities)
    which, codes = torch.from_numpy(place.reshape(-1)), torch.from_numpy(record.codes)

    def terms(parameters: Tensor) -> Tensor:
        table = model.table(parameters).clamp_min(1e-300).log().reshape(len(kinds), classes, -1)
        return table[which, :, codes]

    return terms


def learn(terms: Terms, rows: Rows, matrix: Floats, start: Sequence[float], confidence: float) -> Learned:
    """The likeliest weights and parameters, with intervals from the curvature there.

    Parameters
    ----------
    terms
        log P(record | fair class) as a function of the parameters.
    rows
        Known fair labels among them are used.
    matrix
        ``[rows, columns]`` of the linear model, the constant first.
    start
        A value of each parameter to begin with; of two explanations that mirror each other, the nearer one is found.
    confidence
        Of the intervals.
    """
    if len(rows.classes) != 2:
        raise P4FError("parameters are learned from the record for labels of two classes; audit some rows instead")
    x = torch.from_numpy(matrix)
    width = x.shape[1]
    # The constant may be far from 0 where one class is rare.
    scale = torch.full((width,), DEVIATION, dtype=torch.float64).index_fill_(0, torch.tensor([0]), 4 * DEVIATION)
    ruled = None
    if rows.fair is not None:
        fair = torch.from_numpy(rows.fair).unsqueeze(1)
        ruled = (fair >= 0) & (fair != torch.arange(2))

    def split(point: Tensor) -> tuple[Tensor, Tensor]:
        z = x @ point[:width]
        return torch.stack([logsigmoid(-z), logsigmoid(z)], dim=1), point[width:]

    def loss(point: Tensor) -> Tensor:
        log_fair, logits = split(point)
        joint = log_fair + terms(logits.sigmoid())
        joint = joint if ruled is None else joint.masked_fill(ruled, -1e30)
        prior = (PRIOR - 1) * (logsigmoid(logits) + logsigmoid(-logits)).sum()
        return 0.5 * ((point[:width] / scale) ** 2).sum() - joint.logsumexp(1).sum() - prior

    def slope(point: Floats) -> tuple[float, Floats]:
        at = torch.from_numpy(point.copy()).requires_grad_()
        value = loss(at)
        (gradient,) = torch.autograd.grad(value, at)
        return float(value.detach()), gradient.numpy()

    first = np.concatenate([np.zeros(width), np.log(np.divide(start, np.subtract(1, start)))])
    options = {"maxiter": 2000, "ftol": 1e-12, "gtol": 1e-6}
    best = minimize(slope, first, jac=True, method="L-BFGS-B", options=options).x
    deviations = _deviations(lambda point: slope(point)[1], best)[width:]
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    log_fair, logits = split(torch.from_numpy(best))
    ends = (logits - z * deviations, logits, logits + z * deviations)
    low, value, high = (end.sigmoid().numpy() for end in ends)
    # What is less than a row cannot be told from never.
    low, high = np.where(low * len(rows) < 1, 0.0, low), np.where((1 - high) * len(rows) < 1, 1.0, high)
    return Learned(value, low, high, log_fair)


def _deviations(gradient: Callable[[Floats], Floats], best: Floats) -> Tensor:
    """Standard deviations from the curvature; large in directions in which there is none."""
    steps = STEP * np.eye(len(best))
    curvature = np.stack([(gradient(best + step) - gradient(best - step)) / (2 * STEP) for step in steps])
    sizes, directions = np.linalg.eigh((curvature + curvature.T) / 2)
    return torch.from_numpy(np.sqrt((directions**2 / np.maximum(sizes, LEAST_CURVATURE)).sum(axis=1)))


def design(belief: Belief, rows: Rows, features: Sequence[str], independent: bool) -> Floats:
    """The matrix of the linear model: a constant, the features standardised, and the groups unless independent."""
    parts = [np.ones((len(rows), 1)), *(_encoded(rows.column(name, "features"), name) for name in features)]
    if not independent:
        parts += [rows.shares(variable)[:, 1:] for variable in belief.variables if variable.people]
    matrix = np.concatenate(parts, axis=1)
    if matrix.shape[1] > MOST_FEATURES:
        raise P4FError(f"features make {matrix.shape[1]} columns, more than {MOST_FEATURES}; name fewer of them")
    return matrix


def _encoded(column: pd.Series[Any], name: str) -> Floats:
    """A column as numbers: standardised, or an indicator for each value but the first."""
    import pandas as pd

    missing = int(column.isna().sum())
    if missing:
        raise P4FError(f"feature {name!r} has {missing} missing values; drop these rows, or name other features")
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=np.float64).reshape(-1, 1)
        return np.asarray((values - values.mean()) / (values.std() or 1.0))
    return np.asarray(pd.get_dummies(column, drop_first=True), dtype=np.float64)
