"""The paper's face study as data: label bias on pictures, by one attribute and by three (RQ6).

Seeds differ in the network's first weights and in the order of the pictures; the pictures, their labels and their
partition are the same for all of them, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from problog4fairness.errors import P4FError
from problog4fairness.learners import Settings
from studies.data.faces.protocol import ATTRIBUTES
from studies.engine.claims import Claim, Measured, above
from studies.engine.report import seed_means
from studies.engine.study import Study
from studies.face_runs import METHODS, NO_ATTRIBUTE, FaceMethod, FaceRun
from studies.pictures import FaceSet, Source
from studies.said import said
from studies.vision import named_network

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# The paper's table for its ResNet-50. It does not say for how many epochs: at most 10 here, chosen and not tuned.
PAPER = Settings(learning_rate=1e-4, batch_size=16, max_epochs=10, patience=3)
# For the small network, which begins with random weights: larger steps, more epochs.
SMALL = Settings(learning_rate=2e-3, batch_size=64, max_epochs=14, patience=6)
DRAWN = FaceSet()
QUICK_ROWS = 6_000
NAMES = {
    "lower": "lower",
    "only high_cheekbones": "ours, high cheekbones",
    "only blurry": "ours, blurry",
    "only smiling": "ours, smiling",
    "ours": "ours, all three",
    "upper": "upper",
}


@dataclass(frozen=True)
class FaceStudy(Study):
    """Methods × seeds on one set of faces.

    Attributes
    ----------
    faces
        Which pictures.
    network
        As :func:`~studies.vision.named_network` takes it.
    training
        How networks are trained.
    seeds, methods
        The grid.
    """

    columns = ("method", "seed", "metric", "attribute", "value")

    faces: FaceSet = DRAWN
    network: str = "small"
    training: Settings = SMALL
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    methods: tuple[FaceMethod, ...] = METHODS

    @property
    def name(self) -> str:
        """See :meth:`Study.name`."""
        return "faces" if self.faces.source == "drawn" else f"faces-{self.faces.source}"

    @property
    def alone(self) -> bool:
        """Photographs are large: one run at a time, whose pictures other processes read."""
        return self.faces.source != "drawn"

    def stacks(self) -> list[FaceRun]:
        """All runs, seed by seed, so that a study that was stopped has whole seeds to show."""
        named_network(self.network)  # one that cannot be made is told at once, and not by every run
        return [FaceRun(self.faces, method, seed, self.network, self.training)
                for seed in self.seeds for method in self.methods]  # fmt: skip

    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """See :meth:`Study.claims`."""
        measured, found = Measured(results), list[Claim]()
        single = [f"only {attribute}" for attribute in ATTRIBUTES]
        for name in single:
            text = f"{_plain(name)} gains a part of upper's lead in F1 over lower"
            found += _ahead(measured, text, name, "lower", share=True)
        for name in single:
            found += _ahead(measured, f"all three gain more F1 than {_plain(name)}", "ours", name)
        for attribute in ATTRIBUTES:
            for other in ("lower", *single):
                found += _nearer(measured, attribute, other)
        for attribute in ATTRIBUTES:
            for other in ("lower", *single):
                found += _fairer(measured, attribute, other)
        return found

    def tables(self, results: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """See :meth:`Study.tables`: the numbers of each seed, from which the claims can be judged again."""
        return {"seeds": seed_means(results)}

    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """Figure 6 of the paper and its twin: F1 on the fair labels against unfairness, a panel per attribute."""
        from studies.panels import Panel, draw

        def of(metric: str, attribute: str) -> pd.DataFrame:
            return results[(results["metric"] == metric) & (results["attribute"] == attribute)]

        found = {}
        for name, metric in (("figure", "disparity"), ("equalized_odds", "equalized_odds")):
            panels = []
            for attribute in ATTRIBUTES:
                line = float(of("fair_disparity", attribute)["value"].mean()) if metric == "disparity" else None
                panels.append(Panel(_plain(attribute), of(metric, attribute), of("f1", NO_ATTRIBUTE), line))
            found[name] = draw(
                panels, metric, "F1 on fair mouth labels", line="fair labels", title=self._pictures, names=NAMES
            )
        return found

    @property
    def _pictures(self) -> str:
        """What was looked at."""
        what = f"{self.faces.rows} drawn faces" if self.faces.source == "drawn" else "CelebA"
        return f"{what} of {self.faces.size} × {self.faces.size} pixels"

    def said(self, claim: str) -> str:
        """See :meth:`Study.said`."""
        return said(self.name, claim)

    def about(self) -> list[str]:
        """See :meth:`Study.about`."""
        training = self.training
        return [
            f"{self._pictures}, network `{self.network}`, {len(self.seeds)} seeds; "
            f"learning rate {training.learning_rate:g}, batches of {training.batch_size}, at most "
            f"{training.max_epochs} epochs, of which the one with the lowest validation loss is kept.",
            "Numbers are means over seeds of differences within a seed, with 95% intervals. Seeds differ in first "
            "weights and in the order of the pictures; the pictures are the same, so the intervals say nothing about "
            "other ones.",
            "The parameters come from both labels of the training partition. In the chain of three attributes they "
            "cannot be told apart one by one: the whole chain's P(recorded | fair, attributes) can, and it is what "
            "training uses.",
        ]


def face_study(
    data: Source = "drawn",
    network: str = "small",
    *,
    quick: bool = False,
    epochs: int | None = None,
    seeds: int | None = None,
) -> FaceStudy:
    """The study with its usual sizes.

    Parameters
    ----------
    data, network
        See :class:`FaceStudy`.
    quick
        Fewer pictures, seeds and epochs: to see that it runs, and roughly how it ends.
    epochs
        The most epochs of a network.
    seeds
        How many.
    """
    for name, value in (("epochs", epochs), ("seeds", seeds)):
        if value is not None and value < 1:
            raise P4FError(f"{name} must be 1 or more, not {value}")
    if data not in get_args(Source):
        raise P4FError(f"data must be 'drawn' or 'celeba', not {data!r}")
    small = network == "small"
    study = FaceStudy(FaceSet(data), network, SMALL if small else PAPER)
    if data == "celeba":
        study = replace(study, faces=replace(study.faces, size=64 if small else 224))
    if quick:
        training = replace(study.training, max_epochs=10 if small else 2)
        study = replace(study, faces=replace(study.faces, rows=QUICK_ROWS), seeds=(0, 1), training=training)
    if epochs is not None:
        study = replace(study, training=replace(study.training, max_epochs=epochs))
    return study if seeds is None else replace(study, seeds=tuple(range(seeds)))


def _ahead(measured: Measured, text: str, method: str, other: str, share: bool = False) -> list[Claim]:
    """That the method is ahead of the other in F1, and if asked for by which share of upper's lead over the other."""
    one, two, upper = (measured(metric="f1", method=name) for name in (method, other, "upper"))
    lead, whole = (one - two).dropna(), (upper - two).dropna().mean()
    detail = f" (F1 {one.mean():.3f} against {two.mean():.3f})"
    if share and whole > 0:
        detail += f", {lead.mean() / whole:.0%} of upper's lead of {whole:+.3f}"
    return above(text, lead, detail)


