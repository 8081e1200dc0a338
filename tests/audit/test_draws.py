"""Beliefs drawn from what an audit leaves open, and priors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs import belief_of


def audit(rows=400, seed=0, negative=0.4, classes=2):
    rng = np.random.default_rng(seed)
    area, fair = rng.integers(0, 2, rows), rng.integers(0, classes, rows)
    recorded = np.where((area == 1) & (fair > 0) & (rng.random(rows) < negative), 0, fair)
    return pd.DataFrame({"area": area, "fair": fair, "recorded": recorded})


def estimated(belief, rows=400, **options):
    return belief.estimate(audit(rows), recorded="recorded", fair="fair", **options)


def values(draws, name):
    return np.array([{own.name: own.value for own in drawn.parameters}[name] for drawn in draws])


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_counted_parameters_spread_as_their_intervals_say():
    belief = estimated(p4f.LabelBias("area"))
    draws = belief.draws(4000, random_state=0)
    for own in belief.parameters:
        found = values(draws, own.name)
        assert np.quantile(found, [0.025, 0.975]) == pytest.approx([own.low, own.high], abs=0.015)
    assert abs(np.corrcoef(values(draws, "p1"), values(draws, "p2"))[0, 1]) < 0.05


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_draws_are_beliefs_that_can_be_used_and_come_again_from_their_seed():
    belief = estimated(p4f.LabelBias("area"))
    first, again = belief.draws(3, random_state=7), belief.draws(3, random_state=7)
    assert first == again
    assert first[0] != first[1]
    assert all(own.low is None for drawn in first for own in drawn.parameters)
    assert belief.draws(1, random_state=np.random.default_rng(7))[0] == belief.draws(1, random_state=7)[0]


def test_what_was_stated_stays_unless_it_has_a_prior():
    belief = p4f.LabelBias("area", negative={1: 0.3, 0: 0.1}, positive=False)
    assert belief.draws(2, random_state=0) == [belief, belief]
    some = belief.with_priors({"p1": p4f.statistics.Beta(30, 70)})
    draws = some.draws(2000, random_state=0)
    assert set(values(draws, "p2")) == {0.1}
    assert values(draws, "p1").mean() == pytest.approx(0.3, abs=0.01)
    assert values(draws, "p1").std() == pytest.approx(0.0456, abs=0.004)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_shares_of_one_cell_sum_to_one_at_most():
    belief = p4f.ClassBias("area", ["a", "b", "c"])
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"area": rng.integers(0, 2, 60), "fair": rng.choice(list("abc"), 60)})
    frame["recorded"] = rng.choice(list("abc"), 60)
    found = belief.estimate(frame, recorded="recorded", fair="fair").draws(200, random_state=0)
    for drawn in found:
        assert float(drawn.label_table().min()) >= 0


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_a_chain_is_drawn_by_the_effect_that_its_stages_have_together():
    """Two stages do the same work: alone each may be anything, together they are known within ±.07."""
    frame = audit(800).assign(other=lambda own: own["area"])
    both = p4f.chain(
        p4f.LabelBias("area", positive=False, affected=[1]), p4f.LabelBias("other", positive=False, affected=[1])
    )
    belief = both.estimate(frame, recorded="recorded", fair="fair")
    assert "penalised by 1 per unit" in belief.parameters[0].source
    draws = belief.draws(500, random_state=0)
    effect = np.array([float(drawn.label_table()[-1, 1, 0]) for drawn in draws])
    fair = frame[(frame["area"] == 1) & (frame["fair"] == 1)]
    share = (fair["recorded"] == 0).mean()
    assert effect.mean() == pytest.approx(share, abs=0.02)
    assert effect.std() == pytest.approx(np.sqrt(share * (1 - share) / len(fair)), rel=0.25)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_joint_estimates_stay_probabilities_and_keep_what_is_drawn_from_when_saved():
    belief = estimated(p4f.LabelBias("area", positive=False, noise=None))
    draws = belief.draws(500, random_state=0)
    noise = values(draws, "p_noise")
    assert 0 <= noise.min() <= noise.max() < 0.1
    assert belief_of(belief.to_json()).draws(5, random_state=1) == belief.draws(5, random_state=1)
    back = p4f.beliefs.read_belief(p4f.beliefs.belief_text(belief))
    assert back.draws(5, random_state=1) == belief.draws(5, random_state=1)
    assert p4f.chain(belief, p4f.LabelBias("area", 0.0, 0.0)).draws(50, random_state=0)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_priors_shrink_where_rows_are_few_and_hardly_where_they_are_many():
    prior = {"p1": p4f.statistics.Beta(2, 8)}
    few = estimated(p4f.LabelBias("area", positive=False, affected=[1]), 20, prior=prior).parameters[0]
    plain = estimated(p4f.LabelBias("area", positive=False, affected=[1]), 20).parameters[0]
    seen = plain.value * plain.rows
    assert few.value == pytest.approx((2 + seen) / (10 + plain.rows))
    assert few.source == "prior Beta(2, 8)"
    many = estimated(p4f.LabelBias("area", positive=False, affected=[1]), 20_000, prior=prior).parameters[0]
    assert many.value == pytest.approx(0.4, abs=0.02)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_priors_decide_between_stages_that_no_audit_tells_apart():
    frame = audit(800).assign(other=lambda own: own["area"])
    both = p4f.chain(
        p4f.LabelBias("area", positive=False, affected=[1]), p4f.LabelBias("other", positive=False, affected=[1])
    )
    first, second = (own.name for own in both.parameters)
    prior = {first: p4f.statistics.Beta(200, 800), second: p4f.statistics.Beta(1, 1)}
    found = both.estimate(frame, recorded="recorded", fair="fair", prior=prior).parameters
    assert found[0].value == pytest.approx(0.2, abs=0.03)
    assert found[0].source == "likelihood with the prior Beta(200, 800)"
    assert 1 - (1 - found[0].value) * (1 - found[1].value) == pytest.approx(0.4, abs=0.05)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_features_have_priors_too():
    belief = p4f.MeasurementBias("q", "area", positive=False)
    frame = pd.DataFrame({"area": [0, 1] * 40, "q": [0, 0, 1, 1] * 20, "fair_q": [0, 1, 1, 1] * 20})
    name = belief.parameters[0].name
    found = belief.estimate(frame, recorded={"q": "q"}, fair={"q": "fair_q"}, prior={name: p4f.statistics.Beta(10, 10)})
    assert found.parameters[0].prior == p4f.statistics.Beta(10, 10)
    assert len(found.draws(5, random_state=0)) == 5


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"p1": 0.3}, "the prior of p1 must be a Beta, not float; write p4f.statistics.Beta"),
        ({"p9": p4f.statistics.Beta(1, 1)}, "no parameter 'p9'; it has p1"),
        ([p4f.statistics.Beta(1, 1)], "prior must be a mapping"),
    ],
)
def test_a_prior_of_the_wrong_kind(prior, message):
    belief = p4f.LabelBias("area", positive=False, affected=[1])
    with pytest.raises(p4f.errors.P4FError, match=message):
        estimated(belief, prior=prior)
    with pytest.raises(p4f.errors.P4FError, match=message):
        belief.with_priors(prior)


@pytest.mark.parametrize("numbers", [(0, 1), (1, -2), (float("nan"), 1), ("a", 1), (True, 1), (float("inf"), 1)])
def test_a_beta_of_no_numbers(numbers):
    with pytest.raises(p4f.errors.P4FError, match="both must be numbers above 0"):
        p4f.statistics.Beta(*numbers)


def test_other_bad_input():
    belief = p4f.LabelBias("area", 0.2, 0.1)
    with pytest.raises(p4f.errors.P4FError, match="count=0 is not a whole number"):
        belief.draws(0)
    with pytest.raises(p4f.errors.P4FError, match="random_state='x' is not a seed"):
        belief.draws(1, random_state="x")
    with pytest.raises(p4f.errors.MissingValueError, match="p1, p2"):
        p4f.LabelBias("area").draws(1)
    together = estimated(p4f.LabelBias("area", positive=False, affected=[1], noise=None))
    with pytest.raises(p4f.errors.P4FError, match="p1 was not simply counted"):
        together.with_priors({"p1": p4f.statistics.Beta(1, 1)})


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_an_audit_drawn_by_what_was_recorded_is_drawn_by_its_design():
    table = audit(4000)
    some = table.groupby(["area", "recorded"]).sample(60, random_state=0)
    belief = p4f.LabelBias("area", positive=False, affected=[1])
    belief = belief.estimate(some, recorded="recorded", fair="fair", drawn_from=table)
    assert belief._design is not None
    (own,) = belief.parameters
    found = values(belief.draws(2000, random_state=0), "p1")
    assert np.quantile(found, [0.025, 0.975]) == pytest.approx([own.low, own.high], abs=0.03)
    assert belief.draws(2, random_state=3) == belief.draws(2, random_state=3)
