"""Studies small enough for tests, and methods that misbehave."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from problog4fairness.experiments import Method, Study, bias_sweep
from problog4fairness.experiments.run import run
from problog4fairness.learners import Settings

TRAINING = Settings(hidden=(4,), max_epochs=2, patience=2, learning_rate=0.01)


def tiny(study: Study | None = None, **changes: object) -> Study:
    study = bias_sweep(betas=[0.0, 0.6]) if study is None else study
    return replace(study, seeds=(0, 1), folds=2, rows=240, training=TRAINING, **changes)


def constant(stack):
    return [np.full(len(cell.test), 0.25) for cell in stack.cells]


def slow(stack):
    time.sleep(0.1)
    return [np.full(len(cell.test), cell.recorded_label[cell.train].mean()) for cell in stack.cells]


def failing(stack):
    if stack.points[0].x > 0.5:
        raise ValueError("no such thing")
    return constant(stack)


def deadly(flag, stack):
    """Kills its worker, once: the first to come finds the file."""
    if Path(flag).exists():
        Path(flag).unlink()
        os._exit(9)
    return constant(stack)


def slow_study() -> Study:
    study = bias_sweep(betas=[0.0, 0.2, 0.4, 0.6, 0.8])
    return tiny(study, methods=(Method("slow", slow), study.methods[2]))


if __name__ == "__main__":
    run(slow_study(), sys.argv[1], jobs=int(sys.argv[2]))
