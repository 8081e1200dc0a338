"""Face studies of a size that tests can afford."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

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


def unfinished(folder: Path) -> set[str]:
    """Runs that have a checkpoint and no result, once another one has its result."""
    finished = {file.stem for file in folder.glob("*.json")}
    return {file.stem for file in folder.glob("*.safetensors")} - finished if finished else set()


class Held(nn.Module):
    """In the middle of the second run of the folder that ``HELD`` names, it waits to be killed."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3 * 16 * 16, 1)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        folder = os.environ.get("HELD")
        while folder and unfinished(Path(folder)):
            time.sleep(0.01)
        return self.layer(pictures.flatten(1))


def wrong_shape() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(768, 2))


def held_faces() -> FaceStudy:
    study = tiny_faces(network="tests.studies.face_studies:Held")
    return replace(study, methods=study.methods[:2])


if __name__ == "__main__":
    from tests.studies.face_studies import held_faces as study_of

    run(study_of(), sys.argv[1], jobs=1)
