from __future__ import annotations

from dataclasses import replace

import pytest
from problog4fairness.experiments import METHODS, Method, assumption, bias_sweep, dependent

from problog4fairness.errors import P4FError
from tests.experiments.studies import constant


def test_the_paper_s_grids():
    sweep, other, wrong = bias_sweep(), dependent(), assumption()
    assert [method.name for method in METHODS] == ["ours", "upper", "lower", "unawareness", "massaging", "parity"]
    assert sweep.biases == ("label", "measurement", "historical")
    assert sorted({point.x for point in sweep.points}) == pytest.approx([i / 10 for i in range(10)])
    assert (len(sweep.points), len(sweep.seeds), sweep.folds) == (30, 5, 5)
    assert {point.tested_on for point in sweep.points if point.bias == "historical"} == {"recorded"}
    assert {point.tested_on for point in sweep.points if point.bias != "historical"} == {"fair"}
    assert not any(point.dependent for point in sweep.points)
    assert all(point.dependent for point in other.points)
    assert {point.settings.label_bias for point in wrong.points if point.bias == "label"} == {0.3}
    assert [p.believed.label_bias for p in wrong.points if p.bias == "label"] == [p.x for p in other.points]


def test_one_fit_for_all_that_can_share_one():
    sizes = {name: sum(plan.method.name == name for plan in bias_sweep().stacks()) for name in ("ours", "upper")}
    assert sizes == {"ours": 30, "upper": 1}  # the fair people do not depend on the bias
    ours = [plan for plan in assumption().stacks() if plan.method.name == "ours"]
    assert [plan.count for plan in ours] == [250, 250]  # all β̂, seeds and folds of a kind of bias


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
        ({"methods": (Method("a", constant), Method("a", constant))}, "same name"),
    ],
)
def test_errors(changes, message):
    with pytest.raises(P4FError, match=message):
        replace(bias_sweep(), **changes)
