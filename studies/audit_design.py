"""How few rows are enough? Audits by group and recorded label against random ones, and which intervals hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from problog4fairness import datasets
from problog4fairness.statistics import required_samples
from studies.audit_cells import ALWAYS, CONFIDENCE, ERROR, INTERVALS, ROUNDS, ROWS, SCORE, AuditStack, Case, Z
from studies.audit_training import ALL, AUDITS, ERROR_OF, PLANNED, RANDOM, TrainingStack
from studies.engine.claims import Claim, Measured, above, everywhere, often
from studies.engine.stack import Stack
from studies.engine.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from studies.data import StudentData

# Audits that are simulated side by side and stored as one.
TOGETHER = 500
COVERED, FIFTH, HALF, WITHIN = 0.94, 0.2, 0.5, 0.01


@dataclass(frozen=True, eq=False)
class AuditStudy(Study):
    """Cases × simulated audits, and classifiers.

    Attributes
    ----------
    cases
        The tables.
    audits
        Simulated audits of each.
    trained
        Classifiers for each kind of audit.
    """

    columns = ("case", "seed", "metric", "parameter", "value")

    cases: tuple[Case, ...]
    audits: int = 2000
    trained: int = 20

    @property
    def name(self) -> str:
        """See :meth:`Study.name`."""
        return "audit-design"

    def stacks(self) -> list[Stack]:
        """See :meth:`Study.stacks`."""
        starts = range(0, self.audits, TOGETHER)
        audits: list[Stack] = [
            AuditStack(case, tuple(range(start, min(start + TOGETHER, self.audits))))
            for start in starts
            for case in self.cases
        ]
        return [*audits, *([TrainingStack(tuple(range(self.trained)))] if self.trained else [])]

    def tables(self, results: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """See :meth:`Study.tables`: rows by case, and coverage by interval and parameter."""
        rows = [self._rows(case, results) for case in self.cases if (results["case"] == case.name).any()]
        covered = results[results["metric"].isin(INTERVALS)].groupby(["case", "metric", "parameter"], sort=False)
        return {"rows": pd.DataFrame(rows), "coverage": covered["value"].mean().reset_index(name="coverage")}

    def _rows(self, case: Case, results: pd.DataFrame) -> dict[str, object]:
        own = results[results["case"] == case.name].set_index("metric")["value"]
        rows = own[own.index == ROWS]
        hoeffding, normal = hoeffding_rows(case), normal_rows(case)
        return {
            "case": case.name,
            "table": int(case.counts.sum()),
            "rows": float(rows.mean()),
            "9 of 10 below": float(rows.quantile(0.9)),
            "rounds": float(own[own.index == ROUNDS].mean()),
            "hoeffding": hoeffding,
            "of_hoeffding": float(rows.mean()) / hoeffding,
            "normal": normal,
            "of_normal": float(rows.mean()) / normal,
            "normal_by_group": normal_rows(case, by_group=True),
            "of_normal_by_group": float(rows.mean()) / normal_rows(case, by_group=True),
        }

    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """See :meth:`Study.claims`."""
        rows = self.tables(results)["rows"]
        if not len(rows):
            return []
        share = "; ".join(f"{own.case} {own.of_hoeffding:.0%}" for own in rows.itertuples())
        beside = "; ".join(f"{own.case} {own.of_normal:.0%}" for own in rows.itertuples())
        grouped = "; ".join(f"{own.case} {own.of_normal_by_group:.0%}" for own in rows.itertuples())
        few = int((rows["of_hoeffding"] <= FIFTH).sum())
        wanted = math.ceil(len(rows) * 3 / 4)
        found = [
            Claim("at most a fifth of the Hoeffding rows in three of four cases", share, few >= wanted),
            Claim("at most half of the rows of a random audit with normal intervals, in all cases", beside,
                  bool((rows["of_normal"] <= HALF).all())),
            Claim("at most half of them also where each group is drawn from by itself, in all cases", grouped,
                  bool((rows["of_normal_by_group"] <= HALF).all())),
        ]  # fmt: skip
        for name, text in ((SCORE, "the interval that is used"), (ALWAYS, "the sequential one, at all looks together")):
            covered = dict(iter(results[results["metric"] == name].groupby(["case", "parameter"])["value"]))
            worst = min(covered, key=lambda place: covered[place].mean())
            claim = f"{text} covers at least 94% for a nominal 95%, every parameter"
            found.append(often(claim, covered[worst], COVERED, detail=f", the worst ({', '.join(worst)})"))
        return [*found, *self._training_claims(results)]

    def _training_claims(self, results: pd.DataFrame) -> list[Claim]:
        errors = Measured(results[results["metric"] == ERROR_OF])
        planned, random, every = (errors(parameter=name) for name in (PLANNED, RANDOM, ALL))
        if not len(planned):
            return []
        said = f"; {', '.join(f'{name} {errors(parameter=name).mean():.4f}' for name in AUDITS)}"
        text = "a classifier from the planned audit errs at most .01 more than from all rows"
        found = everywhere(text, planned - every, lambda number: WITHIN - number.mean, said)
        return found + above("and less than from a random audit as large", random - planned)

    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """See :meth:`Study.figures`."""
        from studies.audit_figure import draw_coverage, draw_rows

        tables = self.tables(results)
        return {"figure": draw_rows(tables["rows"]), "coverage": draw_coverage(tables["coverage"])}

    def about(self) -> list[str]:
        """See :meth:`Study.about`."""
        return [
            f"{self.audits:,} simulated audits of each table, in rounds as `belief.plan_audit` asks for, until the "
            f"95% interval of every parameter is ±{ERROR:g} or shorter (half its width). The tables: the student data; "
            "the demo's loans, whose belief has one parameter; a group of 30% in which 20% have a fair 1; a group of "
            "20% in which 5% have one. The last two have negative bias of .45 in the group and .10 outside, positive "
            "bias of .05. Truth is the parameter of the very table, and rows are drawn from it once each.",
            "",
            "*Hoeffding*: rows drawn at random until 185 are expected in the rarest cell of group and fair label. "
            "*Normal*: rows drawn at random until the normal interval of every parameter of the belief is expected to "
            "be ±.1; *by group*, if each group is drawn from by itself. Both may be more than there are.",
            "",
            "Coverage is that at the end of an audit that ended because intervals were short. *Score, corrected* is "
            "used; *at every look*: the sequential interval held the truth after every round. *Posterior*: Jeffreys' "
            "in each stratum. *Delta*: with two imagined rows of each kind. *Bootstrap*: percentiles.",
        ]

    def remarks(self, results: pd.DataFrame) -> list[str]:
        """See :meth:`Study.remarks`: both tables."""
        tables = self.tables(results)
        lines = [
            "| table (rows) | audited rows, mean (9 of 10 below) | rounds | Hoeffding | normal | normal, by group |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {own['case']} ({own['table']:,}) | {own['rows']:,.0f} ({own['9 of 10 below']:,.0f}) | "
            f"{own['rounds']:.1f} | {own['hoeffding']:,} | {own['normal']:,} | {own['normal_by_group']:,} |"
            for own in tables["rows"].to_dict("records")
        ]
        wide = tables["coverage"].groupby(["case", "metric"], sort=False)["coverage"].min().unstack("metric")
        lines += ["", f"| worst coverage of a parameter | {' | '.join(INTERVALS)} |", "|---|" + "---|" * len(INTERVALS)]
        cells = [" | ".join(f"{row[name]:.1%}" for name in INTERVALS) for _, row in wide.iterrows()]
        return [*lines, *(f"| {case} | {own} |" for case, own in zip(wide.index, cells, strict=True))]


def hoeffding_rows(case: Case) -> int:
    """Rows drawn at random until as many as Hoeffding's inequality asks for are expected in the rarest cell."""
    rarest = float((case.counts.sum(axis=1) / case.counts.sum()).min())
    return math.ceil(required_samples(ERROR, CONFIDENCE) / rarest)


