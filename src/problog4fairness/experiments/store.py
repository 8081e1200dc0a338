"""Finished stacks of the synthetic studies on disk, in an :class:`~problog4fairness.experiments.archive.Archive`.

What determines the numbers of a stack: the points, the method, seeds, folds, training settings, and the source of the
code that computes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from problog4fairness.experiments.archive import Archive, Keys, Table, name_of, source_version
from problog4fairness.experiments.measure import METRICS
from problog4fairness.experiments.study import StackPlan

COLUMNS = ("bias", "x", "method", "seed", "fold", "metric", "value")

# What the numbers of a stack depend on; drawing and reporting are not among it.
_OWN = ("cells.py", "measure.py", "methods.py", "networks.py", "work.py")
_CODE = (
    *(f"experiments/{name}" for name in _OWN),
    *(f"datasets/{name}" for name in ("enumeration.py", "equations.py", "synthetic.py")),
    "mechanisms",
    "learners",
    "metrics/scores.py",
    "baselines/parity.py",
    "baselines/relabelling.py",
)


def identity(plan: StackPlan) -> dict[str, Any]:
    """Everything that determines the numbers of a stack, as plain data."""
    return {
        "method": plan.method.identity,
        "points": [asdict(point) for point in plan.points],
        "seeds": list(plan.seeds),
        "folds": plan.folds,
        "rows": plan.rows,
        "learners": asdict(plan.training),
        "code": source_version(_CODE),
    }


def key_of(plan: StackPlan) -> str:
    """The name of a stack: a hash of its :func:`identity`."""
    return name_of(identity(plan))


def keys_of(plan: StackPlan) -> Keys:
    """What the rows of a stack begin with: all of :data:`COLUMNS` but the value."""
    return [
        (point.bias, point.x, plan.method.name, seed, fold, metric)
        for point in plan.points
        for seed in plan.seeds
        for fold in range(plan.folds)
        for metric in METRICS
    ]


@dataclass(frozen=True)
class Store:
    """A folder of finished stacks.

    Attributes
    ----------
    folder
        Made when the first stack is saved.
    """

    folder: Path

    def load(self, plan: StackPlan) -> Table | None:
        """The numbers of a stack, a row of :data:`COLUMNS` per cell and metric; None if missing or damaged."""
        return Archive(self.folder).load(identity(plan), keys_of(plan))

    def find(self, plan: StackPlan) -> Table | None:
        """As :meth:`load`, without a warning of what is damaged."""
        return Archive(self.folder).find(identity(plan), keys_of(plan))

    def save(self, plan: StackPlan, table: Table) -> None:
        """Store the numbers of a stack, in one step."""
        Archive(self.folder).save(identity(plan), table)

    def try_save(self, plan: StackPlan, table: Table) -> bool:
        """Store the numbers of a stack where that is possible; whether it was."""
        return Archive(self.folder).try_save(identity(plan), table)
