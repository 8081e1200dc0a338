"""How compile time, memory and circuit size grow with the number of features of the printed measurement listing."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from measure.listings import measurement_text
from problog4fairness.errors import LimitError
from problog4fairness.program import MEBIBYTE, CircuitData, Limits, Worker

LIMITS = Limits(seconds=300, memory=8192 * MEBIBYTE)


@dataclass(frozen=True)
class Growth:
    """One size. ``stopped`` says which limit ended it; memory is None where the system does not tell."""

    features: int
    seconds: float
    idle_memory: int | None
    peak_memory: int | None
    nodes: int | None
    edges: int | None
    variables: int | None
    stopped: str | None

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def growth(features: int) -> Growth:
    """Compile the listing in a fresh worker that has done its imports."""
    worker = Worker()
    try:
        worker.run("read", "t. query(t).", LIMITS)
        idle = _peak_memory(worker)
        began = time.perf_counter()
        try:
            data = CircuitData.from_json(worker.run("compile", measurement_text(features), LIMITS))
        except LimitError as error:
            return Growth(features, time.perf_counter() - began, idle, None, None, None, None, error.message)
        seconds = time.perf_counter() - began
        peak = _peak_memory(worker)
        return Growth(features, seconds, idle, peak, len(data.nodes), data.edges, len(data.variables), None)
    finally:
        worker.stop()


def _peak_memory(worker: Worker) -> int | None:
    """Bytes: the largest part of the worker that ever was in memory, as Linux counts it."""
    process = worker._process
    status = Path(f"/proc/{process.pid}/status") if process else None
    if status is None or not status.exists():
        return None
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
    return int(found[1]) * 1024 if found else None
