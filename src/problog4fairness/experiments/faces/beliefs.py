"""What a method believes of the mouth label, and the likelihood that its network is trained through."""

from __future__ import annotations

import warnings

import torch

from problog4fairness.beliefs import Belief, LabelBias, chain
from problog4fairness.beliefs.audit import AuditWarning
from problog4fairness.beliefs.combinations import observed
from problog4fairness.datasets.faces.protocol import Faces
from problog4fairness.experiments.faces.plan import FaceMethod
from problog4fairness.learners import Likelihood, Mixture, RecordedLabel
from problog4fairness.learners.mixture import row_kinds


def belief(method: FaceMethod, faces: Faces) -> Belief | None:
    """Label bias by the method's attributes, with parameters from both labels of the training partition.

    Of several attributes the parameters are estimated jointly. One stage of a chain can do the work of another, so no
    audit could tell their parameters apart; what training uses is the whole chain's P(recorded | fair, attributes),
    and that is known. The warning that says so is left out here.
    """
    if not method.attributes:
        return None
    stages = [LabelBias(attribute) for attribute in method.attributes]
    unknown: Belief = stages[0] if len(stages) == 1 else chain(*stages)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        known: Belief = unknown.estimate(faces.audit("train"), recorded="recorded", fair="fair")  # type: ignore[attr-defined]
    return known


def likelihood(method: FaceMethod, faces: Faces) -> Likelihood:
    """Of the labels that the method sees, for all rows of the data: one for training and for validation."""
    label = faces.fair if method.labels == "fair" else faces.recorded
    belief = belief(method, faces)
    if belief is None:
        return RecordedLabel(torch.from_numpy(label))
    groups = observed(belief.variables, faces.attributes)
    kinds, codes = row_kinds(groups.rows, label, belief.label_table(groups.levels), [])
    return Mixture(kinds, codes, torch.arange(len(label)).unsqueeze(1), 1)
