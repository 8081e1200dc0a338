"""What a reader must know before relying on a report: doubts about this belief and this data, and limits of any."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from problog4fairness.beliefs import Belief, HistoricalBias, ProgramBelief
from problog4fairness.beliefs.chains import Chain
from problog4fairness.beliefs.estimation import FEW_ROWS, LITTLE_SIGNAL
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.view import groups_of
from problog4fairness.reporting.amounts import count, percent

# An interval as wide as this says nothing.
NO_IDEA = 0.9
FEW_IN_GROUP = 100


def doubts(
    model: DebiasedClassifier, divisions: Sequence[tuple[pd.DataFrame, pd.DataFrame | None]], data: pd.DataFrame
) -> list[str]:
    """Warnings about this belief and this data; ``divisions`` are changes and audited quality by sensitive variable."""
    belief: Belief | None = model.belief_
    found: list[str] = []
    if belief is None:
        return ["The model has no belief about bias. It repeats the recorded labels, whatever is wrong with them."]
    found += [doubt for rate in belief.probabilities if (doubt := _rate_doubt(rate, isinstance(belief, Chain)))]
    stated = [rate.name for rate in belief.probabilities if rate.value is not None and rate.rows is None]
    if stated:
        found.append(
            f"{', '.join(stated)} {'was' if len(stated) == 1 else 'were'} stated, not estimated from audited rows: "
            f"no interval says how sure {'it is' if len(stated) == 1 else 'they are'}."
        )
    found += _signal(model, data)
    for changes, audited in divisions:
        found += _few(changes, audited)
    if divisions[0][1] is None:
        found.append(
            "No audited rows were given for this report, so nothing here says how often the model is right. "
            "Audit some rows at random, and compare."
        )
    return found


def _few(changes: pd.DataFrame, audited: pd.DataFrame | None) -> list[str]:
    """Groups with few rows in the data, or in the audit."""
    small = changes[(changes["rows"] < FEW_IN_GROUP) & (changes.index != "all")]
    found = [
        f"The data have only {count(row.rows, 'row')} with {group}; numbers for that group are rough."
        for group, row in small.iterrows()
    ]
    if audited is not None:
        few = audited[(audited["rows"] < FEW_ROWS) & (audited.index != "all")]
        found += [
            f"Only {count(row.rows, 'audited row')} with {group}: accuracy for that group is hardly known."
            for group, row in few.iterrows()
        ]
    return found


def _rate_doubt(rate: Parameter, in_chain: bool) -> str | None:
    if rate.value is None or rate.rows is None or rate.low is None or rate.high is None:
        return None
    more = count(rate.still_needed(0.1), "more row")
    if rate.high - rate.low > NO_IDEA:
        why = "Two stages of the chain may explain the same errors. " if in_chain else ""
        way_out = "State a value, or rule it out."
        return f"The audited rows do not tell how large {rate.name} is ({rate.meaning}). {why}{way_out}"
    if rate.rows < FEW_ROWS:
        return (
            f"Only {count(rate.rows, 'audited row')} tell about {rate.name} ({rate.meaning}). Audit {more} like these."
        )
    if rate.high - rate.low > max(rate.value, 0.1):
        return (
            f"{rate.name} ({rate.meaning}) is known only to lie between {percent(rate.low)} and {percent(rate.high)}. "
            f"Audit {more} like these."
        )
    return None


def _signal(model: DebiasedClassifier, data: pd.DataFrame) -> list[str]:
    """Groups whose recorded labels say little about the fair ones."""
    belief = model.belief_
    if belief is None or isinstance(belief, ProgramBelief) or not belief.variables:
        return []
    levels = groups_of(belief, data).levels
    table = model._label_table(levels)
    signal = np.min(table[:, 1, 1] - table[:, 0, 1], initial=1.0)
    if signal >= LITTLE_SIGNAL:
        return []
    worst = levels[int(np.argmin(table[:, 1, 1] - table[:, 0, 1]))]
    group = " and ".join(v.group_text(int(i)) for v, i in zip(belief.variables, worst, strict=True))
    return [
        f"Where {group}, recorded labels carry almost no signal about fair ones (1 − negative − positive = "
        f"{signal:.2f}): what the model says of that group rests on the others."
    ]


def limits(model: DebiasedClassifier, overlap: int | None, estimated: bool, sampled: Sequence[str] = ()) -> list[str]:
    """What no such report can promise.

    ``overlap`` is how many audited rows are also in the data, ``estimated`` whether an audit gave parameters.
    """
    belief = model.belief_
    found = [
        "The belief itself cannot be tested from recorded data alone. A different belief would give a different "
        "model, and both could explain the record equally well. Only audited rows can tell them apart.",
        "An audit must be a random draw, of each group at least, and its fair labels must be right. What the audit "
        "gets wrong, the model repeats.",
    ]
    columns = belief.sensitive_columns if belief is not None else ()
    historical = isinstance(belief, HistoricalBias)
    corrects = historical or model.test_features == "biased"
    if columns and corrects:
        found.append(
            f"The model corrects what is on record by {', '.join(columns)} before it predicts. People with the same "
            "other features may get different decisions because of it. Check whether they may."
        )
    elif columns and model.independent:
        found.append(
            f"The model does not see {', '.join(columns)}: it assumes that people with the same other features "
            "have the same fair label. Other features may still stand in for what it does not see."
        )
    elif columns:
        found.append(f"The model sees {', '.join(columns)} and may decide differently by group. Check whether it may.")
    if belief is not None and belief.feature_values() and not corrects:
        found.append(
            "The model learnt that features are distorted, but it predicts from features as they are given. Here it "
            "was given the recorded ones; decisions from corrected features would be others."
        )
    if historical:
        found.append("The model's probabilities speak of a fair world, not of what will happen in this one.")
    used = ["The audited rows that judge the model may also have given its parameters."] if estimated else []
    if overlap:
        used.append(f"{count(overlap, 'audited row is', 'audited rows are')} also in the data.")
    if overlap is not None and used:
        found.append(" ".join([*used, "Accuracy on rows that nobody has used yet can be lower."]))
    found += sampled
    found += [
        "Intervals are 95% and speak of chance in the rows, given this model; only those of the comparison speak of "
        "repetitions on the same rows. None of them covers a wrong belief or another population.",
        "Do not use this model for people unlike those in the data, or as the only ground of a decision about "
        "anybody. The list of rows for review holds suspicions, not findings.",
    ]
    return found
