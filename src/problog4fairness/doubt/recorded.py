"""What recorded rows alone can say against a belief. They can refute it; they cannot confirm it."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from problog4fairness.beliefs.amounts import count, percent, points
from problog4fairness.doubt.case import LEAST_ROWS, SIMULATED, Case
from problog4fairness.doubt.finding import Finding, NotDone, largest_of_normals, share_of_draws
from problog4fairness.rows.types import Codes, Floats

# Rows of a region at least.
LEAST_REGION = 10
# Labels that tell less than this about fair ones are not turned back into them.
LEAST_SIGNAL = 0.05


def _enough(case: Case) -> None:
    if case.size < LEAST_ROWS:
        raise NotDone(f"fewer than {LEAST_ROWS} recorded rows")
    if not case.rows.features:
        raise NotDone("there are no features")


def range_test(case: Case) -> Finding:
    """Recorded rates that the belief rules out whatever the fair labels are.

    The circuit says between which values P(recorded) lies for a row, whatever the classifier says; under label bias,
    between pos_A and 1 - neg_A. A plain learner finds the rows whose recorded rate is outside of it, on other rows; how
    often these were so recorded decides.
    """
    _enough(case)
    if len(case.impossible):
        return _ruled_out(case)
    outside = _outside(case, _ends(case))
    if not outside:
        return Finding(
            "No region was found in which the recorded rate is outside of the range that the belief allows.",
            1.0,
            np.zeros(0, dtype=np.int64),
            "",
        )
    rng = case.rng(0)
    moves = case.drawn(rng)
    drawn = np.stack([_simulated(own, moves, rng) for own in outside])
    seen = [own.score() for own in outside]
    which = int(np.argmax(seen))
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
    return Finding(sentence, share_of_draws(drawn.max(axis=0), float(seen[which])), worst.rows, advice)


def _ruled_out(case: Case) -> Finding:
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
    """Rows that look as if they were outside of the range, weighted by how far."""

    def __init__(self, case: Case, rows: Codes, weights: Floats, label: int, sign: int, ends: Floats, slopes: Floats):
        self.rows, self.weights, self.label, self.sign = rows, weights, label, sign
        self.ends, self.slopes = ends[rows], slopes[:, rows]
        self.hit = (case.recorded[rows] == label).astype(np.float64)
        self.rate, self.bound = float(self.hit.mean()), float(self.ends.mean())
        groups, names = case.groups
        self.group = names[groups[rows[0]]]
        noise = weights**2 @ (self.ends * (1 - self.ends))
        self._spread = np.sqrt(noise + ((self.slopes @ weights) ** 2 @ case.spread**2)) + 1e-9

    def score(self, hit: Floats | None = None) -> float:
        """How far the rate is outside, in standard deviations."""
        own = self.hit if hit is None else hit
        return float(self.sign * (self.weights @ (own - self.ends)) / self._spread)

    def scores(self, total: Floats) -> Floats:
        """The same for simulated sums."""
        return np.asarray(self.sign * (total - self.weights @ self.ends) / self._spread)


def _ends(case: Case) -> tuple[Floats, Floats, Floats, Floats]:
    """Least and greatest P(recorded class) of the table's rows, and their slopes by parameter."""
    found = case.observation.recorded_range()
    if found is None:
        raise NotDone("a row may stand for too many inputs")
    low, high = (own.numpy()[: case.size] for own in found)
    slopes = np.zeros((2, len(case.spread), *low.shape))
    for place, (_, step, seen) in case.moved.items():
        changed = seen.recorded_range()
        if changed is not None:
            slopes[0, place] = (changed[0].numpy()[: case.size] - low) / step
            slopes[1, place] = (changed[1].numpy()[: case.size] - high) / step
    return low, high, slopes[0], slopes[1]


def _outside(case: Case, ends: tuple[Floats, Floats, Floats, Floats]) -> list[_Region]:
    low, high, low_slopes, high_slopes = ends
    chance, groups = case.plain.recorded, case.groups[0][: case.size]
    labels = [1] if chance.shape[1] == 2 else range(chance.shape[1])
    found = []
    for label in labels:
        sides = ((-1, low, low_slopes), (1, high, high_slopes))
        for sign, end, slopes in sides:
            beyond = np.maximum(sign * (chance[:, label] - end[:, label]), 0.0)
            for group in np.unique(groups):
                rows = np.flatnonzero((groups == group) & (beyond > 0))
                if len(rows) >= LEAST_REGION:
                    region = _Region(case, rows, beyond[rows], label, sign, end[:, label], slopes[:, :, label])
                    found.append(region)
    return found


