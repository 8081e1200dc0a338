"""What if a parameter of the belief is wrong? Fit the classifier again with other values, and see what moves."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils.validation import check_is_fitted

from problog4fairness.audit import Audit
from problog4fairness.beliefs import Belief, Observation
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.errors import P4FError, UnknownNameError, among
from problog4fairness.estimators import (
    audited_folds,
    calibrated,
    fair_proba,
    fold_tasks,
    learner_of,
    new_rows,
    possible,
    row_weights,
    settled,
    with_known,
)
from problog4fairness.learners import Calibrated, Fitted, Task, fit_tasks
from problog4fairness.metrics import decide, selected
from problog4fairness.robustness.sensitivity_bands import band_ends
from problog4fairness.robustness.sensitivity_result import ACCURACY, CHANGED, Sensitivity
from problog4fairness.statistics import Parameter

if TYPE_CHECKING:
    from problog4fairness.estimators import DebiasedClassifier

MOST_FITS = 400


@dataclass(frozen=True)
class _Variant:
    """A value of one parameter, and the belief that has it; the first variant, the belief itself, has no parameter."""

    belief: Belief
    parameter: Parameter | None = None
    value: float = float("nan")


def sensitivity(
    model: DebiasedClassifier,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    fair: Any = None,
    audit: Audit | tuple[Any, ...] | None = None,
    values: int = 7,
    beyond: float = 0.15,
    seeds: int = 1,
    draws: int = 30,
    parameters: Sequence[str] | str | None = None,
    progress: bool | None = None,
) -> Sensitivity:
    """How much a model depends on each parameter of its belief.

    Each parameter takes several values over its interval and beyond, while the others keep theirs, and the model's
    learner is fitted again for each: networks as one stack, other learners one after another.

    Parameters
    ----------
    model
        A fitted classifier with a belief that has parameters.
    X, y, sensitive_features
        Recorded data, such as those that it was trained on.
    fair
        The fair label of rows that were audited, missing elsewhere, as for :meth:`DebiasedClassifier.fit`: they teach
        every fit, and calibrate it where they calibrated the model.
    audit
        Rows whose fair label is known, for the accuracy: an :class:`~problog4fairness.Audit`, whose rows count by
        their weights; or a random sample of rows, ``(X, fair)`` or ``(X, fair, sensitive_features)``.
    values
        How many values each parameter takes, its own among them; 5 or more.
    beyond
        How far to go outside the interval; around the value itself, where it was stated.
    seeds
        How many classifiers to fit for each value. One by default, whose seed is that of the model.
    draws
        How many beliefs to draw for the bands, as :meth:`DebiasedClassifier.bands` does; 0 for none.
    parameters
        Names of the parameters to vary; all by default.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Returns
    -------
    Sensitivity
        For each value the accuracy on audited rows, the disparity (difference of selection rates), and ``changed``, the
        share of decisions that differ from those with the parameter's own value.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=50, new=1)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, groups=[1])
    >>> X, y, poor = data.loans[list(data.features)], data.loans["granted"], data.loans["poor_area"]
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(X, y, sensitive_features=poor)
    >>> moves = p4f.robustness.sensitivity(model, X, y, sensitive_features=poor, values=5)
    >>> sorted(moves.frame["value"].unique().round(3).tolist())  # the value, and .15 to both sides
    [0.25, 0.325, 0.4, 0.475, 0.55]
    """
    if values < 5 or not 0 <= beyond <= 1 or seeds < 1:
        raise P4FError("values must be 5 or more, beyond between 0 and 1, seeds 1 or more")
    check_is_fitted(model)
    belief: Belief = model.belief_
    chosen = _chosen(belief, parameters)
    rows = new_rows(model, X, sensitive_features, y)
    rows = with_known(rows, fair)
    audited = _audited(model, audit)
    variants, notes = [_Variant(belief)], []
    for parameter in chosen:
        found, cut = _variants(belief, parameter, rows, values, beyond)
        variants += found
        notes += cut
    ends = {}
    if draws:
        weighed = replace(rows, weights=row_weights(model.class_weight, model.classes_[rows.recorded]))
        ends = band_ends(model, weighed, audited, draws, progress)
    fitted, fits = _fitted(model, variants, rows, seeds, progress)
    if not fits:
        notes.append("Training does not depend on the parameters; only predictions were made anew.")
    scores = _scores(model, variants, fitted, rows, audited)
    return _result(chosen, variants, scores, fits, tuple(notes), ends, draws)


def _chosen(belief: Belief, names: Sequence[str] | str | None) -> list[Parameter]:
    """The parameters to vary."""
    known = {parameter.name: parameter for parameter in belief.parameters}
    if not known:
        raise P4FError("there is no parameter to vary: the classifier has no belief, or one with all numbers fixed")
    names = list(known) if names is None else [names] if isinstance(names, str) else list(dict.fromkeys(names))
    if not names:
        raise P4FError(f"parameters is empty; name some of {', '.join(known)}")
    for name in names:
        if name not in known:
            raise UnknownNameError(f"the belief has no parameter {name!r}; {among(name, known, 'it has')}")
    return [known[name] for name in names]


def _variants(
    belief: Belief, parameter: Parameter, rows: Rows, values: int, beyond: float
) -> tuple[list[_Variant], list[str]]:
    """The belief with other values of one parameter, in order; and what to say where its range was cut."""
    if parameter.value is None:
        raise P4FError(f"parameter {parameter.name} has no value to start from")
    low, high = interval_of(parameter)
    floor, ceiling = belief.admissible(parameter, rows)
    # An end of the interval that is the value itself is fitted already.
    below, above = ((values - 1) // 2 + (end == parameter.value) for end in (low, high))
    start, end = possible(max(low - beyond, floor), min(high + beyond, ceiling), rows)
    points = [*np.linspace(start, max(low, start), below), *np.linspace(min(high, end), end, above)]
    others = sorted({round(float(point), 9) for point in points} - {round(parameter.value, 9)})
    notes = []
    if floor > low or ceiling < high:
        notes.append(
            f"{parameter.called} was varied from {start:.2f} to {end:.2f} only, not over its whole interval "
            f"({low:.2f} to {high:.2f}): further out, recorded labels say almost nothing about fair ones."
        )
    return [_Variant(belief.with_values({parameter.name: value}), parameter, value) for value in others], notes


def interval_of(parameter: Parameter) -> tuple[float, float]:
    """The interval of a parameter that has a value; the value alone where it was stated."""
    value = 0.0 if parameter.value is None else parameter.value
    if parameter.low is None or parameter.high is None:
        return value, value
    return min(parameter.low, value), max(parameter.high, value)


def _audited(model: DebiasedClassifier, audit: Audit | tuple[Any, ...] | None) -> Rows | None:
    """The audited rows, with the fair label in the place of the recorded one, and their weights."""
    if audit is None:
        return None
    if isinstance(audit, Audit):
        features = list(model.feature_names_in_)
        beside = [name for name in model.belief_.context_columns if name not in features]
        beside += [
            name
            for name in model.belief_.sensitive_columns
            if name in audit.frame.columns and name not in (*features, *beside)
        ]
        rows = new_rows(model, audit.frame[features], audit.frame[beside] if beside else None, audit.values())
        return replace(rows, audit_weights=audit.weights)
    if len(audit) not in (2, 3) or hasattr(audit, "columns"):
        raise P4FError("audit is an Audit, (features, fair labels) or (features, fair labels, sensitive features)")
    return new_rows(model, audit[0], audit[2] if len(audit) == 3 else None, audit[1])


def _fitted(
    model: DebiasedClassifier, variants: Sequence[_Variant], rows: Rows, seeds: int, progress: bool | None
) -> tuple[list[Sequence[Fitted]], int]:
    """For each variant a classifier for each seed, the first of which is the model's own; and how many were fitted."""
    observations = [variant.belief.observe(rows) for variant in variants]
    own = _different(observations)
    if len(own) == 1:
        return [[model.fitted_]] * len(variants), 0
    if len(own) * seeds > MOST_FITS:
        raise P4FError(
            f"this would need {len(own) * seeds} fits, more than {MOST_FITS}; "
            "name fewer parameters by parameters=[...], or take fewer values or seeds"
        )
    weights = row_weights(model.class_weight, model.classes_[rows.recorded])
    weights = None if weights is None else torch.from_numpy(weights.astype(np.float32))
    known = None if rows.fair is None else torch.from_numpy(rows.fair >= 0)
    beliefs = [variants[i].belief for i in own for _ in range(seeds)]
    tasks = [
        Task(observations[i], model.seed_ + seed, weights=weights, audited=known) for i in own for seed in range(seeds)
    ]
    folds = [audited_folds(rows, task) if isinstance(model.fitted_, Calibrated) else [] for task in tasks]
    learner = settled(learner_of(model.learner), model.fitted_)
    first = learner.fit_many(tasks, progress)
    others = [own for parts, one in zip(folds, first, strict=True) for own in fold_tasks(parts, one, rows)]
    fits = iter(fit_tasks(learner, others, progress))
    fitted = [
        calibrated(belief, rows, one, parts, [next(fits) for _ in parts])
        for belief, one, parts in zip(beliefs, first, folds, strict=True)
    ]
    by_variant = {i: fitted[k * seeds : (k + 1) * seeds] for k, i in enumerate(own)}
    return [by_variant.get(i, by_variant[0]) for i in range(len(variants))], len(tasks)


