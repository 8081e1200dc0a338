"""Made-up pupils of the shape of the student data, and studies of them that are small enough for tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from problog4fairness.learners import Settings
from studies.data import StudentData
from studies.student import StudentStudy, student_study

TRAINING = Settings(hidden=(4,), dropout=0.2, loss="focal", learning_rate=0.02, batch_size=64, max_epochs=3, patience=3)


def pupils(rows: int = 160, seed: int = 0, positive: tuple[float, float] = (0.3, 0.1)) -> StudentData:
    """Every other one a boy; two rows of each pupil; ``positive`` is the bias towards girls and boys who failed."""
    rng = np.random.default_rng(seed)
    sex = np.arange(rows) // 2 % 2
    features = pd.DataFrame({name: rng.integers(1, 4, rows) for name in ("studytime", "freetime", "goout")})
    features["reason"] = rng.choice(["course", "home", "other"], rows)
    fair = (features["studytime"] - features["goout"] + rng.normal(0, 1, rows) > -1).astype(int)
    kept = np.where(fair == 1, rng.random(rows) > np.array([0.1, 0.4])[sex], rng.random(rows) < np.array(positive)[sex])
    return StudentData(
        features=features,
        sensitive=pd.Series(sex, name="sex"),
        fair=fair.rename("fair"),
        recorded=pd.Series(kept.astype(int), name="recorded"),
        participant=pd.Series(np.arange(rows) // 8, name="participant"),
        pupil=pd.Series(np.arange(rows) // 2, name="pupil"),
        primed=pd.Series([""] * rows, name="primed"),
    )


def tiny(data: StudentData | None = None, **options: object) -> StudentStudy:
    options = {"folds": 2} | ({} if options.get("audits") else {"seeds": 2}) | options
    return replace(student_study(pupils() if data is None else data, **options), training=TRAINING)
