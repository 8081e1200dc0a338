"""Parameters that are counted: each is a share of the audited rows of its cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.audit.audit import Audit
from problog4fairness.audit.estimation.audited_rows import by_record, counted_design
from problog4fairness.audit.estimation.diagnostics import FEW_ROWS, SHRUNK
from problog4fairness.audit.reading import warn_audit
from problog4fairness.audit.strata import sampling_frame
from problog4fairness.data import Category, Codes, Floats, Rows, column_values, label_codes
from problog4fairness.errors import P4FError
from problog4fairness.statistics import (
    HALF,
    Beta,
    Cell,
    Estimate,
    Parameter,
    Shrunk,
    equal_rows,
    proportion,
    shrunk,
)

if TYPE_CHECKING:
    from typing import Any

    from problog4fairness.audit.estimation.stratified import Design, Stratified
    from problog4fairness.beliefs import Belief, Change, Distorted, LabelStage, MeasurementBias, RowBias


def label_codes_of(belief: Belief, rows: Rows) -> tuple[Codes, Codes, int]:
    """What was recorded, the fair label, and how many different things can be recorded."""
    record = belief.record.outcomes(rows)
    if record.codes is None or rows.fair is None:
        raise P4FError("audited rows have a recorded and a fair label")
    return record.codes, rows.fair, record.size


def counted_labels(belief: LabelStage, rows: Rows, confidence: float) -> tuple[Parameter, ...]:
    """The share of each parameter's cell, where every parameter has one."""
    recorded, fair, outcomes = label_codes_of(belief, rows)
    count, strata = belief.strata(rows)
    counts = _cross(strata, count, fair, recorded, outcomes, rows.weights)
    return _shares(belief.parameters, lambda cell: (counts[cell.group, cell.fair], cell.recorded), confidence)


def _shares(
    parameters: Sequence[Parameter], counted: Callable[[Cell], tuple[Floats, int]], confidence: float
) -> tuple[Parameter, ...]:
    """The parameters that have a cell, as the share of one of its outcomes: ``counted`` gives all counts, and which."""

    def estimate(cell: Cell) -> Estimate:
        counts, outcome = counted(cell)
        return proportion(float(counts[outcome]), float(counts.sum()), confidence)

    return tuple(
        parameter if parameter.cell is None else parameter.estimated(estimate(parameter.cell))
        for parameter in parameters
    )


def counted_features(
    belief: MeasurementBias,
    audit: Audit,
    recorded: Mapping[str, str],
    fair: Mapping[str, str],
    confidence: float,
    drawn_from: Any,
) -> tuple[tuple[Parameter, ...], Design | None]:
    """The parameters of features, and what the audit says by stratum, where it was sampled by the features.

    ``recorded`` and ``fair`` are the columns of each feature; the others are those of :meth:`MeasurementBias.estimate`.
    """
    seen, true = (
        {
            feature: label_codes(column_values(audit.frame, columns[feature], role), options, role)
            for feature, options in belief.values.items()
            for role in [f"{kind} {feature}"]
        }
        for kind, columns in (("recorded", recorded), ("fair", fair))
    )
    groups, strata = belief.variable.positions(audit.frame), belief.strata
    if not belief.joint and groups.ndim == 1 and by_record(audit, drawn_from):
        table = None if drawn_from is None else sampling_frame(belief, drawn_from, None, None)
        places = strata.codes(groups.astype(np.int64), *seen.values())
        design = counted_design(belief, audit, strata, places, list(true.values()), table)
        return design.estimated(belief.parameters, confidence), design
    tables, joint = dict[str, Floats](), dict[str, Parameter]()
    for part in belief.parts:
        first, second, weights = part.codes(seen), part.codes(true), None
        if audit.is_weighted and groups.ndim == 1:
            weights = audit.effective_weights(groups.astype(np.int64) * len(part.values) + first, second)
        counts = _cross(groups, len(belief.variable.levels), first, second, len(part.values), weights)
        tables[part.title] = counts
        if part.together:
            joint |= joint_parameters(part, belief.parameters, counts, confidence)
            warn_unseen(part, counts, belief.affected, strata.groups)

    def counted(cell: Cell) -> tuple[Floats, int]:
        return tables[str(cell.feature)][cell.group, cell.recorded], cell.fair

    alone = _shares([parameter for parameter in belief.parameters if parameter.name not in joint], counted, confidence)
    estimated = joint | {parameter.name: parameter for parameter in alone}
    return tuple(estimated[parameter.name] for parameter in belief.parameters), None


