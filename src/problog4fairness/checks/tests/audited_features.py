"""What audited features say against a belief that recorded ones are distorted."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from problog4fairness.checks.case import SIMULATED, Case
from problog4fairness.checks.finding import Finding, NotDone, share_of_draws
from problog4fairness.data import Codes, Floats
from problog4fairness.statistics import points

# Rows of a group below which nothing is said of it.
LEAST_GROUP = 20
# Numbers that are drawn at once.
_AT_ONCE = 1 << 22
_CLASSES = "make classes of it, and believe in MeasurementBias"
# Of each statistic what it says where it is far from what chance gives, and what to do then.
DEVIATIONS = (
    (
        "the recorded {feature} bends away from a line of the fair one",
        f"record both on a scale on which they are a line, such as logarithms; or {_CLASSES}",
    ),
    (
        "there is {more} noise of {feature} where the fair one is high",
        "take the logarithm of both, on which noise is even; or divide people into finer groups",
    ),
    (
        "the noise of {feature} is lopsided",
        "take the logarithm of both, or look for rows in which it was recorded wrongly",
    ),
    (
        "the noise of {feature} has {more} values far out than a normal one",
        "look for rows in which it was recorded wrongly, and leave them out of the audit",
    ),
    ("the fair {feature} is lopsided", f"take the logarithm of recorded and fair values; or {_CLASSES}"),
    (
        "the fair {feature} has {more} values far out than a normal one",
        f"divide people into finer groups; or {_CLASSES}",
    ),
)


def feature_independence_test(case: Case) -> Finding:
    """Whether fair features are independent of each other, and of other recorded ones, as feature tables say.

    Each fair feature is shuffled within people of the same group and the same recorded value of it, which changes
    nothing if the belief is right.
    """
    rows = case.audited_features
    rng = case.rng(6)
    every = {name: _Audited(case, name, rows, rng) for name in case.fair_features}
    scores, compared, largest = [], [], np.zeros(SIMULATED)
    matrix, columns = case.encoded
    for name, feature in every.items():
        same = (f"{name} = ", f"{name} is ")
        others = [place for place, column in enumerate(columns) if column != name and not column.startswith(same)]
        x = feature.centred(matrix[rows][:, others])
        spread = np.sqrt((feature.values**2).sum() / len(rows) * (x**2).sum(axis=0)) + 1e-9
        scores += (np.abs(feature.values @ x) / spread).tolist()
        compared += [(name, columns[place], feature.values * x[:, k]) for k, place in enumerate(others)]
        largest = np.maximum(largest, (np.abs(feature.shuffled @ x) / spread).max(axis=1, initial=0.0))
    for (first, one), (second, two) in combinations(every.items(), 2):
        spread = np.sqrt((one.values**2).sum() * (two.values**2).sum() / len(rows)) + 1e-9
        scores.append(float(np.abs(one.values @ two.values) / spread))
        compared.append((first, f"the fair {second}", one.values * two.values))
        largest = np.maximum(largest, np.abs((one.shuffled * two.shuffled).sum(axis=1)) / spread)
    if not scores:
        raise NotDone("there is one feature only")
    which = int(np.argmax(scores))
    name, other, products = compared[which]
    sentence = (
        f"Among people of the same group with the same recorded {name}, the fair {name} goes with {other} (correlation "
        f"{points(float(products.sum() / (np.abs(products).sum() + 1e-9)))} points of its greatest); by the belief it "
        "does not."
    )
    beside = other.removeprefix("the fair ")
    way = f"estimate it with joint=[{name!r}, {beside!r}]" if beside in every else "write it as a program of your own"
    advice = f"Do not treat the distortion of {name} as independent of {other}: {way}."
    return Finding(sentence, share_of_draws(largest, scores[which]), rows, advice)


class _Audited:
    """A fair feature, what is left of it within its cells, and the same shuffled."""

    def __init__(self, case: Case, name: str, rows: Codes, rng: np.random.Generator) -> None:
        fair = case.fair_features[name].iloc[rows]
        recorded = case.rows.frame[name].iloc[rows]
        keys = case.groups[0][rows].astype(str) + np.asarray(" " + recorded.astype(str), dtype=object)
        _, cells = np.unique(keys.astype(str), return_inverse=True)
        self.cells = cells.reshape(-1)
        values = np.asarray(fair.astype(str) == str(fair.mode().iloc[0]), dtype=np.float64)
        self.values = self.centred(values[:, None])[:, 0]
        self.shuffled = np.zeros((SIMULATED, len(rows)))
        for cell in np.unique(self.cells):
            people = np.flatnonzero(self.cells == cell)
            self.shuffled[:, people] = rng.permuted(np.tile(self.values[people], (SIMULATED, 1)), axis=1)

    def centred(self, x: Floats) -> Floats:
        """Columns minus their mean in each cell."""
        centred = x.astype(np.float64).copy()
        for cell in np.unique(self.cells):
            people = self.cells == cell
            centred[people] -= centred[people].mean(axis=0)
        return centred


def measurement_model_test(case: Case) -> Finding:
    """Whether audited numbers are as the belief says, whatever its amounts are.

    A line is laid through recorded and fair values of each group. How far it bends, whether noise grows, and how
    lopsided and how long-tailed noise and fair values are is compared with what normal numbers of as many rows give;
    of all of these, the one that is furthest off counts.
    """
    rows = case.audited_features
    groups, names = case.groups
    parts, all_scores, largest = [], [], np.zeros(SIMULATED)
    rng = case.rng(7)
    for feature in case.belief.columns.numbers:
        fair = case.fair_features[feature].to_numpy(dtype=np.float64, na_value=np.nan)
        recorded = case.rows.frame[feature].to_numpy(dtype=np.float64)
        for group, name in enumerate(names):
            people = rows[groups[rows] == group]
            if len(people) < LEAST_GROUP or np.ptp(fair[people]) == 0 or np.allclose(recorded[people], fair[people]):
                continue
            normal = _of_normals(len(people), rng)
            middle, spread = normal.mean(axis=0), normal.std(axis=0)
            all_scores.append((_statistics(fair[people][None], recorded[people][None])[0] - middle) / spread)
            largest = np.maximum(largest, np.abs((normal - middle) / spread).max(axis=1))
            parts.append((feature, name, people))
    if not parts:
        raise NotDone(f"no group has {LEAST_GROUP} audited rows in which something was changed")
    scores = np.stack(all_scores)
    size = np.abs(scores)
    # A bend, or noise that grows, makes tails long, too: where one of these two is clear, it is named.
    furthest = size.max(axis=0)
    bent = furthest[:2].max() > np.quantile(largest, 0.95)
    kind = int((furthest[:2] if bent else furthest).argmax())
    which = int(size[:, kind].argmax())
    (feature, group_name, people), score = parts[which], float(scores[which, kind])
    deviation, way = DEVIATIONS[kind]
    deviation = deviation.format(feature=feature, more="more" if score > 0 else "less" if kind == 1 else "fewer")
    sentence = f"Where {group_name}, {deviation}: by {abs(score):.1f} times what chance gives."
    advice = f"Do not take {feature} as a line with normal noise where {group_name}: {way}."
    return Finding(sentence, share_of_draws(largest, float(size.max())), people, advice)


def _of_normals(count: int, rng: np.random.Generator) -> Floats:
    """``[draws, statistics]`` of so many rows that are as the belief says."""
    step = max(1, _AT_ONCE // count)
    sizes = [min(step, SIMULATED - start) for start in range(0, SIMULATED, step)]
    return np.concatenate([_statistics(*rng.standard_normal((2, size, count))) for size in sizes])


def _statistics(fair: Floats, recorded: Floats) -> Floats:
    """``[draws, statistics]``, in the order of :data:`DEVIATIONS`, of fair and recorded values ``[draws, rows]``."""
    x = _scaled(fair)
    noise = _scaled(_beside(recorded, x))
    bend = _scaled(_beside(x**2, x))
    statistics = [(noise * bend).mean(-1), (_scaled(np.abs(noise)) * x).mean(-1)]
    for values in (noise, x):
        statistics += [(values**3).mean(-1), np.log((values**4).mean(-1))]
    return np.stack(statistics, axis=-1)


def _scaled(values: Floats) -> Floats:
    centred = values - values.mean(-1, keepdims=True)
    return np.asarray(centred / np.maximum(centred.std(-1, keepdims=True), 1e-300))


def _beside(values: Floats, x: Floats) -> Floats:
    """What a line through ``x``, which is scaled, leaves."""
    centred = values - values.mean(-1, keepdims=True)
    return np.asarray(centred - (centred * x).mean(-1, keepdims=True) * x)
