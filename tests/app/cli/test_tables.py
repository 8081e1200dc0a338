"""All commands on tables that are wide, sparse, or have rare, many or missing values: each works, in silence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.filterwarnings(
    "ignore::problog4fairness.data.FileWarning", "ignore::problog4fairness.audit.reading.AuditWarning"
)

ROWS = 240


def people(seed=0, rows=ROWS):
    """A feature, the group, the recorded and the fair label."""
    rng = np.random.default_rng(seed)
    x, a = rng.normal(size=rows).round(3), rng.integers(0, 2, rows)
    fair = (x + rng.normal(scale=0.5, size=rows) > 0).astype(int)
    recorded = np.where((a == 1) & (rng.random(rows) < 0.4), 0, fair)
    return pd.DataFrame({"x": x, "a": a, "y": recorded, "fair": fair}), rng


def wide(frame, rng):
    more = pd.DataFrame(rng.normal(size=(ROWS, 150)).round(2), columns=[f"w{i}" for i in range(150)])
    return pd.concat([frame, more, (more.iloc[:, :20] > 0).astype(str).add_prefix("t")], axis=1)


def sparse(frame, rng):
    there = rng.random((ROWS, 120)) < 0.02
    return pd.concat([frame, pd.DataFrame(np.where(there, 1.5, np.nan)).add_prefix("s")], axis=1)


def rare(frame, rng):
    return frame.assign(city=np.where(np.arange(ROWS) == 7, "once", np.where(np.arange(ROWS) < 3, "few", "often")))


def many(frame, rng):
    frame, rng = people(rows=1500)
    return frame.assign(city=[f"city {i}" for i in rng.integers(0, 400, len(frame))])


def empty(frame, rng):
    return frame.assign(nothing=np.nan, text=np.where(np.arange(ROWS) % 50, None, "v"), one=[1.0, *[np.nan] * 239])


def mixed(frame, rng):
    return frame.assign(code=np.where(rng.random(ROWS) < 0.1, "7A", rng.integers(0, 9, ROWS).astype(str)))


@pytest.mark.parametrize("kind", [wide, sparse, rare, many, empty, mixed])
def test_all_commands(kind, tmp_path, inside):
    frame = kind(*people())
    at = {name: tmp_path / f"{name}.csv" for name in ("data", "audit", "drawn", "scored")}
    frame.drop(columns="fair").to_csv(at["data"], index=False)
    frame[: len(frame) // 2].to_csv(at["audit"], index=False)
    belief, model = tmp_path / "belief.pl", tmp_path / "model.p4f"
    roles = ["--sensitive", "a", "--recorded", "y", "--favourable", "1"]
    audit = ["--audit", at["audit"], "--fair", "fair"]
    for words in (
        ["plan", "--data", at["data"], *roles, "--group", "1", "--draw", at["drawn"]],
        ["estimate", at["audit"], *roles, "--group", "1", "--fair", "fair", "-o", belief],
        ["train", at["data"], "--belief", belief, *roles, "--learner", "network", "--epochs", "2", "-o", model],
        ["predict", model, at["data"], "-o", at["scored"]],
        ["compare", at["data"], "--belief", belief, *roles, *audit, "--seeds", "1", "--folds", "2", "-o", tmp_path],
        [
            "report",
            model,
            "--data",
            at["data"],
            *audit,
            "--no-comparison",
            "--no-sensitivity",
            "-o",
            tmp_path / "r.html",
        ],
    ):
        run = inside(*words)
        told = [line for line in run.stderr.splitlines() if not line.startswith(("warning: ", "note: "))]
        assert (run.returncode, told) == (0, []), words[0]
    scored = pd.read_csv(at["scored"])
    assert scored["fair_probability"].between(0, 1).all()
