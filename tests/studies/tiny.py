"""Studies of made-up people that are small enough for tests."""

from __future__ import annotations

from dataclasses import replace

from problog4fairness.learners import Settings
from studies.synthetic import SyntheticStudy, bias_sweep

TRAINING = Settings(hidden=(4,), max_epochs=2, patience=2, learning_rate=0.01, batch_size=64)


def tiny(study: SyntheticStudy | None = None, **changes: object) -> SyntheticStudy:
    study = bias_sweep(betas=[0.0, 0.6]) if study is None else study
    return replace(study, seeds=(0, 1), folds=2, rows=240, training=TRAINING, **changes)
