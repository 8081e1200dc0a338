"""The face study as data: which pictures, which network, which methods and seeds. Nothing is computed here.

Seeds differ in the network's first weights and in the order of the pictures; the pictures, their labels and their
partition are the same for all of them, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from problog4fairness.datasets.faces.protocol import ATTRIBUTES
from problog4fairness.errors import P4FError
from problog4fairness.learners import Settings

Source: TypeAlias = Literal["drawn", "celeba"]


@dataclass(frozen=True)
class FaceMethod:
    """How a network is trained.

    Attributes
    ----------
    name
        For tables.
    attributes
        The attributes that the mouth label is believed to be biased by.
    labels
        Whether it sees recorded or fair labels.
    """

    name: str
    attributes: tuple[str, ...] = ()
    labels: Literal["recorded", "fair"] = "recorded"


METHODS = (
    FaceMethod("lower"),
    FaceMethod("upper", labels="fair"),
    *(FaceMethod(f"only {attribute}", (attribute,)) for attribute in ATTRIBUTES),
    FaceMethod("ours", ATTRIBUTES),
)

# The paper's table for its ResNet-50. It does not say for how many epochs: at most 10 here, chosen and not tuned.
PAPER = Settings(learning_rate=1e-4, batch_size=16, max_epochs=10, patience=3)
# For the small network, which begins with random weights: larger steps, more epochs.
SMALL = Settings(learning_rate=2e-3, batch_size=64, max_epochs=14, patience=6)
ROWS, QUICK_ROWS = 16_000, 6_000


@dataclass(frozen=True)
class FaceStudy:
    """Methods × seeds on one set of faces.

    Attributes
    ----------
    data
        ``"drawn"`` for :func:`~problog4fairness.datasets.drawn_faces`, ``"celeba"`` for
        :func:`~problog4fairness.datasets.celeba`.
    network
        As :func:`~problog4fairness.learners.vision.named_network` takes it.
    training
        How networks are trained.
    seeds, methods
        The grid.
    rows
        How many faces are drawn.
    size
        Height and width of a picture.
    folder
        Where CelebA is; by default in the folder that the environment variable ``P4F_DATA`` names.
    """

    data: Source = "drawn"
    network: str = "small"
    training: Settings = SMALL
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    methods: tuple[FaceMethod, ...] = METHODS
    rows: int = ROWS
    size: int = 32
    folder: Path | None = None

    def runs(self) -> list[FaceRun]:
        """All runs, seed by seed, so that a study that was stopped has whole seeds to show."""
        return [FaceRun(self, method, seed) for seed in self.seeds for method in self.methods]


@dataclass(frozen=True)
class FaceRun:
    """One network of a study."""

    study: FaceStudy
    method: FaceMethod
    seed: int

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.method.name}, seed {self.seed}"


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
    if data not in ("drawn", "celeba"):
        raise P4FError(f"data must be 'drawn' or 'celeba', not {data!r}")
    study = FaceStudy(data, network, SMALL if network == "small" else PAPER)
    if data == "celeba":
        study = replace(study, size=64 if network == "small" else 224)
    if quick:
        training = replace(study.training, max_epochs=10 if network == "small" else 2)
        study = replace(study, rows=QUICK_ROWS, seeds=(0, 1), training=training)
    if epochs is not None:
        study = replace(study, training=replace(study.training, max_epochs=epochs))
    return study if seeds is None else replace(study, seeds=tuple(range(seeds)))