def _different(observations: Sequence[Observation]) -> list[int]:
    """The first observation, and those by which the record has another likelihood: only these are fitted."""
    first = observations[0]
    logits = torch.randn(len(first.table), first.outputs, generator=torch.Generator().manual_seed(0)).double()
    likelihood = first.log_likelihood(logits)
    others = [
        number
        for number, own in enumerate(observations[1:], start=1)
        if own.table is not first.table or not torch.equal(own.log_likelihood(logits), likelihood)
    ]
    return [0, *others]


def _scores(
    model: DebiasedClassifier,
    variants: Sequence[_Variant],
    fitted: Sequence[Sequence[Fitted]],
    rows: Rows,
    audited: Rows | None,
) -> dict[str, Floats]:
    """Each metric as ``[variants, seeds]``."""
    ways = model.belief_.groupings(rows)
    names = ["disparity"] if len(ways) == 1 else [f"disparity by {way.name}" for way in ways]
    metrics = [*([ACCURACY] if audited else []), *names, CHANGED]
    scores = {metric: np.empty((len(variants), len(fitted[0]))) for metric in metrics}
    first: dict[int, Codes] = {}
    for number, (variant, classifiers) in enumerate(zip(variants, fitted, strict=True)):
        other = copy.copy(model)
        other.belief_ = variant.belief
        for seed, other.fitted_ in enumerate(classifiers):
            chance = fair_proba(other, rows)
            decisions = decide(chance)
            scores[CHANGED][number, seed] = (decisions != first.setdefault(seed, decisions)).mean()
            for name, way in zip(names, ways, strict=True):
                scores[name][number, seed] = way.disparity(selected(chance))
            if audited:
                right = decide(fair_proba(other, audited)) == audited.recorded
                scores[ACCURACY][number, seed] = np.average(right, weights=audited.standing())
    return scores


