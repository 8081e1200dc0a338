"""The study on real data as data, pupils with human-biased labels: RQ4, RQ5, and how small an audit may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from problog4fairness.beliefs import LabelBias
from problog4fairness.errors import P4FError
from problog4fairness.learners import Settings
from studies import student_audit, student_methods
from studies.data import StudentData
from studies.engine.report import seed_means, summary_of
from studies.engine.study import Study
from studies.said import said
from studies.student_cells import PROGRAMS, Pupils, StudentStack, audited, believed
from studies.table_stack import check_sizes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from studies.engine.claims import Claim

SplitBy: TypeAlias = Literal["random", "grouped"]

METHODS = (*PROGRAMS, "upper", "lower", "unawareness", "massaging", "parity")
METRICS = ("accuracy", "disparity", "f1", "equalized_odds", "positive_rate")
# As in the paper's table. It does not say how many epochs it trained for: at most 100 here, and 10 without a lower
# validation loss end a fit, which happens after about 15. With 20 and 30, F1 on fair labels moved by .004 at most.
TRAINING = Settings(hidden=(256, 256, 256), dropout=0.2, loss="focal", learning_rate=3e-4, batch_size=64,
                    max_epochs=100, patience=10)  # fmt: skip
SEEDS, DRAWS, FOLDS = 10, 20, 5
QUICK_SEEDS, QUICK_FOLDS = 4, 2


@dataclass(frozen=True, eq=False)
class StudentStudy(Study):
    """Methods × seeds × folds on the student data, or audits × draws × folds.

    Attributes
    ----------
    data
        The pupils, with one reading of the recorded label.
    split
        ``"random"``, as in the paper, or ``"grouped"``: no pupil is on both sides of a split.
    audits
        Sizes of audits. Without any, all methods are compared, with parameters from all rows. With some, our programs
        are trained with parameters from so many rows, and beside them only the lower baseline and our programs with
        parameters from all rows.
    seeds
        Of the splits and the networks; with audits, also of the draw of audited rows.
    folds
        Of the cross-validation.
    training
        How networks are trained.
    """

    columns = ("audit", "method", "seed", "fold", "labels", "metric", "value")

    data: StudentData
    split: SplitBy = "random"
    audits: tuple[int, ...] = ()
    seeds: tuple[int, ...] = tuple(range(SEEDS))
    folds: int = FOLDS
    training: Settings = TRAINING

    def __post_init__(self) -> None:
        if self.split not in get_args(SplitBy):
            raise P4FError(f"split must be 'random' or 'grouped', not {self.split!r}")
        check_sizes(self.name, self.seeds, self.folds)
        for rows in self.audits:
            if not 1 <= rows <= len(self.data.fair):
                raise P4FError(
                    f"an audit of {rows} rows: choose a size from 1 to the {len(self.data.fair)} rows there are"
                )

    @property
    def name(self) -> str:
        """Of its folder: student, student-grade, student-grouped, student-audit, ..."""
        parts = ["student", self.data.reading if self.data.reading != "rank" else "",
                 self.split if self.split != "random" else "", "audit" if self.audits else ""]  # fmt: skip
        return "-".join(part for part in parts if part)

    @cached_property
    def beliefs(self) -> dict[str, tuple[LabelBias, list[str]]]:
        """Our programs with parameters from all rows, and what is doubtful about them."""
        return {name: believed(name, self.data) for name in PROGRAMS}

    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the parameters from all rows: of the full program, and what others add to it."""
        return list(dict.fromkeys(line for _, lines in self.beliefs.values() for line in lines))

    @cached_property
    def audited(self) -> dict[tuple[str, int], dict[int, LabelBias]]:
        """For each program and size of audit, the belief that each draw leads to."""
        return {
            (name, rows): {draw: audited(name, self.data, rows, draw) for draw in self.seeds}
            for name in PROGRAMS
            for rows in self.audits
        }

    def stacks(self) -> list[StudentStack]:
        """See :meth:`Study.stacks`."""
        pupils = Pupils(self.data, self.split == "grouped")

        def stack(name: str, beliefs: Sequence[LabelBias] = (), audit: int = 0) -> StudentStack:
            return StudentStack(
                name, self.seeds, self.folds, self.training, measures=METRICS, judged_by=("fair", "recorded"),
                pupils=pupils, beliefs=tuple(beliefs), audit=audit,
            )  # fmt: skip

        methods = METHODS if not self.audits else (*PROGRAMS, "lower")
        found = [stack(name, [self.beliefs[name][0]] * len(self.seeds) if name in PROGRAMS else []) for name in methods]
        return found + [stack(name, list(beliefs.values()), rows) for (name, rows), beliefs in self.audited.items()]

    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """See :meth:`Study.claims`; audits have none."""
        return [] if self.audits else student_methods.claims(results, student_methods.disparities(self.data)["fair"])

    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """See :meth:`Study.figures`."""
        if self.audits:
            return {"audit": student_audit.draw(self, student_audit.scores_of(summary_of(results)))}
        return student_methods.figures(self.data, results)

    def tables(self, results: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """See :meth:`Study.tables`: the means of the seeds; with audits, the parameters of each."""
        return {"parameters": student_audit.parameter_errors(self)} if self.audits else {"seeds": seed_means(results)}

    def about(self) -> list[str]:
        """See :meth:`Study.about`."""
        training, data = self.training, self.data
        repetitions = "draws of audited rows" if self.audits else "seeds"
        split = "no pupil on both sides of a split" if self.split == "grouped" else "random splits"
        lines = [
            *([] if self.audits else [student_methods.passing_everybody(data), ""]),
            f"{len(data.fair)} rows, biased labels by {data.reading}; {len(self.seeds)} {repetitions} × {self.folds} "
            f"folds, {split}, stratified by sex and both labels. Networks of {len(training.hidden)} × "
            f"{training.hidden[0]}, at most {training.max_epochs} epochs; {training.patience} without a lower "
            "validation loss end a fit.",
            "",
        ]
        if self.warnings:
            lines += ["Warnings about the parameters from all rows:", "", *(f"- {line}" for line in self.warnings), ""]
        return [*lines, student_audit.ABOUT if self.audits else student_methods.ABOUT]

    def said(self, claim: str) -> str:
        """See :meth:`Study.said`."""
        return said(self.name, claim)

    def remarks(self, results: pd.DataFrame) -> list[str]:
        """See :meth:`Study.remarks`."""
        return student_audit.remarks(self, results) if self.audits else student_methods.remarks(self.data, results)


def student_study(
    data: StudentData,
    *,
    split: SplitBy = "random",
    audits: Sequence[int] = (),
    draws: int | None = None,
    quick: bool = False,
    seeds: int | None = None,
    folds: int | None = None,
) -> StudentStudy:
    """RQ4 and RQ5, or how small an audit may be.

    Parameters
    ----------
    data
        From :func:`studies.data.student`.
    split
        ``"random"`` or ``"grouped"``, by pupil.
    audits
        Sizes of audits; see :class:`StudentStudy`.
    draws
        With audits, how many times each is drawn: 20.
    quick
        Fewer seeds, draws and folds.
    seeds, folds
        Without audits, how many seeds; and how many folds: 10 and 5, as in the paper.
    """
    if audits and seeds is not None:
        raise P4FError("with audits, every draw is a seed of its own: give draws (--draws) instead of seeds")
    if draws is not None and not audits:
        raise P4FError("draws (--draws) are draws of audited rows: give sizes of audits (--audit) with it")
    usual = QUICK_SEEDS if quick else DRAWS if audits else SEEDS
    given = draws if audits else seeds
    folds = folds if folds is not None else QUICK_FOLDS if quick else FOLDS
    every = tuple(range(usual if given is None else given))
    return StudentStudy(data, split, tuple(sorted(set(audits))), every, folds, TRAINING)
