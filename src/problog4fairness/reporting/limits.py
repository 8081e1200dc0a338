"""What a reader must know before relying on a report: doubts about this belief and this data, and limits of any."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.mechanisms import HistoricalBias, Mechanism, ProgramMechanism
from problog4fairness.mechanisms.chains import Chain
from problog4fairness.mechanisms.estimation import FEW_ROWS, LITTLE_SIGNAL
from problog4fairness.mechanisms.rates import Rate
from problog4fairness.reporting.amounts import count, percent

# An interval as wide as this says nothing.
NO_IDEA = 0.9
FEW_IN_GROUP = 100


def doubts(model: DebiasedClassifier, changes: pd.DataFrame, audited: pd.DataFrame | None) -> list[str]:
    """Warnings about this belief and this data."""
    mechanism: Mechanism | None = model.mechanism_
    found: list[str] = []
    if mechanism is None:
        return ["The model has no belief about bias. It repeats the recorded labels, whatever is wrong with them."]
    found += [doubt for rate in mechanism.rates if (doubt := _rate_doubt(rate, isinstance(mechanism, Chain)))]
    stated = [rate.name for rate in mechanism.rates if rate.value is not None and rate.rows is None]
    if stated:
        found.append(
            f"{', '.join(stated)} {'was' if len(stated) == 1 else 'were'} stated, not estimated from audited rows: "
            "no interval says how sure they are."
        )
    found += _signal(model)
    small = changes[(changes["rows"] < FEW_IN_GROUP) & (changes.index != "all")]
    found += [
        f"The data have only {count(row.rows, 'row')} with {group}; numbers for that group are rough."
        for group, row in small.iterrows()
    ]
    if audited is None:
        found.append(
            "No audited rows were given for this report, so nothing here says how often the model is right. "
            "Audit some rows at random, and compare."
        )
    else:
        few = audited[(audited["rows"] < FEW_ROWS) & (audited.index != "all")]
        found += [
            f"Only {count(row.rows, 'audited row')} with {group}: accuracy for that group is hardly known."
            for group, row in few.iterrows()
        ]
    return found


def _rate_doubt(rate: Rate, in_chain: bool) -> str | None:
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


def _signal(model: DebiasedClassifier) -> list[str]:
    """Groups whose recorded labels say little about the fair ones."""
    mechanism = model.mechanism_
    if mechanism is None or isinstance(mechanism, ProgramMechanism) or not mechanism.variables:
        return []
    table = model._label_table()
    signal = np.min(table[:, 1, 1] - table[:, 0, 1], initial=1.0)
    if signal >= LITTLE_SIGNAL:
        return []
    levels = np.stack(np.unravel_index(np.arange(len(table)), [len(v.levels) for v in mechanism.variables]), axis=1)
    worst = levels[int(np.argmin(table[:, 1, 1] - table[:, 0, 1]))]
    group = " and ".join(v.group_text(int(i)) for v, i in zip(mechanism.variables, worst, strict=True))
    return [
        f"Where {group}, recorded labels carry almost no signal about fair ones (1 − negative − positive = "
        f"{signal:.2f}): what the model says of that group rests on the others."
    ]


def limits(model: DebiasedClassifier, overlap: int | None, sampled: Sequence[str] = ()) -> list[str]:
    """What no such report can promise."""
    mechanism = model.mechanism_
    found = [
        "The belief itself cannot be tested from recorded data alone. A different belief would give a different "
        "model, and both could explain the record equally well. Only audited rows can tell them apart.",
        "An audit must be a random draw, of each group at least, and its fair labels must be right. What the audit "
        "gets wrong, the model repeats.",
    ]
    columns = mechanism.sensitive_columns if mechanism is not None else ()
    if columns and model.independent:
        found.append(
            f"The model does not see {', '.join(columns)}: it assumes that people with the same other features "
            "have the same fair label. Other features may still stand in for what it does not see."
        )
    if columns and not model.independent:
        found.append(f"The model sees {', '.join(columns)} and may decide differently by group. Check whether it may.")
    if isinstance(mechanism, HistoricalBias) or model.test_features == "biased":
        found.append(
            "The model corrects features before it predicts. Its probabilities speak of a fair world, not of what will "
            "happen in this one."
        )
    if overlap is not None:
        found.append(
            "The same audited rows may have given the parameters and judged the model"
            + (f"; {count(overlap, 'of them is', 'of them are')} also in the data" if overlap else "")
            + ". Accuracy on rows that nobody has used yet can be lower."
        )
    found += sampled
    found += [
        "Intervals are 95% and speak of chance in the rows, given this model. They do not cover a wrong belief, "
        "another network or another population.",
        "Do not use this model for people unlike those in the data, or as the only ground of a decision about "
        "anybody. The list of rows for review holds suspicions, not findings.",
    ]
    return found
