"""Parameters of mechanisms from audited rows: by counting where each has a cell of its own, by likelihood otherwise."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.mechanisms.audit import (
    AuditWarning,
    Codes,
    binary_codes,
    column,
    frame_of,
    tell,
    value_codes,
)
from problog4fairness.mechanisms.base import Mechanism
from problog4fairness.mechanisms.combinations import MOST, every, network_values, observed
from problog4fairness.mechanisms.maximum import Floats, LabelModel, maximise
from problog4fairness.mechanisms.rates import Rate
from problog4fairness.mechanisms.sensitive import Sensitive
from problog4fairness.parameters import Estimate, interval, proportion
from problog4fairness.program.program import Program

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.mechanisms.audit import Column
    from problog4fairness.mechanisms.chains import Chain
    from problog4fairness.mechanisms.custom import ProgramMechanism
    from problog4fairness.mechanisms.label import LabelBias
    from problog4fairness.mechanisms.measurement import MeasurementBias

# Audited rows of each (group, fair label, recorded label).
Counts: TypeAlias = Floats

Estimated = TypeVar("Estimated", bound=Mechanism)

FEW_ROWS = 30
LITTLE_SIGNAL = 0.1


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
    frame, true, seen = _labels(mechanism, audit, recorded, fair, sensitive_features, favourable)
    variable = mechanism.variable
    counts = _cross(variable.positions(frame), len(variable.levels), true, seen, mechanism.class_count)
    if mechanism.noise:
        rates = _by_likelihood(mechanism, counts, confidence)
    else:
        rates = tuple(
            rate.estimated(_proportion(counts[group, f], r, confidence))
            for rate, (group, f, r) in ((rate, mechanism.cells()[rate.name]) for rate in mechanism.rates)
        )
    estimated = _noted(mechanism.with_rates(rates), favourable)
    _warn(rates)
    if not any(rate.value is None for rate in rates):
        _warn_signal(estimated.label_table(), variable)
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
    marginal = _noted(mechanism.with_rates((*measured, *(r for stage in alone for r in stage.rates))), favourable)
    if method == "marginal":
        return marginal
    variables = mechanism.label_variables
    frame, true, seen = _labels(mechanism, audit, recorded, fair, sensitive_features, favourable)
    groups = observed(variables, frame)
    if len(groups.levels) > MOST:
        raise P4FError(
            f"the audit has {len(groups.levels):,} combinations of groups, more than {MOST:,}; chain fewer biases"
        )
    counts = _cross(groups.rows, len(groups.levels), true, seen, mechanism.class_count)
    labels = tuple(rate for stage in mechanism.stages for rate in stage.rates)
    starts = [rate.value for stage in alone for rate in stage.rates]
    open_chain = mechanism.with_rates((*measured, *(Rate(rate.name, rate.meaning) for rate in labels)))
    cells = network_values(variables, groups.levels)
    rates = _joint(open_chain.label_program(), cells, labels, counts, starts, confidence)
    _warn(rates)
    return marginal.with_rates((*measured, *rates))


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
    groups: Codes | Floats | None = None
    tables = {}
    for feature, options in mechanism.values.items():
        seen = column(audit, recorded[feature], f"recorded {feature}")
        true = column(audit, fair[feature], f"fair {feature}")
        _same_length(seen, true)
        if groups is None:
            frame = frame_of(audit, sensitive_features, mechanism.sensitive_columns, len(seen))
            groups = mechanism.variable.positions(frame)
        codes = [value_codes(v, options, f"{role} {feature}") for v, role in ((seen, "recorded"), (true, "fair"))]
        tables[feature] = _cross(groups, len(mechanism.variable.levels), codes[0], codes[1], len(options))
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


def _labels(
    mechanism: LabelBias | Chain,
    audit: pd.DataFrame | None,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
) -> tuple[pd.DataFrame, Codes, Codes]:
    """The sensitive columns of an audit, the fair labels and the recorded ones."""
    seen, true = column(audit, recorded, "recorded"), column(audit, fair, "fair")
    _same_length(seen, true)
    if mechanism.classes is None:
        favourable = mechanism.favourable_among(dict.fromkeys([*seen.tolist(), *true.tolist()]), favourable)
        codes = [binary_codes(v, favourable, role) for v, role in ((seen, "recorded"), (true, "fair"))]
    else:
        codes = [value_codes(v, mechanism.classes, role) for v, role in ((seen, "recorded"), (true, "fair"))]
    return frame_of(audit, sensitive_features, mechanism.sensitive_columns, len(seen)), codes[1], codes[0]


def _noted(estimated: Estimated, favourable: Any) -> Estimated:
    """The belief with the label that was counted as 1: what was said, what it knew already, or 1 itself."""
    if getattr(estimated, "classes", None) is not None:
        return estimated
    known = estimated.favourable if favourable is None else favourable
    return estimated.with_favourable(1 if known is None else known)


def _same_length(recorded: pd.Series[Any], fair: pd.Series[Any]) -> None:
    if len(recorded) != len(fair):
        raise P4FError(
            f"there are {len(recorded)} recorded and {len(fair)} fair values; an audit has both for each row"
        )


def _cross(groups: Codes | Floats, count: int, first: Codes, second: Codes, size: int) -> Floats:
    """Counts ``[groups, first, second]``; a row of uncertain group counts for each group by its share."""
    counts = np.zeros((count, size, size))
    if groups.ndim == 1:
        np.add.at(counts, (groups.astype(np.int64), first, second), 1)
        return counts
    for group in range(count):
        np.add.at(counts[group], (first, second), groups[:, group])
    return counts


def _proportion(cell: Floats, which: int, confidence: float) -> Estimate:
    total = float(cell.sum())
    if total == round(total) and cell[which] == round(float(cell[which])):
        return proportion(round(float(cell[which])), round(total), confidence)
    value = float(cell[which]) / total if total else math.nan
    return Estimate(value, *interval(value, total, confidence), round(total))


def _by_likelihood(mechanism: LabelBias, counts: Counts, confidence: float) -> tuple[Rate, ...]:
    unknown = mechanism.with_rates(tuple(Rate(rate.name, rate.meaning) for rate in mechanism.rates))
    starts = [0.1] * len(mechanism.rates)
    cells = network_values(mechanism.variables, every(mechanism.variables))
    return _joint(unknown.program(), cells, mechanism.rates, counts, starts, confidence)


def _joint(
    program: Program,
    groups: Mapping[str, Tensor],
    rates: tuple[Rate, ...],
    counts: Counts,
    starts: Sequence[float | None],
    confidence: float,
) -> tuple[Rate, ...]:
    """All rates at once, from the counts of every combination of groups."""
    classes = counts.shape[-1]
    fair = torch.arange(classes).repeat(len(counts))
    h = fair.double() if classes == 2 else torch.eye(classes).double()[fair]
    nn = {"h": h} | {name: value.repeat_interleave(classes, dim=0) for name, value in groups.items()}
    seen = torch.tensor(counts).reshape(-1, classes)
    return maximise(LabelModel(program, nn, rates), rates, seen, starts, confidence)


def estimate_program(
    mechanism: ProgramMechanism,
    audit: pd.DataFrame | None,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
    confidence: float,
) -> ProgramMechanism:
    """See :meth:`ProgramMechanism.estimate`."""
    seen, true = column(audit, recorded, "recorded"), column(audit, fair, "fair")
    _same_length(seen, true)
    favourable = mechanism.favourable_among(dict.fromkeys([*seen.tolist(), *true.tolist()]), favourable)
    codes = [binary_codes(v, favourable, role) for v, role in ((seen, "recorded"), (true, "fair"))]
    names = list(mechanism.columns)
    frame = frame_of(audit, sensitive_features, [mechanism.columns[name] for name in names], len(seen))
    values = [mechanism.column_values(name, frame) for name in names]
    keys, place = np.unique(np.column_stack([*values, codes[1]]), axis=0, return_inverse=True)
    counts = np.zeros((len(keys), 2))
    np.add.at(counts, (place.reshape(-1), codes[0]), 1)
    cells = torch.tensor(keys)
    nn = {name: cells[:, i] for i, name in enumerate(names)} | {mechanism.classifier: cells[:, -1]}
    unknown = tuple(rate for rate in mechanism.rates if rate.value is None)
    model = LabelModel(mechanism.program(), nn, unknown)
    found = {
        rate.name: rate for rate in maximise(model, unknown, torch.tensor(counts), [0.1] * len(unknown), confidence)
    }
    _warn(list(found.values()))
    return _noted(mechanism.with_rates(tuple(found.get(rate.name, rate) for rate in mechanism.rates)), favourable)


def _warn(rates: Sequence[Rate]) -> None:
    for rate in rates:
        if rate.rows == 0 or rate.value is None or rate.low is None or rate.high is None:
            tell(f"no audited row tells about {rate.name} ({rate.meaning})")
        elif rate.rows is not None and rate.rows < FEW_ROWS:
            tell(f"only {rate.rows} audited rows tell about {rate.name} ({rate.meaning})")
        elif rate.high - rate.low > rate.value > 0 and (rate.low, rate.high) != (0, 1):
            tell(
                f"{rate.name} = {rate.value:.3f} is known only to lie between {rate.low:.3f} and {rate.high:.3f} "
                f"({rate.meaning}); audit more rows"
            )


def _warn_signal(table: Tensor, variable: Sensitive) -> None:
    """Groups whose recorded labels say little about the fair ones: 1 - negative - positive near 0, or below."""
    for level in range(len(variable.levels)) if table.shape[-1] == 2 else ():
        signal = float(table[level, 1, 1] - table[level, 0, 1])
        group = variable.group_text(level)
        if signal < 0:
            tell(f"where {group}, recorded labels mean the opposite of fair ones (signal {signal:.3f} is negative)")
        elif signal < LITTLE_SIGNAL:
            tell(f"where {group}, recorded labels carry almost no signal (1 - negative - positive = {signal:.3f})")
