"""The studies on made-up people: their grids, numbers, figure and claims."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from problog4fairness.errors import P4FError
from studies.engine.report import summary_of
from studies.engine.run import identity_of, run
from studies.methods import INFORMED, METHODS
from studies.synthetic import assumption, bias_sweep, dependent
from studies.synthetic_claims import claims
from studies.synthetic_figure import ROWS, draw
from tests.studies.tiny import tiny


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    study = tiny()
    return study, run(study, tmp_path_factory.mktemp("stacks"))


def test_the_paper_s_grids():
    sweep, other, wrong = bias_sweep(), dependent(), assumption()
    assert list(METHODS) == ["ours", "upper", "lower", "unawareness", "massaging", "parity", INFORMED]
    assert sweep.biases == ("label", "measurement", "historical")
    assert sorted({point.x for point in sweep.points}) == pytest.approx([i / 10 for i in range(10)])
    assert (len(sweep.points), len(sweep.seeds), sweep.folds) == (30, 5, 5)
    assert {point.tested_on for point in sweep.points if point.bias == "historical"} == {"recorded"}
    assert {point.tested_on for point in sweep.points if point.bias != "historical"} == {"fair"}
    assert not any(point.dependent for point in sweep.points)
    assert all(point.dependent for point in other.points)
    assert {point.settings.label_bias for point in wrong.points if point.bias == "label"} == {0.3}
    assert [p.assumed.label_bias for p in wrong.points if p.bias == "label"] == [p.x for p in other.points]
    training = sweep.training
    assert (training.hidden, training.learning_rate, training.batch_size) == ((32, 32, 32), 3e-4, 64)


def test_one_fit_for_all_that_can_share_one():
    sizes = {name: sum(plan.method == name for plan in bias_sweep().stacks()) for name in ("ours", "upper", INFORMED)}
    # The fair people do not depend on the bias; only under historical bias are methods tested on recorded features.
    assert sizes == {"ours": 30, "upper": 1, INFORMED: 10}
    ours = [plan for plan in assumption().stacks() if plan.method == "ours"]
    assert [plan.cells for plan in ours] == [250, 250, 250]  # all β̂, seeds and folds of a kind of bias


def test_quick_is_smaller():
    assert len(bias_sweep(quick=True).points) == 12
    assert bias_sweep(quick=True, seeds=3, folds=4).seeds == (0, 1, 2)
    assert bias_sweep(quick=True, seeds=3, folds=4).folds == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": ()}, "no seeds"),
        ({"folds": 1}, "folds must be 2 or more"),
        ({"rows": 30}, "too few"),
        ({"methods": ("ours", "theirs")}, "no method 'theirs'"),
    ],
)
def test_errors(changes, message):
    with pytest.raises(P4FError, match=message):
        replace(bias_sweep(), **changes)


def measured_points(study):
    """The points of all methods: upper on recorded features has only those that are tested on recorded features."""
    recorded = sum(point.tested_on == "recorded" for point in study.points)
    return sum(recorded if method == INFORMED else len(study.points) for method in study.methods)


def test_every_cell_has_its_numbers(finished):
    study, outcome = finished
    results = outcome.results
    assert not outcome.failures
    assert outcome.computed == len(study.stacks())
    assert len(results) == measured_points(study) * 2 * 2 * 4
    assert not results.duplicated(["bias", "x", "method", "seed", "fold", "metric"]).any()
    assert len(study.claims(results)) == 21


@pytest.mark.parametrize("study", [tiny(dependent(betas=[0.3])), tiny(assumption(betas=[0.0, 0.3]))])
def test_other_studies_run(tmp_path, study):
    outcome = run(study, tmp_path, jobs=2)
    assert not outcome.failures
    assert len(outcome.results) == measured_points(study) * 2 * 2 * 4
    # What a method assumes does not change those that assume nothing.
    for _, own in outcome.results.query("method != 'ours'").groupby(["bias", "method", "seed", "fold", "metric"]):
        assert own["value"].nunique() == 1


def test_everything_that_matters_is_in_the_identity():
    stack = next(stack for stack in tiny().stacks() if stack.method == "ours")
    changed = [
        replace(stack, seeds=(0, 2)),
        replace(stack, folds=3),
        replace(stack, rows=300),
        replace(stack, method="lower"),
        replace(stack, training=replace(stack.training, max_epochs=3)),
        replace(stack, points=(replace(stack.points[0], x=0.05),)),
        replace(stack, points=(replace(stack.points[0], settings=replace(stack.points[0].settings, sigma_y=1.0)),)),
        replace(stack, points=(replace(stack.points[0], assumed=stack.points[0].settings),)),
    ]
    found = [identity_of(one) for one in (stack, *changed)]
    assert all(found.count(one) == 1 for one in found)
    assert identity_of(replace(stack)) == found[0]


def test_the_figure_shows_the_summary(finished):
    study, outcome = finished
    summary = summary_of(outcome.results)
    axes = draw(study, summary).axes
    assert len(axes) == 6
    grid = np.array(axes).reshape(2, 3)
    for row, (metric, _) in enumerate(ROWS):
        for column, bias in enumerate(study.biases):
            lines = {line.get_label(): line for line in grid[row, column].lines}
            methods = [method for method in study.methods if method != INFORMED or bias == "historical"]
            assert set(lines) == {"limit: the best that any classifier can reach", *methods}
            for method in methods:
                own = summary[(summary["bias"] == bias) & (summary["metric"] == metric) & (summary["method"] == method)]
                np.testing.assert_array_equal(lines[method].get_xdata(), own["x"])
                np.testing.assert_array_equal(lines[method].get_ydata(), own["mean"])
            bands = grid[row, column].collections
            assert len(bands) == len(methods)
            first = summary[(summary["bias"] == bias) & (summary["metric"] == metric) & (summary["method"] == "ours")]
            seen = bands[0].get_paths()[0].vertices[:, 1]
            assert seen.max() == pytest.approx((first["mean"] + first["standard_error"]).max())


def table(values):
    rows = [
        (bias, x, method, seed, 0, metric, value + (seed - 0.5) / 1000)
        for (bias, x, method, metric), value in values.items()
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows, columns=["bias", "x", "method", "seed", "fold", "metric", "value"])


def test_claims_by_hand():
    values = {}
    for beta in (0.0, 0.6, 0.9):
        for method, accuracy, disparity in (("ours", 0.700, -0.01), ("upper", 0.705, 0.0), ("lower", 0.50, -0.3)):
            values["label", beta, method, "accuracy"] = accuracy
            values["label", beta, method, "disparity"] = disparity
    values["label", 0.9, "ours", "disparity"] = -0.02
    near, disparity, lower = claims("bias-sweep", table(values))
    assert (near.holds, disparity.holds, lower.holds) == (True, False, True)
    assert disparity.measured == "worst -0.0200 (-0.0200 to -0.0200) at 0.9"


def test_the_papers_words_on_history_and_baselines():
    values = {}
    for beta in (0.0, 0.6, 0.9):
        levels = {"ours": (0.674, 0.0), "upper": (0.71, 0.0), INFORMED: (0.676, 0.0), "massaging": (0.65, 0.104)}
        for method, (accuracy, disparity) in levels.items():
            values["historical", beta, method, "accuracy"] = accuracy
            values["historical", beta, method, "disparity"] = disparity
    found = {own.text: own.verdict for own in claims("bias-sweep", table(values))}
    assert found["historical: accuracy within .012 of upper, which has fair features, at every β"] == "fails"
    assert found["historical: accuracy within .012 of upper with recorded features at every β"] == "holds"
    assert found["historical: massaging is effective, absolute disparity below .05 at every β"] == "fails"


def test_dependent_labels_are_judged_at_every_strength():
    values = {}
    for beta, ours in ((0.0, -0.17), (0.8, -0.17), (0.9, -0.12)):
        for method, disparity in (("ours", ours), ("upper", -0.17), ("lower", -0.3), ("unawareness", -0.2)):
            values["label", beta, method, "disparity"] = disparity
    found = {own.text: own.verdict for own in claims("dependent", table(values))}
    assert found == {
        "disparity within .02 of upper's for β ≤ .8": "holds",
        "disparity within .02 of upper's at β = .9": "fails",
        "upper's disparity is the exact -.1687 (within .02)": "holds",
        "lower's disparity is below upper's from β = .3 on": "holds",
        "unawareness goes to a disparity of about 0 (within .05)": "fails",
    }


def assumed(*places, spread=0.0):
    """Results of the study of assumptions: what is assumed, ours' accuracy and disparity; upper has .7 and -.17."""
    values = {}
    for beta, accuracy, disparity in places:
        values["label", beta, "ours", "accuracy"] = accuracy
        values["label", beta, "ours", "disparity"] = disparity
        values["label", beta, "upper", "accuracy"] = 0.7
        values["label", beta, "upper", "disparity"] = -0.17
    found = table(values)
    found["value"] += spread * (found["seed"] - 0.5) * found["x"] * (found["method"] == "ours")
    return found


