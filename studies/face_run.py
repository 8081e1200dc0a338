"""One run of the face study: train a network, test it on the fair labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from problog4fairness.datasets.faces.protocol import ATTRIBUTES
from problog4fairness.experiments.archive import Keys, Table
from problog4fairness.experiments.faces.beliefs import likelihood
from problog4fairness.experiments.faces.pictures import Codes, Floats, Pictures, pictures_of
from problog4fairness.experiments.faces.plan import FaceRun
from problog4fairness.learners import fit_module
from problog4fairness.learners.progress import Bar
from problog4fairness.learners.vision import named_network
from problog4fairness.metrics.scores import scores

COLUMNS = ("method", "seed", "metric", "attribute", "value")
# In the column "attribute", of metrics that do not depend on one.
NO_ATTRIBUTE = "-"


def keys_of(run: FaceRun) -> Keys:
    """What the rows of a run begin with: all of :data:`COLUMNS` but the value."""
    whole = [(metric, NO_ATTRIBUTE) for metric in ("f1", "accuracy")]
    by_attribute = [(metric, attribute) for attribute in ATTRIBUTES
                    for metric in ("disparity", "equalized_odds", "fair_disparity")]  # fmt: skip
    return [(run.method.name, run.seed, *key) for key in (*whole, *by_attribute, ("best_epoch", NO_ATTRIBUTE))]


def compute(run: FaceRun, checkpoint: Path, bar: Bar | bool = False) -> Table:
    """The numbers of a run, a row of :data:`COLUMNS` per metric and attribute.

    Parameters
    ----------
    run
        Which.
    checkpoint
        Written after each epoch; where it exists, training goes on from it.
    bar
        Told of every training step.
    """
    pictures = pictures_of(run.study)
    with torch.random.fork_rng():
        torch.manual_seed(run.seed)
        network = named_network(run.study.network, channels=pictures.faces.shape[0])
    data, options = pictures.training()
    fit = fit_module(
        network,
        data,
        likelihood(run.method, pictures.faces),
        run.study.training,
        seed=run.seed,
        device=pictures.device,
        checkpoint=checkpoint,
        progress=bar,
        **options,
    )
    table = measured(pictures, *pictures.chances(fit.network))
    table.append(["best_epoch", NO_ATTRIBUTE, float(fit.best_epoch)])
    return [[run.method.name, run.seed, *row] for row in table]


def measured(pictures: Pictures, rows: Codes, chance: Floats) -> Table:
    """Metric, attribute and value of predictions on these rows, against the fair labels.

    ``fair_disparity`` is that of the fair labels themselves: what a classifier without faults would have.
    """
    fair = pictures.faces.fair[rows]
    table: Table = []
    for attribute in ATTRIBUTES:
        groups = np.asarray(pictures.faces.attributes[attribute])[rows]
        found = scores(fair, chance, groups)
        if not table:
            table += [[metric, NO_ATTRIBUTE, found[metric]] for metric in ("f1", "accuracy")]
        table += [[metric, attribute, found[metric]] for metric in ("disparity", "equalized_odds")]
        table.append(["fair_disparity", attribute, scores(fair, fair, groups)["disparity"]])
    return table
