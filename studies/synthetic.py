"""Studies as data: the paper's three, to be read, changed and extended.

A study is a grid of points × methods × seeds × folds. Nothing is computed here; see :func:`.run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from problog4fairness.datasets import SyntheticSettings
from problog4fairness.errors import P4FError
from problog4fairness.experiments.cells import Bias, Memo, Point, Stack
from problog4fairness.experiments.method import Method
from problog4fairness.experiments.methods import METHODS
from problog4fairness.learners import Settings

BETAS = tuple(step / 10 for step in range(10))
QUICK_BETAS = (0.0, 0.3, 0.6, 0.9)
# The paper's table of hyper-parameters is the default of `Settings`. It does not say how many epochs it trained for:
# at most 30 here, and 5 without a lower validation loss end a fit sooner. Chosen for speed; no others were tried.
TRAINING = Settings(max_epochs=30, patience=5)


@dataclass(frozen=True)
class StackPlan:
    """One stack of a study: a method, and all that determines its results."""

    method: Method
    points: tuple[Point, ...]
    seeds: tuple[int, ...]
    folds: int
    rows: int
    training: Settings

    def stack(self, memo: Memo) -> Stack:
        """What the method is given."""
        return Stack(self.points, self.seeds, self.folds, self.rows, self.training, memo)

    @property
    def name(self) -> str:
        """For messages: method, bias and place on the axis."""
        biases = ", ".join(dict.fromkeys(point.bias for point in self.points))
        places = sorted({point.x for point in self.points})
        where = f"{places[0]:g}" if len(places) == 1 else f"{places[0]:g} to {places[-1]:g}"
        return f"{self.method.name} at {biases} {where}"

    @property
    def count(self) -> int:
        """Number of cells."""
        return len(self.points) * len(self.seeds) * self.folds


@dataclass(frozen=True)
class Study:
    """A grid of points × methods × seeds × folds.

    Attributes
    ----------
    name
        Of its claims, if it is one of the paper's.
    points, methods, seeds
        The grid.
    folds
        Of the cross-validation.
    rows
        People of each seed.
    training
        How networks are trained.
    axis
        What the horizontal axis means.
    """

    name: str
    points: tuple[Point, ...]
    methods: tuple[Method, ...] = METHODS
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    folds: int = 5
    rows: int = 10_000
    training: Settings = TRAINING
    axis: str = "probability of bias β"

    def __post_init__(self) -> None:
        for what, values in (("points", self.points), ("methods", self.methods), ("seeds", self.seeds)):
            if not values:
                raise P4FError(f"the study {self.name!r} has no {what}")
        if self.folds < 2:
            raise P4FError(f"folds must be 2 or more, not {self.folds}")
        if self.rows < 20 * self.folds:
            raise P4FError(f"{self.rows} people are too few for {self.folds} folds; give {20 * self.folds} or more")
        names = [method.name for method in self.methods]
        if len(set(names)) != len(names):
            raise P4FError(f"two methods have the same name; there are {', '.join(names)}")

    @property
    def biases(self) -> tuple[Bias, ...]:
        """The columns of its figure."""
        return tuple(dict.fromkeys(point.bias for point in self.points))

    def stacks(self) -> list[StackPlan]:
        """All stacks, method by method: points that a method can fit together are one."""
        found = []
        for method in self.methods:
            groups: dict[object, list[Point]] = {}
            for point in self.points:
                groups.setdefault(method.shares(point), []).append(point)
            found += [
                StackPlan(method, tuple(points), self.seeds, self.folds, self.rows, self.training)
                for points in groups.values()
            ]
        return found


def bias_sweep(
    *, quick: bool = False, betas: Sequence[float] | None = None, seeds: int | None = None, folds: int | None = None
) -> Study:
    """RQ1: label, measurement and historical bias of every strength, with A ⊥ Y.

    Tested on fair features; under historical bias on recorded ones, for there the past is all that is known.
    """
    biases: tuple[Bias, ...] = ("label", "measurement", "historical")
    points = [
        Point(bias, beta, SyntheticSettings.of_paper(bias, beta), tested_on=_seen(bias))
        for bias in biases
        for beta in _betas(betas, quick)
    ]
    return _sized(Study("bias-sweep", tuple(points)), quick, seeds, folds)


def dependent(
    *, quick: bool = False, betas: Sequence[float] | None = None, seeds: int | None = None, folds: int | None = None
) -> Study:
    """RQ2: label bias of every strength where the fair label does depend on A."""
    points = [
        Point("label", beta, SyntheticSettings.of_paper("label", beta, dependent=True)) for beta in _betas(betas, quick)
    ]
    return _sized(Study("dependent", tuple(points)), quick, seeds, folds)


def assumption(
    *,
    quick: bool = False,
    betas: Sequence[float] | None = None,
    true_beta: float = 0.3,
    seeds: int | None = None,
    folds: int | None = None,
) -> Study:
    """RQ3: bias of strength .3, and every strength that one might assume; the fair label depends on A.

    Label bias as in the paper, and measurement bias beyond it.
    """
    biases: tuple[Bias, ...] = ("label", "measurement")
    points = [
        Point(
            bias,
            beta,
            SyntheticSettings.of_paper(bias, true_beta, dependent=True),
            assumed=SyntheticSettings.of_paper(bias, beta, dependent=True),
        )
        for bias in biases
        for beta in (_betas(betas, False) if not quick or betas is not None else (0.0, 0.2, 0.3, 0.4, 0.6, 0.9))
    ]
    methods = tuple(method for method in METHODS if method.name in ("ours", "upper", "lower"))
    study = Study("assumption", tuple(points), methods, axis="assumed probability of bias β̂")
    return _sized(study, quick, seeds, folds)


STUDIES = {"bias-sweep": bias_sweep, "dependent": dependent, "assumption": assumption}


def _seen(bias: Bias) -> Literal["fair", "recorded"]:
    return "recorded" if bias == "historical" else "fair"


def _betas(betas: Sequence[float] | None, quick: bool) -> tuple[float, ...]:
    return tuple(betas) if betas is not None else QUICK_BETAS if quick else BETAS


def _sized(study: Study, quick: bool, seeds: int | None, folds: int | None) -> Study:
    if seeds is not None and seeds < 1:
        raise P4FError(f"seeds must be 1 or more, not {seeds}")
    if quick:
        study = replace(study, seeds=(0, 1), folds=2, rows=6_000)
    if seeds is not None:
        study = replace(study, seeds=tuple(range(seeds)))
    return study if folds is None else replace(study, folds=folds)
