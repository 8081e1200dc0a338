"""Made-up people whose fair labels are known, and a bias that the tests choose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

import problog4fairness as p4f

TRUE = {"neg": (0.1, 0.4), "pos": (0.1, 0.05)}


@dataclass(frozen=True)
class People:
    """Recorded people, and audited ones beside them."""

    table: pd.DataFrame
    audit: pd.DataFrame


def people(rows=1500, audited=300, *, seed=0, moving=0.0, neg=TRUE["neg"], pos=TRUE["pos"]) -> People:
    """Whether somebody is recorded as ``granted`` depends on ``repaid`` and ``area``; with ``moving``, on ``age``."""
    rng = np.random.default_rng(seed)
    count = rows + audited
    frame = pd.DataFrame(
        {
            "income": rng.normal(size=count),
            "age": rng.normal(size=count),
            "job": rng.choice(["clerk", "nurse"], count),
            "area": rng.integers(0, 2, count),
        }
    )
    strength = 1.5 * frame["income"] - 0.5 * frame["age"] + (frame["job"] == "nurse")
    fair = (rng.random(count) < 1 / (1 + np.exp(-strength))).astype(int)
    lost = np.array(neg)[frame["area"]] + moving * np.sign(frame["age"])
    flipped = rng.random(count) < np.where(fair == 1, lost, np.array(pos)[frame["area"]])
    frame["granted"] = np.where(flipped, 1 - fair, fair)
    frame["repaid"] = fair
    return People(frame[:rows].drop(columns="repaid"), frame[rows:].reset_index(drop=True))


def belief(neg=TRUE["neg"], pos=TRUE["pos"]) -> p4f.LabelBias:
    """A belief with stated strengths."""
    return p4f.LabelBias("area", dict(enumerate(neg)), dict(enumerate(pos)))
