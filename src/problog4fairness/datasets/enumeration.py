"""What the equations of the synthetic data say exactly, without drawing anybody.

Every person has three values of each feature: the *fair* one, the *lived* one, which historical bias may have lowered,
and the *recorded* one, which measurement bias and noise may have changed again. Tables below are indexed in this order.
Given A and the two values of R the features are independent, so that sums over all people are sums over few states.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import comb
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from problog4fairness.datasets.synthetic_data import SyntheticSettings

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"

FAIR, LIVED, RECORDED = 0, 1, 2


@dataclass(frozen=True)
class Limits:
    """What the best possible classifier reaches, the one that knows P(fair label = 1 | features, A).

    Attributes
    ----------
    accuracy
        Its accuracy against the fair labels; it predicts 1 where that probability is above one half.
    disparity
        Mean probability of the fair label 1 where A = 1, minus the same where A = 0.
    positives
        Share of fair labels that are 1.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> best = p4f.datasets.SyntheticSettings().limits()
    >>> round(best.accuracy, 4), round(best.disparity, 4)
    (0.7097, 0.0)
    """

    accuracy: float
    disparity: float
    positives: float


def cumulative(p: float, n_values: int) -> Array:
    """P(value <= v) for v = 0, 1, ...: a binomial count of n_values - 1 trials, so B(p) for binary features.

    >>> cumulative(0.3, 2).tolist()
    [0.7, 1.0]
    """
    trials = n_values - 1
    below = np.cumsum([comb(trials, v) * p**v * (1 - p) ** (trials - v) for v in range(trials)])
    return np.append(np.minimum(below, 1.0), 1.0)


def coupled(p: float, q: float, n_values: int) -> Array:
    """Joint probabilities of two values made from the same uniform random number, with p and with q."""
    corners = np.minimum.outer(np.append(0.0, cumulative(p, n_values)), np.append(0.0, cumulative(q, n_values)))
    return np.asarray(np.diff(np.diff(corners, axis=0), axis=1).clip(min=0.0))


def lowered(rate: float, n_values: int) -> Array:
    """P(new value | value) where a share ``rate`` falls to 0: the equations' X and not B(rate)."""
    table = np.eye(n_values) * (1 - rate)
    table[:, 0] += rate
    return table


def noisy(rate: float, n_values: int) -> Array:
    """P(new value | value) where a share ``rate`` changes to any other value: the equations' X xor B(rate)."""
    same = np.eye(n_values)
    return same * (1 - rate) + (1 - same) * rate / (n_values - 1)


def feature_tables(settings: SyntheticSettings, a: int) -> list[Array]:
    """For each feature P(fair, lived, recorded | R fair, R lived, A = a), ``[R fair, R lived, fair, lived, recorded]``.

    For R itself the first two axes have length 1.
    """
    k = settings.n_values
    tables = []
    for j, chances in enumerate(settings.chances):
        history = lowered(settings.each("historical_bias")[j] * a, k)
        record = lowered(settings.each("measurement_bias")[j] * a, k) @ noisy(
            settings.each("feature_noise")[j] * settings.noisy_group(a), k
        )
        table = [
            [np.einsum("fd,dl,lc->flc", coupled(fair, lived, k), history, record) for lived in chances]
            for fair in chances
        ]
        tables.append(np.array(table))
    return tables


def feature_tables_back(settings: SyntheticSettings, a: int) -> list[Array]:
    """For each feature P(fair | recorded, A = a), ``[recorded, fair]``; the identity where recorded cannot occur."""
    first, *others = feature_tables(settings, a)
    r = first[0, 0].sum(axis=2)
    joints = [first[0, 0].sum(axis=1), *(np.einsum("xy,xyflc->fc", r, table) for table in others)]
    return [conditional(joint.T) for joint in joints]


def conditional(joint: Array) -> Array:
    """P(column | row) from P(row, column); a row that cannot occur stays as it is."""
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), np.eye(len(joint)))


def measurement_rates(settings: SyntheticSettings) -> dict[str, float]:
    """See :meth:`SyntheticSettings.measurement_rates`."""
    back = {a: feature_tables_back(settings, a) for a in (0, 1)}
    rates: dict[str, float] = {}
    for j, name in enumerate(settings.features):
        if settings.n_values == 2:
            cells = {"p1": (1, 0, 1), "p2": (0, 0, 1), "p3": (1, 1, 0), "p4": (0, 1, 0)}
            rates |= {f"{p}({name})": float(back[a][j][c, f]) for p, (a, c, f) in cells.items()}
        else:
            rates |= {
                f"p({name},{a},{c},{f})": float(back[a][j][c, f])
                for a, c, f in product((0, 1), range(settings.n_values), range(settings.n_values))
                if c != f
            }
    return rates


