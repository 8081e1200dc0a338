"""Training diagnostics: what speaks against a model, its table or its belief right after a fit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.audit import FEW_ROWS, LITTLE_SIGNAL, group_signal
from problog4fairness.data import Floats
from problog4fairness.errors import LearningWarning
from problog4fairness.estimators.prediction import predicted
from problog4fairness.estimators.table_concerns import stand_ins, table_concerns
from problog4fairness.metrics import decide

if TYPE_CHECKING:
    from problog4fairness.beliefs import Observation
    from problog4fairness.data import Rows
    from problog4fairness.estimators.classifier import DebiasedClassifier

# Probabilities that differ by less than this are as good as one.
NEARLY_CONSTANT = 0.02
# Standard errors by which a share must be off before it is told; and by which that of a group in the record must be.
FAR, CLEARLY = 3.0, 4.0
# A smaller difference than this between recorded and expected rates changes nothing that a user does.
LEAST_GAP = 0.02
# Rows whose recorded label is compared with what the model expects.
COMPARED = 10_000
# Rows, spread over all, that tell whether predictions differ. Trees take a third of their fitting time to predict all.
LOOKED_AT = 1_000


def concerns(
    model: DebiasedClassifier, rows: Rows, observation: Observation, held_out: Floats | None = None
) -> list[str]:
    """What speaks against a model, a sentence each; none if nothing does.

    ``rows`` and ``observation`` are what it was fitted on. ``held_out`` is P(fair class) of audited rows by fits
    without them, ``[rows, classes]``, NaN elsewhere; where that is not known, audited rows are compared with what the
    model itself says of them, which flatters it.
    """
    sentences = [*model.fitted_.concerns, *_stand_ins(model, rows), *table_concerns(rows, model.belief_)]
    sentences += _against_record(model, rows)
    part = _part(rows)
    # The circuit has a say only where a row may stand for other features than its own.
    source = "biased" if model.belief_.features or observation.variants > 1 else "fair"
    fair = predicted(model.belief_, model.fitted_, part, source)
    spread = float((fair.max(axis=0) - fair.min(axis=0)).max())
    if spread < NEARLY_CONSTANT:
        sentences.append(
            f"the model says nearly the same of every row (its probabilities differ by {spread:.3f} at most)"
        )
    signal = group_signal(model.belief_, observation, rows)
    if signal is not None and 0 <= signal[0] < LITTLE_SIGNAL:
        sentences.append(
            f"where {signal[1]}, recorded labels carry almost no signal (1 - negative - positive = {signal[0]:.3f})"
        )
    if held_out is None:
        return sentences + _against_audit(model, part, fair)
    known = np.flatnonzero(~np.isnan(held_out[:, 0]))
    return sentences + _against_audit(model, rows.take(known), held_out[known])


def _stand_ins(model: DebiasedClassifier, rows: Rows) -> list[str]:
    """The features from which a model that is meant to be group-free knows the group all the same."""
    if model.group_use_.used:
        return []
    groups = ", ".join(model.belief_.sensitive_columns)
    return [
        f"the model is group-free; column {name!r} determines {groups}; leave it out, or let the model use the group"
        for name in stand_ins(model.belief_, rows)
    ]


def _part(rows: Rows) -> Rows:
    """Some rows, and all that were audited."""
    chosen = np.zeros(len(rows), dtype=bool)
    chosen[:: max(1, len(rows) // LOOKED_AT)] = True
    if rows.fair is not None:
        chosen |= rows.fair >= 0
    return rows if chosen.all() else rows.take(np.flatnonzero(chosen))


def _against_record(model: DebiasedClassifier, rows: Rows) -> list[str]:
    """Groups that were recorded otherwise than the belief allows, or than the model expects through it."""
    if rows.recorded is None or model.belief_.recorded_columns or len(rows.classes) != 2:
        return []
    chosen = np.flatnonzero(rows.recorded >= 0)
    chosen = chosen[:: max(1, len(chosen) // COMPARED)]
    part, positive = rows.take(chosen), rows.recorded[chosen] == 1
    seen = model.belief_.observe(part.without_record())
    allowed = seen.recorded_range()
    expected = seen.recorded_proba(model.fitted_.log_proba(seen.table)).numpy()[:, : len(rows.classes)]
    given = expected[:, 1] / np.maximum(expected.sum(axis=1), 1e-12)
    ways = model.belief_.groupings(part) or []
    masks = [(name, way.shares.argmax(axis=1) == k) for way in ways for k, name in enumerate(way.groups)]
    sentences = []
    for name, mask in masks or [("", np.ones(len(part), dtype=bool))]:
        count, rate = int(mask.sum()), float(positive[mask].mean()) if mask.any() else 0.0
        if count < FEW_ROWS:
            continue
        where = f"where {name}, " if name else ""
        if allowed is not None and not model.belief_.missing_labels:
            low, high = (float(end.numpy()[mask, 1].mean()) for end in allowed)
            end = low if rate < low else high
            if abs(rate - min(max(rate, low), high)) > FAR * _error(end, count):
                side = "at least" if rate < low else "at most"
                sentences.append(
                    f"{where}{rate:.1%} are recorded with the label {model.classes_[1]}; the belief allows {side} "
                    f"{end:.1%}, whatever is fair"
                )
                continue
        mean = float(given[mask].mean())
        error = np.sqrt(max(float((given[mask] * (1 - given[mask])).mean()), 1 / count) / count)
        if abs(rate - mean) > max(CLEARLY * error, LEAST_GAP):
            sentences.append(
                f"{where}{rate:.1%} are recorded with the label {model.classes_[1]}, and the model expects {mean:.1%} "
                "through the belief: a parameter is wrong, the fair label depends on the group, or the learner is too "
                "simple; belief.check, or p4f check, tells more"
            )
    return sentences


def _error(share: float, count: int) -> float:
    return float(np.sqrt(max(share * (1 - share), 1 / count) / count))


def _against_audit(model: DebiasedClassifier, rows: Rows, fair: Floats) -> list[str]:
    """What the fair labels of audited rows say against the model."""
    if rows.fair is None or rows.recorded is None:
        return []
    known = rows.fair >= 0
    count = int(known.sum())
    if count < FEW_ROWS:
        return []
    true, chance, weights = rows.fair[known], fair[known], rows.standing()[known]
    weights = weights if rows.weights is None else weights * rows.weights[known]
    # As many rows of a random sample tell as much.
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    right = float(np.average(decide(chance) == true, weights=weights))
    frequent = float(np.bincount(true, weights, len(rows.classes)).max() / weights.sum())
    sentences = []
    if right < frequent - FAR * np.sqrt(max(right * (1 - right), 1 / effective) / effective):
        sentences.append(
            f"on {count} audited rows the model is right in {right:.1%}, always saying the more frequent label in "
            f"{frequent:.1%}"
        )
    if len(rows.classes) == 2:
        expected, share = (float(np.average(values, weights=weights)) for values in (chance[:, 1], true))
        if abs(expected - share) > FAR * np.sqrt(max(share * (1 - share), 1 / effective) / effective):
            sentences.append(
                f"the model expects {expected:.1%} of {count} audited rows to have the fair label {model.classes_[1]}, "
                f"{share:.1%} have it"
            )
    return sentences


def tell(sentences: list[str], stacklevel: int) -> None:
    """Warn of each concern."""
    for sentence in sentences:
        warnings.warn(LearningWarning(sentence), stacklevel=stacklevel + 1)
