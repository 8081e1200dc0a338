"""Logistic regression through a belief."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

import problog4fairness as p4f
from problog4fairness.data import Rows
from problog4fairness.errors import TrainingError
from problog4fairness.learners import linear
from problog4fairness.learners.base import Task
from problog4fairness.learners.boosted import best_constant
from problog4fairness.learners.linear import PENALTIES, Linear, _best
from problog4fairness.learners.objective import BinaryObjective, ClassObjective, GeneralObjective, objective_of
from tests.learners.contract import LABEL, MEASUREMENT, PROGRAM, SELECTED, LearnerContract, people, recorded, rows_of
from tests.learners.observations import blend


class TestLinear(LearnerContract):
    def make(self):
        return Linear()


def test_without_a_belief_it_is_scikit_learns():
    frame, fair = people(500, 0)
    fitted = Linear(penalty=1.0).fit(p4f.NoBias(), rows_of(frame, fair))
    matrix = fitted.encoder.transform(frame, np.float64)
    matrix = (matrix - matrix.mean(0)) / matrix.std(0)
    reference = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(matrix, fair)
    np.testing.assert_allclose(fitted.log_proba(frame).exp(), reference.predict_proba(matrix), atol=1e-6)


def test_coefficients_have_names_and_the_units_of_their_column():
    frame, fair = people(4000, 0)
    table = Linear(penalty=0.0).fit(p4f.NoBias(), rows_of(frame.assign(x=frame["x"] * 1000 + 5), fair)).coefficients
    assert list(table.index) == ["x", "first", "second", "kind = u", "kind = v", "kind = w", "intercept"]
    assert table.loc["x", 0] == pytest.approx(2.5 / 1000, rel=0.1)
    assert table.loc["first", 0] == pytest.approx(2, abs=0.3)
    assert table.loc["kind = v", 0] - table.loc["kind = u", 0] == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize("belief", [p4f.NoBias(), LABEL, MEASUREMENT])
@pytest.mark.parametrize("penalty", ["auto", 3.0])
def test_a_row_of_weight_2_is_as_good_as_two(belief, penalty):
    frame, fair = people(150, 0)
    frame, label = recorded("label", frame, fair)
    times = np.random.default_rng(0).integers(0, 4, 150)
    weighted = Linear(penalty).fit(belief, rows_of(frame, label), weights=torch.from_numpy(times).double())
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(150), times))
    repeated = Linear(penalty).fit(belief, rows_of(frame.iloc[order].reset_index(drop=True), label[order]))
    assert weighted.penalty == repeated.penalty
    torch.testing.assert_close(weighted.log_proba(frame), repeated.log_proba(frame), rtol=1e-5, atol=1e-6)


def test_scikit_learn_agrees_that_weights_are_repetitions():
    model = p4f.DebiasedClassifier(learner="linear")
    check_sample_weight_equivalence_on_dense_data("DebiasedClassifier", model)


def test_few_rows_get_a_penalty_that_suits_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 20)), columns=[f"x{i}" for i in range(20)])
    noise = p4f.data.Rows(frame, tuple(frame.columns), recorded=rng.integers(0, 2, 60))
    assert Linear().fit(p4f.NoBias(), noise).penalty == 100.0
    many, fair = people(2000, 0)
    assert Linear().fit(p4f.NoBias(), rows_of(many, fair)).penalty == 1.0


def test_many_rows_end_where_exact_scoring_ends(monkeypatch):
    frame, fair = people(4000, 0)
    observation = LABEL.observe(rows_of(*recorded("label", frame, fair)))
    exact = Linear().fit(observation).log_proba(frame)
    monkeypatch.setattr("problog4fairness.learners.linear.LARGE", 1000)
    monkeypatch.setattr("problog4fairness.learners.linear.SAMPLE", 500)
    torch.testing.assert_close(Linear().fit(observation).log_proba(frame), exact, rtol=1e-3, atol=1e-4)


def test_folds_as_tasks():
    frame, fair = people(300, 0)
    observation = LABEL.observe(rows_of(*recorded("label", frame, fair)))
    part = torch.arange(200)
    (found,) = Linear().fit_many([Task(observation, train_rows=part)])
    alone = Linear().fit(LABEL, rows_of(*recorded("label", frame, fair)).take(part.numpy()))
    torch.testing.assert_close(found.log_proba(frame), alone.log_proba(frame), rtol=1e-5, atol=1e-6)


def test_separable_data_without_a_penalty_end():
    frame = pd.DataFrame({"x": np.arange(40.0)})
    fitted = Linear(penalty=0.0).fit(p4f.NoBias(), p4f.data.Rows(frame, ("x",), recorded=np.arange(40) // 20))
    assert bool(fitted.log_proba(frame).isfinite().all())


@pytest.mark.parametrize("penalty", [-1, "some", None, True, np.nan])
def test_a_bad_penalty_is_named(penalty):
    with pytest.raises(TrainingError, match=r"penalty=.* is not a number of at least 0, nor 'auto'"):
        Linear(penalty).check_options()


@pytest.mark.parametrize("kind", ["label", "measurement", "blend", "weighted", "classes"])
def test_slopes_in_closed_form_are_those_of_automatic_differentiation(kind):
    frame, fair = people(60, 0)
    if kind == "blend":
        observation = blend(40, 9)[1]
        observation.table = pd.DataFrame({"x": range(9)})
    elif kind == "classes":
        belief = p4f.ClassBias("a", (0, 1, 2), 0.1)
        observation = belief.observe(rows_of(frame, fair + (frame["kind"] == "w").to_numpy(), 3))
    else:
        belief = MEASUREMENT if kind == "measurement" else LABEL
        observation = belief.observe(rows_of(*recorded("label", frame, fair)))
    generator = torch.Generator().manual_seed(0)
    rows = torch.arange(0, len(observation), 2)
    weights = torch.rand(len(observation), generator=generator) if kind == "weighted" else None
    quick = objective_of(observation, rows, weights)
    assert isinstance(quick, ClassObjective if kind == "classes" else BinaryObjective)
    needed = observation.needs(rows)
    inputs, places = needed.unique(return_inverse=True)
    own = torch.ones(len(rows)).double() if weights is None else weights[rows].double()
    slow = GeneralObjective(observation, rows, inputs.numpy(), places.numpy(), own.numpy())
    np.testing.assert_array_equal(quick.inputs, slow.inputs)
    np.testing.assert_allclose(quick.input_weights, slow.input_weights)
    logits = 3 * torch.randn(len(inputs), observation.outputs, generator=generator).double().numpy()
    logits[0, 0] = 400.0
    (loss, gradient), (expected, slope) = quick.gradient(logits), slow.gradient(logits)
    assert loss == pytest.approx(expected) == pytest.approx(quick.loss(logits)) == pytest.approx(slow.loss(logits))
    np.testing.assert_allclose(gradient, slope, atol=1e-9)
    np.testing.assert_allclose(quick.gradient_and_curvature(logits)[0], slope, atol=1e-9)
    if kind in ("measurement", "blend", "classes"):
        np.testing.assert_allclose(
            quick.gradient_and_curvature(logits)[1], slow.gradient_and_curvature(logits)[1], atol=1e-9
        )


def test_a_program_that_is_not_affine():
    frame, fair = people(1200, 0)
    rng = np.random.default_rng(5)
    came = np.flatnonzero(rng.random(1200) < np.where(fair == 1, 0.9, 0.3))
    biased, label = recorded("program", frame, fair)
    rows = rows_of(biased, label).take(came)
    observation = p4f.ProgramBelief(SELECTED).observe(rows)
    objective = objective_of(observation)
    assert isinstance(objective, GeneralObjective)
    logits = rng.normal(size=(len(objective.inputs), 1))
    step = np.zeros_like(logits)
    step[3] = 1e-5
    slope = (objective.loss(logits + step) - objective.loss(logits - step)) / 2e-5
    assert objective.gradient(logits)[1][3, 0] == pytest.approx(slope, rel=1e-5)
    new, own = people(4000, 1)
    share = Linear(penalty=1.0).fit(observation).log_proba(new).exp()[:, 1].mean().item()
    among = Linear(penalty=1.0).fit(p4f.ProgramBelief(PROGRAM), rows).log_proba(new).exp()[:, 1].mean().item()
    assert share == pytest.approx(own.mean(), abs=0.05)
    assert among > own.mean() + 0.1


def test_rows_that_ask_the_same_are_one():
    frame = pd.DataFrame({"x": np.arange(400) % 4, "a": np.arange(400) // 4 % 2})
    rows = p4f.data.Rows(frame, ("x",), recorded=np.arange(400) // 8 % 2)
    objective = objective_of(LABEL.observe(rows))
    assert len(objective._weights) == 16
    assert objective.total == objective._weights.sum() == 400


@pytest.mark.parametrize("seed", range(12))
def test_the_best_constant_is_found_without_looking_where_only_rounding_differs(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=1667), "g": rng.integers(0, 2, 1667)})
    rows = Rows(frame, ("x",), (0, 1), (rng.random(1667) < 0.65).astype(np.int64))
    objective = objective_of(p4f.LabelBias("g", {1: 0.3, 0: 0.05}, 0.02).observe(rows))
    looked, look = [], linear._penalised
    monkeypatch.setattr(linear, "_penalised", lambda *given: looked.append(1) or look(*given))
    constant = best_constant(objective, 1)
    _, slope = objective.gradient(np.full((len(objective.inputs), 1), constant[0]))
    assert abs(slope.sum()) <= linear.TOLERANCE * objective.total
    assert len(looked) < 40


AUDITED = np.arange(200) < 100
ONES = np.ones(200)


def losses(recorded: tuple[float, ...], fair: tuple[float, ...]) -> np.ndarray:
    """Losses of 100 audited and 100 other rows under each penalty, with differences of either sign between rows."""
    noise = np.outer(np.arange(len(fair)), np.tile([-0.3, 0.3], 50))
    return np.concatenate([np.array(fair)[:, None] + noise, np.array(recorded)[:, None] + noise], axis=1)


def test_they_decide_between_penalties_that_are_as_good_for_recorded_rows():
    found = losses((0.50, 0.51, 0.90), (0.7, 0.5, 0.0))
    assert _best(found, ONES, None) == 2
    # The third is much worse for recorded rows, the second within chance.
    assert _best(found, ONES, AUDITED) == 1
    assert _best(found, ONES, np.ones(200, dtype=bool)) == 2


def test_a_weight_of_two_is_two_rows():
    found = losses((0.50, 0.52, 0.56), (0.7, 0.5, 0.3))
    twice = np.concatenate([found, found[:, 150:]], axis=1)
    weights = np.where(np.arange(200) < 150, 1.0, 2.0)
    again = _best(twice, np.ones(250), np.arange(250) < 100)
    assert _best(found, weights, AUDITED) == again


@pytest.mark.parametrize("audited", [0, 300])
def test_a_model_takes_one_of_them(audited):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 30))
    fair = (x[:, 0] + rng.normal(size=500) > 0).astype(int)
    area = rng.integers(0, 2, 500)
    recorded = np.where((area == 1) & (rng.random(500) < 0.4), 0, fair)
    belief = p4f.LabelBias("area", {1: 0.4}, False, affected=[1])
    known = np.where(np.arange(500) < audited, fair, np.nan)
    model = p4f.DebiasedClassifier(belief, "linear").fit(x, recorded, sensitive_features=area, fair=known)
    own = getattr(model.fitted_, "fitted", model.fitted_)
    assert own.penalty in PENALTIES