def _simulated(region: _Region, moves: Floats, rng: np.random.Generator) -> Floats:
    """Scores of the region if its rows were recorded as often as the belief allows, for parameters as they may be."""
    # Weights are rounded to a few, so that rows with the same one are drawn together.
    edges = np.quantile(region.weights, np.linspace(0, 1, 21)[1:-1])
    bins = np.searchsorted(edges, region.weights)
    total = np.zeros(len(moves))
    for own in np.unique(bins):
        chosen = bins == own
        slope = region.slopes[:, chosen].mean(axis=1)
        chance = np.clip(region.ends[chosen].mean() + moves @ slope, 0, 1)
        total += region.weights[chosen].mean() * rng.binomial(int(chosen.sum()), chance)
    return region.scores(total)


def affine_test(case: Case) -> Finding:
    """Whether the groups' recorded curves are those that one fair curve would give.

    Each recorded label is turned into a number u = (recorded - P(1 | fair 0)) / (P(1 | fair 1) - P(1 | fair 0)), whose
    mean is the fair rate in every group if belief and independence hold. What is left of u and of the group, given the
    features, must then be uncorrelated, in all directions that are looked at.
    """
    _enough(case)
    if case.use_sensitive:
        raise NotDone("the fair label may depend on the group (use_sensitive=True)")
    if len(case.rows.classes) != 2:
        raise NotDone("the label has more than two classes")
    if case.belief.features:
        raise NotDone("features are distorted, too")
    if not case.membership:
        raise NotDone("the belief has no groups")
    own = slice(0, case.size)
    no, yes = case.given[own, 0, 1], case.given[own, 1, 1]
    signal = yes - no
    if np.abs(signal).min() < LEAST_SIGNAL:
        raise NotDone("recorded labels of some rows say almost nothing about fair ones")
    fair = ((case.recorded[own] == 1) - no) / signal
    residual = fair - case.chances[own, 1]
    directions, names = _directions(case)
    parts, told = [], []
    for group, member, chance in case.membership:
        parts.append(directions * ((member - chance)[own] * residual)[:, None])
        told += [(group, name) for name in names]
    products = np.concatenate(parts, axis=1)
    no_slope, yes_slope = case.slopes[:, own, 0, 1], case.slopes[:, own, 1, 1]
    change = -(no_slope + fair * (yes_slope - no_slope)) / signal
    moves = np.concatenate(
        [(change * (member - chance)[own]) @ directions for _, member, chance in case.membership], axis=1
    )
    covariance = _covariance(products) + moves.T @ (case.spread[:, None] ** 2 * moves)
    p, which, _ = largest_of_normals(products.sum(axis=0), covariance, case.rng(1), 4 * SIMULATED)
    group, direction = told[which]
    inside = case.membership[which // len(names)][1][own] > 0.5
    gap = float(residual[inside].mean() - residual[~inside].mean())
    along = f", and differently along {direction}" if direction else ""
    sentence = (
        f"If belief and independence hold, people with the same features have the same fair rate in every group; "
        f"turned back by the belief, recorded labels give {points(gap)} points for {group} against the others{along}."
    )
    advice = (
        "The strength of the bias is wrong for a group, the groups are swapped, the bias depends on the features (a "
        "bias that depends on the row: RowBias), or the fair label depends on the group: then use_sensitive=True."
    )
    return Finding(sentence, p, np.flatnonzero(inside), advice)


def _directions(case: Case) -> tuple[Floats, list[str]]:
    """``[rows, directions]``: all the same, by fair probability, by each feature; and their names."""
    own = slice(0, case.size)
    chance = case.chances[own, 1]
    columns = [np.ones(case.size), chance - chance.mean()]
    matrix, names = case.encoded
    return np.column_stack([*columns, matrix[own]]), ["", "the fair probability", *names]


def _covariance(products: Floats) -> Floats:
    centred = products - products.mean(axis=0)
    return np.asarray(centred.T @ centred)


def plain_test(case: Case) -> Finding:
    """Whether the same quick learners explain held-out recorded labels better without the belief than through it."""
    _enough(case)
    through, gain = case.explained
    behind = case.plain.likelihood - through
    better = "better" if behind.mean() > 0 else "no better"
    sentence = (
        f"Without the belief, the same learners explain held-out recorded labels {better}: log-likelihood "
        f"{case.plain.mean:.4f} a row against {through.mean():.4f} through it."
    )
    advice = (
        "The belief forbids what the data show: the other tests say what, and p4f.compare_beliefs compares it with "
        "others."
    )
    worst = np.sort(np.argsort(-behind, kind="stable")[: max(1, case.size // 20)])
    return Finding(sentence, ahead(behind, gain), worst, advice)


def ahead(differences: Floats, gain: float) -> float:
    """How likely differences of log-likelihoods are as great as these by chance, after a gain in the sum of them."""
    spread = float(differences.std(ddof=1)) * np.sqrt(len(differences))
    p = float(norm.sf((differences.sum() - gain) / spread)) if spread > 1e-12 else 1.0
    return max(p, 1 / (4 * SIMULATED + 1))
