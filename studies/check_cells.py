"""Made-up people, a belief about them that is right or wrong in one way, and what its tests say."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from problog4fairness.audit import Audit, AuditWarning
from problog4fairness.beliefs import LabelBias
from problog4fairness.checks import check
from studies.engine.stack import Identity, Keys, Stack, Table, Work

TESTS = ("range", "group consistency", "plain learner", "class-conditional", "calibration", "independence",
         "parameters", "impossible outcomes")  # fmt: skip
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
        How the fair label depends on the features: ``"straight"``, as the quick linear learner thinks, ``"curved"``, or
        ``"interacting"``: by the signs of three features together, of which the group depends, too.
    features
        How features are distributed.
    shares
        The share of each group: of the others (0), the sensitive one (1), and of one more that is treated like it.
    base
        What is added to the logit of the fair label; -4 gives 5% of people a fair 1.
    effect
        What the sensitive group adds to it: fair labels that depend on the group, which the belief does not say.
    sampling
        Whether audited people are drawn at random, or of the table's rows by group and recorded label, as many of each.
    rows, audited
        Where they are other than those of the study.
    """

    name: str
    right: bool = False
    true: Strengths = TRUE
    moving: float = 0.0
    column: int = 1
    believed: Strengths | None = TRUE
    turned: bool = False
    fair: Literal["straight", "curved", "interacting"] = "straight"
    features: Literal["normal", "skewed", "heavy-tailed", "correlated", "categories"] = "normal"
    shares: tuple[float, ...] = (0.5, 0.5)
    base: float = 0.0
    effect: float = 0.0
    sampling: Literal["random", "planned"] = "random"
    rows: int | None = None
    audited: int | None = None


OFF = 0.15
# Groups of 83%, 12% and 5%.
RARE = (0.83, 0.12, 0.05)
SMALL: dict[str, Any] = {"shares": (0.9, 0.1), "rows": 3000, "audited": 300}
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
    Situation("right, stated, 3 groups, 5% positives", right=True, shares=RARE, base=-4.0),
    Situation("right, estimated, 3 groups, 5% positives", right=True, believed=None, shares=RARE, base=-4.0),
    Situation("right, stated, interacting", right=True, fair="interacting"),
    Situation("right, estimated, interacting", right=True, believed=None, fair="interacting"),
    Situation("right, estimated, skewed", right=True, believed=None, features="skewed"),
    Situation("right, estimated, heavy-tailed", right=True, believed=None, features="heavy-tailed"),
    Situation("right, estimated, correlated", right=True, believed=None, features="correlated"),
    Situation("right, estimated, categories", right=True, believed=None, features="categories"),
    Situation("right, estimated, group of 5%", right=True, believed=None, shares=(0.95, 0.05)),
    Situation("right, stated, planned", right=True, sampling="planned"),
    Situation("right, estimated, planned", right=True, believed=None, sampling="planned"),
    Situation("right, estimated, planned, group of 12%", right=True, believed=None, shares=(0.88, 0.12),
              sampling="planned"),
    Situation("group of 10%: negative +.15", believed=replace(TRUE, neg1=TRUE.neg1 + OFF), **SMALL),
    Situation("group of 10%: negative -.15", believed=replace(TRUE, neg1=TRUE.neg1 - OFF), **SMALL),
    Situation("group of 10%: bias moves by ±.15 with a number", moving=OFF, believed=None, **SMALL),
    Situation("group of 10%: hidden effect of 1", effect=-1.0, believed=None, **SMALL),
    Situation("planned: negative of the group +.15", believed=replace(TRUE, neg1=TRUE.neg1 + OFF), sampling="planned"),
)  # fmt: skip


