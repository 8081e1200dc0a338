"""What audited numbers say against a belief that recorded ones are a line of the fair ones, with normal noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from problog4fairness.checks.case import SIMULATED, Case
from problog4fairness.checks.finding import Finding, NotDone, share_of_draws
from problog4fairness.checks.tests.features import audited_features
from problog4fairness.data import Codes, Floats

# Rows of a group below which nothing is said of it.
LEAST = 20
# Numbers that are drawn at once.
_AT_ONCE = 1 << 22
_CLASSES = "make classes of it, and believe in MeasurementBias"
# Of each statistic what it says where it is far from what chance gives, and what to do then.
TOLD = (
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


class _Part(NamedTuple):
    """A feature in one group."""

    feature: str
    group: str
    rows: Codes


def numbers_test(case: Case) -> Finding:
    """Whether audited numbers are as the belief says, whatever its amounts are.

    A line is laid through recorded and fair values of each group. How far it bends, whether noise grows, and how
    lopsided and how long-tailed noise and fair values are is compared with what normal numbers of as many rows give;
    of all of these, the one that is furthest off counts.
    """
    if not case.belief.numbers:
        raise NotDone("the belief distorts no numbers")
    rows = audited_features(case)
    groups, names = case.groups
    parts, seen, drawn = [], [], np.zeros(SIMULATED)
    rng = case.rng(7)
    for feature in case.belief.numbers:
        fair = case.fair_features[feature].to_numpy(dtype=np.float64, na_value=np.nan)
        recorded = case.rows.frame[feature].to_numpy(dtype=np.float64)
        for group, name in enumerate(names):
            own = rows[groups[rows] == group]
            if len(own) < LEAST or np.ptp(fair[own]) == 0 or np.allclose(recorded[own], fair[own]):
                continue
            normal = _of_normals(len(own), rng)
            middle, spread = normal.mean(axis=0), normal.std(axis=0)
            seen.append((_statistics(fair[own][None], recorded[own][None])[0] - middle) / spread)
            drawn = np.maximum(drawn, np.abs((normal - middle) / spread).max(axis=1))
            parts.append(_Part(feature, name, own))
    if not parts:
        raise NotDone(f"no group has {LEAST} audited rows in which something was changed")
    scores = np.stack(seen)
    size = np.abs(scores)
    # A bend, or noise that grows, makes tails long, too: where one of these two is clear, it is named.
    furthest = size.max(axis=0)
    bent = furthest[:2].max() > np.quantile(drawn, 0.95)
    kind = int((furthest[:2] if bent else furthest).argmax())
    which = int(size[:, kind].argmax())
    part, score = parts[which], float(scores[which, kind])
    said, way = TOLD[kind]
    sentence = said.format(feature=part.feature, more="more" if score > 0 else "less" if kind == 1 else "fewer")
    sentence = f"Where {part.group}, {sentence}: by {abs(score):.1f} times what chance gives."
    advice = f"Do not take {part.feature} as a line with normal noise where {part.group}: {way}."
    return Finding(sentence, share_of_draws(drawn, float(size.max())), part.rows, advice)


def _of_normals(count: int, rng: np.random.Generator) -> Floats:
    """``[draws, statistics]`` of so many rows that are as the belief says."""
    step = max(1, _AT_ONCE // count)
    sizes = [min(step, SIMULATED - start) for start in range(0, SIMULATED, step)]
    return np.concatenate([_statistics(*rng.standard_normal((2, size, count))) for size in sizes])


def _statistics(fair: Floats, recorded: Floats) -> Floats:
    """``[draws, statistics]``, in the order of :data:`TOLD`, of fair and recorded values ``[draws, rows]``."""
    x = _scaled(fair)
    noise = _scaled(_beside(recorded, x))
    bend = _scaled(_beside(x**2, x))
    found = [(noise * bend).mean(-1), (_scaled(np.abs(noise)) * x).mean(-1)]
    for own in (noise, x):
        found += [(own**3).mean(-1), np.log((own**4).mean(-1))]
    return np.stack(found, axis=-1)


def _scaled(values: Floats) -> Floats:
    centred = values - values.mean(-1, keepdims=True)
    return np.asarray(centred / np.maximum(centred.std(-1, keepdims=True), 1e-300))


def _beside(values: Floats, x: Floats) -> Floats:
    """What a line through ``x``, which is scaled, leaves."""
    centred = values - values.mean(-1, keepdims=True)
    return np.asarray(centred - (centred * x).mean(-1, keepdims=True) * x)
