"""Small data with a group that is behind."""

from __future__ import annotations

import numpy as np
import pandas as pd

from problog4fairness.learners import Network

QUICK = {
    "learner": Network(hidden=(8,), learning_rate=0.02, batch_size=64, max_epochs=10, patience=5),
    "random_state": 0,
}


def loans(rows=600, seed=0, bias=0.6):
    """Three binary features and a group; of the sensitive group a share ``bias`` of granted loans was turned down."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, size=(rows, 3)), columns=["job", "house", "saved"])
    frame["area"] = rng.integers(0, 2, size=rows)
    fair = (frame[["job", "house", "saved"]].sum(axis=1) + rng.normal(0, 0.5, rows) > 1.5).to_numpy().astype(int)
    recorded = np.where((frame["area"] == 1) & (rng.uniform(size=rows) < bias), 0, fair)
    return frame, recorded
