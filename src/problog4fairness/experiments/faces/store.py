"""What a run's numbers depend on: its name in the archive."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

from problog4fairness.experiments.archive import source_version
from problog4fairness.experiments.faces.pictures import faces_of
from problog4fairness.experiments.faces.plan import FaceRun, FaceStudy
from problog4fairness.learners.vision.named import network_version

_OWN = ("beliefs.py", "pictures.py", "work.py")
_CODE = (
    *(f"experiments/faces/{name}" for name in _OWN),
    "datasets/faces",
    "datasets/drawn_faces.py",
    "datasets/celeba.py",
    "mechanisms",
    "learners",
    "learners/vision",
    "metrics/scores.py",
)


def identity(run: FaceRun) -> dict[str, Any]:
    """Everything that determines the numbers of a run, as plain data."""
    study = run.study
    return {
        "data": _data(study),
        "network": network_version(study.network),
        "method": asdict(run.method),
        "seed": run.seed,
        "learners": asdict(study.training),
        "code": source_version(_CODE),
    }


def _data(study: FaceStudy) -> dict[str, Any]:
    """Drawn faces follow from their settings; of photographs the labels are hashed, and the pictures taken on trust."""
    if study.data == "drawn":
        return {"drawn": study.rows, "size": study.size}
    return {"celeba": _labels(study), "size": study.size}


@cache
def _labels(study: FaceStudy) -> str:
    faces = faces_of(study)
    digest = hashlib.sha256()
    for part in (faces.attributes.to_numpy(), faces.fair, faces.recorded, faces.partition):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
