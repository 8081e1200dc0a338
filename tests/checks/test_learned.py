"""Parameters learned from recorded rows, and which parameters can be told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f

BELIEF = p4f.LabelBias("group", positive=False)


def recorded(rows=3000, seed=0, negative=(0.1, 0.4)):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    columns = rng.normal(size=(rows, 3)) - 0.5 * group[:, None]
    fair = (rng.random(rows) < 1 / (1 + np.exp(-(columns @ [2.0, -1.5, 1.0] + 0.2)))).astype(int)
    lost = rng.random(rows) < np.array(negative)[group]
    frame = pd.DataFrame(columns, columns=["first", "second", "third"]).assign(group=group)
    return frame, fair, np.where(lost, 0, fair)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_recorded_rows_tell_how_many_were_turned_down(seed):
    frame, _, y = recorded(seed=seed)
    found = p4f.checks.learn_parameters(BELIEF, frame, y, learn=["p1", "p2"])
    for parameter, true in zip(found.parameters, (0.4, 0.1), strict=True):
        assert parameter.low - 0.02 < true < parameter.high + 0.02
        assert parameter.high - parameter.low < 0.15
        assert parameter.source == "likelihood of 3000 recorded rows with a linear learner (penalty 1)"
    draws = found.draws(500, random_state=0)
    spread = np.std([drawn.parameters[0].value for drawn in draws])
    assert spread == pytest.approx((found.parameters[0].high - found.parameters[0].low) / 3.92, rel=0.15)


def test_what_is_known_of_others_is_kept_and_the_model_can_be_trained():
    frame, _, y = recorded(800)
    found = p4f.checks.learn_parameters(BELIEF.bind({"p2": 0.1}), frame, y, learn="p1")
    assert found.parameters[1].value == 0.1
    assert p4f.DebiasedClassifier(found, "linear").fit(frame, y, draws=10).uncertainty_ is not None
    assert p4f.beliefs.read_belief(p4f.beliefs.belief_text(found)) == found


def test_what_rows_cannot_tell_stays_unknown_and_is_said():
    """Without a column that says anything, the rates of two groups do not tell two parameters."""
    frame, _, y = recorded()
    noise = pd.DataFrame({"noise": np.random.default_rng(1).normal(size=len(y)), "group": frame["group"]})
    with pytest.warns(
        p4f.audit.AuditWarning, match="recorded rows do not tell p1, p2; audit some rows, or give a prior"
    ):
        found = p4f.checks.learn_parameters(BELIEF, noise, y, learn=["p1", "p2"])
    assert [parameter.value for parameter in found.parameters] == [None, None]


def test_priors_count_where_data_are_few_and_hardly_where_they_are_many():
    prior = {"p1": p4f.statistics.Beta(10, 90)}
    frame, _, y = recorded(12_000)
    start = BELIEF.bind({"p2": 0.1})
    values = {}
    for rows in (100, 12_000):
        known = p4f.checks.learn_parameters(start, frame[:rows], y[:rows], learn="p1", prior=prior)
        values[rows] = known.parameters[0].value
    assert values[100] == pytest.approx(0.1, abs=0.07)
    assert values[12_000] == pytest.approx(0.4, abs=0.06)
    assert known.parameters[0].source.endswith("prior Beta(10, 90)")


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_stages_that_do_the_same_work_cannot_be_told_apart():
    frame, fair, y = recorded(800)
    audit = frame.assign(other=frame["group"], fair=fair, recorded=y)
    stages = [p4f.LabelBias(name, positive=False, affected=[1]) for name in ("group", "other")]
    belief = p4f.chain(*stages).estimate(audit, recorded="recorded", fair="fair")
    found = p4f.checks.identifiability(belief)
    names = tuple(parameter.name for parameter in belief.parameters)
    assert found.groups[0][0] == names
    cell = audit[(audit["group"] == 1) & (audit["fair"] == 1)]
    assert found.groups[0][1] == pytest.approx(1.96 * np.sqrt(0.24 / len(cell)), rel=0.3)
    assert f"{names[0]} and {names[1]} cannot be told apart; their combined effect is known to ±.0" in str(found)
    assert "<p>" in found._repr_html_()
    assert not found.table["identified"].any()


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_audit_and_recorded_rows_tell_together():
    frame, fair, y = recorded()
    belief = BELIEF.estimate(frame.assign(recorded=y, fair=fair)[:200], recorded="recorded", fair="fair")
    alone, both = p4f.checks.identifiability(belief), p4f.checks.identifiability(belief, frame, y)
    assert (both.table["within"] < 0.8 * alone.table["within"]).all()
    assert "By the audit and 3,000 recorded rows." in str(both)
    assert "Known: p1 to ±." in str(alone)
    learned = p4f.checks.learn_parameters(BELIEF, frame, y, learn=["p1", "p2"])
    again = p4f.checks.identifiability(learned, frame, y).table["within"]
    assert again.to_numpy() == pytest.approx(p4f.checks.identifiability(learned).table["within"].to_numpy(), rel=0.2)


def test_bad_input():
    frame, _, y = recorded(100)
    with pytest.raises(p4f.errors.UnknownNameError, match="no parameter 'p9'; it has p1, p2"):
        p4f.checks.learn_parameters(BELIEF, frame, y, learn="p9")
    with pytest.raises(p4f.errors.P4FError, match="learn is empty; name some of p1, p2"):
        p4f.checks.learn_parameters(BELIEF, frame, y, learn=[])
    with pytest.raises(p4f.errors.P4FError, match="parameter p2 is unknown and not learned"):
        p4f.checks.learn_parameters(BELIEF, frame, y, learn="p1")
    with pytest.raises(p4f.errors.P4FError, match="the prior of p1 must be a Beta, not tuple"):
        p4f.checks.learn_parameters(BELIEF.bind({"p2": 0.1}), frame, y, learn="p1", prior={"p1": (2, 8)})
    with pytest.raises(p4f.errors.P4FError, match="nothing was estimated"):
        p4f.checks.identifiability(p4f.LabelBias("group", 0.2, 0.1))
