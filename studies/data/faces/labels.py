"""Who has which attribute, and how the mouth label of the drawn faces was distorted.

The three attributes and the fair label hang together as in real faces: those who smile show high cheekbones and open
their mouths more often. The recorded label comes from the fair one by three label biases, one after the other, in the
order of the paper's listing: an annotator puts an open mouth down to high cheekbones, takes the smudge of a blurry
picture for an open mouth, and puts an open mouth down to a smile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from problog4fairness.errors import P4FError
from studies.data.faces.protocol import ATTRIBUTES, Codes, Floats

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"

SMILING = 0.5
BLURRY = 0.35
HIGH_CHEEKBONES = (0.3, 0.7)  # of those who do not smile, and of those who do
OPEN, OPEN_BY = 0.30, (0.12, 0.08, 0.26)  # without any attribute, and what each of ATTRIBUTES adds

# p1, p2: a fair 1 is recorded as 0 where the attribute is 1, and where it is 0; p3, p4: a fair 0 as 1. The names are
# those of chain(LabelBias("high_cheekbones"), LabelBias("blurry"), LabelBias("smiling")).
# The numbers come from a calculation, `decisions`, not from training. Somebody with good eyes would reach 99% on fair
# labels, 84% through the recorded ones, 91 to 93% where one attribute is corrected for, and 99% with all three. The
# disparity of each attribute is off by 0.2 or more where nothing is corrected.
RATES: dict[str, float] = {
    "p1_high_cheekbones": 0.30,
    "p2_high_cheekbones": 0.02,
    "p3_high_cheekbones": 0.02,
    "p4_high_cheekbones": 0.02,
    "p1_blurry": 0.02,
    "p2_blurry": 0.02,
    "p3_blurry": 0.50,
    "p4_blurry": 0.02,
    "p1_smiling": 0.30,
    "p2_smiling": 0.02,
    "p3_smiling": 0.02,
    "p4_smiling": 0.02,
}
LABEL_NUMBERS = 8  # random numbers that the labels of a face take


def draw_labels(uniform: Floats, rates: Mapping[str, float]) -> dict[str, Codes]:
    """The attributes, ``mouth_slightly_open``, ``recorded`` and ``partition`` of faces.

    Parameters
    ----------
    uniform
        ``[faces, LABEL_NUMBERS]``, between 0 and 1.
    rates
        The parameters of the three biases.
    """
    smiling = uniform[:, 0] < SMILING
    blurry = uniform[:, 1] < BLURRY
    cheeks = uniform[:, 2] < np.where(smiling, HIGH_CHEEKBONES[1], HIGH_CHEEKBONES[0])
    values = dict(zip(ATTRIBUTES, (cheeks, blurry, smiling), strict=True))
    fair = uniform[:, 3] < OPEN + sum(more * values[name] for name, more in zip(ATTRIBUTES, OPEN_BY, strict=True))
    label = fair
    for k, name in enumerate(ATTRIBUTES):
        negative = np.where(values[name], rates[f"p1_{name}"], rates[f"p2_{name}"])
        positive = np.where(values[name], rates[f"p3_{name}"], rates[f"p4_{name}"])
        label = label ^ (uniform[:, 4 + k] < np.where(label, negative, positive))
    partition = np.digitize(uniform[:, 7], (0.70, 0.85))
    drawn = {**values, "mouth_slightly_open": fair, "recorded": label, "partition": partition}
    return {name: np.asarray(value, dtype=np.int64) for name, value in drawn.items()}


def checked_rates(changes: Mapping[str, float] | None) -> dict[str, float]:
    """The stated rates with these changes."""
    rates = {**RATES, **(changes or {})}
    for name, value in rates.items():
        if name not in RATES:
            raise P4FError(f"there is no rate {name!r}; there are {', '.join(RATES)}")
        if not 0 <= value <= 1:
            raise P4FError(f"rate {value:g} of {name} is not between 0 and 1")
    return {name: float(value) for name, value in rates.items()}


def recorded_chances(rates: Mapping[str, float] = RATES) -> Table:
    """P(recorded = 1 | high cheekbones, blurry, smiling, fair): ``[2, 2, 2, 2]``.

    The three stages composed: y becomes y (1 - negative) + (1 - y) positive, three times.
    """
    table = np.empty((2, 2, 2, 2))
    for *cell, fair in product((0, 1), repeat=4):
        chance = float(fair)
        for name, value in zip(ATTRIBUTES, cell, strict=True):
            negative, positive = (rates[f"p{k + 1 - value}_{name}"] for k in (1, 3))
            chance = chance * (1 - negative) + (1 - chance) * positive
        table[(*cell, fair)] = chance
    return table


def shares() -> Table:
    """P(high cheekbones, blurry, smiling, fair): ``[2, 2, 2, 2]``."""
    table = np.empty((2, 2, 2, 2))
    for cheeks, blurry, smiling, fair in product((0, 1), repeat=4):
        opened = OPEN + cheeks * OPEN_BY[0] + blurry * OPEN_BY[1] + smiling * OPEN_BY[2]
        parts = ((SMILING, smiling), (BLURRY, blurry), (HIGH_CHEEKBONES[smiling], cheeks), (opened, fair))
        table[cheeks, blurry, smiling, fair] = np.prod([p if value else 1 - p for p, value in parts])
    return table


def decisions(modelled: Sequence[str], rates: Mapping[str, float] = RATES, scatter: float = 0.04) -> Table:
    """P(decides for 1 | attributes, fair) of somebody with good eyes who learns from recorded labels: ``[2, 2, 2, 2]``.

    In a cell c of the attributes, the pictures whose fair label is y are recorded as 1 with P(recorded = 1 | c, y). The
    belief says that it is b1 for a fair 1 and b0 for a fair 0, so a classifier explains these pictures best by
    h = (P - b0) / (b1 - b0), and decides for 1 where h is above one half: where P is above (b0 + b1) / 2. Without a
    belief (the lower baseline), b0 = 0 and b1 = 1; with all attributes it is the truth; with some of them, it is what
    is estimated for those alone, the average over the others.

    Parameters
    ----------
    modelled
        The attributes that the belief knows of.
    rates
        The parameters of the three biases.
    scatter
        How far off, typically, a classifier is about P after a finite training: the scale of a logistic distribution.
    """
    joint, truth = shares(), recorded_chances(rates)
    if modelled:
        others = tuple(k for k, name in enumerate(ATTRIBUTES) if name not in modelled)
        belief = (joint * truth).sum(others, keepdims=True) / joint.sum(others, keepdims=True)
    else:
        belief = np.array([0.0, 1.0])
    return np.asarray(1 / (1 + np.exp(-(truth - belief.mean(axis=-1, keepdims=True)) / scatter)))
