"""Fits that test_fabric.py runs on one and on several processes, without a change: ``fabric_script.py FOLDER COUNT``.

One process does without Fabric. Every process writes what it found into the folder; the first one is rank 0.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from lightning_fabric import Fabric
from safetensors.torch import save_file
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from problog4fairness.errors import TrainingError
from problog4fairness.learners.networks.module import fit_module
from problog4fairness.learners.settings import Settings
from problog4fairness.program import AffineObserved
from tests.learners.observations import recorded_label

ROWS, TRAIN = 61, 49  # 49 = 3 * 16 + 1: the last batch of a loader is one row, which leaves the second process without


def network() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 1)
    )


class Poisoned(AffineObserved):
    """A row has no finite likelihood."""

    def __call__(self, logits, rows):
        return super().__call__(logits, rows).masked_fill(rows == 3, torch.nan)


def main(folder: Path, processes: int) -> None:
    torch.set_num_threads(1)
    fabric, rank = None, 0
    if processes > 1:
        fabric = Fabric(accelerator="cpu", devices=processes, strategy="ddp")
        fabric.launch()
        rank = fabric.global_rank
    generator = torch.Generator().manual_seed(0)
    label = torch.arange(ROWS) % 2
    inputs = torch.randn(ROWS, 1, 6, 6, generator=generator) + 0.5 * label.view(-1, 1, 1, 1)
    weights = torch.rand(ROWS, generator=generator)
    train, held = torch.arange(TRAIN), torch.arange(TRAIN, ROWS)
    settings = Settings(learning_rate=0.01, batch_size=16, max_epochs=4)

    def loader(rows: torch.Tensor, shuffle: bool) -> DataLoader:
        return DataLoader(TensorDataset(inputs[rows], rows), batch_size=16, shuffle=shuffle)

    def fit(data, observation=None, settings=settings, **options):
        torch.manual_seed(rank)  # the first process gives all of them its weights
        return fit_module(
            network(), data, observation or recorded_label(label), settings=settings, fabric=fabric, **options
        )

    checkpoint = folder / "fit.safetensors"
    short = Settings(learning_rate=0.01, batch_size=16, max_epochs=2)
    fit(inputs, settings=short, train_rows=train, validation=held, checkpoint=checkpoint)
    batches = [(inputs[rows], rows) for rows in train.split(16)]
    patient = Settings(learning_rate=0.3, batch_size=16, max_epochs=30, patience=2)
    fits = {
        "tensors": fit(inputs, weights=weights, train_rows=train, validation=held),
        "loader": fit(loader(train, True), validation=loader(held, False)),
        "batches": fit(batches, validation=[(inputs[held], held)]),
        "resumed": fit(inputs, train_rows=train, validation=held, checkpoint=checkpoint),
        "patient": fit(inputs, settings=patient, train_rows=train, validation=held),
    }
    reason = ""
    try:
        fit(inputs, recorded_label(label, kernel=Poisoned), train_rows=train, validation=held)
    except TrainingError as error:
        reason = str(error)
    place = folder / str(rank)
    place.mkdir()
    for name, found in fits.items():
        save_file(found.network.state_dict(), place / f"{name}.safetensors")
    rest = {n: [f.best_epoch, list(f.train_loss), list(f.validation_loss)] for n, f in fits.items()}
    (place / "rest.json").write_text(json.dumps({"fits": rest, "reason": reason}))
    if processes > 1:
        torch.distributed.destroy_process_group()  # threads that still run at exit would abort the process


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
