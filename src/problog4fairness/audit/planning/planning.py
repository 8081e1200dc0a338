"""Planning an audit for a belief: which kinds of rows tell its parameters, and how many of each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.audit.estimation.stratified import Design, Target
from problog4fairness.audit.planning.allocation import imagined_rows, next_round, wanted_rows
from problog4fairness.audit.planning.plan import DESIGNS, AuditPlan, Hoeffding, hoeffding_of_table
from problog4fairness.audit.reading import AuditWarning
from problog4fairness.audit.sheet import DESIGN, Sheet, is_filled
from problog4fairness.audit.strata import (
    LABEL,
    NoStrataError,
    SamplingFrame,
    Strata,
    index_of,
    label_strata,
    ruled_out,
    sampling_frame,
    table_frame,
)
from problog4fairness.data import Codes, FileWarning, Floats, Rows, TableError, label_codes, plain, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Cell, Parameter, probabilities, required_samples

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief

# Rows of each stratum in a first round, and of each that only tests what the belief rules out.
PILOT, TEST = 15, 10


def plan_audit(
    belief: Belief,
    table: Any,
    *,
    recorded: str | None,
    fair: str | Sequence[str] | Mapping[str, str],
    error: float,
    confidence: float,
    pilot: Any,
    design: str,
    favourable: Any,
) -> AuditPlan:
    """See :meth:`Belief.plan_audit`."""
    required_samples(error, confidence)  # raises where the two are no numbers to plan for
    if design not in DESIGNS:
        raise P4FError(f"design must be one of {', '.join(map(repr, DESIGNS))}, not {design!r}")
    notes: list[str] = []
    try:
        drawn = sampling_frame(belief, table, recorded, favourable)
    except NoStrataError as reason:
        notes.append(f"{reason}: rows are drawn from everybody, by Hoeffding's inequality")
        drawn, design = _everybody(belief, table, recorded, favourable), "random"
    drawn = replace(drawn, index=index_of(table))
    columns = fair_columns(fair, drawn.strata.columns)
    paper = _paper_plan(drawn, error, confidence, quiet=design == "neyman")
    if design != "neyman":
        return _random_plan(belief, drawn, paper, design, pilot, columns, notes)
    before, audit = _audited(belief, drawn, pilot, columns)
    targets = _targets(belief, audit, drawn.strata, notes)
    imagined = imagined_rows(belief, audit, _known_values(belief, pilot, before, recorded, fair, notes))
    known = [
        Parameter(target.name, target.meaning, confidence=confidence).estimated(audit.estimate(target, confidence))
        for target in targets
    ]
    halves, rows, parts = _halves(known), audit.rows, belief.audit_rules.parts
    # Parts that are found in the rows each have a share of them: over all rows, intervals must be so much narrower.
    wanted = wanted_rows(targets, audit.counts, imagined.rows, audit.sizes, halves, error / parts**0.5, confidence)
    active = np.isin(np.arange(len(rows)), np.concatenate([target.used for target in targets]))
    if parts > 1:
        notes.append(f"rows of all days are sampled alike; each period is to be known within {error:g}")
    finished = bool((halves <= error).all())
    if audit.things == (LABEL,) and not belief.audit_rules.counted:
        estimated, apart = _estimated(belief, before, drawn, recorded, columns, favourable, confidence)
        if apart:
            notes.append(f"no audit can tell {', '.join(apart)} apart; their combined effect is planned for")
        if estimated:
            known = [*(known if apart else []), *estimated]
            halves = _halves(known)
        finished = bool((halves <= error).all()) and (bool(estimated) or parts == 1)
        wanted = np.where(active, np.maximum(wanted, rows * (halves / error).max(initial=1) ** 2), wanted)
    least = np.minimum(np.where(active, 0 if imagined.stated else PILOT * parts, TEST), audit.sizes)
    now, in_all = rounds(rows, wanted, least, audit.sizes, imagined.stated, finished)
    few = [drawn.strata.names[stratum] for stratum in audit.ruled if audit.sizes[stratum] > 0]
    if few:
        notes.append(f"what was recorded is fair, says the belief, for {'; '.join(few)}: {TEST} rows of each test that")
    if unknown := int((drawn.codes < 0).sum()):
        notes.append(f"{unknown:,} rows have no group or nothing on record; they are not drawn")
    return AuditPlan(
        "neyman",
        error,
        confidence,
        parameter_table(known, halves, (halves <= error) & (finished or parts == 1)),
        strata_table(drawn, rows, before, now, in_all),
        paper,
        tuple(notes if rows.any() else [*notes, imagined.note]),
        drawn,
        before,
        columns,
    )


def rounds(
    rows: Floats, wanted: Floats, least: Floats, sizes: Any, stated: bool, finished: bool
) -> tuple[Floats, Floats]:
    """``[strata]``: the rows of the next round, and those that the whole audit is expected to take.

    Parameters
    ----------
    rows, wanted, sizes
        Rows audited so far, expected to be enough, and in the table.
    least
        Rows that every stratum gets at once.
    stated
        Whether values are stated, so that no pilot round is needed.
    finished
        Whether every parameter is known well enough.
    """
    if finished:
        return np.zeros_like(rows), rows
    now = least if not rows.any() and not stated else next_round(wanted, rows, least)
    return np.asarray(now), np.clip(np.ceil(wanted), np.maximum(least, rows), sizes)


def _random_plan(
    belief: Belief,
    drawn: SamplingFrame,
    paper: Hoeffding,
    design: str,
    pilot: Any,
    columns: tuple[str, ...],
    notes: Sequence[str],
) -> AuditPlan:
    """The paper's plan: drawn from each group, or from everybody, whatever was recorded."""
    groups = np.where(drawn.codes >= 0, drawn.codes // max(1, len(drawn.strata.names) // drawn.strata.shape[0]), -1)
    words = drawn.strata.groups
    if design == "random":
        groups, words = np.minimum(groups, 0), ("everybody",)
    coarse = SamplingFrame(drawn.frame, Strata(words, (), (), ()), groups, drawn.index)
    wanted = np.array([paper.simple]) if design == "random" else paper.groups["to_draw"].to_numpy(dtype=np.float64)
    before = None if pilot is None else Sheet.of(to_frame(pilot), coarse, design)
    filled = np.zeros(len(words))
    if before is not None:
        codes = np.stack(
            [_fair_codes(before.frame, *column) for column in zip(columns, drawn.strata.values, strict=True)]
        )
        filled = np.bincount(groups[before.places][(codes >= 0).all(axis=0)], minlength=len(words)).astype(np.float64)
    wanted = np.minimum(wanted, coarse.sizes)
    done = bool((filled >= wanted).all())
    unknown = [
        Parameter(parameter.name, parameter.meaning, None, 0.0, 1.0, 0)
        for parameter in probabilities(belief.parameters)
    ]
    return AuditPlan(
        "hoeffding" if design == "hoeffding" else "random",
        paper.error,
        paper.confidence,
        parameter_table(unknown, _halves(unknown), done),
        strata_table(coarse, filled, before, np.maximum(wanted - filled, 0), np.maximum(wanted, filled)),
        paper,
        (*notes, f"assumed: {paper.assumed}"),
        coarse,
        before,
        columns,
    )


def _everybody(belief: Belief, table: Any, recorded: str | None, favourable: Any) -> SamplingFrame:
    """All rows as one group, by what was recorded."""
    if belief.record.gaps or belief.columns.recorded or recorded is None:
        frame = table_frame(table)
        strata = Strata(("everybody",), ("recorded",), (("",),), (LABEL,))
        return SamplingFrame(frame, strata, np.zeros(len(frame), dtype=np.int64))
    return label_strata(belief, table, recorded, favourable, divided=False)


def fair_columns(fair: str | Sequence[str] | Mapping[str, str], recorded: Sequence[str]) -> tuple[str, ...]:
    """The columns to fill in, one for each recorded one."""
    if isinstance(fair, str):
        return (fair,) if len(recorded) == 1 else tuple(f"{fair}_{name}" for name in recorded)
    names = [fair.get(name, "") for name in recorded] if isinstance(fair, Mapping) else list(fair)
    if len(names) != len(recorded) or "" in names:
        raise P4FError(f"fair must name one column for each of {', '.join(recorded)}, not {list(filter(None, names))}")
    return tuple(names)


def _paper_plan(drawn: SamplingFrame, error: float, confidence: float, quiet: bool) -> Hoeffding:
    """The paper's plan for the same table; warns of the rows that it lacks only where it is the plan."""
    strata, sizes = drawn.strata, drawn.sizes.reshape(len(drawn.strata.groups), -1)
    labels = strata.values[0] if len(strata.values) == 1 else [name.split(", ", 1)[1] for name in strata.names]
    occurring = sizes.sum(axis=1) > (0 if quiet else -1)
    groups = [name for name, occurs in zip(strata.groups, occurring, strict=True) if occurs]
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", FileWarning)
        return hoeffding_of_table(error, confidence, groups, labels[: sizes.shape[1]], sizes[occurring])


def _audited(belief: Belief, drawn: SamplingFrame, pilot: Any, columns: tuple[str, ...]) -> tuple[Sheet | None, Design]:
    """The rows that were drawn before, and what is filled in; another audit's rows are not of this plan."""
    strata = drawn.strata
    ruled = ruled_out(belief, strata.shape)
    if pilot is None or DESIGN not in pilot.columns:
        nothing = np.zeros(0, dtype=np.int64)
        return None, Design.of(strata, drawn.sizes, nothing, [nothing] * len(columns), ruled)
    before = Sheet.of(to_frame(pilot), drawn, "neyman")
    codes = [_fair_codes(before.frame, *column) for column in zip(columns, strata.values, strict=True)]
    filled = np.all([code >= 0 for code in codes], axis=0)
    places = drawn.codes[before.places][filled]
    return before, Design.of(strata, drawn.sizes, places, [code[filled] for code in codes], ruled)


def _fair_codes(frame: pd.DataFrame, column: str, values: Sequence[str]) -> Codes:
    """What was filled in, by position; -1 where nothing was."""
    if column not in frame.columns:
        raise TableError(f"the rows that were drawn have no column {column!r} to fill in; name it by fair=...")
    texts = frame[column].map(lambda value: str(plain(value)), na_action="ignore")
    texts = texts.astype(object).where(is_filled(texts), None)
    return label_codes(texts.to_numpy(dtype=object), values, f"column {column!r}", missing=True)


def _targets(belief: Belief, audit: Design, strata: Strata, notes: list[str]) -> list[Target]:
    """What is to be known: the parameters, or where these have no cells, P(recorded | fair, group)."""
    rules = belief.audit_rules
    if audit.things != (LABEL,) or rules.counted:
        targets = audit.targets(probabilities(belief.parameters))
    else:
        notes.append("its parameters are not counted one by one: the plan is for P(recorded | fair, group)")
        label, (groups, classes) = strata.values[0], strata.shape
        targets = [
            audit.target(Cell(group, fair, recorded), f"P({label[recorded]}|{label[fair]})", strata.groups[group])
            for group, fair, recorded in np.ndindex(groups, classes, classes)
            if fair != recorded and rules.acts(group, fair, recorded)
        ]
    targets = [target for target in targets if len(target.used)]
    if not targets:
        raise P4FError("the belief has no parameter that rows of this table could tell of; there is nothing to audit")
    return targets


def _estimated(
    belief: Belief,
    before: Sheet | None,
    drawn: SamplingFrame,
    recorded: str | None,
    columns: tuple[str, ...],
    favourable: Any,
    confidence: float,
) -> tuple[list[Parameter], list[str]]:
    """Parameters that are not counted one by one, and the names of those that no number of rows could tell apart."""
    if before is None or recorded is None:
        return [], []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AuditWarning)
            estimated = belief.estimate(
                before.frame, recorded=recorded, fair=columns[0], favourable=favourable, confidence=confidence
            )
    except P4FError:  # too few rows for that
        return [], []
    occurring = estimated.audit_rules.occurring(probabilities(estimated.parameters), Rows(drawn.frame, ()))
    known = [parameter for parameter in occurring if None not in (parameter.value, parameter.low, parameter.high)]
    apart = [
        parameter.name
        for parameter in known
        if parameter.information is not None and parameter.rows and (parameter.low, parameter.high) == (0, 1)
    ]
    return [parameter for parameter in known if parameter.name not in apart], apart


