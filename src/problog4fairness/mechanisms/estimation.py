"""Parameters of mechanisms from audited rows: by counting where each has a cell of its own, by likelihood otherwise."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.mechanisms.audit import Codes, binary_codes, column, frame_of, value_codes
from problog4fairness.mechanisms.rates import Rate
from problog4fairness.mechanisms.sensitive import Sensitive, joint_shares, joint_values
from problog4fairness.parameters import Estimate, interval, proportion
from problog4fairness.program.program import Program

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.mechanisms.audit import Column
    from problog4fairness.mechanisms.chains import Chain
    from problog4fairness.mechanisms.label import LabelBias
    from problog4fairness.mechanisms.measurement import MeasurementBias

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
# Audited rows of each (group, fair label, recorded label).
Counts: TypeAlias = Floats

FEW_ROWS = 30
LITTLE_SIGNAL = 0.1
# How near to 0 and 1 the search goes.
MARGIN = 1e-6
# Log-likelihood that a whole unit of bias costs: enough to decide between equals, far less than a row.
LEAST = 1.0


class AuditWarning(UserWarning):
    """Something in an audit that would spoil a study."""


def estimate_labels(
    mechanism: LabelBias,
    audit: pd.DataFrame | None,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
    confidence: float,
) -> LabelBias:
    """See :meth:`LabelBias.estimate`."""
    counts = _label_counts(mechanism, mechanism.variables, audit, recorded, fair, sensitive_features, favourable)
    if mechanism.noise:
        rates = _by_likelihood(mechanism, counts, confidence)
    else:
        rates = tuple(
            rate.estimated(_proportion(counts[group, f], r, confidence))
            for rate, (group, f, r) in ((rate, mechanism.cells()[rate.name]) for rate in mechanism.rates)
        )
    estimated = mechanism.with_rates(rates)
    _warn(rates)
    if not any(rate.value is None for rate in rates):
        _warn_signal(estimated.label_table(), mechanism.variable)
    return estimated


def estimate_chain(
    mechanism: Chain,
    audit: pd.DataFrame | None,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
    confidence: float,
    method: Literal["joint", "marginal"],
) -> Chain:
    """See :meth:`Chain.estimate`."""
    if method not in ("joint", "marginal"):
        raise P4FError(f"method must be 'joint' or 'marginal', not {method!r}")
    if not mechanism.stages:
        raise P4FError("the chain has no label bias to estimate; estimate its MeasurementBias before chaining it")
    alone = []
    with warnings.catch_warnings():
        if method == "joint":
            warnings.simplefilter("ignore", AuditWarning)
        alone += [
            estimate_labels(stage, audit, recorded, fair, sensitive_features, favourable, confidence)
            for stage in mechanism.stages
        ]
    measured = mechanism.measurement.rates if mechanism.measurement else ()
    marginal = mechanism.with_rates((*measured, *(rate for stage in alone for rate in stage.rates)))
    if method == "marginal":
        return marginal
    variables = mechanism.label_variables
    counts = _label_counts(mechanism.stages[0], variables, audit, recorded, fair, sensitive_features, favourable)
    labels = tuple(rate for stage in mechanism.stages for rate in stage.rates)
    starts = [rate.value for stage in alone for rate in stage.rates]
    open_chain = mechanism.with_rates((*measured, *(Rate(rate.name, rate.meaning) for rate in labels)))
    rates = _maximise(open_chain.label_program(), variables, labels, counts, starts, confidence)
    _warn(rates)
    return mechanism.with_rates((*measured, *rates))


def estimate_features(
    mechanism: MeasurementBias,
    audit: pd.DataFrame | None,
    recorded: Mapping[str, Column] | Sequence[Any],
    fair: Mapping[str, Column] | Sequence[Any],
    sensitive_features: Any,
    confidence: float,
) -> MeasurementBias:
    """See :meth:`MeasurementBias.estimate`."""
    recorded, fair = (
        _by_feature(values, mechanism.features, role) for values, role in ((recorded, "recorded"), (fair, "fair"))
    )
    groups: Floats | None = None
    tables = {}
    for feature, options in mechanism.values.items():
        seen = column(audit, recorded[feature], f"recorded {feature}")
        true = column(audit, fair[feature], f"fair {feature}")
        _same_length(seen, true)
        if groups is None:
            frame = frame_of(audit, sensitive_features, mechanism.sensitive_columns, len(seen))
            groups = joint_shares(mechanism.variables, frame)
        codes = [value_codes(v, options, f"{role} {feature}") for v, role in ((seen, "recorded"), (true, "fair"))]
        tables[feature] = _cross(groups, codes[0], codes[1], len(options))
    rates = tuple(
        rate.estimated(_proportion(tables[feature][group, r], f, confidence))
        for rate, (feature, group, r, f) in ((rate, mechanism.cells()[rate.name]) for rate in mechanism.rates)
    )
    _warn(rates)
    return mechanism.with_rates(rates)


def _by_feature(values: Mapping[str, Any] | Sequence[Any], features: Sequence[str], role: str) -> dict[str, Any]:
    if isinstance(values, Mapping):
        missing = [feature for feature in features if feature not in values]
        if missing:
            raise P4FError(f"the {role} column of feature {missing[0]!r} is missing")
        return dict(values)
    values = [values] if isinstance(values, str) else list(values)
    if len(values) != len(features):
        raise P4FError(f"{role} names {len(values)} columns for {len(features)} features")
    return dict(zip(features, values, strict=True))


def _label_counts(
    stage: LabelBias,
    variables: tuple[Sensitive, ...],
    audit: pd.DataFrame | None,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
) -> Counts:
    seen, true = column(audit, recorded, "recorded"), column(audit, fair, "fair")
    _same_length(seen, true)
    if stage.classes is None:
        codes = [binary_codes(v, favourable, role) for v, role in ((seen, "recorded"), (true, "fair"))]
    else:
        codes = [value_codes(v, stage.classes, role) for v, role in ((seen, "recorded"), (true, "fair"))]
    columns = tuple(dict.fromkeys(name for variable in variables for name in variable.columns))
    groups = joint_shares(variables, frame_of(audit, sensitive_features, columns, len(seen)))
    return _cross(groups, codes[1], codes[0], stage.class_count)


def _same_length(recorded: pd.Series[Any], fair: pd.Series[Any]) -> None:
    if len(recorded) != len(fair):
        raise P4FError(
            f"there are {len(recorded)} recorded and {len(fair)} fair values; an audit has both for each row"
        )


def _cross(groups: Floats, first: Codes, second: Codes, size: int) -> Floats:
    """Counts ``[groups, first, second]``; a row of uncertain group counts for each group by its share."""
    counts = np.zeros((groups.shape[1], size, size))
    for group in range(groups.shape[1]):
        np.add.at(counts[group], (first, second), groups[:, group])
    return counts


def _proportion(cell: Floats, which: int, confidence: float) -> Estimate:
    total = float(cell.sum())
    if total == round(total) and cell[which] == round(float(cell[which])):
        return proportion(round(float(cell[which])), round(total), confidence)
    value = float(cell[which]) / total if total else math.nan
    return Estimate(value, *interval(value, total, confidence), round(total))


class _LabelModel:
    """P(recorded | fair, groups) of every cell, ``[groups x fair, recorded]``, as a function of the rates."""

    def __init__(self, program: Program, variables: tuple[Sensitive, ...], rates: Sequence[Rate], classes: int) -> None:
        self._circuit = program.compile()
        self._names = [rate.name for rate in rates]
        groups = joint_values(variables)
        fair = torch.arange(classes).repeat(next(iter(groups.values())).shape[0])
        h = fair.double() if classes == 2 else torch.eye(classes).double()[fair]
        self._nn = {"h": h} | {name: value.repeat_interleave(classes, dim=0) for name, value in groups.items()}

    def table(self, values: Tensor) -> Tensor:
        parameters = dict(zip(self._names, values, strict=True))
        answer = self._circuit.probability(nn=self._nn, parameters=parameters)
        return torch.cat([1 - answer, answer], dim=-1) if answer.shape[-1] == 1 else answer

    def deviations(self, values: Tensor, seen: Tensor) -> Tensor:
        """Standard deviations of the rates, from the Fisher information of the audited rows.

        Infinite for rates that no number of rows could tell apart: in a chain, one stage can do another's work, and
        only their combined effect is known.
        """
        table = self.table(values).clamp(min=MARGIN)
        slopes = []
        for i in range(len(values)):
            low, high = values.clone(), values.clone()
            low[i], high[i] = 0, 1
            # Every entry of the table is linear in each rate alone: this difference is its slope.
            slopes.append(self.table(high) - self.table(low))
        jacobian = torch.stack(slopes)
        rows = seen.sum(-1, keepdim=True)
        sizes, directions = torch.linalg.eigh(torch.einsum("icr,jcr->ij", jacobian * rows / table, jacobian))
        known = sizes > 1e-8 * sizes.max()
        variances = (directions[:, known] ** 2 / sizes[known]).sum(-1)
        lost = (directions[:, ~known] ** 2).sum(-1) > 1e-6
        return torch.where(lost, torch.inf, variances.sqrt())

    def rows(self, values: Tensor, seen: Tensor) -> list[float]:
        """For each rate the audited rows in cells whose probabilities it changes."""
        table = self.table(values)
        rows = []
        for i in range(len(values)):
            moved = values.clone()
            moved[i] = 0.25 if moved[i] > 0.5 else 0.75
            changes = (self.table(moved) - table).abs().amax(-1) > 1e-9
            rows.append(float(seen[changes].sum()))
        return rows


def _by_likelihood(mechanism: LabelBias, counts: Counts, confidence: float) -> tuple[Rate, ...]:
    unknown = mechanism.with_rates(tuple(Rate(rate.name, rate.meaning) for rate in mechanism.rates))
    starts = [0.1] * len(mechanism.rates)
    return _maximise(unknown.program(), mechanism.variables, mechanism.rates, counts, starts, confidence)


def _maximise(
    program: Program,
    variables: tuple[Sensitive, ...],
    rates: tuple[Rate, ...],
    counts: Counts,
    starts: Sequence[float | None],
    confidence: float,
) -> tuple[Rate, ...]:
    """The rates that make the audited labels most likely, through the program's own circuit."""
    classes = counts.shape[-1]
    model = _LabelModel(program, variables, rates, classes)
    seen = torch.tensor(counts).reshape(-1, classes)

    def slope(point: Floats) -> tuple[float, Floats]:
        values = torch.tensor(point, dtype=torch.float64, requires_grad=True)
        total = torch.xlogy(seen, model.table(values).clamp(min=1e-300)).sum()
        (gradient,) = torch.autograd.grad(total, values)
        # Among explanations that are equally likely, the one with the least bias.
        return LEAST * float(point.sum()) - float(total.detach()), LEAST - gradient.numpy()

    first = np.clip([0.1 if start is None else start for start in starts], 0.01, 0.99)
    bounds = [(MARGIN, 1 - MARGIN)] * len(rates)
    best = minimize(slope, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-8}).x
    found = torch.tensor(best)
    deviations = model.deviations(found, seen).tolist()
    estimated = []
    for rate, value, deviation, rows in zip(rates, best, deviations, model.rows(found, seen), strict=True):
        value = 0.0 if value <= 2 * MARGIN else 1.0 if value >= 1 - 2 * MARGIN else float(value)
        # The rows that a plain proportion would need to be known as well as this rate is.
        effective = rows
        if math.isinf(deviation):
            effective = 0.0
        elif deviation > 0 and 0 < value < 1:
            effective = min(rows, value * (1 - value) / deviation**2)
        estimated.append(rate.estimated(Estimate(value, *interval(value, effective, confidence), round(rows))))
    apart = [rate.name for rate, deviation in zip(rates, deviations, strict=True) if math.isinf(deviation)]
    if apart:
        _tell(f"no audit can tell {', '.join(apart)} apart; only their combined effect on the label is known")
    return tuple(estimated)


