"""Made-up people, a belief about them that is right or wrong in one way, and what its tests say."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from problog4fairness.beliefs import AuditWarning, LabelBias
from problog4fairness.doubt import check
from studies.engine.stack import Identity, Keys, Stack, Table, Work

TESTS = ("range", "affine groups", "plain learner", "class-conditional", "calibration", "independence", "parameters",
         "ruled out")  # fmt: skip
CONTRADICTED = "contradicted"
METRICS = (CONTRADICTED, *TESTS)


@dataclass(frozen=True)
class Strengths:
    """How often labels are distorted: of the sensitive group (1) and of the others (0)."""

    neg1: float = 0.4
    neg0: float = 0.15
    pos1: float = 0.05
    pos0: float = 0.1


TRUE = Strengths()


@dataclass(frozen=True)
class Situation:
    """How people were recorded, and what is believed.

    Attributes
    ----------
    name
        What it is called.
    right
        Whether the belief is.
    true
        How often labels are distorted.
    moving
        By how much negative bias is stronger where a feature is positive, and weaker where it is negative.
    column
        Which feature that is: 0 to 3 are numbers, 4 is yes or no, as 1 and -1.
    believed
        What is stated; None where the belief is estimated from the audit.
    turned
        Whether somebody took the recorded column of the audit for the fair one, and the fair one for the recorded.
    fair
        How the fair label depends on the features: ``"straight"``, as the quick linear learner thinks, or ``"curved"``.
    """

    name: str
    right: bool = False
    true: Strengths = TRUE
    moving: float = 0.0
    column: int = 1
    believed: Strengths | None = TRUE
    turned: bool = False
    fair: Literal["straight", "curved"] = "straight"


OFF = 0.15
SITUATIONS = (
    Situation("right, stated", right=True),
    Situation("right, estimated", right=True, believed=None),
    Situation("right, estimated, curved", right=True, believed=None, fair="curved"),
    Situation("negative of the group +.15", believed=replace(TRUE, neg1=TRUE.neg1 + OFF)),
    Situation("negative of the group -.15", believed=replace(TRUE, neg1=TRUE.neg1 - OFF)),
    Situation("negative of the others +.15", believed=replace(TRUE, neg0=TRUE.neg0 + OFF)),
    Situation("positive of the group +.15", believed=replace(TRUE, pos1=TRUE.pos1 + OFF)),
    Situation("positive of the others +.15", believed=replace(TRUE, pos0=TRUE.pos0 + OFF)),
    Situation("bias moves by ±.15 with a number", moving=OFF, believed=None),
    Situation("bias moves by ±.15 with yes or no", moving=OFF, believed=None, column=4),
    Situation("groups swapped", believed=Strengths(TRUE.neg0, TRUE.neg1, TRUE.pos0, TRUE.pos1)),
    Situation("recorded and fair swapped", believed=None, turned=True),
    Situation("no bias at all", true=Strengths(0, 0, 0, 0)),
)


def drawn(situation: Situation, rows: int, audited: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The recorded table and the audit of one simulation."""
    rng, count = np.random.default_rng([seed, 13]), rows + audited
    group = rng.integers(0, 2, count)
    x = rng.normal(size=(count, 5))
    x[:, 0] += 0.5 * group
    x[:, 4] = np.sign(x[:, 4])
    strength = 1.2 * x[:, 0] + 0.8 * x[:, 1] - 0.6 * x[:, 2] + 0.4 * x[:, 3]
    if situation.fair == "curved":
        strength = 1.5 * np.sin(1.5 * x[:, 0]) + x[:, 1] * (x[:, 2] > 0) + 0.5 * x[:, 3] ** 2 - 0.5
    fair = (rng.random(count) < 1 / (1 + np.exp(-strength))).astype(int)
    true = situation.true
    negative = np.where(group == 1, true.neg1, true.neg0) + situation.moving * np.sign(x[:, situation.column])
    positive = np.where(group == 1, true.pos1, true.pos0)
    flipped = rng.random(count) < np.where(fair == 1, np.clip(negative, 0, 1), positive)
    recorded = np.where(flipped, 1 - fair, fair)
    people = pd.DataFrame(x, columns=["x1", "x2", "x3", "x4", "x5"]).assign(group=group, recorded=recorded, fair=fair)
    audit = people[rows:].reset_index(drop=True)
    if situation.turned:
        audit = audit.rename(columns={"recorded": "fair", "fair": "recorded"})
    return people[:rows].drop(columns="fair"), audit


def belief_of(situation: Situation, audit: pd.DataFrame) -> LabelBias:
    """What is believed: stated, or estimated from the audit."""
    stated = situation.believed
    if stated is not None:
        return LabelBias("group", {0: stated.neg0, 1: stated.neg1}, {0: stated.pos0, 1: stated.pos1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        return LabelBias("group").estimate(audit, recorded="recorded", fair="fair")


@dataclass(frozen=True)
class DoubtStack(Stack):
    """Some simulations of one situation."""

    situation: Situation
    seeds: tuple[int, ...]
    rows: int
    audited: int

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.situation.name}, seeds {self.seeds[0]} to {self.seeds[-1]}"

    @property
    def cells(self) -> int:
        """See :meth:`Stack.cells`."""
        return len(self.seeds)

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        return {"situation": repr(self.situation), "seeds": self.seeds, "rows": self.rows, "audited": self.audited}

    def keys(self) -> Keys:
        """See :meth:`Stack.keys`."""
        return [(self.situation.name, seed, metric) for seed in self.seeds for metric in METRICS]

    def compute(self, work: Work) -> Table:
        """See :meth:`Stack.compute`."""
        values: list[float] = []
        for number, seed in enumerate(self.seeds):
            values += self._one(seed)
            work.report((number + 1) / len(self.seeds))
        return [[*key, value] for key, value in zip(self.keys(), values, strict=True)]

    def _one(self, seed: int) -> list[float]:
        """Whether the belief is contradicted in one simulation, and by which tests; NaN for those not done."""
        table, audit = drawn(self.situation, self.rows, self.audited, seed)
        belief = belief_of(self.situation, audit)
        names: dict[str, Any] = {"recorded": "recorded", "fair": "fair"}
        found = check(belief, table, audit=audit, random_state=seed, progress=False, **names)
        each = [float(found[name].contradicts) if found[name].done else float("nan") for name in TESTS]
        return [float(found.contradicted), *each]
