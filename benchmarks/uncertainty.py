"""What posterior intervals cost: 50 draws against one fit, for each learner, in processor time of one run.

python benchmarks/uncertainty.py [--rows 5000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

import problog4fairness as p4f

GOALS = {"network": 3, "linear": 15, "boosted": 15, "HistGradientBoosting": 15}


def main() -> None:
    """Print a ratio for each learner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, options.rows)
    frame = pd.DataFrame(rng.normal(size=(options.rows, 8)), columns=[f"x{i}" for i in range(8)]).assign(group=group)
    fair = (frame["x0"] - frame["x1"] + rng.logistic(size=options.rows) > 0).astype(int).to_numpy()
    recorded = np.where((group == 1) & (rng.random(options.rows) < 0.4), 0, fair)
    audit = frame.assign(recorded=recorded, fair=fair)[:200]
    belief = p4f.LabelBias("group").estimate(audit, recorded="recorded", fair="fair")
    print(f"{options.rows:,} rows, 50 draws, processor seconds, median of {options.rounds}")
    for name, goal in GOALS.items():
        learner = HistGradientBoostingClassifier() if name == "HistGradientBoosting" else name
        model = p4f.DebiasedClassifier(belief, learner, random_state=0).fit(frame, recorded)
        one = _seconds(lambda own=model: own.fit(frame, recorded), options.rounds)
        many = _seconds(lambda own=model: own.uncertainty(frame, recorded, draws=50, progress=False), options.rounds)
        verdict = "met" if many <= goal * one else "missed"
        print(f"{name:22} fit {one:6.2f}  intervals {many:6.2f}  {many / one:5.1f} times, goal {goal}: {verdict}")


def _seconds(work: Callable[[], object], rounds: int) -> float:
    found = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return statistics.median(found)


if __name__ == "__main__":
    main()