def _nearer(measured: Measured, attribute: str, other: str) -> list[Claim]:
    """Whether the disparity of all three is nearer to that of the fair labels than another method's is."""
    one, ours = (measured(metric="disparity", attribute=attribute, method=name) for name in (other, "ours"))
    target = float(measured(metric="fair_disparity", attribute=attribute, method="ours").mean())
    text = f"{_plain(attribute)}: all three bring the disparity nearer to that of the fair labels than {_plain(other)}"
    levels = f" nearer; fair labels {target:+.3f}, {_plain(other)} {one.mean():+.3f}, all three {ours.mean():+.3f}"
    return above(text, ((one - target).abs() - (ours - target).abs()).dropna(), levels)


def _fairer(measured: Measured, attribute: str, other: str) -> list[Claim]:
    """Whether the equalized odds of all three are nearer to 0 than another method's."""
    one, ours = (measured(metric="equalized_odds", attribute=attribute, method=name) for name in (other, "ours"))
    text = f"{_plain(attribute)}: equalized odds of all three are nearer to 0 than those of {_plain(other)}"
    return above(text, (one - ours).dropna(), f"; {_plain(other)} {one.mean():.3f}, all three {ours.mean():.3f}")


def _plain(name: str) -> str:
    return name.replace("_", " ")
