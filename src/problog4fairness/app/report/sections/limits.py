"""What a reader must know before relying on a report: warnings about this belief and these data, and limits of any."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from problog4fairness.app.report.facts import Facts
from problog4fairness.audit import FEW_ROWS, LITTLE_SIGNAL, group_signal, planned_error
from problog4fairness.beliefs import NoBias
from problog4fairness.estimators import predicts_from
from problog4fairness.statistics import Parameter, count, percent

# An interval as wide as this says nothing.
NO_IDEA = 0.9
FEW_IN_GROUP = 100


def warnings_of(facts: Facts) -> list[str]:
    """Warnings about this belief and these data."""
    belief = facts.belief
    if belief == NoBias():
        return ["The model has no belief about bias. It repeats the recorded labels, whatever is wrong with them."]
    error = planned_error(facts.sample)
    warnings = [
        doubt for parameter in facts.parameters if (doubt := _parameter_doubt(parameter, belief.overlap, error))
    ]
    stated = [
        parameter.called for parameter in facts.parameters if parameter.value is not None and parameter.rows is None
    ]
    if stated:
        warnings.append(
            f"{', '.join(stated)} {'was' if len(stated) == 1 else 'were'} stated, not estimated from audited rows: "
            f"no interval says how sure {'it is' if len(stated) == 1 else 'they are'}."
        )
    warnings += _little_signal(facts)
    for division in facts.divisions:
        warnings += _few(division.changes, division.audited)
    if facts.sample is not None and facts.sample.sampling == "unknown":
        warnings.append(
            "Nothing says how the audited rows were sampled; they are taken as a random sample. Keep the columns that "
            "p4f plan wrote, or state the design: p4f.Audit.of(...)."
        )
    if facts.audit is None:
        warnings.append(
            "No audited rows were given for this report, so nothing here says how often the model is right. "
            "Audit some rows at random, and compare."
        )
    return warnings


def _few(changes: pd.DataFrame, audited: pd.DataFrame | None) -> list[str]:
    """Groups with few rows in the data, or in the audit."""
    small = changes[(changes["rows"] < FEW_IN_GROUP) & (changes.index != "all")]
    warnings = [
        f"The data have only {count(row.rows, 'row')} with {group}; numbers for that group are rough."
        for group, row in small.iterrows()
    ]
    if audited is not None:
        few = audited[(audited["rows"] < FEW_ROWS) & (audited.index != "all")]
        warnings += [
            f"Only {count(row.rows, 'audited row')} with {group}: accuracy for that group is hardly known."
            for group, row in few.iterrows()
        ]
    return warnings


def _parameter_doubt(parameter: Parameter, overlap: bool, error: float) -> str | None:
    if parameter.value is None or parameter.rows is None or parameter.low is None or parameter.high is None:
        return None
    needed = parameter.still_needed(error)
    more = f" Audit {count(needed, 'more row')} like these." if needed else ""
    if parameter.high - parameter.low > NO_IDEA:
        why = "Another parameter may explain the same errors. " if overlap else ""
        way_out = "State a value, or rule it out."
        return f"The audited rows do not tell {parameter.description}. {why}{way_out}"
    if parameter.rows < FEW_ROWS:
        return f"Only {count(parameter.rows, 'audited row')} tell about {parameter.description}.{more}"
    if parameter.is_wide(error):
        subject = (
            parameter.description[0].upper() + parameter.description[1:]
            if parameter.called != parameter.name
            else parameter.description
        )
        return f"{subject} is known only to lie between {percent(parameter.low)} and {percent(parameter.high)}.{more}"
    return None


def _little_signal(facts: Facts) -> list[str]:
    """The group whose recorded labels say least about the fair ones, where that is little."""
    warnings = group_signal(facts.belief, facts.belief.observe(facts.rows), facts.rows)
    if warnings is None or warnings[0] >= LITTLE_SIGNAL:
        return []
    return [
        f"Where {warnings[1]}, recorded labels carry almost no signal about fair ones (1 − negative − positive = "
        f"{warnings[0]:.2f}): what the model says of that group rests on the others."
    ]


def limits(facts: Facts, notes: Sequence[str] = ()) -> list[str]:
    """What no such report can promise; ``notes`` say how this one was made."""
    return [
        "Recorded data alone can contradict the belief, but they cannot confirm it. A different belief would give a "
        "different model, and both could explain the record equally well. Only audited rows can tell them apart.",
        *_sampled(facts),
        "The fair labels of an audit must be right. What the audit gets wrong, the model repeats.",
        *_seen(facts),
        *_classes(facts),
        *facts.belief.caveats(),
        *_used_twice(facts),
        *notes,
        "Intervals are 95% and speak of chance in the rows, given this model; only those of the comparison speak of "
        "repetitions on the same rows. None of them covers a wrong belief or another population.",
        "Do not use this model for people unlike those in the data, or as the only ground of a decision about "
        "anybody. The list of rows for review holds suspicions, not findings.",
    ]


def _sampled(facts: Facts) -> list[str]:
    """How the audited rows were sampled."""
    if facts.sample is None:
        return []
    warnings = f"The audited rows: {facts.sample.describe()}."
    if facts.sample.sampling == "stratified":
        return [f"{warnings} Numbers from them are estimates for the people that they were sampled from."]
    return [f"{warnings} If they were chosen in another way, numbers from them are wrong for the people in the data."]


def _classes(facts: Facts) -> list[str]:
    """What is told of a label with many classes."""
    label = facts.label
    if len(label.values) == 2:
        return []
    return [
        f"{label.column} has {len(label.values)} classes. A decision is right where it is the fair class; shares, "
        f"differences and kinds of errors are about {label.good} against all others, whichever those are."
    ]


def _seen(facts: Facts) -> list[str]:
    """What the model decides from."""
    belief, columns = facts.belief, ", ".join(facts.belief.sensitive_columns)
    corrects = predicts_from(facts.model) == "biased"
    warnings = []
    if columns and corrects:
        warnings.append(
            f"The model corrects what is on record by {columns} before it predicts. People with the same "
            "other features may get different decisions because of it. Check whether they may."
        )
    elif columns and not facts.model.group_use_.used:
        warnings.append(
            f"The model does not see {columns}: it assumes that people with the same other features "
            "have the same fair label. Other features may still stand in for what it does not see."
        )
    elif columns:
        warnings.append(f"The model sees {columns} and may decide differently by group. Check whether it may.")
    if belief.features and not corrects:
        warnings.append(
            "The model learnt that features are distorted, but it predicts from features as they are given. Here it "
            "was given the recorded ones; decisions from corrected features would be others."
        )
    return warnings


def _used_twice(facts: Facts) -> list[str]:
    """Whether the audited rows served the model before they judged it."""
    if facts.overlap is None:
        return []
    used = []
    if facts.learned and facts.judged:
        used.append(
            f"The model has learned from {count(facts.learned)} of the audited rows; what judges it are predictions of "
            "models that were fitted without them."
        )
    if facts.estimated:
        used.append("The audited rows that judge the model may also have given its parameters.")
    if facts.overlap:
        used.append(f"{count(facts.overlap, 'audited row is', 'audited rows are')} also in the data.")
    return [" ".join([*used, "Accuracy on rows that nobody has used yet can be lower."])] if used else []
