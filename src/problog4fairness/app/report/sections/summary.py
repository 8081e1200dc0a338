"""The sentences that begin a report."""

from __future__ import annotations

import pandas as pd

from problog4fairness.app.report.facts import Division, Facts
from problog4fairness.evaluation import Comparison
from problog4fairness.statistics import count, percent, percent_interval, points_interval


def summary(facts: Facts, compared: Comparison | None = None) -> list[str]:
    """A few sentences with the numbers that matter; the last one is the verdict."""
    first, good = facts.divisions[0], facts.label.good
    if len(first.way.groups) < 2:
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
            *(_gaps(division) for division in facts.divisions[1:] if len(division.way.groups) > 1),
        ]
    return [*sentences, _quality(facts, first.audited), *_record(first.audited), *_verdict(facts, compared)]


def _belief_about(facts: Facts, division: Division) -> str:
    """What the belief says of the group that fares worst on record; what it is, where it says nothing of a group."""
    words = facts.belief.words(facts.label)
    sentences = [sentence for sentence in words[1:] if sentence.startswith("Of the people")]
    worst = f"people with {_apart(division.changes.drop(index='all')['recorded'])[0]} "
    sentences.sort(key=lambda sentence: worst not in sentence)
    return f"The belief about this gap: {sentences[0][0].lower()}{sentences[0][1:]}" if sentences else words[0]


def _quality(facts: Facts, audited: pd.DataFrame | None) -> str:
    if audited is None or facts.sample is None:
        return "No audited rows were given, so how often it is right is not known."
    if not facts.judged:
        return (
            f"It has learned from the {count(len(facts.sample), 'audited row')}, too few to be predicted out of fold, "
            "so how often it is right is not known."
        )
    right, groups = audited.loc["all"], audited.drop(index="all")["accuracy"]
    apart = ", ".join(f"{percent(value)} where {group}" for group, value in groups[::-1].items())
    shown = percent_interval(right.accuracy, right.accuracy_low, right.accuracy_high)
    how = "decided by models that were fitted without them" if facts.learned else "decided by it"
    return (
        f"Its decisions, made without the recorded labels, are right for an estimated {shown} of people"
        f"{f': {apart}' if len(groups) > 1 else ''}. That rests on {count(facts.judged, 'audited row')}, {how} "
        f"({facts.sample.describe()})."
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
        "on record, changing it to what the model says makes more of them wrong. The model is for people without one."
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
    found = compared.gain("without_sensitive") or compared.gain("recorded_only")
    if found is not None:
        name, gain = found
        sentence = gain.sentence(len(facts.data), facts.label.good)
        sentences.append(f"Verdict, against a model {name}: {sentence}. {gain.covers}")
    return sentences


def _rates(division: Division, kind: str, got: str = "") -> str:
    """Shares of favourable labels in two groups, and their difference; ``got`` says what the first one got."""
    rates = division.changes.drop(index="all")[kind]
    sensitive, other = _apart(rates)
    gap = division.disparities.loc[kind]
    lowest, highest = ("", "") if len(rates) == 2 else (f", the lowest rate of {len(rates)} groups,", ", the highest")
    return (
        f"{percent(rates[sensitive])} of people with {sensitive}{lowest}{got} and {percent(rates[other])} of "
        f"people with {other}{highest}: a difference of {points_interval(gap.value, gap.low, gap.high)} points."
    )


def _gaps(division: Division) -> str:
    """The difference between the groups of a further sensitive variable, before and after."""
    recorded, decided = (points_interval(*division.disparities.loc[kind]) for kind in ("recorded", "decided"))
    if len(division.way.groups) == 2:
        return f"By {division.way.name}, the difference is {recorded} points on record and {decided} points as decided."
    pairs = [division.furthest(kind) for kind in ("recorded", "decided")]
    return (
        f"By {division.way.name}, the largest difference is {recorded} points on record ({pairs[0]}) and {decided} "
        f"points as decided ({pairs[1]})."
    )


def _apart(rates: pd.Series) -> tuple[str, str]:
    """Of two groups the sensitive one and the other; of more those with the lowest and the highest rate."""
    if len(rates) == 2:
        return str(rates.index[1]), str(rates.index[0])
    return str(rates.idxmin()), str(rates.idxmax())
