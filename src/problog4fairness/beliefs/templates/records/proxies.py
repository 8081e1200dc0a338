"""P(group | proxies): stated, counted in a linked sample or modelled there, as a program, and what it leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax

from problog4fairness.audit import warn_audit
from problog4fairness.beliefs.variables import declaration
from problog4fairness.data import Codes, Floats, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import atom, comment, number
from problog4fairness.statistics import (
    POOLED,
    Estimate,
    Parameter,
    Shrunk,
    estimated_jointly,
    known_values,
    proportion,
    shrunk,
)

# What a squared weight of the model costs, so that values which all linked people of one group share have one.
PENALTY = 0.02
SOURCE = "a logistic model of the proxies"
# How far the probabilities of a table may be from a sum of 1.
ROUNDING = 1e-6
# The network that reads the recorded group, where there is one.
NETWORK = "known_group"
# Parameters of a model: how sure they are together is a matrix of their square, which the belief's file has, too.
MOST_TOGETHER = 1_000


def linked_shares(
    parameters: Sequence[Parameter], places: Codes, groups: Codes, confidence: float, sizes: Sequence[int] | None
) -> tuple[Parameter, ...]:
    """P(group | proxies) from linked rows.

    Parameters
    ----------
    parameters
        Each is about a combination of values (``cell.group``) and a group (``cell.recorded``).
    places, groups
        ``[rows]``: the combination and the group of each linked row.
    confidence
        Of the intervals.
    sizes
        How many values each proxy has, for a model of the proxies; None to count each combination.
    """
    if sizes is not None:
        return _modelled(parameters, places, groups, confidence, sizes)
    found = []
    for own in parameters:
        here = places == (own.cell.group if own.cell else 0)
        yes = int((groups[here] == (own.cell.recorded if own.cell else 1)).sum())
        found.append(own.estimated(proportion(yes, int(here.sum()), confidence)))
    return _with_unseen(found, confidence)


def _with_unseen(parameters: Sequence[Parameter], confidence: float) -> tuple[Parameter, ...]:
    """The parameters; those of combinations without a linked row are as the other combinations let expect."""
    unseen = [own for own in parameters if own.without_rows]
    if not unseen:
        return tuple(parameters)
    places = {own.cell.group for own in unseen if own.cell}
    # Each group's share is its share among the linked people of all combinations, as far as combinations are alike.
    combinations = sorted({own.cell.group for own in parameters if own.cell} - places)
    number = {place: i for i, place in enumerate(combinations)}
    shares: dict[int, Shrunk] = {}
    for level in sorted({own.cell.recorded for own in parameters if own.cell}):
        counts = np.zeros((2, 1 + len(combinations)))
        for own in parameters:
            if own.cell and own.cell.recorded == level and own.rows:
                counts[:, 1 + number[own.cell.group]] = (own.value or 0.0) * own.rows, own.rows
        shares[level] = shrunk(counts[0], counts[1], confidence)[0]
    scale = max(1.0, sum(own.value for own in shares.values()))
    warn_audit(
        f"{len(places)} of {len(places) + len(combinations)} combinations of the proxies have no linked row, such "
        f"as that of {unseen[0].name}: they are pooled from the others; with additive=True each proxy adds its part"
    )
    found = []
    for own in parameters:
        if own.without_rows and own.cell:
            told = shares[own.cell.recorded]
            estimate = Estimate(told.value / scale, told.low, told.high, 0)
            own = replace(own, prior=told.prior).estimated(estimate, POOLED)
        found.append(own)
    return tuple(found)


def _modelled(
    parameters: Sequence[Parameter], places: Codes, groups: Codes, confidence: float, sizes: Sequence[int]
) -> tuple[Parameter, ...]:
    """The parameters by a model in which each proxy adds its part to the log-odds of the groups.

    It needs far fewer linked rows than a count for each combination, and is calibrated: of the people with each value
    of each proxy, as many are of each group as it says. Two proxies that tell of the group together what neither tells
    alone are beyond it.
    """
    if len(parameters) > MOST_TOGETHER:
        raise P4FError(
            f"the proxies have {len(parameters):,} combinations of values, and a model of them takes {MOST_TOGETHER:,} "
            "at most; join values that are alike"
        )
    matrix = _design(sizes)
    count = 1 + max(own.cell.recorded for own in parameters if own.cell)
    seen = np.zeros((len(matrix), count))
    np.add.at(seen, (places, groups), 1)
    shape = (matrix.shape[1], count - 1)

    def loss(point: Floats) -> tuple[float, Floats]:
        weights = point.reshape(shape)
        chance = _chances(matrix, weights)
        slopes = matrix.T @ (seen.sum(axis=1, keepdims=True) * chance - seen)[:, 1:] + PENALTY * _free(weights)
        cost = 0.5 * PENALTY * float((_free(weights) ** 2).sum())
        return cost - float((seen * np.log(np.maximum(chance, 1e-300))).sum()), slopes.reshape(-1)

    found = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"ftol": 1e-13}).x
    chance = _chances(matrix, found.reshape(shape))
    slopes = _slopes(matrix, chance)  # [combinations, groups - 1, weights]
    flat = np.sqrt(seen.sum(axis=1))[:, None, None]
    # The information of multinomial counts: slopes over what is expected, the first group's included.
    whole = np.concatenate([-slopes.sum(axis=1, keepdims=True), slopes], axis=1)
    scaled = (flat * whole / np.sqrt(np.maximum(chance, 1e-12))[:, :, None]).reshape(-1, whole.shape[2])
    covariance = np.linalg.pinv(scaled.T @ scaled + PENALTY * np.eye(scaled.shape[1]), hermitian=True)
    at = [(own.cell.group, own.cell.recorded) for own in parameters if own.cell]
    moves = np.stack([slopes[place, group - 1] for place, group in at])
    spread = moves @ covariance @ moves.T
    value, z = np.array([chance[place] for place in at]), NormalDist().inv_cdf((1 + confidence) / 2)
    half = z * np.sqrt(np.diag(spread)) / np.maximum(value * (1 - value), 1e-12)
    ends = expit(logit(value) - half), expit(logit(value) + half)
    information = np.linalg.pinv(spread, rcond=1e-8, hermitian=True)
    return estimated_jointly(parameters, value, *ends, information, len(groups), SOURCE)


def _design(values: Sequence[int]) -> Floats:
    """``[combinations, weights]``: a constant, and an indicator of each value of each proxy but the first."""
    every = np.array(list(product(*(range(count) for count in values))))
    parts = [np.eye(count)[every[:, number], 1:] for number, count in enumerate(values)]
    return np.concatenate([np.ones((len(every), 1)), *parts], axis=1)


def _chances(matrix: Floats, weights: Floats) -> Floats:
    """``[combinations, groups]``; the first group is the one that the others are compared with."""
    return np.asarray(softmax(np.column_stack([np.zeros(len(matrix)), matrix @ weights]), axis=1))


def _free(weights: Floats) -> Floats:
    """The weights without the constants, which cost nothing."""
    return np.concatenate([np.zeros_like(weights[:1]), weights[1:]])


def _slopes(matrix: Floats, chance: Floats) -> Floats:
    """How the probability of each group but the first moves with each weight."""
    own = chance[:, 1:]
    between = own[:, :, None] * (np.eye(own.shape[1]) - own[:, None, :])
    return np.asarray(np.einsum("cgk,cw->cgwk", between, matrix)).reshape(len(matrix), own.shape[1], -1)


def stated_shares(key: Any, given: Any, variable: Sensitive) -> list[float | None]:
    """The probability of each group from what was said of a value of the proxies."""
    if given is None:
        return [None] * len(variable.levels)
    if isinstance(given, int | float) and variable.binary:
        return [1 - float(given), float(given)]
    whole = dict(given) if isinstance(given, Mapping) else given
    fits = isinstance(whole, dict) and set(whole) == set(variable.levels)
    if not fits or abs(sum(whole.values()) - 1) > ROUNDING:
        raise P4FError(f"shares of {key!r} must be one for each of {list(variable.levels)} and sum to 1, not {whole}")
    return [float(whole[level]) for level in variable.levels]


def proxy_text(group: Sensitive, proxies: Sequence[Sensitive], own: Sequence[Parameter], inner: str) -> str:
    """The program of a belief in which the group is recorded, or follows from the proxies.

    Parameters
    ----------
    group, proxies
        The sensitive variable, and what tells of it.
    own
        P(group | values of the proxies), by cell; the first group has what is left.
    inner
        The program in which the group is a network.
    """
    networks = [f"nn({NETWORK},[X],G,[{_listed(group)},missing]) :: {NETWORK}(X,G)."]
    networks += [f"nn({proxy.name},[X],V,[{_listed(proxy)}]) :: {proxy.name}(X,V)." for proxy in proxies]
    facts: list[str] = []
    used = known_values(own)
    cells: dict[int, dict[int, Parameter]] = {}
    for parameter in own:
        if parameter.cell is not None:
            cells.setdefault(parameter.cell.group, {})[parameter.cell.recorded] = parameter
    for place, key in enumerate(product(*(proxy.levels for proxy in proxies))):
        goals = ", ".join(f"{proxy.name}(X,{atom(value)})" for proxy, value in zip(proxies, key, strict=True))
        here = cells.get(place, {})
        weights = {level: number(used[p.name]) if p.name in used else p.name for level, p in here.items()}
        heads = [f"{weight} :: {_guess(group, level)}" for level, weight in weights.items()]
        facts.append(f"{'; '.join(heads)} :- {goals}.{here[1].remark if len(here) == 1 else ''}")
    rules = [clause for level in range(group.binary, len(group.levels)) for clause in _rules(group, level)]
    head = comment("The group is known of some people; of the others, proxies tell how likely it is.")
    inner = inner.replace(declaration(group) + "\n", "")
    return "\n\n".join([head, *("\n".join(part) for part in (networks, facts, rules)), inner])


def _rules(group: Sensitive, level: int) -> list[str]:
    """When somebody is of a group: it is known, or guessed; the first one where no other is."""
    name = atom(group.levels[level])
    goal = f"{group.name}(X)" if group.binary else f"{group.name}(X,{name})"
    guess = _guess(group, level) if level else ", ".join(f"\\+{_guess(group, k)}" for k in range(1, len(group.levels)))
    return [f"{goal} :- {NETWORK}(X,{name}).", f"{goal} :- {NETWORK}(X,missing), {guess}."]


def _guess(group: Sensitive, level: int) -> str:
    return "label_guess(X)" if group.binary else f"label_guess(X,{atom(group.levels[level])})"


def _listed(variable: Sensitive) -> str:
    return ",".join(map(atom, variable.levels))


@dataclass(frozen=True)
class Disparity:
    """A disparity between groups that are not known for certain.

    Attributes
    ----------
    value
        Where decisions have nothing to do with the group beyond the proxies.
    low, high
        Between which it lies whatever else they have to do with it: the bounds that ignorance leaves.
    """

    value: float
    low: float
    high: float


def bounded_disparity(values: Floats, shares: Floats, places: Codes) -> Disparity:
    """The mean of a group minus that of everybody else (Kallus, Mao and Zhou 2022).

    Parameters
    ----------
    values
        ``[rows]``: what was decided.
    shares
        ``[rows]``: the probability of the group.
    places
        ``[rows]``: the combination of proxies; -1 where the group is known.
    """
    inside = [places == place for place in np.unique(places[places >= 0])]
    sums = np.array([_extremes(values[own], shares[own]) for own in inside])
    known = places < 0
    certain = float(values[known] @ shares[known])
    low, high = sums.sum(axis=0) + certain if len(sums) else (certain, certain)
    return Disparity(*(_difference(total, shares, values) for total in (float(shares @ values), low, high)))


def _extremes(values: Floats, shares: Floats) -> tuple[float, float]:
    """The least and the most that decisions about a share of these rows can sum to."""
    ordered, count = np.sort(values), float(shares.sum())
    sums = np.concatenate([[0.0], ordered.cumsum()])
    at = np.arange(len(sums))
    least = float(np.interp(count, at, sums))
    return least, float(sums[-1] - np.interp(len(values) - count, at, sums))


def _difference(total: float, shares: Floats, values: Floats) -> float:
    """The mean of the group minus that of the others, where decisions about the first sum to ``total``."""
    inside, outside = float(shares.sum()), float((1 - shares).sum())
    if min(inside, outside) == 0:
        raise P4FError("all rows are of one group; there is nothing to compare")
    return float(total / inside - (values.sum() - total) / outside)
