"""Parameters of beliefs from audited rows: by counting where each has a cell of its own, by likelihood otherwise."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

from problog4fairness.audit.audits import Audit
from problog4fairness.audit.columns import AuditWarning, audited_pair, tell
from problog4fairness.audit.estimation.cells import SHRUNK
from problog4fairness.audit.estimation.joint_features import estimated_together, tell_few
from problog4fairness.audit.estimation.maximum_likelihood import LabelModel, maximise
from problog4fairness.audit.estimation.sampling import anytime, by_record, counted_design, filled
from problog4fairness.audit.estimation.signal import group_signal
from problog4fairness.audit.estimation.stratified import ALWAYS, SOURCE
from problog4fairness.audit.sheet import ERROR
from problog4fairness.data import Codes, Floats, Rows, counts_of, frame_with, label_codes
from problog4fairness.errors import P4FError
from problog4fairness.program import Program
from problog4fairness.statistics import (
    POOLED,
    Beta,
    Cell,
    Estimate,
    Parameter,
    in_labels,
    interval,
    proportion,
    ways_on,
)

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit.columns import Column
    from problog4fairness.audit.estimation.stratified import Design, Stratified
    from problog4fairness.beliefs import Belief, Chain, LabelStage, MeasurementBias

FEW_ROWS = 30
LITTLE_SIGNAL = 0.1
# Distinct kinds of audited rows that a circuit is evaluated for at once.
MOST_KINDS = 1 << 16


def counted_labels(belief: LabelStage, rows: Rows, confidence: float) -> tuple[Parameter, ...]:
    """The share of each parameter's cell, where every parameter has one."""
    recorded, fair, outcomes = _labels(belief, rows)
    count, strata = belief.strata(rows)
    counts = _cross(strata, count, fair, recorded, outcomes, rows.weights)

    def estimate(cell: Cell) -> Estimate:
        return _proportion(counts[cell.group, cell.fair], cell.recorded, confidence)

    return tuple(
        own if own.cell is None else own.estimated(estimate(own.cell), confidence=confidence)
        for own in belief.parameters
    )


def counted_features(
    belief: MeasurementBias,
    audit: pd.DataFrame | Audit | None,
    recorded: Mapping[str, Column] | Sequence[Any],
    fair: Mapping[str, Column] | Sequence[Any],
    sensitive_features: Any,
    confidence: float,
    sequential: bool,
    drawn_from: Any,
) -> tuple[tuple[Parameter, ...], Design | None]:
    """See :meth:`MeasurementBias.estimate`; with what the audit says by stratum, where it was drawn by the features."""
    recorded, fair = (
        by_feature(values, belief.features, role) for values, role in ((recorded, "recorded"), (fair, "fair"))
    )
    known = audit if isinstance(audit, Audit) else None
    if known is not None and all(isinstance(name, str) for name in fair.values()):
        known = Audit.of(known, fair=list(fair.values()))
    audit = filled(audit if known is None else known, drawn_from, *fair.values())
    groups: Codes | Floats | None = None
    weights: Floats | None = None
    codes: dict[str, tuple[Codes, Codes]] = {}
    for feature, options in belief.values.items():
        roles = (f"recorded {feature}", f"fair {feature}")
        pair = audited_pair(audit, recorded[feature], fair[feature], *roles)
        if groups is None:
            frame = frame_with(audit, sensitive_features, belief.sensitive_columns, len(pair[0]))
            groups, weights = belief.variable.positions(frame), counts_of(frame).astype(np.float64)
        seen, true = (label_codes(own, options, role) for own, role in zip(pair, roles, strict=True))
        codes[feature] = seen, true
    tables = {}
    assert groups is not None  # a belief has features
    for part in belief.parts:
        seen, true = (part.codes({name: own[place] for name, own in codes.items()}) for place in (0, 1))
        each = weights
        if known is not None and groups.ndim == 1:
            each = known.effective_weights(groups.astype(np.int64) * len(part.values) + seen, true)
        tables[part.title] = _cross(groups, len(belief.variable.levels), seen, true, len(part.values), each)
    clustered = known is not None and known.clusters is not None
    if not belief.joint and not clustered and by_record(audit, drawn_from) and groups.ndim == 1:
        strata = belief._kinds
        table = None if drawn_from is None else belief._audit_strata(drawn_from, None, None, None)
        places = strata.codes(groups.astype(np.int64), *(seen for seen, _ in codes.values()))
        design = counted_design(belief, audit, strata, places, [true for _, true in codes.values()], table)
        return design.estimated(belief.parameters, confidence, sequential), design

    def estimate(cell: Cell) -> Estimate:
        return _proportion(tables[str(cell.feature)][cell.group, cell.recorded], cell.fair, confidence)

    together: dict[str, Parameter] = {}
    for part in belief.parts:
        if part.together:
            together |= estimated_together(part, belief.parameters, tables[part.title], confidence)
            tell_few(part, tables[part.title], belief.affected, belief._kinds.groups)
    found = tuple(
        together[own.name]
        if own.name in together
        else own
        if own.cell is None
        else own.estimated(estimate(own.cell), confidence=confidence)
        for own in belief.parameters
    )
    return anytime(found, confidence) if sequential else found, None


