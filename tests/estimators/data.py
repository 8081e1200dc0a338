"""Small data with a known bias."""

from __future__ import annotations

import numpy as np
import pandas as pd

from problog4fairness.learners import Network


def loans(
    rows: int = 3000, seed: int = 0, negative: float = 0.5
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    """Features, sensitive group, fair label, and the recorded label: fair ones of group 1 are turned down."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 2, rows) for i in range(3)})
    frame["income"] = rng.normal(size=rows)
    frame["job"] = rng.choice(["clerk", "nurse", "smith"], rows)
    area = rng.integers(0, 2, rows)
    score = frame[["q0", "q1", "q2"]].sum(axis=1) - 1.5 + frame["income"] + (frame["job"] == "nurse")
    fair = (score + rng.normal(scale=0.5, size=rows) > 0).astype(int).to_numpy()
    recorded = np.where((area == 1) & (rng.random(rows) < negative), 0, fair)
    return frame, area, fair, recorded


def quick(**options) -> dict:
    """Options of a classifier that learns quickly; those given are the network's."""
    chosen = {"learning_rate": 3e-3, "batch_size": 64, "max_epochs": 40, "patience": 8, **options}
    return {"learner": Network(**chosen), "random_state": 0}


QUICK = quick()
