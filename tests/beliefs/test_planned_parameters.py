"""Planned audits of beliefs whose parameters are not counted one by one: they stop by the parameters, and cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs.belief import Belief

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
ROWS = 20_000
STRENGTH = {"p": 0.1, "q": 0.3, "r": 0.5}


def table(seed: int) -> pd.DataFrame:
    """People with a group, another one, an officer, and a fair label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: (rng.random(ROWS) < 0.3).astype(int) for name in ("a", "b")})
    return frame.assign(officer=rng.choice(list(STRENGTH), ROWS), fair=(rng.random(ROWS) < 0.45).astype(int))


def chained(frame: pd.DataFrame, rng: Any) -> tuple[Belief, Any, dict[str, float]]:
    """Two label biases, one after the other."""
    first = np.where((frame["a"] == 1) & (rng.random(ROWS) < 0.3), 0, frame["fair"])
    second = np.where((frame["b"] == 1) & (rng.random(ROWS) < 0.25), 0, first)
    stages = (p4f.LabelBias(name, positive=False, affected=[1]) for name in ("a", "b"))
    return p4f.chain(*stages), second, {"p1_a": 0.3, "p1_b": 0.25}


def by_officer(frame: pd.DataFrame, rng: Any) -> tuple[Belief, Any, dict[str, float]]:
    """A bias that depends on the officer."""
    lost = (frame["a"] == 1) & (rng.random(ROWS) < frame["officer"].map(STRENGTH))
    belief = p4f.RowBias("a", p4f.depends_on("officer"), False, affected=[1])
    return belief, np.where(lost, 0, frame["fair"]), {f"neg(1,{name})": own for name, own in STRENGTH.items()}


def with_noise(frame: pd.DataFrame, rng: Any) -> tuple[Belief, Any, dict[str, float]]:
    """A bias against a group, and mistakes with anybody."""
    lost = np.where((frame["a"] == 1) & (rng.random(ROWS) < 0.3), 0, frame["fair"])
    belief = p4f.LabelBias("a", positive=False, affected=[1], noise=None)
    return belief, np.where(rng.random(ROWS) < 0.05, 1 - lost, lost), {"p1": 0.3, "p_noise": 0.05}


def audited(belief: Belief, frame: pd.DataFrame, recorded: Any, seed: int) -> tuple[Any, Belief]:
    """The plan that says stop, and the estimate from its rows."""
    people = frame.drop(columns="fair").assign(recorded=recorded)
    pilot = None
    for _ in range(20):
        plan = belief.plan_audit(people, recorded="recorded", fair="fair", pilot=pilot)
        if plan.stop:
            break
        pilot = plan.draw(random_state=seed)
        pilot["fair"] = frame["fair"].loc[pilot["row"].astype(int)].to_numpy()
    return plan, belief.estimate(pilot, recorded="recorded", fair="fair")


@pytest.mark.parametrize("made", [chained, by_officer, with_noise])
def test_a_plan_stops_where_the_parameters_are_known(made: Any) -> None:
    held = []
    for seed in range(4):
        frame = table(seed)
        belief, recorded, truth = made(frame, np.random.default_rng([seed, 1]))
        plan, found = audited(belief, frame, recorded, seed)
        assert plan.stop
        assert plan.audited < ROWS / 10
        known = found.parameter_table().loc[list(truth)]
        assert ((known["high"] - known["low"]) / 2 <= 0.1).all()
        held += [known.loc[name, "low"] <= own <= known.loc[name, "high"] for name, own in truth.items()]
    assert np.mean(held) >= 0.75


def test_parameters_that_nothing_can_tell_apart_are_named() -> None:
    frame = table(0)
    belief, rng = p4f.LabelBias("a", noise=None), np.random.default_rng(1)
    recorded = np.where(rng.random(ROWS) < 0.1, 1 - frame["fair"], frame["fair"])
    plan, _ = audited(belief, frame, recorded, 0)
    assert plan.stop
    assert any("p_noise" in note and "apart" in note for note in plan.notes)
