"""The student study as data: which methods, on which labels, split how, with parameters from how many rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import pandas as pd

from problog4fairness.comparison import Table, TableMethod
from problog4fairness.datasets import StudentData
from problog4fairness.errors import P4FError
from problog4fairness.experiments.archive import source_version
from problog4fairness.experiments.student.beliefs import PROGRAMS, BeliefOfDraw, audited, believed
from problog4fairness.learners import Settings
from problog4fairness.mechanisms import LabelBias

SplitBy: TypeAlias = Literal["random", "grouped"]

BASELINES = ("upper", "lower", "unawareness", "massaging", "parity")
MITIGATING = ("unawareness", "massaging", "parity")
METHODS = (*PROGRAMS, *BASELINES)
# These three begin with the same networks.
TOGETHER = ("lower", "massaging", "parity")
# As in the paper's table. It does not say how many epochs it trained for: at most 100 here, and 10 without a lower
# validation loss end a fit, which happens after about 15. With 20 and 30, F1 on fair labels moved by .004 at most.
TRAINING = Settings(hidden=(256, 256, 256), dropout=0.2, loss="focal", max_epochs=100, patience=10)
SEEDS, DRAWS, FOLDS = 10, 20, 5
QUICK_SEEDS, QUICK_FOLDS = 4, 2

# What the numbers depend on; reporting is not among it.
_CODE = ("mechanisms", "learners", "classifier", "baselines", "comparison", "metrics/scores.py",
         "experiments/student/beliefs.py")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Piece:
    """What is stored as one: a method on all seeds and folds.

    Attributes
    ----------
    method
        The method.
    audit
        From how many rows its parameters come; None for all, or for a method without.
    identity
        Everything that determines its numbers.
    """

    method: TableMethod
    audit: int | None
    identity: dict[str, Any]

    @property
    def name(self) -> str:
        """For messages."""
        return self.method.name if self.audit is None else f"{self.method.name} with {self.audit} audited rows"


@dataclass(frozen=True, eq=False)
class StudentStudy:
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

    data: StudentData
    split: SplitBy = "random"
    audits: tuple[int, ...] = ()
    seeds: tuple[int, ...] = tuple(range(SEEDS))
    folds: int = FOLDS
    training: Settings = TRAINING

    def __post_init__(self) -> None:
        if self.split not in get_args(SplitBy):
            raise P4FError(f"split must be 'random' or 'grouped', not {self.split!r}")
        if self.folds < 2:
            raise P4FError(f"folds must be 2 or more, not {self.folds}")
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
    def table(self) -> Table:
        """The pupils, for the engine that compares methods."""
        data = self.data
        return Table.of(
            data.features,
            data.recorded,
            sensitive_features=data.sensitive.to_frame(),
            fair=data.fair,
            split_groups=data.pupil if self.split == "grouped" else None,
        )

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

    def pieces(self) -> list[Piece]:
        """All that is computed and stored on its own."""
        methods = METHODS if not self.audits else (*PROGRAMS, "lower")
        found = [self._piece(self._method(name), None) for name in methods]
        return found + [
            self._piece(TableMethod(name, belief=BeliefOfDraw(beliefs)), rows, [str(b) for b in beliefs.values()])
            for (name, rows), beliefs in self.audited.items()
        ]

    def _method(self, name: str) -> TableMethod:
        if name in PROGRAMS:
            return TableMethod(name, belief=self.beliefs[name][0])
        return TableMethod(name, kind=name)  # type: ignore[arg-type]

    def _piece(self, method: TableMethod, audit: int | None, programs: Sequence[str] = ()) -> Piece:
        belief = [str(method.belief)] if isinstance(method.belief, LabelBias) else list(programs)
        identity = {
            "method": method.name,
            "kind": method.kind,
            "programs": belief,
            "audit": audit,
            "reading": self.data.reading,
            "split": self.split,
            "data": self._digest,
            "seeds": list(self.seeds),
            "folds": self.folds,
            "learners": asdict(self.training),
            "code": source_version(_CODE),
        }
        return Piece(method, audit, identity)

    @cached_property
    def _digest(self) -> str:
        data = self.data
        columns = pd.concat([data.features, data.sensitive, data.fair, data.recorded, data.pupil], axis=1)
        return hashlib.sha256(columns.to_csv(index=False).encode()).hexdigest()[:16]


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
        From :func:`problog4fairness.datasets.student`.
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
    for name, value in (("seeds", seeds), ("draws", draws)):
        if value is not None and value < 1:
            raise P4FError(f"{name} must be 1 or more, not {value}")
    count = (draws if audits else seeds) or (QUICK_SEEDS if quick else DRAWS if audits else SEEDS)
    folds = folds if folds is not None else QUICK_FOLDS if quick else FOLDS
    return StudentStudy(data, split, tuple(sorted(set(audits))), tuple(range(count)), folds, TRAINING)
