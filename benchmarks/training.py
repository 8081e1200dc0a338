"""What training through a belief costs, and what fitting many networks at once saves.

Everything is a ratio to a reference measured in the same run, in rounds that alternate, on one thread:

- fit through a belief against the same fit without one (same rows, same network, same number of epochs);
- 25 networks stacked against 25 one after another with an ordinary PyTorch loop and DataLoader;
- how time and memory grow from 10,000 to 1,000,000 rows, and measurement bias from 2 to 12 features.

    python benchmarks/training.py [--quick] [--json PATH]
"""

from __future__ import annotations

import argparse
import json
import operator
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, TensorDataset

import problog4fairness as p4f
from problog4fairness.learners import Network, Settings, Task, fit_many

EPOCHS = 10
GOALS = {"label": 1.05, "three attributes": 1.10, "measurement n = 4": 1.33, "measurement n = 12": 4.0}


def binary_data(rows: int, features: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Binary features, three sensitive columns, and a label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (rows, features)), columns=[f"f{i}" for i in range(features)])
    for name in ("a", "b", "c"):
        frame[name] = rng.integers(0, 2, rows)
    label = (frame.iloc[:, :features].sum(axis=1) + rng.normal(size=rows) > features / 2).astype(int)
    return frame, label.to_numpy()


def seconds_of(belief: p4f.Belief | None, frame: pd.DataFrame, label: np.ndarray) -> float:
    """Seconds of a fit of a few epochs, set-up included."""
    learner = Network(batch_size=64, learning_rate=3e-4, max_epochs=EPOCHS, patience=EPOCHS, networks=1)
    model = p4f.DebiasedClassifier(belief, learner, sensitive=["a", "b", "c"], random_state=0)
    start = time.perf_counter()
    model.fit(frame, label)
    return time.perf_counter() - start


def belief_costs(rounds: int) -> list[dict[str, object]]:
    """Each belief against no belief on the same data."""
    label = p4f.LabelBias("a", {1: 0.3, 0: 0.1}, 0.05)
    chained = p4f.chain(*(p4f.LabelBias(name, {1: 0.2, 0: 0.05}, 0.1) for name in ("a", "b", "c")))
    cases = {
        "label": (label, 4),
        "three attributes": (chained, 4),
        **{
            f"measurement n = {n}": (p4f.MeasurementBias([f"f{i}" for i in range(n)], "a", 0.3, 0.05), n)
            for n in (2, 4, 6, 8, 10, 12)
        },
    }
    results = []
    for name, (belief, features) in cases.items():
        frame, recorded = binary_data(10_000, features)
        seconds_of(belief, frame, recorded)  # compiles the program, and warms everything up
        ratios = []
        for _ in range(rounds):
            plain = seconds_of(None, frame, recorded)
            ratios.append(seconds_of(belief, frame, recorded) / plain)
        results.append({"case": name, "ratio": statistics.median(ratios), "goal": GOALS.get(name), "plain": plain})
    return results


def plain_loop(x: torch.Tensor, y: torch.Tensor, seed: int, epochs: int) -> None:
    """An ordinary PyTorch training loop with a DataLoader."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for size in (x.shape[1], 32, 32):
        layers += [nn.Linear(size, 32), nn.ReLU()]
    network = nn.Sequential(*layers, nn.Linear(32, 1))
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-4)
    order = torch.randperm(len(x))
    cut = len(x) // 10
    for _ in range(epochs):
        for inputs, label in DataLoader(TensorDataset(x[order[cut:]], y[order[cut:]]), batch_size=64, shuffle=True):
            optimiser.zero_grad()
            binary_cross_entropy_with_logits(network(inputs).squeeze(1), label).backward()
            optimiser.step()
        with torch.no_grad():
            binary_cross_entropy_with_logits(network(x[order[:cut]]).squeeze(1), y[order[:cut]])


def stacking(models: int, rounds: int) -> dict[str, object]:
    """Many networks at once against one after another."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(10_000, 10, generator=generator)
    y = (x.sum(1) + torch.randn(10_000, generator=generator) > 0).float()
    frame = pd.DataFrame(x.numpy()).rename(columns=str)
    recorded = p4f.NoBias().observe(p4f.data.Rows(frame, tuple(frame.columns), recorded=y.long().numpy()))
    settings = Settings(batch_size=64, learning_rate=3e-4, max_epochs=1, patience=1)
    ratios = []
    for number in range(rounds):
        start = time.perf_counter()
        fit_many([Task(recorded, seed=seed, inputs=x) for seed in range(models)], settings, progress=False)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        # One network stands for all: they cost the same.
        plain_loop(x, y, number, epochs=1)
        ratios.append(models * (time.perf_counter() - start) / ours)
    return {"models": models, "times": statistics.median(ratios), "goal": 15 if models == 25 else None}