def _result(
    chosen: Sequence[Parameter],
    variants: Sequence[_Variant],
    scores: dict[str, Floats],
    fits: int,
    notes: tuple[str, ...],
    ends: Mapping[str, tuple[float, float]],
    draws: int,
) -> Sensitivity:
    def row(metric: str, number: int) -> tuple[float, float, float]:
        found = scores[metric][number]
        below, above = ends.get(metric, (0.0, 0.0))
        return float(found.mean()), float(found.min()) + below, float(found.max()) + above

    columns = ["mean", "low", "high"]
    base = pd.DataFrame([row(m, 0) for m in scores], columns=columns, index=pd.Index(list(scores), name="metric"))
    rows = []
    for parameter in chosen:
        low, high = interval_of(parameter)
        own = [(v.value, i) for i, v in enumerate(variants) if v.parameter is parameter]
        for value, number in sorted([*own, (float(parameter.value or 0.0), 0)]):
            inside = low - 1e-9 <= value <= high + 1e-9
            about = (parameter.name, parameter.meaning, value, inside)
            rows += [(*about, metric, *row(metric, number)) for metric in scores]
    frame = pd.DataFrame(rows, columns=["parameter", "meaning", "value", "inside", "metric", *columns])
    table = pd.DataFrame(
        [(parameter.value, *interval_of(parameter), parameter.meaning) for parameter in chosen],
        columns=["value", "low", "high", "meaning"],
        index=pd.Index([parameter.name for parameter in chosen], name="parameter"),
    )
    return Sensitivity(frame, base, table, fits, notes, draws)
