"""Face studies of a size that tests can afford."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace

import torch
from torch import nn

from problog4fairness.learners import Settings
from studies.engine.run import run
from studies.faces import FaceStudy, face_study
from studies.pictures import FaceSet

TRAINING = Settings(learning_rate=2e-3, batch_size=32, max_epochs=3, patience=3)


def tiny_faces(**changes) -> FaceStudy:
    study = replace(face_study(), faces=FaceSet(rows=300, size=16), seeds=(0,), training=TRAINING)
    return replace(study, **changes)


class Slow(nn.Module):
    """Takes its time, so that it can be killed at work."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3 * 16 * 16, 1)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        time.sleep(float(os.environ.get("SLOW_FACES", "0")))
        return self.layer(pictures.flatten(1))


def wrong_shape() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(768, 2))


def slow_faces() -> FaceStudy:
    study = tiny_faces(network="tests.studies.face_studies:Slow")
    return replace(study, methods=study.methods[:2])


if __name__ == "__main__":
    from tests.studies.face_studies import slow_faces as study_of

    run(study_of(), sys.argv[1], jobs=1)
