"""Simulated audits: made-up people with label bias, a part of them audited, and the posterior intervals that follow."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pandas as pd

import problog4fairness as p4f
from studies.engine.stack import Identity, Keys, Stack, Table, Work

AUDITS = ("audited", "as if certain")
QUANTITIES = ("disparity", "selection rate, others", "selection rate, group", "mean, others", "mean, group")
MEASURES = ("covered", "width", "error")
# The fair label is logistic in three columns, of which two differ between the groups.
WEIGHTS, INTERCEPT, GROUP = np.array([1.0, -0.8, 0.6]), -0.3, 0.4
SHIFT = np.array([-0.7, 0.0, 0.3])
# Shares of fair 1s that are recorded as 0, and of fair 0s that are recorded as 1: others, group.
NEGATIVE, POSITIVE = np.array([0.1, 0.4]), np.array([0.1, 0.02])

Floats = npt.NDArray[np.float64]


def people(rows: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Their groups, columns, and chances of a fair 1."""
    group = (rng.random(rows) < GROUP).astype(np.int64)
    columns = rng.normal(size=(rows, len(WEIGHTS))) + group[:, None] * SHIFT
    return group, columns, 1 / (1 + np.exp(-(columns @ WEIGHTS + INTERCEPT)))


@cache
def truth() -> dict[str, float]:
    """Of the population."""
    group, _, chance = people(4_000_000, np.random.default_rng(2024))
    means = [float(chance[group == own].mean()) for own in (0, 1)]
    rates = [float((chance[group == own] >= 0.5).mean()) for own in (0, 1)]
    return dict(zip(QUANTITIES, (means[1] - means[0], *rates, *means), strict=True))


@dataclass(frozen=True)
class UncertaintyStack(Stack):
    """Some simulated audits.

    Attributes
    ----------
    carried
        One of :data:`AUDITS`: what intervals carry.
    seeds
        One for each audit.
    rows, audited, draws
        See :class:`studies.uncertainty.UncertaintyStudy`.
    """

    carried: str
    seeds: tuple[int, ...]
    rows: int
    audited: int
    draws: int

    @property
    def name(self) -> str:
        """See :meth:`Stack.name`."""
        return f"{self.carried}, audits {self.seeds[0]} to {self.seeds[-1]}"

    @property
    def cells(self) -> int:
        """See :meth:`Stack.cells`."""
        return len(self.seeds)

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        return {
            "carried": self.carried,
            "seeds": self.seeds,
            "rows": self.rows,
            "audited": self.audited,
            "draws": self.draws,
        }

    def keys(self) -> Keys:
        """See :meth:`Stack.keys`."""
        metrics = [f"{quantity} {measure}" for quantity in QUANTITIES for measure in MEASURES]
        return [(self.carried, seed, metric) for seed in self.seeds for metric in metrics]

    def compute(self, work: Work) -> Table:
        """See :meth:`Stack.compute`."""
        numbers: list[float] = []
        for done, seed in enumerate(self.seeds, start=1):
            numbers += self._audit(seed)
            work.report(done / len(self.seeds))
        return [[*key, number] for key, number in zip(self.keys(), numbers, strict=True)]

    def _audit(self, seed: int) -> list[float]:
        rng = np.random.default_rng(seed)
        group, columns, chance = people(self.rows, rng)
        fair = (rng.random(self.rows) < chance).astype(np.int64)
        drawn = rng.random(self.rows)
        recorded = np.where(fair == 1, drawn >= NEGATIVE[group], drawn < POSITIVE[group]).astype(np.int64)
        frame = pd.DataFrame(columns, columns=["first", "second", "third"]).assign(group=group)
        audit = frame.assign(recorded=recorded, fair=fair)[: self.audited]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some audits have few rows of a cell
            belief = p4f.LabelBias("group").estimate(audit, recorded="recorded", fair="fair")
            if self.carried == "as if certain":
                belief = belief.bind({own.name: own.value or 0.0 for own in belief.parameters})
            model = p4f.DebiasedClassifier(belief, "linear", random_state=seed).fit(frame, recorded)
            intervals = model.uncertainty(frame, recorded, draws=self.draws, random_state=seed, progress=False)
        found = []
        for true, row in zip(truth().values(), intervals.table.to_dict("records"), strict=True):
            found += [float(row["low"] <= true <= row["high"]), row["high"] - row["low"], row["value"] - true]
        return found
