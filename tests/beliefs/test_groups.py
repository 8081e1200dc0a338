"""Groups that are texts, and one group against all others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError

ROWS, LOST = 3000, 0.4
SHARES = {"African-American": 0.45, "Caucasian": 0.35, "Hispanic": 0.1, "Other": 0.07, "Asian": 0.02, "Native": 0.01}
RNG = np.random.default_rng(0)


def people():
    """Six races, two of them small; favourable labels are lost in one."""
    race = RNG.choice(list(SHARES), ROWS, p=list(SHARES.values()))
    x = RNG.normal(size=ROWS)
    fair = (RNG.random(ROWS) < 1 / (1 + np.exp(-1.5 * x - 0.5))).astype(int)
    lost = (race == "African-American") & (RNG.random(ROWS) < LOST)
    return pd.DataFrame({"x": x, "race": race, "released": np.where(lost, 0, fair), "fair": fair})


TABLE = people()
AUDIT = p4f.Audit.of(TABLE.sample(600, random_state=0), sampling="random")


@pytest.mark.parametrize("groups", ["African-American", ["African-American"]])
def test_one_of_six_groups_is_compared_with_all_others(groups):
    belief = p4f.LabelBias("race", positive=False, affected=groups)
    belief = belief.estimate(AUDIT, recorded="released", fair="fair")
    assert list(belief.parameter_table().index) == ["p1"]
    assert belief.parameter_table()["value"].item() == pytest.approx(LOST, abs=0.1)
    assert p4f.Belief.from_json(belief.to_json()) == belief
    coded = TABLE.assign(race=(TABLE["race"] == "African-American").astype(int))
    stated = p4f.LabelBias("race", belief.parameter_table()["value"].item(), False, affected=[1])
    fits = [
        p4f.DebiasedClassifier(own, "linear", random_state=0).fit(
            frame[["x"]], frame["released"], sensitive_features=frame["race"]
        )
        for own, frame in ((belief, TABLE), (stated, coded))
    ]
    ours, coded_by_hand = (fit.predict_proba(TABLE[["x"]]) for fit in fits)
    np.testing.assert_allclose(ours, coded_by_hand, atol=1e-6)
    disparity = [
        p4f.metrics.statistical_disparity(TABLE["released"], sensitive_features=frame["race"], groups=groups)
        for frame, groups in ((TABLE, belief.columns.groups["race"]), (coded, (0, 1)))
    ]
    assert disparity[0] == disparity[1]


def test_several_named_groups_and_everybody_else():
    belief = p4f.LabelBias("race", positive=False, affected=["African-American", "Hispanic"])
    belief = belief.estimate(AUDIT, recorded="released", fair="fair")
    assert belief.parameter_table()["value"].to_dict() == {
        "neg('African-American')": pytest.approx(LOST, abs=0.1),
        "neg('Hispanic')": 0,
    }


@pytest.mark.parametrize(
    "made",
    [
        lambda groups: p4f.ClassBias("race", ["a", "b", "c"], affected=groups),
        lambda groups: p4f.MeasurementBias(["u"], "race", affected=groups),
        lambda groups: p4f.NumericMeasurementBias(["u"], "race", affected=groups),
        lambda groups: p4f.RowBias("race", p4f.depends_on({"z": [0, 1]}), affected=groups),
        lambda groups: p4f.HistoricalBias(["u"], "race", affected=groups),
    ],
)
def test_every_template_with_groups_takes_their_names(made):
    assert made("Asian").columns.groups["race"] == ("not Asian", "Asian")
    assert made([1]).columns.groups["race"] == (0, 1)


def test_a_group_that_nobody_is_in_is_an_error():
    belief = p4f.LabelBias("race", 0.3, False, affected="african american")
    with pytest.raises(P4FError, match="african american"):
        p4f.DebiasedClassifier(belief, "linear").fit(TABLE[["x"]], TABLE["released"], sensitive_features=TABLE["race"])
