"""Training diagnostics: how a model was learned, and what speaks against it, its table or its belief."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency

from problog4fairness.audit import FEW_ROWS, LITTLE_SIGNAL, group_signal
from problog4fairness.beliefs import coded_votes
from problog4fairness.data import MOST_ROWS, Floats, listed
from problog4fairness.errors import LearningWarning
from problog4fairness.estimators.calibration import choice_of
from problog4fairness.estimators.prediction import predicted
from problog4fairness.learners import Calibrated
from problog4fairness.metrics import decide

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief, Observation
    from problog4fairness.data import Codes, Rows
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
SAMPLED = 1_000
# With fewer rows, nothing is said.
LEAST_ROWS = 200
# The share of rows whose recorded label a feature gives by itself, where it is that label under another name.
GIVEN_AWAY = 0.999
# Features are noise where none goes with the record by this chance, after correction for their number.
LEVEL = 0.01
# Values of a feature into which it is divided to be compared with the record.
BINS = 8
# Rows that two annotators share at least, how often two who copy agree, and by how many standard errors that is more
# than two who do not.
SHARED, COPIED, BEYOND = 50, 0.97, 6.0
# Of all rows, the share whose group a feature must tell to be called a stand-in for it.
DETERMINES = 0.99
# Values of a feature at most that is looked at as a stand-in.
MOST_VALUES = 100
# More annotators than this are not compared in pairs.
MOST_ANNOTATORS = 300
# How learners are called in sentences; another one goes by its name.
WORDS = {"linear": "a linear model", "boosted": "boosted trees", "network": "networks"}
# Standard errors within which a margin may be chance.
CHANCE = 2.0


def training_warnings(
    model: DebiasedClassifier, rows: Rows, observation: Observation, held_out: Floats | None = None
) -> list[str]:
    """What speaks against a model, a sentence each; none if nothing does.

    ``rows`` and ``observation`` are what it was fitted on. ``held_out`` is P(fair class) of audited rows by fits
    without them, ``[rows, classes]``, NaN elsewhere; where that is not known, audited rows are compared with what the
    model itself says of them, which flatters it.
    """
    sentences = [*model.fitted_.training_warnings, *table_warnings(rows, model.belief_)]
    if not model.group_use_.used:
        groups = ", ".join(model.belief_.columns.sensitive)
        sentences += [
            f"the model is group-free; column {name!r} determines {groups}; leave it out, or let the model use the "
            "group"
            for name in stand_ins(model.belief_, rows)
        ]
    sentences += _against_record(model, rows)
    part = _sample(rows)
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


def _sample(rows: Rows) -> Rows:
    """Some rows, and all that were audited."""
    chosen = np.zeros(len(rows), dtype=bool)
    chosen[:: max(1, len(rows) // SAMPLED)] = True
    if rows.fair is not None:
        chosen |= rows.fair >= 0
    return rows if chosen.all() else rows.take(np.flatnonzero(chosen))


def _against_record(model: DebiasedClassifier, rows: Rows) -> list[str]:
    """Groups that were recorded otherwise than the belief allows, or than the model expects through it."""
    if rows.recorded is None or model.belief_.columns.recorded or len(rows.classes) != 2:
        return []
    chosen = np.flatnonzero(rows.recorded >= 0)
    chosen = chosen[:: max(1, len(chosen) // COMPARED)]
    part, positive = rows.take(chosen), rows.recorded[chosen] == 1
    observation = model.belief_.observe(part.without_record())
    allowed = observation.recorded_range()
    expected = observation.recorded_proba(model.fitted_.log_proba(observation.table)).numpy()[:, : len(rows.classes)]
    given = expected[:, 1] / np.maximum(expected.sum(axis=1), 1e-12)
    masks = [
        (name, grouping.shares.argmax(axis=1) == group)
        for grouping in model.belief_.groupings(part)
        for group, name in enumerate(grouping.groups)
    ]
    sentences = []
    for name, mask in masks or [("", np.ones(len(part), dtype=bool))]:
        count, rate = int(mask.sum()), float(positive[mask].mean()) if mask.any() else 0.0
        if count < FEW_ROWS:
            continue
        where = f"where {name}, " if name else ""
        if allowed is not None and not model.belief_.record.gaps:
            low, high = (float(end.numpy()[mask, 1].mean()) for end in allowed)
            end = low if rate < low else high
            if abs(rate - min(max(rate, low), high)) > FAR * _error(end * (1 - end), count):
                side = "at least" if rate < low else "at most"
                sentences.append(
                    f"{where}{rate:.1%} are recorded with the label {model.classes_[1]}; the belief allows {side} "
                    f"{end:.1%}, whatever is fair"
                )
                continue
        mean = float(given[mask].mean())
        error = _error(float((given[mask] * (1 - given[mask])).mean()), count)
        if abs(rate - mean) > max(CLEARLY * error, LEAST_GAP):
            sentences.append(
                f"{where}{rate:.1%} are recorded with the label {model.classes_[1]}, and the model expects {mean:.1%} "
                "through the belief: a parameter is wrong, the fair label depends on the group, or the learner is too "
                "simple; belief.check, or p4f check, tells more"
            )
    return sentences


def _error(variance: float, count: float) -> float:
    """The standard error of a mean of so many rows; that of a share is never 0."""
    return float(np.sqrt(max(variance, 1 / count) / count))


def _against_audit(model: DebiasedClassifier, rows: Rows, fair: Floats) -> list[str]:
    """What the fair labels of audited rows say against the model."""
    if rows.fair is None or rows.recorded is None:
        return []
    known = rows.fair >= 0
    count = int(known.sum())
    if count < FEW_ROWS:
        return []
    true, chance, weights = rows.fair[known], fair[known], rows.sampling_weights()[known]
    weights = weights if rows.weights is None else weights * rows.weights[known]
    # As many rows of a random sample tell as much.
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    right = float(np.average(decide(chance) == true, weights=weights))
    frequent = float(np.bincount(true, weights, len(rows.classes)).max() / weights.sum())
    sentences = []
    if right < frequent - FAR * _error(right * (1 - right), effective):
        sentences.append(
            f"on {count} audited rows the model is right in {right:.1%}, always saying the more frequent label in "
            f"{frequent:.1%}"
        )
    if len(rows.classes) == 2:
        expected, share = (float(np.average(values, weights=weights)) for values in (chance[:, 1], true))
        if abs(expected - share) > FAR * _error(share * (1 - share), effective):
            sentences.append(
                f"the model expects {expected:.1%} of {count} audited rows to have the fair label {model.classes_[1]}, "
                f"{share:.1%} have it"
            )
    return sentences


def warn_of(sentences: list[str], stacklevel: int) -> None:
    """Warn of each warning."""
    for sentence in sentences:
        warnings.warn(LearningWarning(sentence), stacklevel=stacklevel + 1)


def table_warnings(rows: Rows, belief: Belief) -> list[str]:
    """What speaks against learning from these rows through a belief, a sentence each."""
    if belief.columns.recorded:
        return _copying_annotators(rows, belief)
    if rows.recorded is None:
        return []
    known = np.flatnonzero(rows.recorded >= 0)
    known = known[:: max(1, len(known) // MOST_ROWS)]
    labels = rows.recorded[known]
    if len(known) < LEAST_ROWS or len(np.unique(labels)) < 2:
        return []
    sensitive = belief.columns.sensitive
    names = [name for name in rows.features if name not in sensitive]
    columns = {name: rows.frame[name].iloc[known] for name in names}
    sentences = []
    same = [name for name, column in columns.items() if _gives_away(column, labels)]
    if same:
        sentences.append(
            f"{'the feature' if len(same) == 1 else 'each of the features'} {listed(same)} determines the recorded "
            "label, so that the model learns the record and not the fair label; leave it out (drop, or --drop)"
        )
    if names and not same:
        chances = [_p_value(column, labels) for column in columns.values()]
        if min(chances) * len(chances) > LEVEL:
            sentences.append(
                f"none of the {len(names)} features goes with the recorded label (smallest p {min(chances):.2g}): "
                "unless they act together, the model can only say how frequent the label is"
            )
    return sentences


def _gives_away(column: pd.Series, labels: Codes) -> bool:
    """Whether a column is the recorded label under another name: by its values, or by a threshold."""
    frequent = float(np.bincount(labels).max() / len(labels))
    if frequent > 0.98:
        return False
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) <= max(2, len(labels) // 50):
        return bool(_counts(codes, labels).max(axis=1).sum() >= GIVEN_AWAY * len(labels))
    if not pd.api.types.is_numeric_dtype(column) or len(np.unique(labels)) != 2:
        return False
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    order = np.argsort(numbers, kind="stable")
    ones = np.cumsum(labels[order] == labels.max())
    zeros = np.arange(1, len(order) + 1) - ones
    right = zeros + (ones[-1] - ones)
    ends = np.append(np.diff(numbers[order]) != 0, True)
    best = np.maximum(right, len(order) - right)[ends].max()
    return bool(best >= GIVEN_AWAY * len(labels))


def _p_value(column: pd.Series, labels: Codes) -> float:
    """How likely a feature goes with the recorded label as much as this by chance, by a chi-squared test in bins."""
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > BINS:
        ranks = column.rank(method="average", pct=True, na_option="top").to_numpy()
        codes = np.minimum((ranks * BINS).astype(np.int64), BINS - 1)
    else:
        codes, _ = pd.factorize(column.astype(str), use_na_sentinel=False)
        counts = np.bincount(codes)
        # Rare values are taken together, so that chi-squared holds.
        codes = np.where(counts[codes] < 20, len(counts), codes)
    _, codes = np.unique(codes, return_inverse=True)
    _, labels = np.unique(labels, return_inverse=True)
    table = _counts(codes, labels)
    return float(chi2_contingency(table, correction=False).pvalue) if len(table) > 1 else 1.0


def _counts(codes: Codes, labels: Codes) -> Floats:
    """``[values, labels]``: how many rows have each value of a feature with each label."""
    table = np.zeros((int(codes.max()) + 1, int(labels.max()) + 1))
    np.add.at(table, (codes, labels), 1)
    return table


def _copying_annotators(rows: Rows, belief: Belief) -> list[str]:
    """Annotators who agree as two who do not copy each other would not.

    Two annotators who err independently of each other agree in a share αβ + (1 - α)(1 - β) of the rows, where α and β
    are how often they agree with what most of the others say.
    """
    columns = list(belief.columns.recorded)
    if len(columns) > MOST_ANNOTATORS:
        return []
    rows = rows.take(np.arange(len(rows))[:: max(1, len(rows) // MOST_ROWS)])
    votes = np.stack([coded_votes(rows, column) for column in columns], axis=1)
    voted = (votes >= 0).astype(np.float64)
    classes = range(len(rows.classes))
    same = np.sum([(votes == k).T.astype(np.float64) @ (votes == k) for k in classes], axis=0)
    shared = voted.T @ voted
    pairs = np.argwhere(np.triu((shared >= SHARED) & (same >= COPIED * shared), k=1))
    alike_pairs = []
    for one, two in pairs:
        both = votes[(votes[:, one] >= 0) & (votes[:, two] >= 0)]
        counts = np.stack([(np.delete(both, [one, two], axis=1) == k).sum(axis=1) for k in classes], axis=1)
        clear = counts.max(axis=1) * 2 > counts.sum(axis=1)
        if clear.sum() < SHARED:
            continue
        most, both = counts[clear].argmax(axis=1), both[clear]
        first, second = (float((both[:, place] == most).mean()) for place in (one, two))
        alike = first * second + (1 - first) * (1 - second)
        agree = float((both[:, one] == both[:, two]).mean())
        if agree - alike > BEYOND * np.sqrt(max(alike * (1 - alike), 1e-4) / len(both)):
            alike_pairs.append(f"{columns[one]!r} and {columns[two]!r}")
    if not alike_pairs:
        return []
    verb = "agree" if len(alike_pairs) == 1 else "and others agree"
    return [
        f"{listed(alike_pairs[:3])} {verb} almost always, errors included, as annotators who copy each other do; the "
        "belief takes them as independent: keep one of them"
    ]


def stand_ins(belief: Belief, rows: Rows) -> list[str]:
    """The features that determine the group of nearly everybody, as ``race`` does beside ``african_american``."""
    names: list[str] = []
    for grouping in belief.groupings(rows):
        # Of rows whose group is uncertain, nothing is said.
        known = np.flatnonzero(grouping.shares.max(axis=1) == 1)
        groups = grouping.shares[known].argmax(axis=1)
        if len(np.unique(groups)) < 2:
            continue
        names += [
            name for name in rows.features if name not in names and _determines(rows.frame[name].iloc[known], groups)
        ]
    return names


def _determines(column: pd.Series[Any], groups: np.ndarray[Any, np.dtype[Any]]) -> bool:
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) > min(MOST_VALUES, len(codes) // 10):
        return False
    counts = _counts(codes, groups.astype(np.int64))
    # Beyond what always naming the largest group would get right.
    most = counts.sum(axis=0).max()
    return bool(counts.max(axis=1).sum() - most >= DETERMINES * (len(codes) - most))


def learner_facts(model: DebiasedClassifier) -> dict[str, Any]:
    """The learner, the choice (None where there was none), the calibration (None likewise), and how training went."""
    choice, fitted, calibration = choice_of(model.fitted_), model.fitted_, None
    if isinstance(fitted, Calibrated):
        calibration = {name: getattr(fitted, name) for name in ("slope", "shifts", "gain", "error")}
        fitted = fitted.fitted
    validation = model.history_.get("validation")
    return {
        "learner": fitted.kind if choice is None else choice.chosen,
        "choice": None if choice is None else choice.choice,
        "calibration": calibration,
        "rounds": model.n_iter_,
        "validation_loss": min(validation) if validation else None,
    }


def learner_words(model: DebiasedClassifier) -> list[str]:
    """The same in sentences, after whether the model uses the group."""
    facts = learner_facts(model)
    name = WORDS.get(facts["learner"], facts["learner"])
    if facts["choice"] is None:
        sentences = [f"Learned by {name}, in {_rounds(facts)}."]
    else:
        others = [
            f"{WORDS.get(other, other)} {row.loss:.4f} (behind by {row.margin:.4f} ± {CHANCE * row.error:.4f}"
            f"{', which may be chance' if row.margin <= CHANCE * row.error else ''})"
            for other, row in facts["choice"].iterrows()
            if other != facts["learner"]
        ]
        loss = facts["choice"].loc[facts["learner"], "loss"]
        sentences = [
            f"Learned by {name}, in {_rounds(facts)}, chosen by the loss of recorded rows that were held out: "
            f"{loss:.4f}, against {' and '.join(others)}."
        ]
    if facts["calibration"] is not None:
        slope, shifts = facts["calibration"]["slope"], facts["calibration"]["shifts"]
        moved = ", ".join(f"{shift:+.2f}" for shift in shifts)
        sentences.append(
            f"Calibrated by {model.audited_} audited rows: log-odds times {slope:.2f}, shifted by {moved}; their log "
            f"loss out of fold fell by {facts['calibration']['gain']:.3f}."
        )
    return [str(model.group_use_), *sentences] if model.group_use_.columns else sentences


def _rounds(facts: dict[str, Any]) -> str:
    kind = {"linear": "steps", "network": "epochs"}.get(facts["learner"], "rounds")
    loss = facts["validation_loss"]
    return f"{facts['rounds']} {kind}" + ("" if loss is None else f" (validation loss {loss:.4f})")
