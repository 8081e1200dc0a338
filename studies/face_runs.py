"""One run of the face study: train a network, test it on the fair labels."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal

import numpy as np
import torch

from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs import Belief, LabelBias, NoBias, chain
from problog4fairness.data import Rows
from problog4fairness.errors import CheckpointError
from problog4fairness.learners import Settings, fit_module, listening
from studies.data import Faces
from studies.data.faces.protocol import ATTRIBUTES
from studies.engine.stack import Identity, Keys, Stack, Table, Work
from studies.paper_scores import paper_scores
from studies.pictures import Codes, FaceSet, Floats, Pictures, faces_of, pictures_of
from studies.vision import named_network
from studies.vision.named import network_version

# In the column "attribute", of metrics that do not depend on one.
NO_ATTRIBUTE = "-"


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


@dataclass(frozen=True)
class FaceRun(Stack):
    """One network of the study.

    Attributes
    ----------
    faces
        Which pictures.
    method, seed
        How the network is trained, and from which first weights.
    network
        As :func:`~studies.vision.named_network` takes it.
    training
        How networks are trained.
    """

    faces: FaceSet
    method: FaceMethod
    seed: int
    network: str
    training: Settings

    damaged = (CheckpointError,)

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.method.name}, seed {self.seed}"

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`.

        Drawn faces follow from their settings; of photographs the labels are hashed, and the pictures taken on trust.
        """
        data = {"drawn": self.faces.rows} if self.faces.source == "drawn" else {"celeba": _digest(self.faces)}
        return {
            **data,
            "size": self.faces.size,
            "network": network_version(self.network),
            "method": asdict(self.method),
            "seed": self.seed,
            "training": asdict(self.training),
        }

    def keys(self) -> Keys:
        """See :meth:`Stack.keys`."""
        whole = [(metric, NO_ATTRIBUTE) for metric in ("f1", "accuracy")]
        by_attribute = [(metric, attribute) for attribute in ATTRIBUTES
                        for metric in ("disparity", "equalized_odds", "fair_disparity")]  # fmt: skip
        return [(self.method.name, self.seed, *key) for key in (*whole, *by_attribute, ("best_epoch", NO_ATTRIBUTE))]

    def compute(self, work: Work) -> Table:
        """See :meth:`Stack.compute`; where the checkpoint exists, training goes on from it."""
        pictures = pictures_of(self.faces, self.training.batch_size or 64)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            network = named_network(self.network, channels=pictures.faces.shape[0])
        data, options = pictures.training()
        # What is reported is the share of the epochs that are done.
        epochs = self.training.max_epochs
        with listening(lambda label, epoch, loss, share: work.report(epoch / epochs)):  # noqa: ARG005
            fit = fit_module(
                network,
                data,
                belief(self.method, pictures.faces),
                rows(self.method, pictures.faces),
                settings=self.training,
                seed=self.seed,
                device=pictures.device,
                checkpoint=work.checkpoint,
                **options,
            )
        table = measured(pictures, *pictures.chances(fit.network))
        table.append(["best_epoch", NO_ATTRIBUTE, float(fit.best_epoch)])
        return [[self.method.name, self.seed, *row] for row in table]


def belief(method: FaceMethod, faces: Faces) -> Belief:
    """Label bias by the method's attributes, with parameters from both labels of the training partition.

    Of several attributes the parameters are estimated jointly. One stage of a chain can do the work of another, so no
    audit could tell their parameters apart; what training uses is the whole chain's P(recorded | fair, attributes),
    and that is known. The warning that says so is left out here.
    """
    if not method.attributes:
        return NoBias()
    stages = [LabelBias(attribute) for attribute in method.attributes]
    unknown: Belief = stages[0] if len(stages) == 1 else chain(*stages)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        known: Belief = unknown.estimate(faces.audit("train"), recorded="recorded", fair="fair")
    return known


def rows(method: FaceMethod, faces: Faces) -> Rows:
    """All rows of the data with the labels that the method sees; the input of each is its picture, by number."""
    label = faces.fair if method.labels == "fair" else faces.recorded
    frame = faces.attributes.assign(picture=np.arange(len(label))).reset_index(drop=True)
    return Rows(frame, ("picture",), (0, 1), np.array(label))


def measured(pictures: Pictures, tested: Codes, chance: Floats) -> Table:
    """Metric, attribute and value of predictions on these rows, against the fair labels.

    ``fair_disparity`` is that of the fair labels themselves: what a classifier without faults would have.
    """
    fair = pictures.faces.fair[tested]
    table: Table = []
    for attribute in ATTRIBUTES:
        groups = np.asarray(pictures.faces.attributes[attribute])[tested]
        found = paper_scores(fair, chance, groups)
        if not table:
            table += [[metric, NO_ATTRIBUTE, found[metric]] for metric in ("f1", "accuracy")]
        table += [[metric, attribute, found[metric]] for metric in ("disparity", "equalized_odds")]
        table.append(["fair_disparity", attribute, paper_scores(fair, fair, groups)["disparity"]])
    return table


@cache
def _digest(which: FaceSet) -> str:
    faces = faces_of(which)
    digest = hashlib.sha256()
    for part in (faces.attributes.to_numpy(), faces.fair, faces.recorded, faces.partition):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