GROWTH = """
import sys, time, numpy as np, torch, problog4fairness as p4f
torch.set_num_threads(1)
rows = int(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(rows, 10))
a = rng.integers(0, 2, rows)
y = (X.sum(1) > 0).astype(int)
learner = p4f.learners.Network(max_epochs=1, networks=1)
model = p4f.DebiasedClassifier(p4f.LabelBias("a", {1: 0.3}, False, affected=[1]), learner, random_state=0)
start = time.perf_counter()
model.fit(X, y, sensitive_features=a)
seconds = time.perf_counter() - start
# Of this process alone: what getrusage tells includes the process that started it.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, int(peak.split()[1]) / 1024)
"""


def growth(sizes: list[int]) -> list[dict[str, float]]:
    """Seconds and peak memory of one epoch, each in a process of its own."""
    results = []
    for rows in sizes:
        run = subprocess.run([sys.executable, "-c", GROWTH, str(rows)], capture_output=True, text=True, check=True)
        seconds, mebibytes = map(float, run.stdout.split())
        results.append({"rows": rows, "seconds": seconds, "mebibytes": mebibytes})
    return results


def show(console: Console, title: str, columns: list[str], rows: list[list[str]]) -> None:
    """One table."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def verdict(value: float, goal: float | None, better: Callable[[float, float], bool]) -> str:
    """The goal, and whether it was met."""
    return "" if goal is None else f"{goal:g} {'met' if better(value, goal) else 'missed'}"


def main() -> None:
    """Run all parts, print tables, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller sizes")
    parser.add_argument(
        "--json", type=Path, default=Path("build/bench/training.json"), help="where to write the numbers"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    console = Console()
    rounds = 2 if options.quick else 5
    costs = belief_costs(rounds)
    show(
        console,
        "Fit through a belief, times the fit without one (10,000 rows, batch 64)",
        ["belief", "times plain", "goal: at most"],
        [[str(c["case"]), f"{c['ratio']:.2f}", verdict(c["ratio"], c["goal"], operator.le)] for c in costs],
    )
    stacks = [stacking(models, rounds) for models in ((25,) if options.quick else (5, 25, 100))]
    show(
        console,
        "Networks stacked, times as fast as one after another (10,000 rows x 10 features, one thread)",
        ["networks", "times as fast", "goal: at least"],
        [[str(s["models"]), f"{s['times']:.1f}", verdict(s["times"], s["goal"], operator.ge)] for s in stacks],
    )
    grown = growth([10_000, 100_000] if options.quick else [10_000, 100_000, 1_000_000])
    show(
        console,
        "One epoch through label bias, 10 features",
        ["rows", "seconds", "peak MiB"],
        [[f"{g['rows']:,}", f"{g['seconds']:.1f}", f"{g['mebibytes']:.0f}"] for g in grown],
    )
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"costs": costs, "stacking": stacks, "growth": grown}, indent=1))
    console.print(f"written to {options.json}")


if __name__ == "__main__":
    main()
