"""How fast is the engine? Everything is measured in one run, side by side; `make bench` runs it.

What is measured, and how to read it:

- **Training.** Steps per second of one small network (three hidden layers of 32, AdamW, batch 64, one thread) in plain
  PyTorch with binary cross-entropy on the recorded label, with no bias belief at all; with our likelihood of each of
  the paper's three listings as the loss; and with DeepProbLog 2.1, its cache on, on the same listings. In every round
  each contestant runs a short block, so noise hits all alike; a ratio is the median over the rounds of the ratios
  within a round. "Share of plain" is 1 where the belief costs nothing. Plain PyTorch optimises another loss; all
  others must agree with a formula written by hand, in loss and gradient, before anything is timed.
  The measurement listing needs the network on all 16 flipped copies of each row. With binary features only 16 distinct
  rows exist, so they are evaluated once a step and gathered; the line "all 16 rows each" shows it without this.
- **Start.** From the text of a listing to a likelihood of 10,000 rows: in a fresh process with an empty cache (imports,
  start of the worker process, and the work itself), and with a warm cache on disk.
- **Growth.** Time, memory and circuit size of the printed measurement listing with 2 to 10 features.

The numbers also go to a JSON file. A goal that is missed is shown as missed; it does not fail the run. A difference in
loss does.

    python benchmarks/engine.py [--quick] [--no-deepproblog] [--json PATH]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from measure import reference, report
from measure.growth import growth
from measure.listings import Data
from measure.startup import startup
from measure.training import FULL, QUICK, Training
from rich.console import Console

RESULTS = Path(__file__).resolve().parents[1] / "build" / "bench" / "engine.json"
WIDTH = 120


def main(arguments: argparse.Namespace) -> int:
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    began = time.perf_counter()
    torch.set_num_threads(1)
    found: dict[str, Any] = {"machine": report.machine(), "quick": arguments.quick}
    report.show_machine(console, found["machine"])
    found["deepproblog"] = None if arguments.no_deepproblog else reference.version()
    if found["deepproblog"] is None:
        why = "left out, as asked" if arguments.no_deepproblog else "not installed here; left out of the comparison"
        console.print(f"DeepProbLog: {why}", highlight=False)
    else:
        console.print(f"DeepProbLog {found['deepproblog']}, with its cache", highlight=False)

    console.print()
    plan = QUICK if arguments.quick else FULL
    training = Training(Data(), with_reference=found["deepproblog"] is not None)
    agreements = training.agreements()
    report.show_agreements(console, agreements)
    if not all(entry.close for entry in agreements):
        console.print("The contestants do not compute the same thing: nothing is timed.", style="red")
        return 1
    speeds = training.speeds(plan)
    report.show_speeds(console, speeds, plan.rounds)

    repeats = 1 if arguments.quick else 5
    startups = [startup(name, repeats) for name in ("label", "three attributes", "measurement")]
    report.show_startups(console, startups, repeats)

    sizes = [growth(n) for n in ((2, 4, 6) if arguments.quick else (2, 4, 6, 8, 10))]
    report.show_growth(console, sizes)

    found["goals"] = report.goals(speeds, startups)
    report.show_goals(console, found["goals"])

    found["agreement"] = [vars(entry) for entry in agreements]
    found["training"] = [_speed(entry) for entry in speeds]
    found["startup"] = [entry.to_dict() for entry in startups]
    found["growth"] = [entry.to_dict() for entry in sizes]
    found["seconds"] = time.perf_counter() - began
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    console.print(f"\n{found['seconds']:.0f} s; written to {arguments.json}", highlight=False, soft_wrap=True)
    return 0


def _speed(entry: Any) -> dict[str, Any]:
    ratios = {"share_of_plain": entry.to_plain, "times_deepproblog": entry.to_reference}
    return {
        "contestant": entry.contestant,
        "step_seconds": entry.step_seconds,
        **{name: None if ratio is None else ratio.to_dict() for name, ratio in ratios.items()},
    }


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the engine against plain PyTorch and DeepProbLog.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, DeepProbLog one step each, n up to 6")
    parser.add_argument("--no-deepproblog", action="store_true", help="leave DeepProbLog out")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where to write the numbers (default: %(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["P4F_CACHE"] = folder  # nothing of the user's is read or written
        sys.exit(main(options()))
