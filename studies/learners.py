"""Which learner? Each of them through the belief, against itself knowing the fair labels, and itself on the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from studies.engine.claims import Claim, Measured, Values, everywhere
from studies.engine.study import Study
from studies.learner_stacks import EM, LEARNERS, METHODS, LearnerStack, MadeUp, OfPupils
from studies.student_cells import Pupils
from studies.synthetic_cells import Bias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from studies.data import StudentData

BIASES: tuple[Bias, ...] = ("label", "measurement", "historical")
BETAS = (0.0, 0.3, 0.6, 0.9)
SINGLE = tuple(name for name in LEARNERS if name not in ("auto", EM))
BELOW, MISCALIBRATED, WORSE = 0.01, 0.02, 0.005


@dataclass(frozen=True, eq=False)
class LearnerStudy(Study):
    """Data × learners × methods × seeds.

    Attributes
    ----------
    students
        The pupils; None to do without.
    betas
        Strengths of bias of the made-up people.
    seeds
        Of people, splits and learners.
    rows, tested
        Made-up people to learn from, and others to be tested on, for each seed.
    folds
        Of the student data.
    learners
        Some of :data:`studies.learner_stacks.LEARNERS`.
    """

    columns = ("data", "x", "learner", "method", "seed", "metric", "value")

    students: StudentData | None = None
    betas: tuple[float, ...] = BETAS
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    rows: int = 10_000
    tested: int = 40_000
    folds: int = 5
    learners: tuple[str, ...] = LEARNERS

    @property
    def name(self) -> str:
        """See :meth:`Study.name`."""
        return "learners"

    def stacks(self) -> list[LearnerStack]:
        """See :meth:`Study.stacks`."""
        pupils = None if self.students is None else Pupils(self.students)
        found: list[LearnerStack] = []
        for learner in self.learners:
            for method in METHODS:
                own = (learner, method, self.seeds)
                found += [MadeUp(*own, bias, self.betas, self.rows, self.tested) for bias in BIASES]
                if pupils is not None:
                    # Others fit once for each seed and fold, these dozens of times.
                    seeds = self.seeds if learner in SINGLE else self.seeds[:1]
                    found.append(OfPupils(learner, method, seeds, pupils, self.folds))
        return found

    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """See :meth:`Study.claims`."""
        measured, found = Measured(results), list[Claim]()
        for bias in BIASES:
            for learner in self.learners:
                own, upper = (
                    measured(data=bias, learner=learner, method=method, metric="accuracy")
                    for method in ("belief", "upper")
                )
                text = f"{bias}, {learner}: accuracy at most .01 below its own upper"
                found += everywhere(text, (own - upper).dropna(), lambda number: BELOW + number.mean)
                error = measured(data=bias, learner=learner, method="belief", metric="calibration")
                text = f"{bias}, {learner}: calibration error at most .02"
                found += everywhere(text, error, lambda number: MISCALIBRATED - number.mean)
        for data in dict.fromkeys(results["data"]):
            text = f"{data}: auto's accuracy at most .005 below the best single learner's"
            found += everywhere(text, _behind(measured, data), lambda number: WORSE + number.mean)
        return found

    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """See :meth:`Study.figures`."""
        from studies.learners_figure import draw

        return {"figure": draw(results)}

    def about(self) -> list[str]:
        """See :meth:`Study.about`."""
        student = ""
        if self.students is not None:
            student = f"; {len(self.students.fair)} rows of the student data, out of fold (auto and EM with one seed)"
        lines = [
            f"{len(self.seeds)} seeds; {self.rows:,} made-up people to learn from and {self.tested:,} others to be "
            f"tested on{student}. Every learner has its default options. Its upper is the same learner trained on the "
            "fair labels, with features of the kind that are tested on.",
            "Numbers are means with 95% intervals over seeds; the strength of bias that is furthest off decides.",
        ]
        if self.students is None:
            lines.append("The student data were not there (P4F_DATA).")
        return lines


def _behind(measured: Measured, data: str) -> Values:
    """Auto's accuracy minus that of the best single learner at each place."""
    auto, *others = (
        measured(data=data, learner=name, method="belief", metric="accuracy") for name in ("auto", *SINGLE)
    )
    parts = []
    for x in dict.fromkeys(auto.index.get_level_values("x")):
        here = [own[own.index.get_level_values("x") == x] for own in others]
        best = max((own for own in here if len(own)), key=lambda own: float(own.mean()), default=None)
        if best is not None:
            parts.append((auto - best).dropna())
    return pd.concat(parts) if parts else auto.iloc[:0]


def learner_study(
    students: StudentData | None = None, *, quick: bool = False, seeds: int | None = None
) -> LearnerStudy:
    """The study in full, or a quick one with fewer seeds, people and strengths of bias.

    Parameters
    ----------
    students
        From :func:`studies.data.student`.
    quick
        Smaller.
    seeds
        How many, where not 5 (2 if quick).
    """
    every = tuple(range(seeds if seeds is not None else 2 if quick else 5))
    if quick:
        return LearnerStudy(students, (0.0, 0.6), every, 2_000, 10_000, 2)
    return LearnerStudy(students, seeds=every)
