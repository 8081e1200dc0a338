"""Parameters that nobody audited, learned from recorded rows together with a linear learner, where these can tell them.

    l(p) = max over w of  sum_i log P(recorded_i | x_i, A_i; w, p) - penalty / 2 sum_j (sd_j w_j)²

At the maximum the slope in p is that with w held fixed, so it takes no further fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
import torch
from scipy.optimize import minimize

from problog4fairness.audit import warn_audit
from problog4fairness.beliefs import Belief, Observation, admissible_values
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, rows_to_fit
from problog4fairness.learners import Bar, FittedLinear, Linear, Task
from problog4fairness.statistics import Beta, checked_priors, estimated_jointly, named_parameters, probabilities

Known = TypeVar("Known", bound=Belief)

# Where the search starts without a prior, and how near to 0 it goes.
START, MARGIN = 0.1, 1e-4
# A parameter whose standard deviation is larger than this is not identified: its 95% interval is most of what may be.
IDENTIFIED = 0.15
# How far slopes of the likelihood look to either side, and curvatures.
STEP, APART = 1e-4, 5e-3
LEARNED = "recorded rows"


def learn_parameters(
    belief: Known,
    X: Any,
    y: Any,
    *,
    learn: Sequence[str] | str,
    prior: Mapping[str, Beta] | None = None,
    sensitive_features: Any = None,
    fair: Any = None,
    favourable: Any = None,
    use_sensitive: bool = False,
    confidence: float = 0.95,
) -> Known:
    """Fit parameters that are unknown together with a linear learner, from recorded rows.

    The likelihood of the record is maximised over the parameters and the learner's coefficients at once. That rests on
    more than an audit does: that the fair label is logistic in the columns, and that the belief is right. A parameter
    that the rows cannot tell, and that has no prior, stays unknown, with a warning that says so; with a prior, it is
    shrunk to that. Each carries its information, so that posterior draws know how sure it is.

    Parameters
    ----------
    belief
        All parameters that are not learned have values: estimate them first, or state them.
    X, y, sensitive_features, fair
        Recorded data, as for :meth:`DebiasedClassifier.fit`.
    learn
        Names of the parameters to learn.
    prior
        What is known of them beforehand: ``{"p1": p4f.statistics.Beta(2, 8)}``.
    favourable, use_sensitive
        As for :class:`DebiasedClassifier`.
    confidence
        Of the intervals.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> loans = p4f.datasets.loans(rows=2000).loans
    >>> belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
    >>> learned = p4f.checks.learn_parameters(belief, loans.drop(columns="granted"), loans["granted"], learn="p1")
    >>> learned.parameters[0].source
    'likelihood of 2000 recorded rows with a linear learner (penalty 1)'
    """
    names = _checked(belief, learn)
    known_before = checked_priors(prior, named_parameters(belief.parameters, names))
    priors = [known_before.get(name) for name in names]
    start = np.array([START if beta is None else beta.mean for beta in priors])
    known = belief.bind(dict(zip(names, start.tolist(), strict=True)))
    model = DebiasedClassifier(known, "linear", use_sensitive=use_sensitive, favourable=favourable)
    rows = rows_to_fit(model, X, y, sensitive_features, fair, None)
    profile = Profile(known, names, rows)

    def cost(point: Floats) -> tuple[float, Floats]:
        value, slopes = profile.at(point)
        for place, beta in enumerate(priors):
            if beta is not None:
                value += (beta.a - 1) * math.log(point[place]) + (beta.b - 1) * math.log1p(-point[place])
                slopes[place] += (beta.a - 1) / point[place] - (beta.b - 1) / (1 - point[place])
        return -value, -slopes

    chosen = named_parameters(probabilities(known.parameters), names)
    limits = [admissible_values(known, parameter, rows)[1] for parameter in chosen]
    bounds = [(MARGIN, max(2 * MARGIN, min(1 - MARGIN, limit))) for limit in limits]
    values = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 60}).x
    information = profile.information(np.clip(values, 0.01, 0.99))
    information = information + np.diag([0.0 if beta is None else beta.information for beta in priors])
    deviations = _deviations(information)
    unknown = [
        parameter
        for parameter, beta, deviation in zip(chosen, priors, deviations, strict=True)
        if beta is None and deviation > IDENTIFIED
    ]
    if unknown:
        listed = ", ".join(parameter.called for parameter in unknown)
        warn_audit(f"recorded rows do not tell {listed}; audit some rows, or give a prior: p4f.statistics.Beta(2, 8)")
    source = f"likelihood of {len(rows)} {LEARNED} with a linear learner (penalty {profile.penalty:g})"
    half = NormalDist().inv_cdf((1 + confidence) / 2) * deviations
    ends = np.maximum(0.0, values - half), np.minimum(1.0, values + half)
    estimated = estimated_jointly(chosen, values, *ends, information, len(rows), source)
    learned = {
        parameter.name: parameter if beta is None else replace(parameter, prior=beta, source=f"{source}, prior {beta}")
        for parameter, beta in zip(estimated, priors, strict=True)
    }
    learned |= {parameter.name: parameter.stated(None) for parameter in unknown}
    return belief.bind(learned)


def _deviations(information: Floats) -> Floats:
    """Standard deviations, infinite where nothing tells."""
    sizes, directions = np.linalg.eigh(information)
    with np.errstate(divide="ignore"):
        variances = directions**2 @ np.where(sizes > 1e-6, 1 / np.maximum(sizes, 1e-6), np.inf)
    return np.asarray(np.sqrt(np.nan_to_num(variances, nan=np.inf)))


def _checked(belief: Belief, learn: Sequence[str] | str) -> list[str]:
    names = [learn] if isinstance(learn, str) else list(dict.fromkeys(learn))
    if not names:
        known = ", ".join(parameter.name for parameter in probabilities(belief.parameters))
        raise P4FError(f"learn is empty; name some of {known or 'no parameters'}")
    named_parameters(probabilities(belief.parameters), names)
    for parameter in probabilities(belief.parameters):
        if parameter.value is None and parameter.name not in names:
            raise P4FError(
                f"parameter {parameter.name} is unknown and not learned; estimate or state it, or name it in learn"
            )
    return names


class Profile:
    """The likelihood of recorded rows as a function of some parameters of a belief, all of which have values."""

    def __init__(self, belief: Belief, names: Sequence[str], rows: Rows) -> None:
        self._belief, self._names, self._rows = belief, list(names), rows
        self._weights = torch.ones(len(rows)) if rows.weights is None else torch.from_numpy(rows.weights).float()
        self._near: FittedLinear = Linear().fit_task(self._task(belief.observe(rows)), Bar())
        self.penalty = self._near.penalty

    def at(self, point: Floats) -> tuple[float, Floats]:
        """The penalised log-likelihood and its slopes."""
        observation = self._observation(point)
        fitted = self._near.refit(Linear(self.penalty), [self._task(observation)], progress=False)[0]
        self._near = fitted if isinstance(fitted, FittedLinear) else self._near
        value = -self._near.history["training"][-1] * float(self._weights.double().sum())
        logits = observation.logits(self._near.log_proba(observation.table))

        def likelihood(values: Floats) -> float:
            near = self._observation(values)
            with torch.no_grad():
                return float(self._weights.double() @ near.log_likelihood(logits))

        slopes = [
            (likelihood(high) - likelihood(low)) / (high[place] - low[place])
            for low, high, place in neighbours(point, STEP, 0.0)
        ]
        return value, np.array(slopes)

    def information(self, point: Floats) -> Floats:
        """How sharply the likelihood falls around a point, ``[parameters, parameters]``."""
        columns = [
            (self.at(low)[1] - self.at(high)[1]) / (high[place] - low[place])
            for low, high, place in neighbours(point, APART, STEP)
        ]
        matrix = np.array(columns).reshape(len(point), len(point))
        return np.asarray((matrix + matrix.T) / 2)

    def _observation(self, point: Floats) -> Observation:
        values = dict(zip(self._names, map(float, point), strict=True))
        return self._belief.bind(values).observe(self._rows)

    def _task(self, observation: Observation) -> Task:
        return Task(observation, 0, weights=self._weights)


def neighbours(point: Floats, step: float, margin: float) -> list[tuple[Floats, Floats, int]]:
    """For each parameter the points on both sides of this one, and its place."""
    neighbours = []
    for place, value in enumerate(point):
        low, high = point.copy(), point.copy()
        low[place], high[place] = max(margin, value - step), min(1 - margin, value + step)
        neighbours.append((low, high, place))
    return neighbours
