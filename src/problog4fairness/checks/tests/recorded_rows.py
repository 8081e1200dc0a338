"""What recorded rows alone can say against a belief. They can refute it; they cannot confirm it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from problog4fairness.beliefs import LEAST_SIGNAL
from problog4fairness.checks.case import SIMULATED, Case
from problog4fairness.checks.finding import NEVER, Finding, NotDone, largest_of_normals, least_shown, share_of_draws
from problog4fairness.data import Codes, Floats
from problog4fairness.statistics import count, percent, points

# Rows of a region at least.
LEAST_REGION = 10


def range_test(case: Case) -> Finding:
    """Recorded rates that the belief rules out whatever the fair labels are.

    The circuit says between which values P(recorded) lies for a row, whatever the classifier says; under label bias,
    between pos_A and 1 - neg_A. A plain learner finds the rows whose recorded rate is outside of it, on other rows; how
    often these were so recorded decides.
    """
    if len(case.impossible):
        return _impossible(case)
    outside = _outside(case, _corners(case))
    if not outside:
        sentence = "No region was found in which the recorded rate is outside of the range that the belief allows."
        return Finding(sentence, 1.0, np.zeros(0, dtype=np.int64), "")
    rng = case.rng(0)
    moves = case.drawn(rng)
    simulated, scores = np.zeros(len(moves)), []
    for region in outside:
        draws = region.simulated(moves, rng)
        spread = float(draws.std()) + 1e-9
        scores.append(region.excess() / spread)
        simulated = np.maximum(simulated, draws / spread)
    which = int(np.argmax(scores))
    worst = outside[which]
    class_name = f"{case.label} = {case.outcomes[worst.label]}"
    side = "at most" if worst.sign > 0 else "at least"
    where = f" where {worst.group}" if worst.group else ""
    sentence = (
        f"In a region of {count(len(worst.rows), 'row')}{where}, found on other rows, {percent(worst.rate)} were "
        f"recorded with {class_name}; the belief allows {side} {percent(worst.bound)} there."
    )
    advice = (
        "The bias is weaker than the belief says, at least for these rows: audit some of them, and estimate the "
        "belief anew."
    )
    return Finding(sentence, share_of_draws(simulated, float(scores[which])), worst.rows, advice)


def _impossible(case: Case) -> Finding:
    """Rows that cannot have been recorded as they were, whatever is fair."""
    first = case.impossible[0]
    groups, names = case.groups
    where = f" where {names[groups[first]]}" if names[groups[first]] else ""
    sentence = (
        f"{count(len(case.impossible), 'row')} cannot have been recorded as they were, whatever is fair: such as "
        f"{case.label} = {case.outcomes[case.recorded[first]]}{where}."
    )
    advice = "A parameter of exactly 0 or 1 rules these rows out: estimate it, or state one between."
    return Finding(sentence, 1 / (SIMULATED + 1), case.impossible, advice)


class _Region:
    """Rows that look as if they were outside of the range, weighted by how far.

    The end of the range is the greatest, or the least, of what the belief says at its corners: of label bias these are
    the fair classes. Which corner that is may change with the parameters, so that an end is no line of them.
    """

    def __init__(self, case: Case, rows: Codes, weights: Floats, label: int, sign: int, corners: _Corners):
        self.rows, self.weights, self.label, self.sign = rows, weights, label, sign
        self.corners, self.slopes = corners.values[..., label][rows], corners.slopes[..., label][:, rows]
        self.ends = self._end(self.corners)
        self.hit = (case.recorded[rows] == label).astype(np.float64)
        self.rate, self.bound = float(self.hit.mean()), float(self.ends.mean())
        groups, names = case.groups
        self.group = names[groups[rows[0]]]

    def _end(self, corners: Floats) -> Floats:
        return np.asarray(corners.max(axis=-1) if self.sign > 0 else corners.min(axis=-1))

    def excess(self) -> float:
        """How far recorded labels are outside, weighted, in all."""
        return float(self.sign * (self.weights @ (self.hit - self.ends)))

    def simulated(self, moves: Floats, rng: np.random.Generator) -> Floats:
        """The same if rows were recorded as often as the belief allows, for parameters as they may be."""
        # Weights are rounded to a few, so that rows with the same one are drawn together.
        edges = np.quantile(self.weights, np.linspace(0, 1, 21)[1:-1])
        bins = np.searchsorted(edges, self.weights)
        total = np.zeros(len(moves))
        for place in np.unique(bins):
            chosen = bins == place
            slopes = self.slopes[:, chosen].mean(axis=1)
            chance = np.clip(self._end(self.corners[chosen].mean(axis=0) + moves @ slopes), 0, 1)
            total += self.weights[chosen].mean() * rng.binomial(int(chosen.sum()), chance)
        return np.asarray(self.sign * (total - self.weights @ self.ends))


class _Corners(NamedTuple):
    """What the belief says of P(recorded class) at its corners.

    ``values`` are ``[rows, corners, classes]``, and ``slopes`` ``[parameters, rows, corners, classes]``.
    """

    values: Floats
    slopes: Floats


def _corners(case: Case) -> dict[int, _Corners]:
    """The corners whose least (-1) and greatest (1) P(recorded class) is the range of the table's rows."""
    limits = case.observation.recorded_range()
    if limits is None:
        raise NotDone("a row may stand for too many inputs")
    if not case.belief.features:
        corners = _Corners(case.given[: case.size], case.slopes[:, : case.size])
        return {-1: corners, 1: corners}
    ends = [limit.numpy()[: case.size, None] for limit in limits]
    slopes = [np.zeros((len(case.spread), *end.shape)) for end in ends]
    for place, (_, step, observation) in case.moved.items():
        for end, slope, changed in zip(ends, slopes, observation.recorded_range() or ends, strict=True):
            slope[place] = (np.asarray(changed)[: case.size].reshape(end.shape) - end) / step
    return {sign: _Corners(end, slope) for sign, end, slope in zip((-1, 1), ends, slopes, strict=True)}


