"""How often the tests of a belief are right: false alarms of the whole battery, and power against wrong beliefs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
from scipy.stats import binomtest

from studies.check_cells import CONTRADICTED, METRICS, SITUATIONS, CheckStack, Situation
from studies.engine.claims import Claim, often
from studies.engine.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALARMS, POWER = 0.05, 0.8
# Simulations that are stored as one.
TOGETHER = 20
# The simulations behind the choices that the tests make had seeds from 10,000 to 30,000.
FIRST = 100_000


@dataclass(frozen=True, eq=False)
class CheckStudy(Study):
    """Situations × simulations.

    Attributes
    ----------
    right, wrong
        Simulations of each situation in which the belief is right, and of each in which it is wrong.
    rows, audited
        Of each simulation.
    situations
        Some of :data:`studies.check_cells.SITUATIONS`.
    """

    columns = ("case", "seed", "metric", "value")

    right: int = 300
    wrong: int = 100
    rows: int = 5000
    audited: int = 400
    situations: tuple[Situation, ...] = SITUATIONS

    @property
    def name(self) -> str:
        """See :meth:`Study.name`."""
        return "checks"

    def stacks(self) -> list[CheckStack]:
        """See :meth:`Study.stacks`."""
        return [
            CheckStack(own, tuple(range(FIRST + start, FIRST + min(start + TOGETHER, count))), self.rows, self.audited)
            for start in range(0, max(self.right, self.wrong), TOGETHER)
            for own in self.situations
            for count in [self.right if own.right else self.wrong]
            if start < count
        ]

    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """See :meth:`Study.claims`."""
        hits, found = results[results["metric"] == CONTRADICTED].set_index("case")["value"], []
        for own in self.situations:
            here = hits[hits.index == own.name]
            if not len(here):
                continue
            text = f"{own.name}: contradicted in at {'most 5%' if own.right else 'least 80%'} of the simulations"
            planned = self.right if own.right else self.wrong
            short = f"; {planned} are planned" if len(here) < planned else ""
            found.append(often(text, here, ALARMS if own.right else POWER, detail=short, rarely=own.right))
        return found

    def tables(self, results: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """See :meth:`Study.tables`: the share of simulations in which each test contradicts the belief."""
        wide = results.set_index(["case", "seed", "metric"])["value"].unstack("metric")
        rows = []
        for own in self.situations:
            if own.name not in wide.index:
                continue
            here = wide.loc[own.name]
            hits = int(here[CONTRADICTED].sum())
            low, high = binomtest(hits, len(here)).proportion_ci(method="wilson")
            # A test that was not done contradicts nothing.
            shares = [float(here[name].fillna(0).mean()) for name in METRICS if name in here]
            rows.append((own.name, len(here), low, high, *shares))
        names = [name for name in METRICS if name in wide]
        return {"shares": pd.DataFrame(rows, columns=["case", "simulations", "low", "high", *names])}

    def remarks(self, results: pd.DataFrame) -> list[str]:
        """See :meth:`Study.remarks`: what so few simulations cannot decide."""
        shares = self.tables(results)["shares"].set_index("case")
        planned = {own.name: self.right if own.right else self.wrong for own in self.situations}
        if all(name in shares.index and shares.loc[name, "simulations"] >= count for name, count in planned.items()):
            return []
        return [
            f"This run was stopped early: {int(shares['simulations'].sum()):,} of {sum(planned.values()):,} "
            "simulations were done."
        ]

    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """See :meth:`Study.figures`."""
        from studies.checks_figure import draw

        return {"figure": draw(self.tables(results)["shares"], {own.name: own.right for own in self.situations})}

    def about(self) -> list[str]:
        """See :meth:`Study.about`."""
        return [
            f"Each simulation draws {self.rows:,} recorded people and {self.audited} audited ones, two groups, five "
            "features, a fair label that depends on the features, and label bias of .40 and .15 (negative) and .05 and "
            ".10 (positive) in the group and among the others. `belief.check` is asked whether the data contradict the "
            "belief; the correction for the number of tests is part of it. Estimated beliefs come from the same audit "
            "that tests them. Shares with 95% intervals (Wilson).",
            "",
            "One parameter at a time is off by .15. A bias that moves is .15 stronger for both groups where a feature "
            "is positive, and .15 weaker where it is negative; the feature is a number, or yes or no. Where recorded "
            "and fair are swapped, somebody took one column of the audit for the other, and estimated the belief from "
            "it.",
        ]


def check_study(*, quick: bool = False, seeds: int | None = None) -> CheckStudy:
    """The study in full, or a quick one with fewer simulations.

    Parameters
    ----------
    quick
        20 and 10 simulations instead of 300 and 100.
    seeds
        How many simulations of each situation.
    """
    right, wrong = (20, 10) if quick else (300, 100)
    return CheckStudy(right if seeds is None else seeds, wrong if seeds is None else seeds)