def normal_rows(case: Case, by_group: bool = False) -> int:
    """Rows drawn at random until the normal interval of every parameter is expected to be short enough."""
    needed = [Z**2 * case.truth(cell) * (1 - case.truth(cell)) / ERROR**2 / case.share(cell) for cell in case.cells]
    if not by_group:
        return math.ceil(max(needed))
    parts = case.counts.sum(axis=(1, 2)) / case.counts.sum()
    groups = range(len(parts))
    most = [max([n for n, cell in zip(needed, case.cells, strict=True) if cell.group == g], default=0) for g in groups]
    return math.ceil(float(sum(n * part for n, part in zip(most, parts.tolist(), strict=True))))


def made_up(name: str, rows: int, group: float, positive: float) -> Case:
    """A table with a group of some size, and a share of fair 1s."""
    people = []
    for part, negative in ((1 - group, 0.1), (group, 0.45)):
        ones = round(rows * part * positive)
        zeros = round(rows * part) - ones
        lost, given = round(ones * negative), round(zeros * 0.05)
        people.append(((zeros - given, lost), (given, ones - lost)))
    return Case(name, tuple(people))


def counted(name: str, group: object, recorded: object, fair: object, ruled: tuple[tuple[int, int], ...] = ()) -> Case:
    """A table of which all labels are known."""
    counts = np.zeros((2, 2, 2), dtype=np.int64)
    np.add.at(counts, tuple(np.asarray(own, dtype=np.int64) for own in (group, recorded, fair)), 1)
    return Case(name, tuple(tuple((int(a), int(b)) for a, b in own) for own in counts), ruled)  # type: ignore[misc]


def audit_study(students: StudentData | None = None, *, quick: bool = False, seeds: int | None = None) -> AuditStudy:
    """The study in full, or a quick one.

    Parameters
    ----------
    students
        The pupils; None to do without.
    quick
        50 audits of each case instead of 2,000, and 2 classifiers instead of 20.
    seeds
        How many audits of each case.
    """
    data = datasets.loans()
    cases = [
        counted("demo", data.loans["poor_area"], data.loans["granted"], data.loans_repaid, ((0, 0), (0, 1), (1, 1))),
        made_up("30% group, 20% positives", 50_000, 0.3, 0.2),
        made_up("20% group, 5% positives", 100_000, 0.2, 0.05),
    ]
    if students is not None:
        cases.insert(0, counted("students", students.sensitive, students.recorded, students.fair))
    audits = (50 if quick else 2000) if seeds is None else seeds
    return AuditStudy(tuple(cases), audits, 2 if quick else 20)
