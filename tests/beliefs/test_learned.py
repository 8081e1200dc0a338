"""Parameters that were learned from the record: plans, draws and intervals know how sure they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f

NAMES = ["ann", "bob", "eve"]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": 2 * rng.normal(size=500), "area": rng.integers(0, 2, 500)})
    fair = (rng.random(500) < 1 / (1 + np.exp(-2 * frame["x"]))).astype(int)
    frame["seen"] = fair * (rng.random(500) < 0.5)
    frame["paid"] = np.where(rng.random(500) < np.where(fair == 1, 0.7, 0.3), fair, np.nan)
    return frame.assign(**{name: np.where(rng.random(500) < 0.2, 1 - fair, fair) for name in NAMES})


CASES = {
    "positive": (p4f.PositiveUnlabelled("area"), "seen"),
    "selective": (p4f.SelectiveLabels("area"), "paid"),
    "annotators": (p4f.Annotators(NAMES, "area"), NAMES),
}


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
@pytest.mark.parametrize("name", CASES)
def test_plans_draws_and_bands(people, name):
    belief, recorded = CASES[name]
    one = recorded if isinstance(recorded, str) else None
    found = belief.estimate(people, recorded=one, features=["x"])
    assert found.plan_audit(people, recorded=one).to_draw > 0
    drawn = np.array([[own.value for own in one.parameters] for one in found.draws(300, random_state=0)])
    widths = np.array([own.high - own.low for own in found.parameters])
    spread = np.quantile(drawn, 0.975, axis=0) - np.quantile(drawn, 0.025, axis=0)
    assert ((spread > 0.5 * widths) & (spread < 1.3 * widths)).all()
    again = p4f.Belief.from_json(found.to_json())
    assert again.draws(1, random_state=1)[0] == found.draws(1, random_state=1)[0]
    model = p4f.DebiasedClassifier(found, "linear", random_state=0)
    model.fit(people[["x"]], people[recorded], sensitive_features=people[["area"]], draws=10)
    intervals = model.uncertainty(people[["x"]]).people
    assert (intervals["low"] <= intervals["high"]).all()
    assert (intervals["high"] - intervals["low"]).mean() > 0.005
