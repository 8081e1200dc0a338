"""What if a parameter of the belief is wrong? Fit the classifier again with other values, and see what moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils.validation import check_is_fitted

from problog4fairness.audit import Audit
from problog4fairness.beliefs import Belief, Observation, admissible_values
from problog4fairness.data import Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import Refits, draw, new_rows, recorded_rows
from problog4fairness.learners import Fitted
from problog4fairness.metrics import decide, selected
from problog4fairness.robustness.box import Range, interval_of, range_of
from problog4fairness.robustness.result import ACCURACY, CHANGED, DISPARITY, Result, draw_sensitivity
from problog4fairness.robustness.uncertainty import LEAST_KNOWN, uncertainty_of
from problog4fairness.statistics import Parameter, named_parameters, probabilities

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from problog4fairness.estimators import DebiasedClassifier

MOST_FITS = 400


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Result):
    """The result of :func:`~problog4fairness.robustness.sensitivity`.

    Attributes
    ----------
    table
        How far each metric moves with each parameter: ``low`` to ``high`` over the interval, ``lowest`` to ``highest``
        beyond it.
    frame
        A row for each parameter, value and metric: ``parameter``, ``meaning``, ``value``, ``inside`` (whether the value
        lies in the parameter's interval), ``metric``, its ``estimate``, and the ends ``low`` and ``high`` of a 95%
        interval: how far what the audit and the rows leave open reaches. The rows at the parameter's own value are
        those of ``base``.
    base
        ``estimate``, ``low`` and ``high`` of each metric with all parameters at their own values.
    parameters
        The parameters that were varied: ``value``, ``low``, ``high``, ``meaning``.
    fits
        How many classifiers were fitted.
    notes
        What a reader should know: ranges that were cut, and why.
    """

    table: pd.DataFrame
    frame: pd.DataFrame
    base: pd.DataFrame
    parameters: pd.DataFrame
    fits: int
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"Sensitivity of {', '.join(self.metrics)} to {', '.join(self.parameters.index)}, {self.fits} fits"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(self.base.index)

    def words(self) -> list[str]:
        """What a reader should know."""
        return list(self.notes)

    def __repr__(self) -> str:
        return self.title

    def plot(self) -> Figure:
        """A column of panels for each parameter, a row for each metric; the interval is shaded, the value marked."""
        return draw_sensitivity(self)


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
    draws
        How many posterior draws give the intervals, as those of :meth:`DebiasedClassifier.uncertainty`; 0 for none.
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
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> X, y, poor = data.loans[list(data.features)], data.loans["granted"], data.loans["poor_area"]
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(X, y, sensitive_features=poor)
    >>> moves = p4f.robustness.sensitivity(model, X, y, sensitive_features=poor, values=5)
    >>> moves.metrics, sorted(moves.frame["value"].unique().round(3).tolist())  # the value, and .15 to both sides
    (('disparity', 'changed'), [0.25, 0.325, 0.4, 0.475, 0.55])
    """
    if values < 5 or not 0 <= beyond <= 1:
        raise P4FError("values must be 5 or more, beyond between 0 and 1")
    check_is_fitted(model)
    belief: Belief = model.belief_
    chosen = _chosen(belief, parameters)
    rows = recorded_rows(model, X, y, sensitive_features, fair)
    audited = _audited(model, audit)
    variants, notes = [_Variant(belief)], []
    for parameter in chosen:
        others, cut = _variants(belief, parameter, rows, values, beyond)
        variants += others
        notes += cut
    half_widths = _half_widths(model, rows, audited, draws, progress) if draws else {}
    refits = Refits(model, rows, progress)
    fitted = _fitted(refits, variants)
    if not refits.count:
        notes.append("Training does not depend on the parameters; only predictions were made anew.")
    scores = _scores(refits, variants, fitted, audited)
    return _result(chosen, variants, scores, half_widths, refits.count, tuple(notes))


def _chosen(belief: Belief, names: Sequence[str] | str | None) -> list[Parameter]:
    """The parameters to vary."""
    known = probabilities(belief.parameters)
    if not known:
        raise P4FError("there is no parameter to vary: the classifier has no belief, or one with all numbers fixed")
    if names is None:
        return list(known)
    if not names:
        raise P4FError(f"parameters is empty; name some of {', '.join(parameter.name for parameter in known)}")
    return named_parameters(known, [names] if isinstance(names, str) else list(dict.fromkeys(names)))


def _variants(
    belief: Belief, parameter: Parameter, rows: Rows, values: int, beyond: float
) -> tuple[list[_Variant], list[str]]:
    """The belief with other values of one parameter, in order; and what to say where its range was cut."""
    if parameter.value is None:
        raise P4FError(f"parameter {parameter.name} has no value to start from")
    low, high = interval_of(parameter)
    # An end of the interval that is the value itself is fitted already.
    below, above = ((values - 1) // 2 + (end == parameter.value) for end in (low, high))
    start, end = range_of(belief, parameter, rows, (low - beyond, high + beyond))
    points = [*np.linspace(start, max(low, start), below), *np.linspace(min(high, end), end, above)]
    others = sorted({round(float(point), 9) for point in points} - {round(parameter.value, 9)})
    notes = []
    floor, ceiling = admissible_values(belief, parameter, rows)
    if floor > low or ceiling < high:
        notes.append(
            f"{parameter.called} was varied from {start:.2f} to {end:.2f} only, not over its whole interval "
            f"({low:.2f} to {high:.2f}): further out, recorded labels say almost nothing about fair ones."
        )
    return [_Variant(belief.bind({parameter.name: value}), parameter, value) for value in others], notes


def _audited(model: DebiasedClassifier, audit: Audit | tuple[Any, ...] | None) -> Rows | None:
    """The audited rows, with the fair label in the place of the recorded one, and their weights."""
    if audit is None:
        return None
    if isinstance(audit, Audit):
        features = list(model.feature_names_in_)
        beside = [name for name in model.belief_.columns.context if name not in features]
        beside += [
            name
            for name in model.belief_.columns.sensitive
            if name in audit.frame.columns and name not in (*features, *beside)
        ]
        rows = new_rows(model, audit.frame[features], audit.frame[beside] if beside else None, audit.values())
        return replace(rows, audit_weights=audit.weights)
    if len(audit) not in (2, 3) or hasattr(audit, "columns"):
        raise P4FError("audit is an Audit, (features, fair labels) or (features, fair labels, sensitive features)")
    return new_rows(model, audit[0], audit[2] if len(audit) == 3 else None, audit[1])


def _fitted(refits: Refits, variants: Sequence[_Variant]) -> list[Fitted]:
    """A classifier for each variant; those by which the record has the same likelihood share theirs."""
    observations = [variant.belief.observe(refits.rows) for variant in variants]
    different = _different(observations)
    if len(different) == 1:
        return [refits.model.fitted_] * len(variants)
    if len(different) > MOST_FITS:
        raise P4FError(
            f"this would need {len(different)} fits, more than {MOST_FITS}; "
            "name fewer parameters by parameters=[...], or take fewer values"
        )
    fits = refits.whole([variants[i].belief for i in different], [observations[i] for i in different])
    by_variant = dict(zip(different, fits, strict=True))
    return [by_variant.get(number, fits[0]) for number in range(len(variants))]


def _different(observations: Sequence[Observation]) -> list[int]:
    """The first observation, and those by which the record has another likelihood: only these are fitted."""
    first = observations[0]
    logits = torch.randn(len(first.table), first.outputs, generator=torch.Generator().manual_seed(0)).double()
    likelihood = first.log_likelihood(logits)
    others = [
        number
        for number, other in enumerate(observations[1:], start=1)
        if other.table is not first.table or not torch.equal(other.log_likelihood(logits), likelihood)
    ]
    return [0, *others]


def _scores(
    refits: Refits, variants: Sequence[_Variant], fitted: Sequence[Fitted], audited: Rows | None
) -> pd.DataFrame:
    """A row for each variant, a column for each metric."""
    groupings = refits.model.belief_.groupings(refits.rows)
    chances = [refits.fair_proba(variant.belief, fit) for variant, fit in zip(variants, fitted, strict=True)]
    scores = {}
    if audited:
        right = [
            decide(refits.fair_proba(variant.belief, fit, audited)) == audited.recorded
            for variant, fit in zip(variants, fitted, strict=True)
        ]
        scores[ACCURACY] = [np.average(hits, weights=audited.sampling_weights()) for hits in right]
    for grouping in groupings:
        name = DISPARITY if len(groupings) == 1 else f"{DISPARITY} by {grouping.name}"
        scores[name] = [grouping.disparity(selected(chance)) for chance in chances]
    first = decide(chances[0])
    scores[CHANGED] = [(decide(chance) != first).mean() for chance in chances]
    return pd.DataFrame(scores, dtype="float64")


def _half_widths(
    model: DebiasedClassifier, rows: Rows, audited: Rows | None, count: int, progress: bool | None
) -> dict[str, Range]:
    """For each metric how far its 95% interval goes below and above the model's own number.

    Measured with all parameters drawn, and taken along to the other values; so it is rather too wide than too narrow.
    """
    draws = draw(model, rows, count, model.seed_, progress)
    disparity = uncertainty_of(model, rows, draws, refitted=True, random_state=model.seed_)[DISPARITY]
    ends = {f"{DISPARITY} by {row.group}" if row.group else DISPARITY: row for row in disparity.itertuples()}
    if audited is not None and len(audited) >= LEAST_KNOWN:
        known = replace(audited, fair=audited.recorded)
        accuracy = uncertainty_of(model, known, draws, refitted=False, random_state=model.seed_)[ACCURACY]
        (ends[ACCURACY],) = accuracy.itertuples()
    return {name: (min(0.0, row.low - row.value), max(0.0, row.high - row.value)) for name, row in ends.items()}


def _result(
    chosen: Sequence[Parameter],
    variants: Sequence[_Variant],
    scores: pd.DataFrame,
    half_widths: dict[str, Range],
    fits: int,
    notes: tuple[str, ...],
) -> Sensitivity:
    def estimates(number: int) -> pd.DataFrame:
        """A row for each metric of a variant."""
        row = scores.iloc[number]
        below, above = np.array([half_widths.get(metric, (0.0, 0.0)) for metric in row.index]).T
        return pd.DataFrame({"estimate": row, "low": row + below, "high": row + above}).rename_axis("metric")

    base, parts = estimates(0), []
    for parameter in chosen:
        low, high = interval_of(parameter)
        values = [(variant.value, number) for number, variant in enumerate(variants) if variant.parameter is parameter]
        for value, number in sorted([*values, (float(parameter.value or 0.0), 0)]):
            inside = low - 1e-9 <= value <= high + 1e-9
            about = {"parameter": parameter.name, "meaning": parameter.meaning, "value": value, "inside": inside}
            parts.append(estimates(number).reset_index().assign(**about))
    frame = pd.concat(parts, ignore_index=True)[
        ["parameter", "meaning", "value", "inside", "metric", "estimate", "low", "high"]
    ]
    parameters = pd.DataFrame(
        [(parameter.value, *interval_of(parameter), parameter.meaning) for parameter in chosen],
        columns=["value", "low", "high", "meaning"],
        index=pd.Index([parameter.name for parameter in chosen], name="parameter"),
    )
    by = ["parameter", "metric"]
    within = frame[frame["inside"]].groupby(by, sort=False)["estimate"].agg(low="min", high="max")
    beyond = frame.groupby(by, sort=False)["estimate"].agg(lowest="min", highest="max")
    return Sensitivity(within.join(beyond).reset_index(), frame, base, parameters, fits, notes)
