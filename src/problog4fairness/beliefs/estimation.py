"""Parameters of beliefs from audited rows: by counting where each has a cell of its own, by likelihood otherwise."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs.audit import (
    AuditWarning,
    Codes,
    binary_codes,
    column,
    frame_of,
    tell,
    value_codes,
)
from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.combinations import MOST, every, network_values, occurring
from problog4fairness.beliefs.maximum import Floats, LabelModel, maximise
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.beliefs.proportions import Estimate, interval, proportion
from problog4fairness.errors import P4FError
from problog4fairness.program.program import Program
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.sensitive import Sensitive

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs.audit import Column
    from problog4fairness.beliefs.chains import Chain
    from problog4fairness.beliefs.custom import ProgramBelief
    from problog4fairness.beliefs.label import LabelBias
    from problog4fairness.beliefs.measurement import MeasurementBias

# Audited rows of each (group, fair label, recorded label).
Counts: TypeAlias = Floats

Estimated = TypeVar("Estimated", bound=Belief)

FEW_ROWS = 30
LITTLE_SIGNAL = 0.1


def estimate_labels(
    belief: LabelBias,
    audit: pd.DataFrame | None,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
    confidence: float,
) -> LabelBias:
    """See :meth:`LabelBias.estimate`."""
    frame, true, seen = _labels(belief, audit, recorded, fair, sensitive_features, favourable)
    variable = belief.variable
    counts = _cross(variable.positions(frame), len(variable.levels), true, seen, belief.class_count)
    if belief.noise:
        probabilities = _by_likelihood(belief, counts, confidence)
    else:
        probabilities = tuple(
            parameter.estimated(_proportion(counts[group, f], r, confidence))
            for parameter, (group, f, r) in (
                (parameter, belief.cells()[parameter.name]) for parameter in belief.probabilities
            )
        )
    estimated = _noted(belief.with_probabilities(probabilities), favourable)
    _warn(probabilities)
    if not any(parameter.value is None for parameter in probabilities):
        _warn_signal(estimated.label_table(), variable)
    return estimated


def estimate_chain(
    belief: Chain,
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
    if not belief.stages:
        raise P4FError("the chain has no label bias to estimate; estimate its MeasurementBias before chaining it")
    alone = []
    with warnings.catch_warnings():
        if method == "joint":
            warnings.simplefilter("ignore", AuditWarning)
        alone += [
            estimate_labels(stage, audit, recorded, fair, sensitive_features, favourable, confidence)
            for stage in belief.stages
        ]
    measured = belief.measurement.probabilities if belief.measurement else ()
    marginal = _noted(
        belief.with_probabilities((*measured, *(r for stage in alone for r in stage.probabilities))), favourable
    )
    if method == "marginal":
        return marginal
    variables = belief.label_variables
    frame, true, seen = _labels(belief, audit, recorded, fair, sensitive_features, favourable)
    groups = occurring(variables, Rows(frame, ()))
    if len(groups.levels) > MOST:
        raise P4FError(
            f"the audit has {len(groups.levels):,} combinations of groups, more than {MOST:,}; chain fewer biases"
        )
    counts = _cross(groups.rows, len(groups.levels), true, seen, belief.class_count)
    labels = tuple(parameter for stage in belief.stages for parameter in stage.probabilities)
    starts = [parameter.value for stage in alone for parameter in stage.probabilities]
    open_chain = belief.with_probabilities(
        (*measured, *(Parameter(parameter.name, parameter.meaning) for parameter in labels))
    )
    cells = network_values(variables, groups.levels)
    probabilities = _joint(open_chain.label_program(), cells, labels, counts, starts, confidence)
    _warn(probabilities)
    return marginal.with_probabilities((*measured, *probabilities))


def estimate_features(
    belief: MeasurementBias,
    audit: pd.DataFrame | None,
    recorded: Mapping[str, Column] | Sequence[Any],
    fair: Mapping[str, Column] | Sequence[Any],
    sensitive_features: Any,
    confidence: float,
) -> MeasurementBias:
    """See :meth:`MeasurementBias.estimate`."""
    recorded, fair = (
        _by_feature(values, belief.features, role) for values, role in ((recorded, "recorded"), (fair, "fair"))
    )
    groups: Codes | Floats | None = None
    tables = {}
    for feature, options in belief.values.items():
        seen = column(audit, recorded[feature], f"recorded {feature}")
        true = column(audit, fair[feature], f"fair {feature}")
        _same_length(seen, true)
        if groups is None:
            frame = frame_of(audit, sensitive_features, belief.sensitive_columns, len(seen))
            groups = belief.variable.positions(frame)
        codes = [value_codes(v, options, f"{role} {feature}") for v, role in ((seen, "recorded"), (true, "fair"))]
        tables[feature] = _cross(groups, len(belief.variable.levels), codes[0], codes[1], len(options))
    probabilities = tuple(
        parameter.estimated(_proportion(tables[feature][group, r], f, confidence))
        for parameter, (feature, group, r, f) in (
            (parameter, belief.cells()[parameter.name]) for parameter in belief.probabilities
        )
    )
    _warn(probabilities)
    return belief.with_probabilities(probabilities)


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
    belief: LabelBias | Chain,
    audit: pd.DataFrame | None,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
) -> tuple[pd.DataFrame, Codes, Codes]:
    """The sensitive columns of an audit, the fair labels and the recorded ones."""
    seen, true = column(audit, recorded, "recorded"), column(audit, fair, "fair")
    _same_length(seen, true)
    if belief.classes is None:
        favourable = belief.favourable_among(dict.fromkeys([*seen.tolist(), *true.tolist()]), favourable)
        codes = [binary_codes(v, favourable, role) for v, role in ((seen, "recorded"), (true, "fair"))]
    else:
        codes = [value_codes(v, belief.classes, role) for v, role in ((seen, "recorded"), (true, "fair"))]
    return frame_of(audit, sensitive_features, belief.sensitive_columns, len(seen)), codes[1], codes[0]


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


def _by_likelihood(belief: LabelBias, counts: Counts, confidence: float) -> tuple[Parameter, ...]:
    unknown = belief.with_probabilities(
        tuple(Parameter(parameter.name, parameter.meaning) for parameter in belief.probabilities)
    )
    starts = [0.1] * len(belief.probabilities)
    cells = network_values(belief.variables, every(belief.variables))
    return _joint(unknown.program(), cells, belief.probabilities, counts, starts, confidence)


def _joint(
    program: Program,
    groups: Mapping[str, Tensor],
    probabilities: tuple[Parameter, ...],
    counts: Counts,
    starts: Sequence[float | None],
    confidence: float,
) -> tuple[Parameter, ...]:
    """All probabilities at once, from the counts of every combination of groups."""
    classes = counts.shape[-1]
    fair = torch.arange(classes).repeat(len(counts))
    h = fair.double() if classes == 2 else torch.eye(classes).double()[fair]
    nn = {"h": h} | {name: value.repeat_interleave(classes, dim=0) for name, value in groups.items()}
    seen = torch.tensor(counts).reshape(-1, classes)
    return maximise(LabelModel(program, nn, probabilities), probabilities, seen, starts, confidence)


def estimate_program(
    belief: ProgramBelief,
    audit: pd.DataFrame | None,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
    confidence: float,
) -> ProgramBelief:
    """See :meth:`ProgramBelief.estimate`."""
    seen, true = column(audit, recorded, "recorded"), column(audit, fair, "fair")
    _same_length(seen, true)
    favourable = belief.favourable_among(dict.fromkeys([*seen.tolist(), *true.tolist()]), favourable)
    codes = [binary_codes(v, favourable, role) for v, role in ((seen, "recorded"), (true, "fair"))]
    names = list(belief.columns)
    frame = frame_of(audit, sensitive_features, [belief.columns[name] for name in names], len(seen))
    values = [belief.column_values(name, frame) for name in names]
    keys, place = np.unique(np.column_stack([*values, codes[1]]), axis=0, return_inverse=True)
    counts = np.zeros((len(keys), 2))
    np.add.at(counts, (place.reshape(-1), codes[0]), 1)
    cells = torch.tensor(keys)
    nn = {name: cells[:, i] for i, name in enumerate(names)} | {belief.classifier: cells[:, -1]}
    unknown = tuple(parameter for parameter in belief.probabilities if parameter.value is None)
    model = LabelModel(belief.program(), nn, unknown)
    found = {
        parameter.name: parameter
        for parameter in maximise(model, unknown, torch.tensor(counts), [0.1] * len(unknown), confidence)
    }
    _warn(list(found.values()))
    return _noted(
        belief.with_probabilities(tuple(found.get(parameter.name, parameter) for parameter in belief.probabilities)),
        favourable,
    )


def _warn(probabilities: Sequence[Parameter]) -> None:
    for parameter in probabilities:
        if parameter.rows == 0 or parameter.value is None or parameter.low is None or parameter.high is None:
            tell(f"no audited row tells about {parameter.name} ({parameter.meaning})")
        elif parameter.rows is not None and parameter.rows < FEW_ROWS:
            tell(f"only {parameter.rows} audited rows tell about {parameter.name} ({parameter.meaning})")
        elif parameter.high - parameter.low > parameter.value > 0 and (parameter.low, parameter.high) != (0, 1):
            tell(
                f"{parameter.name} = {parameter.value:.3f} is known only to lie between {parameter.low:.3f} and "
                f"{parameter.high:.3f} ({parameter.meaning}); audit more rows"
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
