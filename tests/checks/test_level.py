"""True beliefs are not contradicted in settings that are hard for the tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.checks.reading import read_case
from problog4fairness.checks.tests.audited_rows import independence_test
from problog4fairness.checks.tests.calibration import audited_residuals, calibration_test
from problog4fairness.checks.tests.recorded_rows import range_test

LABELS = {"recorded": "granted", "fair": "repaid"}
pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")


def rare(seed, rows=1500, audited=300):
    """A group of 6%, and 5% of people with a fair 1."""
    rng = np.random.default_rng(seed)
    count = rows + audited
    frame = pd.DataFrame({"income": rng.normal(size=count), "area": (rng.random(count) < 0.06).astype(int)})
    fair = (rng.random(count) < 1 / (1 + np.exp(3.2 - frame["income"]))).astype(int)
    flipped = rng.random(count) < np.where(fair == 1, 0.2, 0.05)
    frame = frame.assign(granted=np.where(flipped, 1 - fair, fair), repaid=fair)
    return frame[:rows].drop(columns="repaid"), frame[rows:].reset_index(drop=True)


BELIEF = p4f.LabelBias("area", {0: 0.2, 1: 0.2}, {0: 0.05, 1: 0.05})


def test_the_variance_is_that_of_the_model_where_no_audited_row_has_the_rare_label():
    table, audit = rare(0)
    audit = audit[(audit["area"] == 0) | (audit["repaid"] == 0)]
    case = read_case(BELIEF, table, audit=audit, **LABELS)
    rows = case.audited
    group = case.groups[0][rows] == 1
    factors = np.zeros((len(rows), 2, 1))
    factors[:, 1, 0] = group
    found = audited_residuals(case, rows, factors, np.random.default_rng(0))
    expected = case.posterior[rows][group, 1]
    assert found.values[0] == pytest.approx(-expected.sum())
    assert found.variance[0] == pytest.approx((expected * (1 - expected)).sum())
    assert found.simulated.mean() == pytest.approx(0, abs=0.02)
    assert found.simulated.var() == pytest.approx(found.variance[0], rel=0.1)


def test_rare_labels_in_a_small_group_are_no_contradiction():
    """24 simulations of a true belief; at a level of 5%, five contradictions have a chance of less than 1%."""
    hits = np.zeros(2)
    for seed in range(24):
        table, audit = rare(seed)
        case = read_case(BELIEF, table, audit=audit, seed=seed, **LABELS)
        hits += [independence_test(case).p <= 0.05, calibration_test(case).p <= 0.05]
    assert (hits < 5).all(), hits


@pytest.mark.parametrize("lost", [0, 1])
def test_an_estimate_of_0_or_1_is_no_certainty(lost):
    """The only two audited people of a group with a fair 1 were recorded alike, and nobody else was."""
    table, audit = rare(1)
    small = audit["area"] == 1
    audit = audit[~small | (audit["repaid"] == 0) & (audit["granted"] == 0)]
    two = pd.DataFrame({"income": [0.0, 0.5], "area": 1, "granted": 1 - lost, "repaid": 1})
    audit = pd.concat([audit, two], ignore_index=True)
    belief = p4f.LabelBias("area").estimate(audit, **LABELS)
    assert belief.parameters[0].value == lost
    found = range_test(read_case(belief, table, audit=audit, **LABELS))
    assert found.p > 0.05


def test_what_larger_trees_take_away_is_not_decided():
    """Group and fair label depend on three features together, and on each other not at all given these."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(4400, 3)), columns=list("abc"))
    sign = np.sign(frame["a"] * frame["b"] * frame["c"])
    frame["area"] = (rng.random(4400) < np.where(sign > 0, 0.8, 0.2)).astype(int)
    fair = (rng.random(4400) < 1 / (1 + np.exp(-1.5 * sign))).astype(int)
    flipped = rng.random(4400) < np.where(fair == 1, 0.2, 0.05)
    frame = frame.assign(granted=np.where(flipped, 1 - fair, fair), repaid=fair)
    found = BELIEF.check(frame[:4000].drop(columns="repaid"), audit=frame[4000:].reset_index(drop=True), **LABELS)
    assert not found["group consistency"].contradicts
    assert found["group consistency"].finding.startswith("not decided")
    assert found["calibration"].p is None