def _outside(case: Case, corners: Mapping[int, _Corners]) -> list[_Region]:
    chance, groups = case.plain.recorded, case.groups[0][: case.size]
    labels = [1] if chance.shape[1] == 2 else range(chance.shape[1])
    regions = []
    for label in labels:
        for sign, corner in corners.items():
            end = corner.values[:, :, label].max(axis=1) if sign > 0 else corner.values[:, :, label].min(axis=1)
            beyond = np.maximum(sign * (chance[:, label] - end), 0.0)
            for group in np.unique(groups):
                rows = np.flatnonzero((groups == group) & (beyond > 0))
                if len(rows) >= LEAST_REGION:
                    regions.append(_Region(case, rows, beyond[rows], label, sign, corner))
    return regions


def consistency_test(case: Case) -> Finding:
    """Whether the groups' recorded curves, which are affine in each other, are those that one fair curve would give.

    Each recorded label is inverted to a number u = (recorded - P(1 | fair 0)) / (P(1 | fair 1) - P(1 | fair 0)), whose
    mean is the fair rate in every group if belief and independence hold. What is left of u and of the group, given the
    features, must then be uncorrelated, in all directions that are looked at.
    """
    recorded_part = slice(0, case.size)
    no, yes = case.given[recorded_part, 0, 1], case.given[recorded_part, 1, 1]
    signal = yes - no
    if np.abs(signal).min() < LEAST_SIGNAL:
        raise NotDone("recorded labels of some rows say almost nothing about fair ones")
    fair = ((case.recorded[recorded_part] == 1) - no) / signal
    residual = fair - case.chances[recorded_part, 1]
    directions, names = _directions(case)
    parts, labels = [], []
    for group, member, chance in case.membership:
        parts.append(directions * ((member - chance)[recorded_part] * residual)[:, None])
        labels += [(group, name) for name in names]
    products = np.concatenate(parts, axis=1)
    no_slope, yes_slope = case.slopes[:, recorded_part, 0, 1], case.slopes[:, recorded_part, 1, 1]
    change = -(no_slope + fair * (yes_slope - no_slope)) / signal
    moves = np.concatenate(
        [(change * (member - chance)[recorded_part]) @ directions for _, member, chance in case.membership], axis=1
    )
    covariance = _covariance(products) + moves.T @ (case.spread[:, None] ** 2 * moves)
    p, which, scores = largest_of_normals(products.sum(axis=0), covariance, case.rng(1), 4 * SIMULATED)
    group, direction = labels[which]
    inside = case.membership[which // len(names)][1][recorded_part] > 0.5
    gap = float(residual[inside].mean() - residual[~inside].mean())
    along = f", and differently along {direction}" if direction else ""
    sentence = (
        f"If belief and independence hold, people with the same features have the same fair rate in every group; "
        f"corrected by the belief, recorded labels give {points(gap)} points for {group} against the others{along}."
    )
    advice = (
        "The strength of the bias is wrong for a group, the groups are swapped, the bias depends on the features (a "
        "bias that depends on the row: RowBias), or the fair label depends on the group: then use_sensitive=True."
    )
    whole = np.arange(0, len(labels), len(names))
    scale = np.array([((member - chance)[recorded_part] ** 2).sum() for _, member, chance in case.membership])
    spread = np.sqrt(np.diag(covariance)[whole]) / np.maximum(scale, 1e-9)
    least = least_shown(spread, [f" where {labels[place][0]}" for place in whole], len(labels))
    return Finding(sentence, p, np.flatnonzero(inside), advice, float(np.abs(scores[which])), least=least)


def _directions(case: Case) -> tuple[Floats, list[str]]:
    """``[rows, directions]``: all the same, by fair probability, by each feature; and their names."""
    recorded_part = slice(0, case.size)
    chance = case.chances[recorded_part, 1]
    columns = [np.ones(case.size), chance - chance.mean()]
    matrix, names = case.encoded
    return np.column_stack([*columns, matrix[recorded_part]]), ["", "the fair probability", *names]


def _covariance(products: Floats) -> Floats:
    centred = products - products.mean(axis=0)
    return np.asarray(centred.T @ centred)


def plain_test(case: Case) -> Finding:
    """Whether the same quick learners explain held-out recorded labels better without the belief than through it."""
    through, gain = case.explained
    behind = case.plain.likelihood - through
    better = "better" if behind.mean() > 0 else "no better"
    sentence = (
        f"Without the belief, the same learners explain held-out recorded labels {better}: log-likelihood "
        f"{case.plain.mean:.4f} a row against {through.mean():.4f} through it."
    )
    advice = (
        "The belief forbids what the data show: the other tests say what, and checks.compare_beliefs compares it with "
        "others."
    )
    worst = np.sort(np.argsort(-behind, kind="stable")[: max(1, case.size // 20)])
    p = ahead(behind, gain)
    return Finding(sentence, p, worst, advice, float(norm.isf(p)), NEVER)


def ahead(differences: Floats, gain: float) -> float:
    """How likely differences of log-likelihoods are as great as these by chance, after a gain in the sum of them."""
    spread = float(differences.std(ddof=1)) * np.sqrt(len(differences))
    p = float(norm.sf((differences.sum() - gain) / spread)) if spread > 1e-12 else 1.0
    return max(p, 1 / (4 * SIMULATED + 1))
