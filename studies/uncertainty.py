"""Do posterior intervals hold what they promise? Audits repeated on people of whom the truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from studies.engine.claims import Claim, often
from studies.engine.study import Study
from studies.uncertainty_stacks import AUDITS, QUANTITIES, UncertaintyStack

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Simulations that are stored as one, and what is asked of 95% intervals.
TOGETHER, ASKED = 25, 0.93
# Audits that are enough to show what happens where their uncertainty is left out.
CONTRAST = 50


@dataclass(frozen=True, eq=False)
class UncertaintyStudy(Study):
    """Simulated audits × what intervals carry.

    Attributes
    ----------
    seeds
        Of the people, their labels, the audit and the draws.
    rows, audited
        Recorded people, and how many of them are audited.
    draws
        Beliefs that are drawn for each.
    """

    columns = ("carried", "seed", "metric", "value")

    seeds: tuple[int, ...] = tuple(range(300))
    rows: int = 2_000
    audited: int = 200
    draws: int = 50

    @property
    def name(self) -> str:
        """See :meth:`Study.name`."""
        return "uncertainty"

    def stacks(self) -> list[UncertaintyStack]:
        """See :meth:`Study.stacks`."""
        found = []
        for carried, seeds in zip(AUDITS, (self.seeds, self.seeds[:CONTRAST]), strict=True):
            parts = [seeds[start : start + TOGETHER] for start in range(0, len(seeds), TOGETHER)]
            found += [UncertaintyStack(carried, own, self.rows, self.audited, self.draws) for own in parts]
        return found

    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """See :meth:`Study.claims`."""
        audited = results[results["carried"] == "audited"].set_index("metric")["value"]
        return [
            often(f"the 95% interval of the {own} holds the truth in at least 93% of audits", covered, ASKED)
            for own in QUANTITIES
            if len(covered := audited[audited.index == f"{own} covered"])
        ]

    def tables(self, results: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """See :meth:`Study.tables`."""
        table = results.groupby(["carried", "metric"], sort=False)["value"].mean().unstack("carried")
        return {"coverage": table.reset_index()}

    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """See :meth:`Study.figures`."""
        from studies.engine.report import summary_of
        from studies.uncertainty_figure import draw

        return {"figure": draw(summary_of(results))}

    def about(self) -> list[str]:
        """See :meth:`Study.about`."""
        return [
            f"{len(self.seeds)} times {self.rows:,} people with label bias, of whom {self.audited} are audited at "
            f"random; a linear learner, {self.draws} draws. The truth is that of the population.",
            "'audited': parameters are drawn from what the audit leaves open, and the weights of rows by the Bayesian "
            "bootstrap. 'as if certain': the estimated parameters are taken for true, and only rows are drawn "
            f"({min(CONTRAST, len(self.seeds))} audits).",
            "The share that covers has a standard error of at most 1.5 points at 300 audits.",
        ]


def uncertainty_study(*, quick: bool = False, seeds: int | None = None) -> UncertaintyStudy:
    """The study in full, or a quick one with 20 audits.

    Parameters
    ----------
    quick
        Smaller.
    seeds
        How many audits, where not 300 (20 if quick).
    """
    return UncertaintyStudy(tuple(range(seeds if seeds is not None else 20 if quick else 300)))
