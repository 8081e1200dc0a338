"""What stacking saves in a study: the same cells as one stacked fit, and one after another in plain PyTorch.

The 25 cells (5 seeds x 5 folds) of one point of the label-bias study, on one thread: the study's own method with all
that belongs to it (data, likelihood, predictions, storing), against as many networks of the same size in an ordinary
loop with a DataLoader, without any belief. Both train for the same number of epochs. With ``--full``, the paper's
three studies too, whole, on all cores: goal 15 minutes on two.

    python benchmarks/studies.py [--quick] [--full] [--json PATH]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch
from rich.console import Console
from training import plain_loop

from problog4fairness.datasets import synthetic

sys.path.insert(0, str(Path(__file__).parents[1]))

from studies.engine.run import run
from studies.synthetic import assumption, bias_sweep, dependent

EPOCHS = 3
GOAL = 13


def main() -> None:
    """Measure, print, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--full", action="store_true", help="also run the three studies whole, and time them")
    parser.add_argument("--json", type=Path, default=Path("build/bench/studies.json"), help="where to write")
    options = parser.parse_args()
    torch.set_num_threads(1)
    sweep = bias_sweep(betas=[0.3])
    study = replace(
        sweep,
        points=sweep.points[:1],
        methods=("ours",),
        training=replace(sweep.training, max_epochs=EPOCHS, patience=EPOCHS),
    )
    cells = len(study.seeds) * study.folds
    data = synthetic(study.points[0].settings, rows=study.rows)
    fold = int(study.rows * (1 - 1 / study.folds))
    x = torch.tensor(data.recorded_features.to_numpy(), dtype=torch.float32)[:fold]
    y = torch.tensor(data.recorded_label.to_numpy(), dtype=torch.float32)[:fold]
    ratios = []
    for number in range(1 if options.quick else 5):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            run(study, folder, progress=False)
            ours = time.perf_counter() - start
        start = time.perf_counter()
        # One network stands for all: they cost the same.
        plain_loop(x, y, number, epochs=EPOCHS)
        ratios.append(cells * (time.perf_counter() - start) / ours)
    ratio = statistics.median(ratios)
    verdict = "met" if ratio >= GOAL else "missed"
    Console().print(
        f"{cells} cells of the label study, {EPOCHS} epochs: {ours:.1f} s stacked, through the belief; "
        f"{ratio:.1f} times as fast as plain loops without one (goal: at least {GOAL}, {verdict})"
    )
    results: dict[str, object] = {"cells": cells, "seconds": ours, "times": ratio, "goal": GOAL}
    if options.full:
        results["studies"] = whole_studies()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))


def whole_studies() -> dict[str, float]:
    """Seconds of each study from nothing, on all cores."""
    seconds = {}
    for make in (bias_sweep, dependent, assumption):
        study = make()
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            run(study, folder, jobs=-1)
            seconds[study.name] = time.perf_counter() - start
    total = sum(seconds.values())
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, torch {torch.__version__}"
    )
    times = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
    Console().print(f"{machine}: {times}; {total / 60:.1f} minutes in all (goal on two cores: at most 15)")
    return seconds


if __name__ == "__main__":
    main()
