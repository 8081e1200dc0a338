"""Historical bias from a CSV to a comparison: fair labels are those of a fair world, and judge only."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tests.app.cli.running import fails

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")


def made(rows: int, seed: int) -> pd.DataFrame:
    """Of women with a fair good job 60% have none; who repays follows from job and age, here and in a fair world.

    Of a woman without a good job the belief says: 20% + 50% · 0.3 / 0.8 and up to 25% by age, on both sides of a half;
    of a man 20% to 45%. So the belief changes decisions, and only about some women.
    """
    rng = np.random.default_rng(seed)
    sex, fair, age = rng.integers(0, 2, rows), rng.integers(0, 2, rows), rng.integers(20, 60, rows)
    job = np.where((sex == 1) & (rng.random(rows) < 0.6), 0, fair)
    older = 0.25 * (age - 20) / 40
    repaid, repaid_fair = ((rng.random(rows) < 0.2 + 0.5 * own + older).astype(int) for own in (job, fair))
    words = {"sex": np.where(sex, "F", "M"), "job": job, "job_fair": fair, "age": age}
    return pd.DataFrame({**words, "repaid": repaid, "repaid_fair": repaid_fair})


def test_from_a_csv_to_a_comparison(inside, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made(300, 0).drop(columns=["job_fair", "repaid_fair"]).to_csv("rows.csv", index=False)
    made(320, 1).to_csv("audit.csv", index=False)
    said = ["--belief", "historical", "--sensitive", "sex", "--group", "F"]
    run = inside("estimate", "audit.csv", *said, "--feature", "job", "--fair-feature", "job_fair", "-o", "belief.pl")
    assert "job recorded as 0 is fairly 1 where sex = F" in run.stdout
    options = ["rows.csv", "--belief", "belief.pl", "--recorded", "repaid", "--learner", "linear"]
    audit = ["--audit", "audit.csv", "--fair", "repaid_fair"]
    told = fails(inside("train", *options, *audit, "-o", "model.p4f"))
    assert told.startswith("by this belief, fair labels are those of a fair world")
    assert inside("train", *options, "--no-check", "-o", "model.p4f").returncode == 0
    assert inside("predict", "model.p4f", "rows.csv", "-o", "scored.csv").returncode == 0
    # It says nothing of labels that were recorded wrongly.
    assert list(pd.read_csv("scored.csv"))[-3:] == ["fair_probability", "fair_label", "recorded_probability"]
    run = inside("compare", *options, *audit, "--seeds", "1", "--folds", "2", "--json")
    found = json.loads(run.stdout)
    gaps = {
        row["method"]: row["mean"]
        for row in found["summary"]
        if (row["labels"], row["metric"]) == ("fair", "disparity")
    }
    assert abs(gaps["this model"]) < abs(gaps["without the sensitive column"])
