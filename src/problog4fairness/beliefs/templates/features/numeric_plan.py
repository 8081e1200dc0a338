"""Planning an audit of numbers: how many rows of each group until the line from fair to recorded values is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from problog4fairness.audit import (
    DESIGN,
    PILOT,
    AuditPlan,
    Drawn,
    Strata,
    Todo,
    audit_groups,
    filled,
    index_of,
    is_filled,
    next_round,
    strata_table,
    with_groups,
)
from problog4fairness.beliefs.templates.features.measurement_model import LEAST_ROWS, finite
from problog4fairness.data import Rows, to_frame
from problog4fairness.errors import P4FError, among
from problog4fairness.statistics import required_samples

if TYPE_CHECKING:
    from problog4fairness.beliefs.templates.features.numeric import NumericMeasurementBias

# Before anything is known: chance adds half as much to recorded values as people differ.
GUESS = 0.5


class _Known(NamedTuple):
    """What is known of a feature in one group: chance and people's spread, and from how many rows."""

    feature: str
    group: int
    noise: float
    spread: float
    factor: float
    rows: int


def plan_numbers(
    belief: NumericMeasurementBias,
    table: Any,
    *,
    fair: str | Sequence[str] | Mapping[str, str],
    error: float,
    confidence: float,
    pilot: Any,
    guesses: Mapping[str, float] | None,
    sensitive_features: Any,
) -> AuditPlan:
    """See :meth:`NumericMeasurementBias.plan_audit`."""
    required_samples(error, confidence)  # raises where the two are no numbers to plan for
    drawn = _drawn(belief, table, sensitive_features)
    columns = _columns(belief, fair)
    before = None if pilot is None or DESIGN not in pilot.columns else Todo.of(to_frame(pilot), drawn, "neyman")
    if pilot is not None and before is None:
        raise P4FError("the pilot was not drawn by this plan; pass what its draw(...) gave, filled in")
    known = belief if not guesses else belief.bind(guesses)
    stated = all(own.value is not None for own in known.amounts if own.measure in ("noise", "spread"))
    rows, found = np.zeros(len(drawn.sizes)), _guessed(known, drawn)
    if before is not None and (told := _audited(belief, before.frame, columns)) is not None:
        rows = np.bincount(belief.variable.positions(told).astype(np.int64), minlength=len(rows)).astype(np.float64)
        found = _estimated(belief, told, columns, rows, found)
    wanted, targets = np.zeros(len(rows)), []
    for own in found:
        half = _half(own, max(own.rows, 1), confidence)
        wanted[own.group] = max(wanted[own.group], half**2 * max(own.rows, 1) / error**2)
        targets.append((own, half if own.rows else math.nan))
    acting = np.isin(np.arange(len(rows)), belief.affected)
    finished = all(half <= error for _, half in targets)
    least = np.minimum(np.where(acting, 0 if stated else PILOT, 0), drawn.sizes)
    first = not rows.any() and not stated
    now = np.zeros_like(rows) if finished else least if first else next_round(wanted, rows, least)
    in_all = rows if finished else np.clip(np.ceil(wanted), np.maximum(least, rows), drawn.sizes)
    return AuditPlan(
        "neyman",
        error,
        confidence,
        _parameter_table(belief, targets, error),
        strata_table(drawn, rows, before, now, in_all),
        None,
        tuple(_notes(belief, rows.any() or stated)),
        drawn,
        before,
        columns,
    )


def _drawn(belief: NumericMeasurementBias, table: Any, sensitive_features: Any) -> Drawn:
    """The rows of a table by group, whatever was recorded."""
    frame = table.frame if isinstance(table, Rows) else with_groups(belief, table, sensitive_features)
    for name in belief.features:
        if name not in frame.columns:
            raise P4FError(f"no column {name!r} for a recorded number; {among(name, frame.columns)}")
    groups, words = audit_groups(belief, frame)
    unknown = frame[list(belief.features)].isna().any(axis=1).to_numpy()
    return Drawn(frame, Strata(words, (), (), ()), np.where(unknown, -1, groups), index_of(table))


def _columns(belief: NumericMeasurementBias, fair: str | Sequence[str] | Mapping[str, str]) -> tuple[str, ...]:
    """The columns to fill in, one for each feature."""
    if isinstance(fair, str):
        return (fair,) if len(belief.features) == 1 else tuple(f"{fair}_{name}" for name in belief.features)
    names = [fair.get(name, "") for name in belief.features] if isinstance(fair, Mapping) else list(fair)
    if len(names) != len(belief.features) or "" in names:
        raise P4FError(f"fair names one column for each of {', '.join(belief.features)}")
    return tuple(names)