def estimate_chain(
    belief: Chain,
    rows: Rows,
    confidence: float,
    method: Literal["joint", "marginal"],
    strata: Stratified | None = None,
    error: float = ERROR,
) -> Chain:
    """See :meth:`Chain.estimate`."""
    measured = belief.measurement.parameters if belief.measurement else ()
    with warnings.catch_warnings():
        if method == "joint":
            warnings.simplefilter("ignore", AuditWarning)
        # A stage that knows no missing labels is estimated from the rows that have one, as if it were alone.
        labelled = rows if rows.recorded is None else rows.take(np.flatnonzero(rows.recorded >= 0))
        parts = [(stage, rows if stage.missing_labels else labelled) for stage in belief.stages]
        found = tuple(own for stage, part in parts for own in stage._estimated(part, confidence, strata))
    if method == "joint":
        starts = [own.value for own in found]
        found = tuple(map(_by_mode, found))
        found = most_likely(belief, belief.unknown().label_program(), found, rows, confidence, starts)
    warn_few(found, rows.classes, error)
    return belief.with_parameters((*measured, *found))


def _by_mode(own: Parameter) -> Parameter:
    """A parameter that was drawn to others, with the prior under which its likeliest value is what was its mean."""
    return replace(own, prior=Beta(own.prior.a + 1, own.prior.b + 1)) if own.source == SHRUNK and own.prior else own


