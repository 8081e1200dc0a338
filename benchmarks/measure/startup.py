"""From text to likelihood, cold and cached, each cold measurement in a process of its own.

A cold start is a fresh process with an empty cache folder. Its time falls into three parts: importing the package and
torch; starting the worker process in which problog runs (process start and imports, known as what a first tiny task
takes longer than a second one); and the work itself: read, ground, compile, build the circuit, specialise it to 10,000
rows, and observe their labels. "Cached" repeats the work with what the disk holds, after emptying the caches in memory.

    python -m measure.startup NAME     # what the parent starts: prints one JSON object
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

CACHED_REPEATS = 15
GOALS = {"label": (0.5, 0.020)}


@dataclass(frozen=True)
class Startup:
    """Seconds; and the size of the circuit."""

    listing: str
    imports: float
    worker: float
    to_circuit: float
    to_likelihood: float
    cached: float
    nodes: int
    edges: int
    variables: int

    @property
    def work(self) -> float:
        return self.to_circuit + self.to_likelihood

    def to_dict(self) -> dict[str, object]:
        return {**asdict(self), "work": self.work}


def startup(name: str, repeats: int) -> Startup:
    """Medians over ``repeats`` fresh processes."""
    runs = [_fresh(name) for _ in range(repeats)]
    times = ("imports", "worker", "to_circuit", "to_likelihood", "cached")
    return Startup(**{**runs[0], **{key: statistics.median(run[key] for run in runs) for key in times}})


def _fresh(name: str) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [sys.executable, "-m", "measure.startup", name],
            env={**os.environ, "P4F_CACHE": folder},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
            check=False,
        )
    if result.returncode:
        raise RuntimeError(f"the process that measures a cold start failed: {result.stderr.strip()}")
    return json.loads(result.stdout)


def _measure(name: str) -> dict[str, object]:
    began = time.perf_counter()
    import torch

    import problog4fairness as p4f
    from problog4fairness.program.sandbox import cache
    from problog4fairness.program.sandbox import process as sandbox

    imports = time.perf_counter() - began
    torch.set_num_threads(1)
    from measure.listings import Data, listings

    tiny = [_timed(lambda: sandbox.run("read", "t. query(t).")) for _ in range(2)]
    listing = listings(Data())[name]

    def to_circuit() -> p4f.program.Circuit:
        return p4f.Program.from_file(listing.file).compile()

    def to_likelihood(circuit: p4f.program.Circuit) -> object:
        known = circuit.specialise(nn=listing.known, parameters=listing.parameters)
        return known.observe(listing.data.recorded)

    began = time.perf_counter()
    circuit = to_circuit()
    middle = time.perf_counter()
    to_likelihood(circuit)
    end = time.perf_counter()
    cached = []
    for _ in range(CACHED_REPEATS):
        cache.recent.clear()
        cached.append(_timed(lambda: to_likelihood(to_circuit())))
    return {
        "listing": name,
        "imports": imports,
        "worker": tiny[0] - tiny[1],
        "to_circuit": middle - began,
        "to_likelihood": end - middle,
        "cached": statistics.median(cached),
        "nodes": circuit.size,
        "edges": circuit.data.edges,
        "variables": len(circuit.data.variables),
    }


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
