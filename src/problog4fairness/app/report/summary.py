"""What opens a report: a few sentences, warnings about this belief and these data, and limits of any report."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from problog4fairness.app.report.facts import Division, Facts
from problog4fairness.app.report.markup import Content, Markup, bullets, join, tag
from problog4fairness.audit import FEW_ROWS, LITTLE_SIGNAL, group_signal, planned_error
from problog4fairness.beliefs import NoBias
from problog4fairness.estimators import predicts_from
from problog4fairness.evaluation import Comparison
from problog4fairness.statistics import Parameter, count, percent, percent_interval, points_interval

# An interval as wide as this says nothing.
NO_IDEA = 0.9
FEW_IN_GROUP = 100


def summary_section(sentences: Sequence[str]) -> Markup:
    """The summary; its verdict stands out."""
    lines = (tag("p", sentence, class_="verdict" if sentence.startswith("Verdict") else None) for sentence in sentences)
    return tag("div", join(lines, "\n"), class_="summary")


def summary(facts: Facts, compared: Comparison | None = None) -> list[str]:
    """A few sentences with the numbers that matter; the last one is the verdict."""
    first, good = facts.divisions[0], facts.label.good
    if len(first.grouping.groups) < 2:
        everybody = first.changes.loc["all"]
        sentences = [
            f"On record, {percent(everybody.recorded)} of {count(everybody.rows, 'person', 'people')} have {good}; "
            f"the model gives it to {percent(everybody.decided)}."
        ]
    else:
        sentences = [
            f"On record, {_rates(first, 'recorded', f' were given {good}')}",
            _belief_about(facts, first),
            f"This model decides so for {_rates(first, 'decided')}",
            *(_gaps(division) for division in facts.divisions[1:] if len(division.grouping.groups) > 1),
        ]
    return [*sentences, _quality(facts, first.audited), *_record(first.audited), *_verdict(facts, compared)]


def _belief_about(facts: Facts, division: Division) -> str:
    """What the belief says of the group that fares worst on record; what it is, where it says nothing of a group."""
    words = facts.belief.words(facts.label)
    sentences = [sentence for sentence in words[1:] if sentence.startswith("Of the people")]
    worst = f"people with {_extremes(division.changes.drop(index='all')['recorded'])[0]} "
    sentences.sort(key=lambda sentence: worst not in sentence)
    return f"The belief about this gap: {sentences[0][0].lower()}{sentences[0][1:]}" if sentences else words[0]


def _quality(facts: Facts, audited: pd.DataFrame | None) -> str:
    audit = facts.audit
    if audited is None or audit is None:
        return "No audited rows were given, so how often it is right is not known."
    if not audit.judged:
        return (
            f"It has learned from the {count(len(audit.sample), 'audited row')}, too few to be predicted out of fold, "
            "so how often it is right is not known."
        )
    right, groups = audited.loc["all"], audited.drop(index="all")["accuracy"]
    apart = ", ".join(f"{percent(value)} where {group}" for group, value in groups[::-1].items())
    shown = percent_interval(right.accuracy, right.accuracy_low, right.accuracy_high)
    how = "decided by models that were fitted without them" if audit.learned else "decided by it"
    return (
        f"Its decisions, made without the recorded labels, are right for an estimated {shown} of people"
        f"{f': {apart}' if len(groups) > 1 else ''}. That rests on {count(audit.judged, 'audited row')}, {how} "
        f"({audit.sample.describe()})."
    )


def _record(audited: pd.DataFrame | None) -> list[str]:
    """That the record itself is right more often than the model, where it is."""
    if audited is None or "record_right" not in audited.columns:
        return []
    everybody = audited.loc["all"]
    if not everybody.record_right > everybody.accuracy:
        return []
    return [
        f"The record itself is right more often, for {percent(everybody.record_right)} of people: where a decision is "
        "on record, changing it to the model's decision makes more of them wrong. The model is for people without one."
    ]


def _verdict(facts: Facts, compared: Comparison | None) -> list[str]:
    """Whether audited rows alone would do as well, and what is gained over leaving the column out."""
    if compared is None or compared.gains.empty:
        return []
    sentences = []
    alone = compared.gain("audit_only")
    if alone is not None and alone[1].verdict != "better":
        gain = alone[1]
        shown = points_interval(gain.accuracy, gain.accuracy_low, gain.accuracy_high)
        sentences.append(f"Against learning from the audited rows alone: {shown} points of accuracy, {gain.judgement}.")
    compared_with = compared.gain("without_sensitive") or compared.gain("recorded_only")
    if compared_with is not None:
        name, gain = compared_with
        sentence = gain.sentence(len(facts.data), facts.label.good)
        sentences.append(f"Verdict, against a model {name}: {sentence}. {gain.covers}")
    return sentences


def _rates(division: Division, kind: str, got: str = "") -> str:
    """Shares of favourable labels in two groups, and their difference; ``got`` says what the first one got."""
    rates = division.changes.drop(index="all")[kind]
    sensitive, other = _extremes(rates)
    gap = division.disparities.loc[kind]
    lowest, highest = ("", "") if len(rates) == 2 else (f", the lowest rate of {len(rates)} groups,", ", the highest")
    return (
        f"{percent(rates[sensitive])} of people with {sensitive}{lowest}{got} and {percent(rates[other])} of "
        f"people with {other}{highest}: a difference of {points_interval(gap.value, gap.low, gap.high)} points."
    )


def _gaps(division: Division) -> str:
    """The difference between the groups of a further sensitive variable, before and after."""
    recorded, decided = (points_interval(*division.disparities.loc[kind]) for kind in ("recorded", "decided"))
    name = division.grouping.name
    if len(division.grouping.groups) == 2:
        return f"By {name}, the difference is {recorded} points on record and {decided} points as decided."
    pairs = [division.furthest(kind) for kind in ("recorded", "decided")]
    return (
        f"By {name}, the largest difference is {recorded} points on record ({pairs[0]}) and {decided} "
        f"points as decided ({pairs[1]})."
    )


def _extremes(rates: pd.Series) -> tuple[str, str]:
    """Of two groups the sensitive one and the other; of more those with the lowest and the highest rate."""
    if len(rates) == 2:
        return str(rates.index[1]), str(rates.index[0])
    return str(rates.idxmin()), str(rates.idxmax())


def limits_section(training_warnings: Sequence[str], warnings: Sequence[str], general: Sequence[str]) -> Markup:
    """Training diagnostics, warnings about this report, then the limits of any."""
    parts: list[Content] = []
    if training_warnings:
        heading = tag("h3", "Training diagnostics")
        parts.append(tag("div", heading, bullets(training_warnings), class_="warnings training", role="alert"))
    if warnings:
        parts.append(tag("div", tag("h3", "Warnings"), bullets(warnings), class_="warnings", role="note"))
    parts.append(bullets(general))
    return join(parts, "\n")


def warnings_of(facts: Facts) -> list[str]:
    """Warnings about this belief and these data."""
    belief = facts.belief
    if belief == NoBias():
        return ["The model has no belief about bias. It repeats the recorded labels, whatever is wrong with them."]
    error = planned_error(facts.sample)
    warnings = [
        warning
        for parameter in facts.parameters
        if (warning := _parameter_warning(parameter, belief.kind.overlap, error))
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
        warnings += _small_groups(division.changes, division.audited)
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


def _small_groups(changes: pd.DataFrame, audited: pd.DataFrame | None) -> list[str]:
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


def _parameter_warning(parameter: Parameter, overlap: bool, error: float) -> str | None:
    if parameter.value is None or parameter.rows is None or parameter.low is None or parameter.high is None:
        return None
    needed = parameter.still_needed(error)
    more = f" Audit {count(needed, 'more row')} like these." if needed else ""
    if parameter.high - parameter.low > NO_IDEA:
        why = "Another parameter may explain the same errors. " if overlap else ""
        way_out = "State a value, or rule it out."
        return f"The audited rows do not determine {parameter.description}. {why}{way_out}"
    if parameter.rows < FEW_ROWS:
        return f"Only {count(parameter.rows, 'audited row')} are informative about {parameter.description}.{more}"
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
        f"{warnings[0]:.2f}): predictions for that group rest on the others."
    ]


def limits(facts: Facts, notes: Sequence[str] = ()) -> list[str]:
    """What no such report can promise; ``notes`` say how this one was made."""
    return [
        "Recorded data alone can contradict the belief, but they cannot confirm it. A different belief would give a "
        "different model, and both could explain the record equally well. Only audited rows can tell them apart.",
        *_sampling(facts),
        "The fair labels of an audit must be right. What the audit gets wrong, the model repeats.",
        *_decides_from(facts),
        *_classes(facts),
        *facts.belief.limitations(),
        *_audit_reuse(facts),
        *notes,
        "Intervals are 95% and speak of chance in the rows, given this model; only those of the comparison speak of "
        "repetitions on the same rows. None of them covers a wrong belief or another population.",
        "Do not use this model for people unlike those in the data, or as the only ground of a decision about "
        "anybody. The list of rows for review holds suspicions, not findings.",
    ]


def _sampling(facts: Facts) -> list[str]:
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


def _decides_from(facts: Facts) -> list[str]:
    """What the model decides from."""
    belief, columns = facts.belief, ", ".join(facts.belief.columns.sensitive)
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


def _audit_reuse(facts: Facts) -> list[str]:
    """Whether the audited rows served the model before they judged it."""
    audit = facts.audit
    if audit is None:
        return []
    used = []
    if audit.learned and audit.judged:
        used.append(
            f"The model has learned from {count(audit.learned)} of the audited rows; what judges it are predictions of "
            "models that were fitted without them."
        )
    if facts.estimated:
        used.append("The audited rows that judge the model may also have given its parameters.")
    if audit.overlap:
        used.append(f"{count(audit.overlap, 'audited row is', 'audited rows are')} also in the data.")
    return [" ".join([*used, "Accuracy on rows that nobody has used yet can be lower."])] if used else []