def _features(situation: Situation, count: int, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Four numbers, and yes or no as 1 and -1."""
    x = rng.normal(size=(count, 5))
    if situation.features == "skewed":
        x = np.column_stack([rng.exponential(size=(count, 4)) - 1, x[:, 4]])
    elif situation.features == "heavy-tailed":
        x = np.column_stack([rng.standard_t(3, size=(count, 4)) / np.sqrt(3), x[:, 4]])
    elif situation.features == "correlated":
        x = np.sqrt(0.7) * rng.normal(size=(count, 1)) + np.sqrt(0.3) * x
    x[:, 4] = np.sign(x[:, 4])
    return x


def _people(situation: Situation, count: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng([seed, 13])
    x = _features(situation, count, rng)
    group = np.searchsorted(np.cumsum(situation.shares)[:-1], rng.random(count), side="right")
    together = np.sign(x[:, 0] * x[:, 1] * x[:, 2])
    if situation.fair == "interacting":
        group = (rng.random(count) < np.where(together > 0, 0.75, 0.25)).astype(int)
    else:
        x[:, 0] += 0.5 * (group > 0)
    strength = 1.2 * x[:, 0] + 0.8 * x[:, 1] - 0.6 * x[:, 2] + 0.4 * x[:, 3]
    if situation.fair == "curved":
        strength = 1.5 * np.sin(1.5 * x[:, 0]) + x[:, 1] * (x[:, 2] > 0) + 0.5 * x[:, 3] ** 2 - 0.5
    if situation.fair == "interacting":
        strength = 1.2 * together + 0.5 * x[:, 3]
    people = pd.DataFrame(x, columns=["x1", "x2", "x3", "x4", "x5"]).assign(group=group)
    if situation.features == "categories":
        # Six kinds of work and four regions instead of two of the numbers; fair labels depend on both.
        work, region = rng.integers(0, 6, count), rng.integers(0, 4, count)
        strength = 1.2 * x[:, 0] + np.array([-1, -0.5, 0, 0, 0.5, 1])[work] + np.array([-0.5, 0, 0, 0.5])[region]
        people = people.assign(x2=[f"work {own}" for own in work], x3=[f"region {own}" for own in region])
    strength = strength + situation.base + situation.effect * (group > 0)
    fair = (rng.random(count) < 1 / (1 + np.exp(-strength))).astype(int)
    true = situation.true
    negative = np.where(group > 0, true.neg1, true.neg0) + situation.moving * np.sign(x[:, situation.column])
    positive = np.where(group > 0, true.pos1, true.pos0)
    flipped = rng.random(count) < np.where(fair == 1, np.clip(negative, 0, 1), positive)
    return people.assign(recorded=np.where(flipped, 1 - fair, fair), fair=fair)


def drawn(situation: Situation, rows: int, audited: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The recorded table and the audit of one simulation."""
    rows, audited = situation.rows or rows, situation.audited or audited
    people = _people(situation, rows + audited, seed)
    table, audit = people[:rows].drop(columns="fair"), people[rows:].reset_index(drop=True)
    if situation.sampling == "planned":
        audit = _planned(people[:rows], audited, seed)
    if situation.turned:
        audit = audit.rename(columns={"recorded": "fair", "fair": "recorded"})
    return table, audit


def _planned(people: pd.DataFrame, audited: int, seed: int) -> pd.DataFrame:
    """As many people of each group and recorded label, drawn from the table as a plan draws them, and looked at."""
    plan = LabelBias("group").plan_audit(people.drop(columns="fair"), recorded="recorded", fair="fair", error=0.05)
    each = audited // len(plan.strata)
    plan = replace(plan, strata=plan.strata.assign(to_draw=np.minimum(each, plan.strata["rows"])))
    todo = plan.draw(random_state=seed)
    return todo.assign(fair=people["fair"].loc[todo.index].to_numpy())


def belief_of(situation: Situation, audit: pd.DataFrame) -> LabelBias:
    """What is believed: stated, or estimated from the audit."""
    stated, levels = situation.believed, range(len(situation.shares))
    if stated is not None:
        negative = {0: stated.neg0, **dict.fromkeys(range(1, len(situation.shares)), stated.neg1)}
        positive = {0: stated.pos0, **dict.fromkeys(range(1, len(situation.shares)), stated.pos1)}
        return LabelBias("group", negative, positive, groups=levels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        return LabelBias("group", groups=levels).estimate(audit, recorded="recorded", fair="fair")


def sampled(situation: Situation, audit: pd.DataFrame, table: pd.DataFrame) -> Audit | pd.DataFrame:
    """Audited rows with how they were sampled; rows of a plan say it themselves."""
    if situation.sampling == "planned":
        return audit
    return Audit.of(audit, fair="fair", table=table, sampling="random")


@dataclass(frozen=True)
class CheckStack(Stack):
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
        with warnings.catch_warnings():
            # Audited people who are not in the table are other people, as they are meant to be.
            warnings.filterwarnings("ignore", "none of the .* is in the table", AuditWarning)
            found = check(belief, table, audit=sampled(self.situation, audit, table), random_state=seed, **names)
        each = [float(found[name].contradicts) if found[name].done else float("nan") for name in TESTS]
        return [float(found.contradicted), *each]
