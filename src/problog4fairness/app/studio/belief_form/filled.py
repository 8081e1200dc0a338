"""What a person would have filled in for a belief, so that its form can be shown."""

from __future__ import annotations

from typing import Any

from problog4fairness.beliefs import (
    NEGATIVE,
    POSITIVE,
    Annotators,
    Belief,
    Chain,
    ChangedBias,
    ClassBias,
    HistoricalBias,
    LabelBias,
    MeasurementBias,
    NumericMeasurementBias,
    PositiveUnlabelled,
    RowBias,
    SelectiveLabels,
    UnknownGroup,
)
from problog4fairness.data import Category, Score

PROGRAM = "program"


def same_but_numbers(made: Belief, belief: Belief) -> bool:
    """Whether a form made this belief, apart from its numbers and what an audit found of scores and days."""
    if isinstance(made, RowBias) and type(made) is type(belief):
        return _settings(made) == _settings(belief)
    return made.unknown().text() == belief.unknown().text()


def _settings(belief: RowBias) -> tuple[Any, ...]:
    """What a form says of a bias that depends on the row: of whom, which way, and by which values and columns."""
    said = [None if isinstance(own, Score) else (own.columns, own.levels) for own in belief.variables]
    reads = {change: {said[place] for place in places} - {None} for change, places in belief.reads.items()}
    return belief.variable, belief.affected, reads, set(belief.other_columns)


def filled_in(belief: Belief) -> dict[str, Any]:
    """What a person would have filled in for this belief; :meth:`.Form.of` finds out whether it is the same."""
    if isinstance(belief, LabelBias):
        mistakes = any(own.cell is None for own in belief.parameters)
        return {"kind": "label", "mistakes": mistakes, **_acting(belief, belief.affected)}
    if isinstance(belief, RowBias):
        return _of_rows(belief)
    if isinstance(belief, NumericMeasurementBias):
        ways = {kind for parameters in belief.by_group().values() for kind in parameters}
        said: dict[str, Any] = {"stretched": "factor" in ways, "moved": "shift" in ways, "blurred": "noise" in ways}
        return {"kind": "numeric", "numbers": list(belief.features), **said, "only_group": belief.affected == (1,)}
    if isinstance(belief, ClassBias):
        return {"kind": "label", "only_group": belief.affected == (1,)}
    if isinstance(belief, MeasurementBias):
        said = {"features": list(belief.features), "joint": bool(belief.joint)}
        return {"kind": "measurement", **said, **_acting(belief, belief.affected)}
    if isinstance(belief, HistoricalBias):
        return {**filled_in(belief.measurement), "kind": "historical", "label_too": belief.label is not None}
    if isinstance(belief, Chain) and isinstance(belief.measurement, MeasurementBias):
        return {**filled_in(belief.measurement), "label_too": True}
    if isinstance(belief, Chain) and isinstance(belief.stages[0], LabelBias):
        others = [stage.variable.columns[0] for stage in belief.stages[1:]]
        return {**filled_in(belief.stages[0]), "also_by": others}
    if isinstance(belief, SelectiveLabels):
        said = {"decided_by": next(iter(belief.other_columns), None), "accepted_only": belief.kept == "accepted"}
        return {"kind": "selective", **said}
    if isinstance(belief, PositiveUnlabelled):
        return {"kind": "positive-unlabelled", "by": list(belief.other_columns)}
    if isinstance(belief, Annotators):
        columns = list(belief.recorded_columns)
        return {"kind": "annotators", "annotators": columns, "by_group": bool(belief.variables)}
    if isinstance(belief, UnknownGroup):
        proxies = [own.columns[0] for own in belief.proxies]
        return {"kind": "unknown", "proxies": proxies, "label_too": isinstance(belief.belief, LabelBias | ClassBias)}
    return {"kind": PROGRAM}


def _of_rows(belief: RowBias) -> dict[str, Any]:
    named = [own.columns[0] for own in belief.variables[1:] if isinstance(own, Category)]
    scores = [name for own in belief.variables[1:] if isinstance(own, Score) for name in own.columns]
    waiting = [name for own in belief.open.values() for name in own.model]
    ways = {"lost": NEGATIVE in belief.reads, "given": POSITIVE in belief.reads, "only_group": belief.affected == (1,)}
    said: dict[str, Any] = {"row_by": named, "model": list(dict.fromkeys([*scores, *waiting])), **ways}
    if not isinstance(belief, ChangedBias):
        return {"kind": "row", **said}
    days = belief.period.changes if belief.found is None else ()
    return {"kind": "changed", "when": belief.period.columns[0], "changed": ", ".join(days), **said}


def _acting(belief: Belief, groups: tuple[int, ...]) -> dict[str, Any]:
    """Which way it distorts, and whom."""
    fair = {bool(own.cell.fair) for own in belief.parameters if own.cell is not None}
    return {"lost": True in fair, "given": False in fair, "only_group": groups == (1,)}
