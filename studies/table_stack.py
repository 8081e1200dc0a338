"""Stacks of cells on tables: all cells of a method that are stored as one, their networks fitted as one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from problog4fairness.errors import P4FError
from problog4fairness.learners import Network, Settings
from studies.cells import Array, Cell
from studies.engine.stack import Identity, Keys, Stack, Table, Work
from studies.methods import METHODS
from studies.paper_scores import paper_scores

Labels: TypeAlias = Literal["fair", "recorded"]


@dataclass(frozen=True)
class TableStack(Stack):
    """All cells of a method that are stored as one.

    Attributes
    ----------
    method
        One of :data:`studies.methods.METHODS`, or the name of a belief.
    seeds, folds
        The cells at each place: every fold of every seed.
    training
        How networks are trained.
    """

    method: str
    seeds: tuple[int, ...]
    folds: int
    training: Settings
    measures: tuple[str, ...] = field(default=("accuracy", "disparity", "f1", "equalized_odds"), kw_only=True)
    judged_by: tuple[Labels, ...] = field(default=("fair",), kw_only=True)

    @property
    @abstractmethod
    def places(self) -> Sequence[Sequence[str | int | float]]:
        """What the rows of the cells begin with, place by place."""

    @abstractmethod
    def cell(self, place: int, seed: int, fold: int) -> Cell:
        """One fold of one seed at the place of this number."""

    @property
    def kind(self) -> str:
        """The method of :data:`studies.methods.METHODS`."""
        return self.method

    @property
    def cells(self) -> int:
        """See :meth:`Stack.cells`."""
        return len(self.places) * len(self.seeds) * self.folds

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        own = {"method": self.method, "kind": self.kind, "seeds": self.seeds, "folds": self.folds}
        return own | {"places": self.places, "training": asdict(self.training)}

    def keys(self) -> Keys:
        """See :meth:`Stack.keys`."""
        judged = [() if self.judged_by == ("fair",) else (labels,) for labels in self.judged_by]
        return [
            (*place, self.method, seed, fold, *labels, metric)
            for place in self.places
            for seed in self.seeds
            for fold in range(self.folds)
            for labels in judged
            for metric in self.measures
        ]

    def compute(self, work: Work) -> Table:  # noqa: ARG002
        """See :meth:`Stack.compute`: one number for each cell, kind of labels and metric."""
        method = METHODS[self.kind]
        every = range(len(self.places))
        cells = [self.cell(place, seed, fold) for place in every for seed in self.seeds for fold in range(self.folds)]
        # Places where a method learns from the same people and believes the same share their networks.
        distinct = list(dict.fromkeys(cells))
        chances = dict(zip(distinct, method.predict(distinct, one_network(self.training)), strict=True))
        found = {cell: self._numbers(cell, chances[cell], method.randomised) for cell in distinct}
        numbers = [number for cell in cells for number in found[cell]]
        return [[*key, number] for key, number in zip(self.keys(), numbers, strict=True)]

    def _numbers(self, cell: Cell, chance: Array, randomised: bool) -> list[float]:
        test, people = cell.test, cell.people
        labels = {"fair": people.fair[test], "recorded": people.recorded[test]}
        found = [paper_scores(labels[by], chance, people.groups[test], randomised=randomised) for by in self.judged_by]
        return [own[metric] for own in found for metric in self.measures]


def one_network(training: Settings) -> Network:
    """The learner of all methods: a single network, as in the paper."""
    return Network(**asdict(training), networks=1)


def check_sizes(name: str, seeds: Sequence[int], folds: int) -> None:
    """Raise the error that says which size of a study makes no sense."""
    if not seeds:
        raise P4FError(f"the study {name!r} has no seeds: seeds must be 1 or more, not 0")
    if folds < 2:
        raise P4FError(f"folds must be 2 or more, not {folds}")
