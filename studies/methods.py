"""The six methods that the paper compares and one more upper bound: the library's own, on the cells of a stack at once.

The paper's names are those of the stored results; ``evaluation.METHODS`` has the methods.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary

from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs import NoBias
from problog4fairness.data import Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.evaluation import METHODS as KNOWN
from problog4fairness.evaluation import Method as Known
from problog4fairness.evaluation import ThroughBelief, Trained, Training
from problog4fairness.learners import Fitted, Network, Task, fit_tasks
from studies.cells import Array, Cell

Learned: TypeAlias = Literal["recorded", "fair", "fair labels"]
# What was fitted for tasks that are still at hand: lower, massaging and parity begin with the same networks.
_FITTED: WeakKeyDictionary[Task, Fitted] = WeakKeyDictionary()


@dataclass(frozen=True)
class Method:
    """How to predict fair labels from recorded data.

    Attributes
    ----------
    name
        Its name in ``evaluation.METHODS``; ``"belief"`` for the belief of the cell.
    learned
        Whether it learns from what was recorded, from fair features and labels, which no method can have, or from
        recorded features and fair labels.
    """

    name: str
    learned: Learned = "recorded"

    @property
    def randomised(self) -> bool:
        """Whether predictions are chances of a random decision, whose expected accuracy counts."""
        return self.name in KNOWN and KNOWN[self.name].randomised

    def of(self, cell: Cell) -> Known:
        """The method for a cell."""
        sensitive = Sensitive((cell.people.sensitive,))
        if self.name == "belief":
            return ThroughBelief(sensitive, cell.belief or NoBias(), use_sensitive=cell.aware)
        return KNOWN[self.name](sensitive)

    def predict(self, cells: Sequence[Cell], learner: Network) -> list[Array]:
        """For each cell P(label = 1) of the people of ``cell.test``, after learning from ``cell.train``."""
        options = (type(learner), *sorted(learner.get_params(deep=False).items()))
        running = [self.of(cell).steps(_training(cell, self.learned, options)) for cell in cells]
        tasks: dict[int, Task] = {}
        trained: dict[int, Trained] = {}
        while len(trained) < len(cells):
            for number, steps in enumerate(running):
                if number in trained:
                    continue
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", AuditWarning)  # the student study says it once for each program
                        tasks[number] = steps.send(_FITTED[tasks[number]]) if number in tasks else next(steps)
                except StopIteration as end:
                    trained[number] = end.value
                except P4FError as error:
                    raise P4FError(f"{error} (seed {cells[number].seed}, fold {cells[number].fold})") from None
            asked = {id(task): task for number, task in tasks.items() if number not in trained and task not in _FITTED}
            _FITTED.update(zip(asked.values(), fit_tasks(learner, list(asked.values()), False), strict=True))
        return [
            trained[number].proba(cell.people.tested_rows(cell.test, True))[:, 1] for number, cell in enumerate(cells)
        ]


# Upper with the features that ours has: a bound only where recorded features are what methods are tested on.
INFORMED = "upper on recorded features"
METHODS = {
    "ours": Method("belief"),
    "upper": Method("recorded_only", "fair"),
    "lower": Method("recorded_only"),
    "unawareness": Method("without_sensitive"),
    "massaging": Method("massaging"),
    "parity": Method("threshold_optimizer"),
    INFORMED: Method("recorded_only", "fair labels"),
}


@lru_cache(maxsize=128)
def _training(cell: Cell, learned: Learned, options: tuple[object, ...]) -> Training:  # noqa: ARG001
    """What is learned from in a cell; the same object for all methods that one process computes with a learner."""
    people = cell.people
    label = people.recorded if learned == "recorded" else people.fair
    rows = people.fair_rows() if learned == "fair" else people.rows(True, label)
    return Training(rows.take(cell.train), cell.random_state)
