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
    """P(group | proxies) from linked rows, of which ``places`` are the combinations of proxies.

    Each parameter is about a combination (``cell.group``) and a group (``cell.recorded``). ``sizes`` says how many
    values each proxy has, for a model of the proxies; None is to count each combination.
    """
    cells = [(parameter.cell.group, parameter.cell.recorded) for parameter in parameters if parameter.cell]
    counts = np.zeros(np.max(cells, axis=0) + 1)
    np.add.at(counts, (places, groups), 1)
    if sizes is not None:
        return _modelled(parameters, cells, counts, confidence, sizes)
    rows = counts.sum(axis=1)
    shares = [
        parameter.estimated(proportion(int(counts[place, level]), int(rows[place]), confidence))
        for parameter, (place, level) in zip(parameters, cells, strict=True)
    ]
    unseen = rows == 0
    if not unseen.any():
        return tuple(shares)
    # Each group's share is its share among the linked people of all combinations, as far as combinations are alike.
    levels = range(1, counts.shape[1])
    others = {level: shrunk(np.append(0.0, counts[~unseen, level]), np.append(0.0, rows[~unseen]), confidence)[0]
              for level in levels}  # fmt: skip
    scale = max(1.0, sum(other.value for other in others.values()))
    first = next(parameter for parameter, (place, _) in zip(parameters, cells, strict=True) if unseen[place])
    warn_audit(
        f"{unseen.sum()} of {len(unseen)} combinations of the proxies have no linked row, such as that of "
        f"{first.name}: they are pooled from the others; with additive=True each proxy adds its part"
    )
    for position, (place, level) in enumerate(cells):
        if unseen[place]:
            other = others[level]
            estimate = Estimate(other.value / scale, other.low, other.high, 0)
            shares[position] = replace(shares[position], prior=other.prior).estimated(estimate, POOLED)
    return tuple(shares)


def _modelled(
    parameters: Sequence[Parameter],
    cells: Sequence[tuple[int, int]],
    counts: Floats,
    confidence: float,
    sizes: Sequence[int],
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
    # A constant, and an indicator of each value of each proxy but the first, of every combination.
    places = np.indices(sizes).reshape(len(sizes), -1)
    indicators = [np.eye(size)[place, 1:] for size, place in zip(sizes, places, strict=True)]
    matrix = np.column_stack([np.ones(places.shape[1]), *indicators])
    rows = counts.sum(axis=1, keepdims=True)
    shape = (matrix.shape[1], counts.shape[1] - 1)

    def loss(point: Floats) -> tuple[float, Floats]:
        weights = point.reshape(shape)
        chance = _chances(matrix, weights)
        slopes = matrix.T @ (rows * chance - counts)[:, 1:] + PENALTY * _free(weights)
        cost = 0.5 * PENALTY * float((_free(weights) ** 2).sum())
        return cost - float((counts * np.log(np.maximum(chance, 1e-300))).sum()), slopes.reshape(-1)

    best = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"ftol": 1e-13}).x
    chance = _chances(matrix, best.reshape(shape))
    slopes = _slopes(matrix, chance)  # [combinations, groups - 1, weights]
    # The information of multinomial counts: slopes over what is expected, the first group's included.
    whole = np.concatenate([-slopes.sum(axis=1, keepdims=True), slopes], axis=1)
    scaled = (np.sqrt(rows / np.maximum(chance, 1e-12))[:, :, None] * whole).reshape(-1, whole.shape[2])
    covariance = np.linalg.pinv(scaled.T @ scaled + PENALTY * np.eye(scaled.shape[1]), hermitian=True)
    moves = np.stack([slopes[place, group - 1] for place, group in cells])
    spread = moves @ covariance @ moves.T
    value, z = np.array([chance[cell] for cell in cells]), NormalDist().inv_cdf((1 + confidence) / 2)
    half = z * np.sqrt(np.diag(spread)) / np.maximum(value * (1 - value), 1e-12)
    ends = expit(logit(value) - half), expit(logit(value) + half)
    information = np.linalg.pinv(spread, rcond=1e-8, hermitian=True)
    return estimated_jointly(parameters, value, *ends, information, int(rows.sum()), SOURCE)


def _chances(matrix: Floats, weights: Floats) -> Floats:
    """``[combinations, groups]``; the first group is the one that the others are compared with."""
    return np.asarray(softmax(np.column_stack([np.zeros(len(matrix)), matrix @ weights]), axis=1))


def _free(weights: Floats) -> Floats:
    """The weights without the constants, which cost nothing."""
    return np.concatenate([np.zeros_like(weights[:1]), weights[1:]])


def _slopes(matrix: Floats, chance: Floats) -> Floats:
    """How the probability of each group but the first moves with each weight."""
    others = chance[:, 1:]
    between = others[:, :, None] * (np.eye(others.shape[1]) - others[:, None, :])
    return np.asarray(np.einsum("cgk,cw->cgwk", between, matrix)).reshape(len(matrix), others.shape[1], -1)


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


def proxy_text(group: Sensitive, proxies: Sequence[Sensitive], shares: Sequence[Parameter], inner: str) -> str:
    """The program of a belief in which the group is recorded, or follows from the proxies.

    ``shares`` are P(group | values of the proxies), by cell, of which the first group has what is left; ``inner`` is
    the program in which the group is a network.
    """
    networks = [f"nn({NETWORK},[X],G,[{_listed(group)},missing]) :: {NETWORK}(X,G)."]
    networks += [f"nn({proxy.name},[X],V,[{_listed(proxy)}]) :: {proxy.name}(X,V)." for proxy in proxies]
    facts: list[str] = []
    used = known_values(shares)
    cells: dict[int, dict[int, Parameter]] = {}
    for parameter in shares:
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
    """The mean of a group minus that of everybody else (Kallus, Mao and Zhou 2022), from ``values`` of decisions.

    ``shares`` are the probability of the group, ``places`` the combination of proxies, -1 where the group is known.
    """
    inside = [places == place for place in np.unique(places[places >= 0])]
    sums = np.array([_extremes(values[rows], shares[rows]) for rows in inside])
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