def _guessed(belief: NumericMeasurementBias, drawn: Drawn) -> list[_Known]:
    """What is stated of noise and spread, or a guess by how recorded values differ."""
    found = []
    for feature in belief.features:
        recorded = drawn.frame[feature]
        for group in belief.affected:
            own = finite(recorded[drawn.codes == group], f"feature {feature!r}")
            if len(own) < LEAST_ROWS or np.ptp(own) == 0:
                where = belief.variable.group_text(group)
                raise P4FError(f"{len(own)} rows with different {feature} have {where}; there is nothing to draw from")
            said = {
                amount.measure: amount.value
                for amount in belief.amounts
                if (amount.feature, amount.group) == (feature, group) and amount.value is not None
            }
            spread, factor = said.get("spread", float(own.std())), said.get("factor", 1.0)
            found.append(_Known(feature, group, said.get("noise", GUESS * spread), spread, factor, 0))
    return found


def _audited(belief: NumericMeasurementBias, frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame | None:
    """The rows of earlier rounds that are filled in; None without any."""
    if not np.all([is_filled(frame[name]) for name in columns], axis=0).any():
        return None
    found: pd.DataFrame = filled(frame, None, *columns)
    return found.assign(**{name: pd.to_numeric(found[name], errors="coerce") for name in (*belief.features, *columns)})


def _estimated(
    belief: NumericMeasurementBias, told: pd.DataFrame, columns: tuple[str, ...], rows: Any, guessed: Sequence[_Known]
) -> list[_Known]:
    """Noise and spread of groups with enough audited rows; the guess for others."""
    found = []
    for own in guessed:
        place = belief.features.index(own.feature)
        here = told[belief.variable.positions(told) == own.group]
        if len(here) < LEAST_ROWS:
            found.append(own)
            continue
        fair = finite(here[columns[place]], f"column {columns[place]!r}")
        recorded = finite(here[own.feature], f"feature {own.feature!r}")
        slope, shift = np.polyfit(fair, recorded, 1) if np.ptp(fair) > 0 else (1.0, 0.0)
        noise = math.sqrt(float(((recorded - slope * fair - shift) ** 2).sum()) / (len(here) - 2))
        spread = float(fair.std(ddof=1)) or own.spread
        found.append(_Known(own.feature, own.group, noise, spread, float(slope), int(rows[own.group])))
    return found


def _half(own: _Known, rows: int, confidence: float) -> float:
    """Half the width of the interval of the factor, and of the shift of an average value as a share of the spread."""
    from scipy.stats import norm, t

    reach = float(t.ppf((1 + confidence) / 2, rows - 2) if own.rows > 2 else norm.ppf((1 + confidence) / 2))
    return reach * own.noise / (own.spread * math.sqrt(max(rows - 1, 1)))


def _parameter_table(
    belief: NumericMeasurementBias, targets: Sequence[tuple[_Known, float]], error: float
) -> pd.DataFrame:
    names = belief.names
    lines = []
    for own, half in targets:
        group = belief.variable.group_text(own.group)
        level = belief.variable.levels[own.group]
        for measure, meaning in (
            ("factor", f"by which the fair {own.feature} is multiplied where {group}"),
            ("shift", f"by which an average fair {own.feature} is moved where {group}, in its deviations"),
        ):
            value = own.factor if measure == "factor" and own.rows else math.nan
            lines.append(
                {
                    "parameter": f"{measure}({names[own.feature]},{level})",
                    "value": value,
                    "low": value - half,
                    "high": value + half,
                    "half_width": half,
                    "done": bool(half <= error),
                    "meaning": meaning,
                }
            )
    return pd.DataFrame(lines).set_index("parameter")


def _notes(belief: NumericMeasurementBias, known: Any) -> list[str]:
    found = [
        "rows of a group are drawn at random; factors are to be known within the error, and how far an average value "
        "is moved within that part of the standard deviation of fair values"
    ]
    untouched = [belief.variable.group_text(own) for own in range(len(belief.variable.levels))]
    untouched = [name for number, name in enumerate(untouched) if number not in belief.affected]
    if untouched:
        found.append(f"numbers are recorded as they are, says the belief, for {'; '.join(untouched)}: no rows of these")
    if not known:
        found.append("guessed: chance adds half as much to recorded values as people differ")
    return found