def _known_values(
    belief: Belief, pilot: Any, before: Sheet | None, recorded: str | None, fair: Any, notes: list[str]
) -> Mapping[str, float]:
    """Values of parameters that the belief states, or that another audit showed."""
    known = [belief]
    if pilot is not None and before is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AuditWarning)
            columns: Any = recorded or list(belief.features)
            known.append(belief.estimate(pilot, recorded=columns, fair=fair))
        notes.append("the pilot was not drawn by this plan: it guides the plan, but its rows do not count")
    return {
        parameter.name: parameter.value
        for each in known
        for parameter in probabilities(each.parameters)
        if parameter.value is not None
    }


def _halves(parameters: Sequence[Parameter]) -> Floats:
    """Half the widths of their intervals."""
    return np.array([((parameter.high or 0.0) - (parameter.low or 0.0)) / 2 for parameter in parameters])


def parameter_table(parameters: Sequence[Parameter], halves: Floats, done: Any) -> pd.DataFrame:
    """What is to be known, with half the width of each interval, and whether it is known well enough."""
    columns = {name: [getattr(parameter, name) for parameter in parameters] for name in ("value", "low", "high")}
    index = pd.Index([parameter.name for parameter in parameters], name="parameter")
    frame = pd.DataFrame(columns, index, dtype=np.float64).assign(half_width=halves, done=done)
    return frame.astype({"done": bool}).assign(meaning=[parameter.meaning for parameter in parameters])


def strata_table(drawn: SamplingFrame, rows: Floats, before: Sheet | None, now: Floats, in_all: Floats) -> pd.DataFrame:
    """The strata of a plan with their rows: audited, open, to draw now, and in all."""
    sizes = drawn.sizes
    taken = np.zeros(len(sizes)) if before is None else np.bincount(drawn.codes[before.places], minlength=len(sizes))
    opened = taken - rows
    counts = {
        "rows": sizes,
        "audited": rows,
        "open": opened,
        "to_draw": np.clip(now - opened, 0, sizes - taken),
        "in_all": np.minimum(in_all, sizes),
    }
    return drawn.strata.table().assign(**{name: np.asarray(count).astype(np.int64) for name, count in counts.items()})
