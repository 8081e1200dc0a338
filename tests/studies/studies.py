"""Studies small enough for tests, and methods that misbehave."""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import replace
from functools import partial
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
    try:
        Path(flag).unlink()
    except FileNotFoundError:
        return constant(stack)
    os._exit(9)


def without_a_folder(folder, stack):
    """Puts a file where the study's folder was."""
    shutil.rmtree(folder, ignore_errors=True)
    Path(folder).touch()
    return constant(stack)


def endless(folder, stack):
    """Says which process computes it, and never comes to an end."""
    (Path(folder) / f"{os.getpid()}.pid").touch()
    while True:
        time.sleep(0.01)


def endless_study(folder: str) -> Study:
    return tiny(methods=(Method("endless", partial(endless, folder)),))


def slow_study() -> Study:
    study = bias_sweep(betas=[0.0, 0.2, 0.4, 0.6, 0.8])
    return tiny(study, methods=(Method("slow", slow), study.methods[2]))


if __name__ == "__main__":
    folder, jobs, *kind = sys.argv[1:]
    run(endless_study(folder) if kind == ["endless"] else slow_study(), folder, jobs=int(jobs))
