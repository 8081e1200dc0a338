"""What if a parameter of the belief is wrong? Refit the classifier with other values, and see what moves."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.custom import ProgramBelief
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.classifier.columns import encode
from problog4fairness.classifier.groups import groupings
from problog4fairness.classifier.reading import codes_among
from problog4fairness.classifier.view import groups_of, inputs_of
from problog4fairness.errors import P4FError, UnknownNameError
from problog4fairness.learners import Job, fit_many

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from problog4fairness.classifier.estimator import DebiasedClassifier

Array = np.ndarray[Any, np.dtype[Any]]

MOST_NETWORKS = 400
# Below this, recorded labels say so little about fair ones that a fit is a matter of chance.
LEAST_SIGNAL = 0.05
ACCURACY, CHANGED = "accuracy", "changed"


@dataclass(frozen=True)
class Sensitivity:
    """The result of :meth:`DebiasedClassifier.sensitivity`.

    Attributes
    ----------
    frame
        A row for each parameter, value and metric: ``parameter``, ``meaning``, ``value``, ``inside`` (whether the value
        lies in the parameter's interval), ``metric``, and over the seeds the ``mean``, the least (``low``) and the
        greatest (``high``). The rows at the parameter's own value are those of ``base``.
    base
        ``mean``, ``low`` and ``high`` of each metric with all parameters at their own values.
    parameters
        The parameters that were varied: ``value``, ``low``, ``high``, ``meaning``.
    networks
        How many networks were fitted.
    notes
        What a reader should know: ranges that were cut, and why.
    """

    frame: pd.DataFrame
    base: pd.DataFrame
    parameters: pd.DataFrame
    networks: int
    notes: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(self.base.index)

    @property
    def spans(self) -> pd.DataFrame:
        """How far each metric moves: ``low`` to ``high`` over the interval, ``lowest`` to ``highest`` beyond."""
        rows = []
        for (parameter, metric), own in self.frame.groupby(["parameter", "metric"], sort=False):
            inside = own.loc[own["inside"], "mean"]
            ends = (inside.min(), inside.max(), own["mean"].min(), own["mean"].max())
            rows.append((parameter, metric, *ends))
        return pd.DataFrame(rows, columns=["parameter", "metric", "low", "high", "lowest", "highest"])

    def plot(self) -> Figure:
        """A column of panels for each parameter, a row for each metric; the interval is shaded, the value marked."""
        from problog4fairness.classifier.sensitivity_figure import draw

        return draw(self)


@dataclass(frozen=True)
class _Variant:
    """A value of one parameter, and the belief that has it; the base has no parameter."""

    belief: Belief
    rate: Parameter | None = None
    value: float = float("nan")


def sensitivity(
    model: DebiasedClassifier,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    audit: tuple[Any, ...] | None,
    values: int,
    beyond: float,
    seeds: int,
    parameters: Sequence[str] | None,
    progress: bool | None,
) -> Sensitivity:
    """See :meth:`DebiasedClassifier.sensitivity`."""
    if values < 5 or not 0 <= beyond <= 1 or seeds < 1:
        raise P4FError("values must be 5 or more, beyond between 0 and 1, seeds 1 or more")
    belief, rates = _chosen(model, parameters)
    known = model._known(X, sensitive_features)
    recorded = codes_among(model.classes_, y, len(known))
    variants, notes = [_Variant(belief)], []
    groups = groups_of(belief, known).levels
    for rate in rates:
        found, cut = _variants(belief, rate, groups, values, beyond)
        variants += found
        notes += cut
    refit = model._training_belief() is not None
    networks = len(variants) * seeds if refit else 0
    if networks > MOST_NETWORKS:
        raise P4FError(
            f"{len(rates)} parameters would need {networks} networks, more than {MOST_NETWORKS}; "
            "name fewer by parameters=[...], or take fewer values or seeds"
        )
    models = [_copy(model, variant.belief) for variant in variants]
    if refit:
        nets = _fitted(model, models, known, recorded, seeds, progress)
    else:
        nets = [[model.network_] for _ in models]
        notes.append("Training does not depend on the parameters; only predictions were made anew.")
    scores = _scores(model, models, nets, known, _audited(model, audit))
    return _result(rates, variants, scores, networks, tuple(notes))


def _chosen(model: DebiasedClassifier, parameters: Sequence[str] | None) -> tuple[Belief, list[Parameter]]:
    check_is_fitted(model)
    belief = model.belief_
    rates = {rate.name: rate for rate in (belief.probabilities if belief is not None else ())}
    if belief is None or not rates:
        raise P4FError("there is no parameter to vary: the classifier has no belief, or one with all numbers fixed")
    if isinstance(parameters, str):
        parameters = [parameters]
    for name in parameters or ():
        if name not in rates:
            raise UnknownNameError(f"the belief has no parameter {name!r}; it has {', '.join(rates)}")
    chosen = list(rates) if parameters is None else list(dict.fromkeys(parameters))
    if not chosen:
        raise P4FError(f"parameters is empty; name some of {', '.join(rates)}")
    return belief, [rates[name] for name in chosen]


def _variants(
    belief: Belief, rate: Parameter, groups: Array, values: int, beyond: float
) -> tuple[list[_Variant], list[str]]:
    """The belief with other values of one parameter, in order."""
    if rate.value is None:
        raise P4FError(f"parameter {rate.name} has no value to start from")
    low, high = interval_of(rate)
    floor, ceiling = _limits(belief, rate, groups)
    # An end of the interval that is the value itself is fitted already.
    below, above = ((values - 1) // 2 + (end == rate.value) for end in (low, high))
    start, end = max(low - beyond, floor, 0.0), min(high + beyond, ceiling, 1.0)
    points = [*np.linspace(start, max(low, start), below), *np.linspace(min(high, end), end, above)]
    chosen = sorted({round(float(point), 9) for point in points} - {round(rate.value, 9)})
    notes = []
    if floor > low or ceiling < high:
        notes.append(
            f"{rate.name} was varied from {start:.2f} to {end:.2f} only, not over its whole interval "
            f"({low:.2f} to {high:.2f}): further out, recorded labels say almost nothing about fair ones."
        )
    made = []
    for value in chosen:
        rates = tuple(replace(r, value=value) if r.name == rate.name else r for r in belief.probabilities)
        made.append(_Variant(belief.with_probabilities(rates), rate, value))
    return made, notes


def interval_of(rate: Parameter) -> tuple[float, float]:
    """The interval of a rate that has a value; the value alone where it was stated."""
    value = 0.0 if rate.value is None else rate.value
    if rate.low is None or rate.high is None:
        return value, value
    return min(rate.low, value), max(rate.high, value)


def _limits(belief: Belief, rate: Parameter, groups: Array) -> tuple[float, float]:
    """Between which values the belief makes sense: labels stay informative, and probabilities sum to 1 at most.

    Every entry of a belief's tables is affine in each of its parameters, so two points tell where it becomes too small.
    """
    value = rate.value or 0.0
    if isinstance(belief, ProgramBelief):
        # At exactly 1 some recorded label may be impossible.
        return 0.0, max(value, 0.99)
    probe = value / 2 if value > 0 else 0.01
    rates = tuple(replace(r, value=probe) if r.name == rate.name else r for r in belief.probabilities)
    try:
        there = _margins(belief.with_probabilities(rates), groups)
    except P4FError:
        return 0.0, value
    here = _margins(belief, groups)
    slope = (there - here) / (probe - value)
    room = here.clamp_min(0)
    falling, rising = slope < -1e-9, slope > 1e-9
    above = float((room[falling] / -slope[falling]).min()) if bool(falling.any()) else 1.0
    below = float((room[rising] / slope[rising]).min()) if bool(rising.any()) else 1.0
    return max(0.0, value - below), min(1.0, value + above)


def _margins(belief: Belief, groups: Array) -> Tensor:
    """What must not become negative: how much more likely a class is recorded where it is right, and probabilities."""
    parts = [table.flatten() for table in belief.feature_tables(groups).values()]
    table = belief.label_table(groups)
    if table is not None:
        right = table.diagonal(dim1=-2, dim2=-1).unsqueeze(-2)
        ahead = right - table
        others = ~torch.eye(table.shape[-1], dtype=torch.bool)
        parts.append(ahead[:, others].flatten() - LEAST_SIGNAL)
    return torch.cat(parts) if parts else torch.ones(0, dtype=torch.float64)


def _copy(model: DebiasedClassifier, belief: Belief) -> DebiasedClassifier:
    other = copy.copy(model)
    other.belief_ = belief
    return other


def _fitted(
    model: DebiasedClassifier,
    models: Sequence[DebiasedClassifier],
    known: pd.DataFrame,
    recorded: Array,
    seeds: int,
    progress: bool | None,
) -> list[list[Any]]:
    """For each model a network for each seed, the first of which is the seed of the classifier itself."""
    inputs = inputs_of(model._training_belief(), known, model.columns_)
    matrix = torch.from_numpy(encode(model.encoder_, inputs.frame))
    weights = model._row_weights(recorded, None)
    jobs = []
    for other in models:
        likelihood = other._likelihood(known, recorded, inputs)
        jobs += [Job(matrix, likelihood, seed=model.seed_ + seed, weights=weights) for seed in range(seeds)]
    fits = fit_many(jobs, model._settings(), progress=progress)
    return [[fit.network for fit in fits[i * seeds : (i + 1) * seeds]] for i in range(len(models))]


def _audited(model: DebiasedClassifier, audit: tuple[Any, ...] | None) -> tuple[pd.DataFrame, Array] | None:
    if audit is None:
        return None
    if len(audit) not in (2, 3) or hasattr(audit, "columns"):
        raise P4FError("audit is (features, fair labels) or (features, fair labels, sensitive features)")
    known = model._known(audit[0], audit[2] if len(audit) == 3 else None)
    return known, codes_among(model.classes_, audit[1], len(known))


def _scores(
    model: DebiasedClassifier,
    models: Sequence[DebiasedClassifier],
    networks: Sequence[Sequence[Any]],
    known: pd.DataFrame,
    audited: tuple[pd.DataFrame, Array] | None,
) -> dict[str, Array]:
    """Each metric as ``[variants, seeds]``; the first variant is the base."""
    ways = groupings(model.belief_, known) if len(model.classes_) == 2 else []
    names = ["disparity"] if len(ways) == 1 else [f"disparity by {way.name}" for way in ways]
    metrics = [*([ACCURACY] if audited else []), *names, CHANGED]
    scores: dict[str, list[list[float]]] = {metric: [] for metric in metrics}
    base = []
    for number, (other, nets) in enumerate(zip(models, networks, strict=True)):
        row: dict[str, list[float]] = {metric: [] for metric in metrics}
        for seed, network in enumerate(nets):
            other.network_ = network
            logs = other._fair_logs(known)
            decisions = logs.argmax(axis=1)
            if number == 0:
                base.append(decisions)
            row[CHANGED].append(float((decisions != base[seed]).mean()))
            for name, way in zip(names, ways, strict=True):
                row[name].append(way.disparity(np.exp(logs[:, -1])))
            if audited:
                row[ACCURACY].append(float((other._fair_logs(audited[0]).argmax(axis=1) == audited[1]).mean()))
        for metric in metrics:
            scores[metric].append(row[metric])
    return {metric: np.array(found) for metric, found in scores.items()}


def _result(
    rates: Sequence[Parameter],
    variants: Sequence[_Variant],
    scores: dict[str, Array],
    networks: int,
    notes: tuple[str, ...],
) -> Sensitivity:
    def row(metric: str, number: int) -> tuple[float, float, float]:
        found = scores[metric][number]
        return float(found.mean()), float(found.min()), float(found.max())

    ends = ["mean", "low", "high"]
    base = pd.DataFrame([row(m, 0) for m in scores], columns=ends, index=pd.Index(list(scores), name="metric"))
    rows = []
    for rate in rates:
        low, high = interval_of(rate)
        own = [(v.value, i) for i, v in enumerate(variants) if v.rate is rate]
        for value, number in sorted([*own, (float(rate.value or 0.0), 0)]):
            inside = low - 1e-9 <= value <= high + 1e-9
            rows += [(rate.name, rate.meaning, value, inside, metric, *row(metric, number)) for metric in scores]
    frame = pd.DataFrame(rows, columns=["parameter", "meaning", "value", "inside", "metric", *ends])
    table = pd.DataFrame(
        [(rate.value, *interval_of(rate), rate.meaning) for rate in rates],
        columns=["value", "low", "high", "meaning"],
        index=pd.Index([rate.name for rate in rates], name="parameter"),
    )
    return Sensitivity(frame, base, table, networks, notes)
