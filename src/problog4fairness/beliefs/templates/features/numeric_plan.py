"""Planning an audit of numbers: how many rows of each group until the line from fair to recorded values is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from problog4fairness.audit import (
    DESIGN,
    PILOT,
    Audit,
    AuditPlan,
    SamplingFrame,
    Sheet,
    Strata,
    audit_groups,
    fair_columns,
    index_of,
    is_filled,
    parameter_table,
    rounds,
    strata_table,
    table_frame,
)
from problog4fairness.beliefs.templates.features.measurement_model import LEAST_ROWS, MEANINGS, finite
from problog4fairness.data import column_of, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Parameter, required_samples

if TYPE_CHECKING:
    from problog4fairness.beliefs.templates.features.numeric import NumericMeasurementBias

# Before anything is known: chance adds half as much to recorded values as people differ.
GUESS = 0.5
# What the width of intervals depends on.
CHANCE = ("noise", "spread")
BOTH_SIDES = (-math.inf, math.inf)


class _Known(NamedTuple):
    """What is known of a feature in one group: chance and people's spread, and from how many rows."""

    feature: str
    group: int
    noise: float
    spread: float
    factor: float
    rows: int

    def half(self, confidence: float) -> float:
        """Half the width of the interval of the factor, and of the shift of an average value as a share of the spread.

        For one row where none is audited yet.
        """
        rows = max(self.rows, 1)
        reach = float(t.ppf((1 + confidence) / 2, rows - 2) if rows > 2 else norm.ppf((1 + confidence) / 2))
        return reach * self.noise / (self.spread * math.sqrt(max(rows - 1, 1)))


def plan_numbers(
    belief: NumericMeasurementBias,
    table: Any,
    *,
    fair: str | Sequence[str] | Mapping[str, str],
    error: float,
    confidence: float,
    pilot: Any,
) -> AuditPlan:
    """See :meth:`NumericMeasurementBias.plan_audit`."""
    required_samples(error, confidence)  # raises where the two are no numbers to plan for
    drawn = _drawn(belief, table)
    columns = fair_columns(fair, belief.features)
    before = None if pilot is None or DESIGN not in pilot.columns else Sheet.of(to_frame(pilot), drawn, "neyman")
    if pilot is not None and before is None:
        raise P4FError("the pilot was not drawn by this plan; pass what its draw(...) gave, filled in")
    guessed = belief.by_group()
    stated = all(
        parameter.value is not None for group in guessed.values() for kind, parameter in group.items() if kind in CHANCE
    )
    known = [_guess(feature, level, parameters, belief, drawn) for (feature, level), parameters in guessed.items()]
    rows = np.zeros(len(drawn.sizes))
    audit = None if before is None else _audited(belief, before.frame, columns)
    if audit is not None:
        groups = belief.variable.positions(audit).astype(np.int64)
        rows = np.bincount(groups, minlength=len(rows)).astype(np.float64)
        column = dict(zip(belief.features, columns, strict=True))
        known = [
            _estimated(parameter, audit[groups == parameter.group], column[parameter.feature]) for parameter in known
        ]
    halves = np.array([parameter.half(confidence) for parameter in known])
    audited = np.array([parameter.rows for parameter in known])
    wanted = np.zeros(len(rows))
    np.maximum.at(wanted, [parameter.group for parameter in known], halves**2 * np.maximum(audited, 1) / error**2)
    halves = np.where(audited > 0, halves, np.nan)
    finished = bool((halves <= error).all())
    acting = np.isin(np.arange(len(rows)), belief.affected)
    least = np.minimum(np.where(acting & (not stated), PILOT, 0), drawn.sizes)
    now, in_all = rounds(rows, wanted, least, drawn.sizes, stated, finished)
    parameters = [
        line for each, half in zip(known, halves.tolist(), strict=True) for line in _lines(belief, each, half)
    ]
    halves = halves.repeat(2)
    return AuditPlan(
        "neyman",
        error,
        confidence,
        parameter_table(parameters, halves, halves <= error),
        strata_table(drawn, rows, before, now, in_all),
        None,
        tuple(_notes(belief, guessed=not (rows.any() or stated))),
        drawn,
        before,
        columns,
    )