def most_likely(
    belief: Belief,
    program: Program,
    parameters: tuple[Parameter, ...],
    rows: Rows,
    confidence: float,
    starts: Sequence[float | None] | None = None,
) -> tuple[Parameter, ...]:
    """The parameters that make the audited labels most likely, all at once, through a program.

    Parameters
    ----------
    belief
        Says what the rows know of the networks of the program.
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
    recorded, fair, outcomes = _labels(belief, rows)
    networks = [leaf for leaf in program.compile().leaves if leaf.kind == "network"]
    if any(leaf.name == belief.classifier and leaf.arguments != ("x",) for leaf in networks):
        raise P4FError("only beliefs that ask the classifier about the row x itself can be estimated from labels")
    known = [leaf for leaf in networks if leaf.name != belief.classifier]
    values = [belief.leaf_value(leaf, rows).reshape(len(rows), -1) for leaf in known]
    kinds, place = np.unique(np.column_stack([*values, fair]), axis=0, return_inverse=True)
    if len(kinds) > MOST_KINDS:
        raise P4FError(
            f"the audit has {len(kinds):,} different kinds of rows, more than {MOST_KINDS:,}; believe in fewer groups"
        )
    classes = len(rows.classes)
    seen = np.zeros((len(kinds), outcomes))
    np.add.at(seen, (place.reshape(-1), recorded), 1 if rows.weights is None else rows.weights)
    cells = torch.from_numpy(kinds).split([value.shape[1] for value in values] + [1], dim=1)
    h = cells[-1].reshape(-1)
    nn = {belief.classifier: h if classes == 2 else torch.eye(classes).double()[h.long()]}
    nn |= {str(leaf): cell if leaf.outcomes else cell.reshape(-1) for leaf, cell in zip(known, cells, strict=False)}
    model = LabelModel(program, nn, parameters)
    return maximise(model, parameters, torch.from_numpy(seen), starts or [0.1] * len(parameters), confidence)


def _labels(belief: Belief, rows: Rows) -> tuple[Codes, Codes, int]:
    """What was recorded, the fair label, and how many different things can be recorded."""
    record = belief.record(rows)
    if record.codes is None or rows.fair is None:
        raise P4FError("audited rows have a recorded and a fair label")
    return record.codes, rows.fair, record.outcomes


def by_feature(values: Mapping[str, Any] | Sequence[Any], features: Sequence[str], role: str) -> dict[str, Any]:
    """What was said of each feature: a mapping, or a sequence in their order."""
    if isinstance(values, Mapping):
        missing = [feature for feature in features if feature not in values]
        if missing:
            raise P4FError(f"the {role} column of feature {missing[0]!r} is missing")
        return dict(values)
    values = [values] if isinstance(values, str) else list(values)
    if len(values) != len(features):
        raise P4FError(f"{role} names {len(values)} columns for {len(features)} features")
    return dict(zip(features, values, strict=True))


def _cross(
    groups: Codes | Floats, count: int, first: Codes, second: Codes, size: int, weights: Floats | None = None
) -> Floats:
    """Counts ``[groups, first, second]``; a row of uncertain group counts for each group by its share."""
    counts = np.zeros((count, size, size))
    each = np.ones(len(first)) if weights is None else weights
    if groups.ndim == 1:
        np.add.at(counts, (groups.astype(np.int64), first, second), each)
        return counts
    for group in range(count):
        np.add.at(counts[group], (first, second), each * groups[:, group])
    return counts


def _proportion(cell: Floats, which: int, confidence: float) -> Estimate:
    total = float(cell.sum())
    if total == round(total) and cell[which] == round(float(cell[which])):
        return proportion(round(float(cell[which])), round(total), confidence)
    value = float(cell[which]) / total if total else math.nan
    return Estimate(value, *interval(value, total, confidence), round(total))


def warn_few(probabilities: Sequence[Parameter], labels: Sequence[Any] = (), error: float = ERROR) -> None:
    """Warn of parameters that rest on few rows, or on none, once of each kind.

    ``labels`` are the values of the label, if it has two. More rows are asked for where half the width of an interval
    is above ``error``, as a plan asks for them, and the interval is wider than what was estimated.
    """
    unseen, few, wide = list[str](), list[tuple[int, str]](), list[tuple[float, str]]()
    way = ""
    for parameter in probabilities:
        own = replace(parameter, meaning=in_labels(parameter.meaning, labels))
        if (own.value is not None and own.rows is None) or own.source in (SHRUNK, POOLED):
            continue
        if own.without_rows or own.rows == 0 or own.value is None or own.low is None or own.high is None:
            way = way or (f"; {ways_on(own)}" if own.without_rows else "")
            unseen.append(own.said)
        elif own.rows is not None and own.rows < FEW_ROWS and own.source not in (SOURCE, ALWAYS):
            few.append((own.rows, own.said))
        elif own.is_wide(error) and own.value and (own.low, own.high) != (0, 1):
            between = f"{own.said} is known only to lie between {own.low:.3f} and {own.high:.3f}, about {own.value:.3f}"
            wide.append(((own.high - own.low) / own.value, between))
    if unseen:
        tell(f"no audited row tells about {_some(unseen)}{way}")
    if few:
        few.sort(key=lambda found: found[0])
        more = f"; fewer than {FEW_ROWS} tell about each of {len(few) - 1} more parameters" if len(few) > 1 else ""
        tell(f"only {few[0][0]} audited rows tell about {few[0][1]}{more}")
    if wide:
        wide.sort(key=lambda found: -found[0])
        more = f", and {len(wide) - 1} more parameters as little" if len(wide) > 1 else ""
        tell(f"{wide[0][1]}{more}; audit more rows")


def _some(names: Sequence[str]) -> str:
    """The first three, and how many more."""
    more = f" and {len(names) - 3} more parameters" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def warn_signal(belief: Belief, rows: Rows) -> None:
    """Warn of the group whose recorded labels say least of fair ones: 1 - negative - positive near 0, or below."""
    if len(rows.classes) != 2 or any(own.value is None for own in belief.parameters):
        return
    kinds = belief.kinds_of(rows).without_record()
    found = group_signal(belief, belief.observe(kinds), kinds)
    if found is None:
        return
    signal, group = found
    if signal < 0:
        tell(f"where {group}, recorded labels mean the opposite of fair ones (signal {signal:.3f} is negative)")
    elif signal < LITTLE_SIGNAL:
        tell(f"where {group}, recorded labels carry almost no signal (1 - negative - positive = {signal:.3f})")