def test_claims_on_assumptions_by_hand():
    results = assumed((0.0, 0.6, -0.3), (0.2, 0.688, -0.2), (0.3, 0.70, -0.17), (0.4, 0.695, -0.16))
    best, nearest, loss = claims("assumption", results)
    assert [own.verdict for own in (best, nearest, loss)] == ["holds", "holds", "fails"]
    assert best.measured == "worst +0.1000 (+0.1000 to +0.1000) at 0, the lead of 0.3 (accuracy 0.7000)"
    assert nearest.measured == "worst +0.1300 (+0.1300 to +0.1300) at 0, the lead of 0.3 (distance 0.0000)"
    assert "-0.0120" in loss.measured
    assert claims("my own", results) == []


def test_the_best_assumption_is_judged_by_an_interval():
    far = (0.0, 0.6, -0.3), (0.3, 0.70, -0.17), (0.6, 0.71, -0.19)
    assert [own.verdict for own in claims("assumption", assumed(*far))[:2]] == ["fails", "holds"]
    assert [own.verdict for own in claims("assumption", assumed(*far, spread=0.1))[:2]] == ["undecided"] * 2


def test_the_seeds_of_a_study_are_stored(finished):
    study, outcome = finished
    seeds = study.tables(outcome.results)["seeds"]
    assert list(seeds.columns) == ["bias", "x", "method", "seed", "metric", "value"]
    assert len(seeds) == len(outcome.results) / 2
    # What was stored is enough to judge the claims again; numbers may differ in their last digit.
    again, before = study.claims(seeds.assign(fold=0)), study.claims(outcome.results)
    assert [claim.line.rpartition(": worst")[0] for claim in again] == [
        claim.line.rpartition(": worst")[0] for claim in before
    ]


def test_the_truth_is_marked_where_it_is_one_place():
    study = replace(assumption(betas=[0.0, 0.3]), methods=("ours",))
    summary = summary_of(table({("label", 0.3, "ours", "accuracy"): 0.7, ("label", 0.3, "ours", "disparity"): 0.0}))
    for axes in draw(study, summary).axes:
        (mark,) = [line for line in axes.lines if line.get_label() == "the true β"]
        assert set(mark.get_xdata()) == {0.3}