def _cross(
    groups: Codes | Floats, count: int, first: Codes, second: Codes, size: int, weights: Floats | None
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


def counted_cells(
    belief: RowBias, rows: Rows, confidence: float, strata: Stratified | None = None
) -> tuple[Parameter, ...]:
    """The share of each cell, shrunk towards those of the same group; one with a prior is counted by itself."""
    estimated: dict[str, Parameter] = {}
    for change in belief.reads:
        hits, total = _counts(belief, change, rows, strata, confidence)
        _warn_unseen_values(belief, change, total.reshape(belief.cells(change).shape))
        of_change = [parameter for cell, parameter in belief.by_cell().items() if cell.change == change]
        for group in belief.affected:
            parameters = [
                parameter
                for parameter in of_change
                if parameter.cell is not None and belief.group_of(parameter.cell) == group
            ]
            places = [parameter.cell.group for parameter in parameters if parameter.cell is not None]
            k, n = hits[places], total[places]
            _warn_few_rows(belief, change, group, float(n.sum()))
            cells = shrunk(k, n, confidence) if len(parameters) > 1 else [None]
            for parameter, cell, *counts in zip(parameters, cells, k.tolist(), n.tolist(), strict=True):
                estimated[parameter.name] = _estimated(parameter, cell, counts[0], counts[1], confidence)
    return tuple(estimated[parameter.name] for parameter in belief.parameters)


def _estimated(parameter: Parameter, cell: Shrunk | None, hits: float, rows: float, confidence: float) -> Parameter:
    """A parameter by what its cell and the others tell; alone, or with a prior, by its own rows."""
    if cell is None or parameter.prior is not None:
        return parameter.estimated(proportion(hits, rows, confidence))
    estimate = Estimate(cell.value, cell.low, cell.high, round(rows))
    return replace(parameter, prior=cell.prior).estimated(estimate, SHRUNK)


def _counts(
    belief: RowBias, change: Change, rows: Rows, strata: Stratified | None, confidence: float
) -> tuple[Floats, Floats]:
    """For each cell how many rows with the fair class were recorded as the other one, and how many there are.

    Rows that were sampled by stratum are those of a random sample with an interval as wide.
    """
    if rows.fair is None or rows.recorded is None:
        raise P4FError("audited rows have a recorded and a fair label")
    places, cells = belief.cells(change).positions(rows), belief.cells(change).count
    acting = (rows.fair == change[0]).astype(np.float64)
    if strata is not None:
        hits, total = np.zeros(cells), np.zeros(cells)
        # A cell whose rows were all audited is known; that is worth as many rows as the table has.
        most = float(strata.design.sizes.sum())
        for cell in range(cells) if places.ndim == 2 else np.unique(places[acting > 0]).tolist():
            inside = acting * (places[:, cell] if places.ndim == 2 else places == cell)
            share = strata.share(inside, change[1], confidence)
            if share.rows:
                total[cell] = min(equal_rows(share.value, share.low, share.high, confidence), most)
                hits[cell] = share.value * total[cell]
        return hits, total
    weight = acting if rows.weights is None else acting * rows.weights
    values = np.stack([weight * (rows.recorded == change[1]), weight])
    if places.ndim == 1:
        values = np.stack([np.bincount(places.astype(np.int64), value, cells) for value in values])
    else:
        values = values @ places
    return values[0], values[1]


def _warn_few_rows(belief: RowBias, change: Change, group: int, rows: float) -> None:
    where = f"with a fair {change[0]} where {belief.variable.group_text(group)}"
    if rows == 0:
        raise P4FError(f"no audited row is {where}; audit some, or leave that group out of affected=[...]")
    if rows < FEW_ROWS:
        warn_audit(f"only {rows:.0f} audited rows are {where}; its cells rest on them")


def _warn_unseen_values(belief: RowBias, change: Change, total: Floats) -> None:
    """Warn of values and periods that the belief names and no audited row has; ``total`` is by group and value."""
    for axis, variable in enumerate(belief.cells(change).variables[1:], start=1):
        others = tuple(other for other in range(total.ndim) if other != axis)
        rows = np.take(total, belief.affected, axis=0).sum(axis=others)
        named = rows[:-1] if isinstance(variable, Category) else rows
        unseen = [variable.group_text(level) for level in np.flatnonzero(named == 0).tolist()]
        if not unseen:
            continue
        more = f" or {len(unseen) - 3} more" if len(unseen) > 3 else ""
        warn_audit(
            f"no audited row with a fair {change[0]} has {', '.join(unseen[:3])}{more}: what is said of "
            f"{'it' if len(unseen) == 1 else 'them'} comes from the other rows; audit some"
        )


# What the prior of features that are distorted together may be worth, in rows.
WORTH = 2.0 ** np.arange(-1, 6)
_LEAST = 1e-6


def joint_parameters(
    part: Distorted, parameters: Sequence[Parameter], counts: Floats, confidence: float
) -> dict[str, Parameter]:
    """The parameters of features that are distorted together, by name: P(fair vector | recorded vector, group).

    There are many pairs of vectors and few audited rows, so the table is shrunk: counts of a recorded vector are
    combined with a prior, Beta(s t, s (1 - t)) for each fair vector. Its mean t is what would hold if each recorded
    value depended on its own fair value and the group alone, while fair values may go together in any way:

        t(fair | recorded) ~ P(fair) * product over features of P(recorded_i | fair_i)

    Its worth s, in rows, is the one by which each audited row is predicted best from all others in its group.
    A change that has no parameter does not happen; ``counts`` are ``[groups, recorded, fair]``.
    """
    of_part = [
        (parameter, parameter.cell)
        for parameter in parameters
        if parameter.cell is not None and parameter.cell.feature == part.title
    ]
    allowed = np.zeros(counts.shape, dtype=bool) | np.eye(counts.shape[1], dtype=bool)
    for _, cell in of_part:
        allowed[cell.group, cell.recorded, cell.fair] = True
    means = [_independent(part, table, may) for table, may in zip(counts, allowed, strict=True)]
    worth = [_worth(table * may, mean) for table, may, mean in zip(counts, allowed, means, strict=True)]
    estimated = {}
    for parameter, cell in of_part:
        mean = float(np.clip(means[cell.group][cell.recorded, cell.fair], _LEAST, 1 - _LEAST))
        prior = parameter.prior or Beta(worth[cell.group] * mean, worth[cell.group] * (1 - mean))
        row = counts[cell.group, cell.recorded]
        hits, rows = float(row[cell.fair]), float(row.sum())
        share = Estimate(hits / rows if rows else 0.0, 0.0, 1.0, round(rows))
        known = replace(parameter, prior=prior).estimated(share)
        # The mean of the prior is uncertain, too: half a row more either way. What nobody has seen may never happen.
        low, high = Beta(prior.a + HALF, prior.b + HALF).after(hits, rows).interval(confidence)
        estimated[parameter.name] = replace(known, low=low if hits else 0.0, high=high)
    return estimated


def _independent(part: Distorted, counts: Floats, allowed: Floats) -> Floats:
    """``[recorded, fair]``: P(fair | recorded) if each recorded value comes from its own fair value alone."""
    sizes = part.sizes
    places = np.unravel_index(np.arange(len(part.values)), sizes)
    fair, single, errors = counts.sum(axis=0), np.ones(len(part.values)), np.ones(counts.shape)
    total = fair.sum()
    for size, values in zip(sizes, places, strict=True):
        hot = np.eye(size)[values]
        share = (hot.T @ fair + HALF) / (total + size * HALF)
        single = single * share[values]
        pairs = hot.T @ counts @ hot + HALF * np.eye(size)
        errors = errors * (pairs / pairs.sum(axis=0))[values[:, None], values]
    # Fair vectors that were not seen get a little, by how frequent their values are.
    joint = (fair + np.sqrt(total + 1) * single) * errors * allowed
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _worth(counts: Floats, mean: Floats) -> float:
    """The worth of the prior by which every row is predicted best from the others."""
    others = np.maximum(counts - 1, 0.0)
    whole = np.maximum(counts.sum(axis=1, keepdims=True) - 1, 0.0)
    scores = [float((counts * np.log((others + worth * mean + _LEAST) / (whole + worth))).sum()) for worth in WORTH]
    return float(WORTH[int(np.argmax(scores))])


def warn_unseen(part: Distorted, counts: Floats, groups: Sequence[int], words: Sequence[str]) -> None:
    """Warn of recorded vectors that no audited row has."""
    for group in groups:
        unseen = int((counts[group].sum(axis=1) == 0).sum())
        if unseen:
            warn_audit(
                f"where {words[group]}, no audited row has {unseen} of the {len(part.values)} combinations of "
                f"{part.title}: they are taken as if each of these was distorted by itself"
            )