def score_states(settings: SyntheticSettings, a: int, keep: tuple[int, ...]) -> tuple[Array, Array]:
    """All states of the people with A = a, and their probabilities.

    A state has three columns: the score S of the fair and of the lived features, without its normal noise, and a number
    for the recorded features. Columns that are not in ``keep`` are 0, which leaves fewer states.
    """
    k = settings.n_values
    shift = np.zeros(3)
    shift[[FAIR, LIVED]] = settings.alpha_a * (1 - a)
    kept = np.zeros(3)
    kept[list(keep)] = 1
    # What one unit of a feature adds to the fair score, the lived score and the number of the recorded values.
    units = [np.array([alpha / (k - 1), alpha / (k - 1), float(k**j)]) for j, alpha in enumerate(settings.alphas)]
    values = np.array(list(product(range(k), repeat=3)), dtype=np.float64)
    r_table, *q_tables = feature_tables(settings, a)
    all_states, all_shares = [], []
    for r_fair, r_lived in product(range(k), repeat=2):
        shares = np.zeros((k, k, k))
        shares[r_fair, r_lived] = r_table[0, 0, r_fair, r_lived]
        states = (values * units[0] + shift) * kept
        states, flat = merged(states, shares.ravel())
        for j, table in enumerate(q_tables, start=1):
            step = values * units[j] * kept
            states, flat = merged(
                (states[:, None] + step).reshape(-1, 3), np.outer(flat, table[r_fair, r_lived].ravel()).ravel()
            )
        all_states.append(states)
        all_shares.append(flat)
    return merged(np.concatenate(all_states), np.concatenate(all_shares))


def merged(states: Array, shares: Array) -> tuple[Array, Array]:
    """Equal states as one, impossible ones left out."""
    possible = shares > 0
    unique, place = np.unique(states[possible].round(9), axis=0, return_inverse=True)
    return unique, np.bincount(place.ravel(), weights=shares[possible]).astype(np.float64)


def chance_of_label(settings: SyntheticSettings, score: Array) -> Array:
    """P(label = 1 | score without noise), through the normal distribution."""
    return np.asarray(ndtr((score - settings.label_threshold) / settings.sigma_y))


def label_rates(settings: SyntheticSettings) -> dict[str, float]:
    """See :meth:`SyntheticSettings.label_rates`."""
    rates: dict[str, float] = {}
    for a, negative, positive in ((1, "p1", "p3"), (0, "p2", "p4")):
        states, shares = score_states(settings, a, (FAIR, LIVED))
        fair, lived = (float(shares @ chance_of_label(settings, states[:, world])) for world in (FAIR, LIVED))
        # The same normal noise in both worlds: both labels are 1 where it lifts the lower score over the threshold.
        both = float(shares @ chance_of_label(settings, states[:, [FAIR, LIVED]].min(axis=1)))
        joint = np.array([[1 - fair - lived + both, lived - both], [fair - both, both]]).clip(min=0.0)
        history = conditional(joint)
        noise = settings.label_noise * settings.noisy_group(a)
        table = history @ lowered(settings.label_bias * a, 2) @ noisy(noise, 2)
        rates |= {negative: float(table[1, 0]), positive: float(table[0, 1])}
    return dict(sorted(rates.items()))


def limits(settings: SyntheticSettings, recorded: bool) -> Limits:
    """See :meth:`SyntheticSettings.limits`."""
    column = RECORDED if recorded else FAIR
    accuracy, positives = 0.0, {}
    for a, weight in ((0, 1 - settings.p_a), (1, settings.p_a)):
        states, shares = score_states(settings, a, (FAIR, column))
        chance = shares * chance_of_label(settings, states[:, FAIR])
        _, place = np.unique(states[:, column], return_inverse=True)
        total, positive = np.bincount(place, weights=shares), np.bincount(place, weights=chance)
        accuracy += weight * float(np.maximum(positive, total - positive).sum())
        positives[a] = float(chance.sum())
    overall = settings.p_a * positives[1] + (1 - settings.p_a) * positives[0]
    return Limits(accuracy, positives[1] - positives[0], overall)