def _drawn(belief: NumericMeasurementBias, table: Any) -> SamplingFrame:
    """The rows of a table by group, whatever was recorded."""
    frame = table_frame(table)
    for name in belief.features:
        column_of(frame, name, "the recorded values")
    groups, words = audit_groups(belief, frame)
    unknown = frame[list(belief.features)].isna().any(axis=1).to_numpy()
    return SamplingFrame(frame, Strata(words, (), (), ()), np.where(unknown, -1, groups), index_of(table))


def _guess(
    feature: str, group: int, parameters: Mapping[str, Parameter], belief: NumericMeasurementBias, drawn: SamplingFrame
) -> _Known:
    """What is stated of noise and spread, or a guess by how recorded values differ."""
    recorded = finite(drawn.frame[feature][drawn.codes == group], f"feature {feature!r}")
    if len(recorded) < LEAST_ROWS or np.ptp(recorded) == 0:
        where = belief.variable.group_text(group)
        raise P4FError(f"{len(recorded)} rows with different {feature} have {where}; there is nothing to draw from")
    stated = {kind: parameter.value for kind, parameter in parameters.items() if parameter.value is not None}
    spread = stated.get("spread", float(recorded.std()))
    return _Known(feature, group, stated.get("noise", GUESS * spread), spread, stated.get("factor", 1.0), 0)


def _audited(belief: NumericMeasurementBias, frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame | None:
    """The rows of earlier rounds that are filled in; None without any."""
    if not np.all([is_filled(frame[name]) for name in columns], axis=0).any():
        return None
    rows = Audit.of(frame, fair=columns).frame
    return rows.assign(**{name: pd.to_numeric(rows[name], errors="coerce") for name in (*belief.features, *columns)})


def _estimated(guess: _Known, rows: pd.DataFrame, column: str) -> _Known:
    """Noise and spread of a group with enough audited rows; the guess for others."""
    if len(rows) < LEAST_ROWS:
        return guess
    fair, recorded = (
        finite(rows[column], f"column {column!r}"),
        finite(rows[guess.feature], f"feature {guess.feature!r}"),
    )
    slope, shift = np.polyfit(fair, recorded, 1) if np.ptp(fair) > 0 else (1.0, 0.0)
    noise = math.sqrt(float(((recorded - slope * fair - shift) ** 2).sum()) / (len(rows) - 2))
    spread = float(fair.std(ddof=1)) or guess.spread
    return guess._replace(noise=noise, spread=spread, factor=float(slope), rows=len(rows))


def _lines(belief: NumericMeasurementBias, known: _Known, half: float) -> list[Parameter]:
    """The table's lines about factor and shift."""
    group, feature = belief.variable.group_text(known.group), known.feature
    inside = f"({belief.names[feature]},{belief.variable.levels[known.group]})"
    factor = Parameter(f"factor{inside}", MEANINGS["factor"].format(feature=feature, group=group), bounds=BOTH_SIDES)
    if known.rows:
        factor = replace(factor, value=known.factor, low=known.factor - half, high=known.factor + half)
    moved = f"by which an average fair {feature} is moved where {group}, in its deviations"
    return [factor, Parameter(f"shift{inside}", moved)]


def _notes(belief: NumericMeasurementBias, guessed: bool) -> list[str]:
    notes = [
        "rows of a group are drawn at random; factors are to be known within the error, and how far an average value "
        "is moved within that part of the standard deviation of fair values"
    ]
    levels = range(len(belief.variable.levels))
    untouched = [belief.variable.group_text(level) for level in levels if level not in belief.affected]
    if untouched:
        notes.append(f"numbers are recorded as they are, says the belief, for {'; '.join(untouched)}: no rows of these")
    if guessed:
        notes.append("guessed: chance adds half as much to recorded values as people differ")
    return notes
