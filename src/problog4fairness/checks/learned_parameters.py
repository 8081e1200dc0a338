"""Parameters that nobody audited, learned from recorded rows together with a learner, where these can tell them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import minimize

from problog4fairness.audit import warn_audit
from problog4fairness.beliefs import Belief
from problog4fairness.checks.record_profile import Profile
from problog4fairness.data import Floats
from problog4fairness.errors import P4FError, UnknownNameError, among
from problog4fairness.estimators import DebiasedClassifier, rows_to_fit
from problog4fairness.statistics import Beta, Parameter, checked_priors

Known = TypeVar("Known", bound=Belief)

# Where the search starts without a prior, and how near to 0 it goes.
START, MARGIN = 0.1, 1e-4
# A parameter whose standard deviation is larger than this is not told: its 95% interval is most of what may be.
TOLD = 0.15
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
    drawn to that. What was found carries its information, so that ``draws`` and ``bands`` know how sure it is.

    It lives here and not in ``belief.estimate``, because beliefs do not know of learners.

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
    >>> found = p4f.checks.learn_parameters(belief, loans.drop(columns="granted"), loans["granted"], learn="p1")
    >>> found.parameters[0].source
    'likelihood of 2000 recorded rows with a linear learner (penalty 1)'
    """
    names = _checked(belief, learn)
    chosen = [own for own in belief.parameters if own.name in names]
    priors = [checked_priors(prior, chosen).get(name) for name in names]
    start = np.array([START if own is None else own.mean for own in priors])
    known = belief.with_values(dict(zip(names, start.tolist(), strict=True)))
    model = DebiasedClassifier(known, "linear", use_sensitive=use_sensitive, favourable=favourable)
    rows = rows_to_fit(model, X, y, sensitive_features, fair, None)
    profile = Profile(known, names, rows)

    def cost(point: Floats) -> tuple[float, Floats]:
        value, slopes = profile.at(point)
        for place, own in enumerate(priors):
            if own is not None:
                value += (own.a - 1) * math.log(point[place]) + (own.b - 1) * math.log1p(-point[place])
                slopes[place] += (own.a - 1) / point[place] - (own.b - 1) / (1 - point[place])
        return -value, -slopes

    chosen = [own for own in known.parameters if own.name in names]
    limits = {own.name: known.admissible(own, rows)[1] for own in chosen}
    bounds = [(MARGIN, max(2 * MARGIN, min(1 - MARGIN, limits[name]))) for name in names]
    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 60}).x
    inside = np.clip(found, 0.01, 0.99)
    information = profile.information(inside)
    spread = _spread(information, priors)
    source = f"likelihood of {len(rows)} {LEARNED} with a linear learner (penalty {profile.penalty:g})"
    values = {
        name: _Learned(float(found[place]), float(spread[place]), priors[place], information[place], source)
        for place, name in enumerate(names)
    }
    lost = [name for name, own in values.items() if own.prior is None and own.deviation > TOLD]
    if lost:
        said = ", ".join(own.called for own in chosen if own.name in lost)
        warn_audit(f"recorded rows do not tell {said}; audit some rows, or give a prior: p4f.statistics.Beta(2, 8)")
    return belief.with_parameters(
        tuple(
            own.stated(None) if own.name in lost else _learned(own, values, names, len(rows), confidence)
            for own in belief.parameters
        )
    )


class _Learned:
    """What was learned of one parameter."""

    def __init__(self, value: float, deviation: float, prior: Beta | None, row: Floats, source: str) -> None:
        self.value, self.deviation, self.prior = value, deviation, prior
        self.row = row
        self.source = source if prior is None else f"{source}, prior {prior}"


def _learned(
    own: Parameter, values: Mapping[str, _Learned], names: Sequence[str], rows: int, confidence: float
) -> Parameter:
    if own.name not in values:
        return own
    found = values[own.name]
    half = NormalDist().inv_cdf((1 + confidence) / 2) * found.deviation
    low, high = max(0.0, found.value - half), min(1.0, found.value + half)
    row = found.row.copy()
    row[names.index(own.name)] += prior_information(found.prior)
    known = tuple(zip(names, map(float, row), strict=True))
    stated = replace(own, value=found.value, low=low, high=high, rows=rows)
    return replace(stated, source=found.source, prior=found.prior, information=known)


def prior_information(prior: Beta | None) -> float:
    """What a prior adds to the information: that of the rows that it is worth."""
    return 0.0 if prior is None else (prior.a + prior.b) / (prior.mean * (1 - prior.mean))


def _spread(information: Floats, priors: Sequence[Beta | None]) -> Floats:
    """Standard deviations, infinite where nothing tells."""
    sizes, directions = np.linalg.eigh(information + np.diag([prior_information(own) for own in priors]))
    with np.errstate(divide="ignore"):
        variances = directions**2 @ np.where(sizes > 1e-6, 1 / np.maximum(sizes, 1e-6), np.inf)
    return np.asarray(np.sqrt(np.nan_to_num(variances, nan=np.inf)))


def _checked(belief: Belief, learn: Sequence[str] | str) -> list[str]:
    names = [learn] if isinstance(learn, str) else list(dict.fromkeys(learn))
    known = {own.name: own for own in belief.probabilities}
    if not names:
        raise P4FError(f"learn is empty; name some of {', '.join(known) or 'no parameters'}")
    for name in names:
        if name not in known:
            raise UnknownNameError(f"the belief has no parameter {name!r}; {among(name, known, 'it has')}")
    left = [name for name, own in known.items() if own.value is None and name not in names]
    if left:
        raise P4FError(f"parameter {left[0]} is unknown and not learned; estimate or state it, or name it in learn")
    return names
