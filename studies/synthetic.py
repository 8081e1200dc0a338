"""The paper's three studies on made-up people as data, to be read, changed and extended: RQ1 to RQ3.

A study is a grid of points × methods × seeds × folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from problog4fairness.datasets import SyntheticSettings
from problog4fairness.errors import P4FError
from problog4fairness.learners import Settings
from studies import synthetic_claims
from studies.engine.report import seed_means
from studies.engine.study import Study
from studies.methods import INFORMED, METHODS
from studies.said import said
from studies.synthetic_cells import Bias, Point, SyntheticStack, shared_settings
from studies.table_stack import check_sizes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from studies.engine.claims import Claim

BETAS = tuple(step / 10 for step in range(10))
QUICK_BETAS = (0.0, 0.3, 0.6, 0.9)
# The paper's table of hyper-parameters. It does not say how many epochs it trained for: at most 30 here, and 5 without
# a lower validation loss end a fit sooner. Chosen for speed; no others were tried.
TRAINING = Settings(hidden=(32, 32, 32), learning_rate=3e-4, batch_size=64, max_epochs=30, patience=5)


@dataclass(frozen=True)
class SyntheticStudy(Study):
    """A grid of points × methods × seeds × folds.

    Attributes
    ----------
    title
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
    truth
        Where on it the parameters are right, if that is one place.
    """

    columns = ("bias", "x", "method", "seed", "fold", "metric", "value")

    title: str
    points: tuple[Point, ...]
    methods: tuple[str, ...] = tuple(METHODS)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    folds: int = 5
    rows: int = 10_000
    training: Settings = TRAINING
    axis: str = "probability of bias β"
    truth: float | None = None

    def __post_init__(self) -> None:
        check_sizes(self.name, self.seeds, self.folds)
        if self.rows < 20 * self.folds:
            raise P4FError(f"{self.rows} people are too few for {self.folds} folds; give {20 * self.folds} or more")
        for method in self.methods:
            if method not in METHODS:
                raise P4FError(f"there is no method {method!r}; there are {', '.join(METHODS)}")

    @property
    def name(self) -> str:
        """See :meth:`Study.name`."""
        return self.title

    @property
    def biases(self) -> tuple[Bias, ...]:
        """The columns of its figure."""
        return tuple(dict.fromkeys(point.bias for point in self.points))

    def stacks(self) -> list[SyntheticStack]:
        """All stacks, method by method: points that a method can fit together are one."""
        found = []
        for method in self.methods:
            groups: dict[object, list[Point]] = {}
            for point in self.points:
                if method == INFORMED and point.tested_on == "fair":
                    continue  # upper itself is tested on what methods are tested on
                groups.setdefault(shared_settings(method, point), []).append(point)
            found += [
                SyntheticStack(method, self.seeds, self.folds, self.training, points=tuple(points), rows=self.rows)
                for points in groups.values()
            ]
        return found

    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """See :meth:`Study.claims`; none for a study of one's own."""
        return synthetic_claims.claims(self.name, results)

    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """See :meth:`Study.figures`."""
        from studies.engine.report import summary_of
        from studies.synthetic_figure import draw

        return {"figure": draw(self, summary_of(results))}

    def tables(self, results: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """See :meth:`Study.tables`: the mean over folds for each seed, from which the claims can be judged again."""
        return {"seeds": seed_means(results)}

    def said(self, claim: str) -> str:
        """See :meth:`Study.said`."""
        return said(self.name, claim)

    def about(self) -> list[str]:
        """See :meth:`Study.about`."""
        return [
            f"{len(self.seeds)} seeds × {self.folds} folds, {self.rows} people for each seed; at most "
            f"{self.training.max_epochs} epochs, {self.training.patience} without a lower validation loss end a fit.",
            "Numbers are means with 95% intervals over seeds; the place that is furthest off decides.",
        ]


def bias_sweep(
    *, quick: bool = False, betas: Sequence[float] | None = None, seeds: int | None = None, folds: int | None = None
) -> SyntheticStudy:
    """RQ1: label, measurement and historical bias of every strength, with A ⊥ Y.

    Tested on fair features; under historical bias on recorded ones, for there the past is all that is known.
    """
    biases: tuple[Bias, ...] = ("label", "measurement", "historical")
    points = [
        Point(bias, beta, SyntheticSettings.of_paper(bias, beta)) for bias in biases for beta in _betas(betas, quick)
    ]
    return _sized(SyntheticStudy("bias-sweep", tuple(points)), quick, seeds, folds)


def dependent(
    *, quick: bool = False, betas: Sequence[float] | None = None, seeds: int | None = None, folds: int | None = None
) -> SyntheticStudy:
    """RQ2: label bias of every strength where the fair label does depend on A."""
    points = [
        Point("label", beta, SyntheticSettings.of_paper("label", beta, dependent=True)) for beta in _betas(betas, quick)
    ]
    return _sized(SyntheticStudy("dependent", tuple(points)), quick, seeds, folds)


def assumption(
    *,
    quick: bool = False,
    betas: Sequence[float] | None = None,
    true_beta: float = 0.3,
    seeds: int | None = None,
    folds: int | None = None,
) -> SyntheticStudy:
    """RQ3: bias of strength .3, and every strength that one might assume; the fair label depends on A.

    Label, measurement and historical bias, as in the paper: its text of RQ3 names the first, its appendix names
    Figure 4 among the experiments under historical bias.
    """
    biases: tuple[Bias, ...] = ("label", "measurement", "historical")
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
    axis = "assumed probability of bias β̂"
    study = SyntheticStudy(
        "assumption", tuple(points), ("ours", "upper", "lower", INFORMED), axis=axis, truth=true_beta
    )
    return _sized(study, quick, seeds, folds)


STUDIES = {"bias-sweep": bias_sweep, "dependent": dependent, "assumption": assumption}


def _betas(betas: Sequence[float] | None, quick: bool) -> tuple[float, ...]:
    return tuple(betas) if betas is not None else QUICK_BETAS if quick else BETAS


def _sized(study: SyntheticStudy, quick: bool, seeds: int | None, folds: int | None) -> SyntheticStudy:
    if quick:
        study = replace(study, seeds=(0, 1), folds=2, rows=6_000)
    if seeds is not None:
        study = replace(study, seeds=tuple(range(seeds)))
    return study if folds is None else replace(study, folds=folds)