def _tell(message: str) -> None:
    warnings.warn(AuditWarning(message), stacklevel=5)


def _warn(rates: Sequence[Rate]) -> None:
    for rate in rates:
        if rate.rows == 0 or rate.value is None or rate.low is None or rate.high is None:
            _tell(f"no audited row tells about {rate.name} ({rate.meaning})")
        elif rate.rows is not None and rate.rows < FEW_ROWS:
            _tell(f"only {rate.rows} audited rows tell about {rate.name} ({rate.meaning})")
        elif rate.high - rate.low > rate.value > 0 and (rate.low, rate.high) != (0, 1):
            _tell(
                f"{rate.name} = {rate.value:.3f} is known only to lie between {rate.low:.3f} and {rate.high:.3f} "
                f"({rate.meaning}); audit more rows"
            )


def _warn_signal(table: Tensor, variable: Sensitive) -> None:
    """Groups whose recorded labels say little about the fair ones: 1 - negative - positive near 0, or below."""
    for level in range(len(variable.levels)) if table.shape[-1] == 2 else ():
        signal = float(table[level, 1, 1] - table[level, 0, 1])
        group = variable.group_text(level)
        if signal < 0:
            _tell(f"where {group}, recorded labels mean the opposite of fair ones (signal {signal:.3f} is negative)")
        elif signal < LITTLE_SIGNAL:
            _tell(f"where {group}, recorded labels carry almost no signal (1 - negative - positive = {signal:.3f})")
