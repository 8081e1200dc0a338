from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from problog4fairness.metrics import METRICS, Metric
from tests.evaluation.data import BELIEF, QUICK, loans, table_of

PROGRAM = r"""
nn(h,X) :: y_h(X).
nn(poor_area,X) :: poor(X).
0.4 :: turned_down(X) :- poor(X).
granted(X) :- y_h(X), \+turned_down(X).
?- granted(x).
"""


def compared(people, recorded, belief=BELIEF, *, fair=None, favourable=None, **options):
    data, names = table_of(people, recorded, fair)
    beliefs = belief if isinstance(belief, dict) else {"this model": belief}
    models = {name: p4f.DebiasedClassifier(one, QUICK, favourable=favourable) for name, one in beliefs.items()}
    return p4f.compare(data, models, **names, **{"seeds": 1, "folds": 2, **options})


def means(comparison, labels="fair"):
    rows = comparison.results[comparison.results["labels"] == labels]
    return rows.groupby(["method", "metric"])["value"].mean().unstack()


def test_ours_beats_the_lower_baseline_on_fair_labels_and_not_on_recorded_ones():
    people, recorded, fair = loans(900)
    comparison = compared(people, recorded, fair=fair, seeds=2, methods=["recorded_only", "oracle"])
    assert comparison.methods == ["this model", "oracle (fair labels)", "trained on recorded labels"]
    on_fair, on_recorded = means(comparison), means(comparison, "recorded")
    assert on_fair.loc["this model", "accuracy"] > on_fair.loc["trained on recorded labels", "accuracy"] + 0.02
    assert on_fair.loc["this model", "accuracy"] == pytest.approx(
        on_fair.loc["oracle (fair labels)", "accuracy"], abs=0.03
    )
    gap = (on_fair["disparity"] - comparison.data_disparity["fair"]).abs()
    assert gap["this model"] < 0.12 < gap["trained on recorded labels"]
    assert on_recorded.loc["trained on recorded labels", "accuracy"] > on_recorded.loc["this model", "accuracy"]


def test_all_methods_with_fair_labels_of_all_rows():
    people, recorded, fair = loans()
    comparison = compared(people, recorded, fair=fair)
    assert comparison.methods == [
        "this model",
        "oracle (fair labels)",
        "trained on recorded labels",
        "without the sensitive column",
        "massaging",
        "threshold optimizer",
    ]
    assert not comparison.left_out
    assert comparison.results.columns.tolist() == ["method", "seed", "fold", "labels", "metric", "value"]
    assert len(comparison.results) == 6 * 2 * 2 * 5
    expected = p4f.metrics.statistical_disparity(fair, sensitive_features=people["poor_area"])
    assert comparison.data_disparity["fair"] == pytest.approx(expected)
    assert (comparison.rows, comparison.audited) == (300, 300)


def test_fair_labels_of_some_rows():
    people, recorded, fair = loans()
    audited = np.arange(300) % 3 == 0
    comparison = compared(people, recorded, fair=fair.where(audited), methods=["oracle", "audit_only", "recorded_only"])
    assert comparison.methods == ["this model", "audit only", "trained on recorded labels"]
    assert comparison.left_out == {"oracle (fair labels)": "needs the fair label of every row; known are 100 of 300"}
    assert comparison.audited == 100
    disparity = p4f.metrics.statistical_disparity(fair[audited], sensitive_features=people["poor_area"][audited])
    assert comparison.data_disparity["fair"] == pytest.approx(disparity)


def test_no_fair_labels():
    people, recorded, _ = loans()
    comparison = compared(people, recorded, methods=["recorded_only", "oracle", "audit_only"])
    assert comparison.methods == ["this model", "trained on recorded labels"]
    assert set(comparison.left_out) == {"oracle (fair labels)", "audit only"}
    assert set(comparison.results["labels"]) == {"recorded"}
    assert comparison.labels == ["recorded"]
    assert "fair" not in comparison.data_disparity
    assert comparison.table().index.tolist() == ["this model", "trained on recorded labels"]
    with pytest.raises(P4FError, match="no scores on 'fair' labels"):
        comparison.table("fair")


def test_three_groups():
    people, recorded, fair = loans(360)
    area = pd.Series(np.array(["east", "north", "south"])[np.arange(360) % 3], name="area")
    belief = p4f.LabelBias(
        "area", negative={"south": 0.3, "north": 0.1, "east": 0.0}, positive=False, groups=("east", "north", "south")
    )
    comparison = compared(people[["income", "savings"]].assign(area=area), recorded, belief, fair=fair)
    assert comparison.levels == ("east", "north", "south")
    assert comparison.left_out == {"massaging": "massaging is for two groups; there are 3"}
    assert comparison.methods == [
        "this model",
        "oracle (fair labels)",
        "trained on recorded labels",
        "without the sensitive column",
        "threshold optimizer",
    ]
    assert (comparison.results.query("metric == 'disparity'")["value"] >= 0).all()


def test_labels_as_text():
    people, recorded, fair = loans()
    words = {1: "granted", 0: "refused"}
    comparison = compared(
        people, recorded.map(words), fair=fair.map(words), favourable="granted", methods=["recorded_only"]
    )
    expected = compared(people, recorded, fair=fair, methods=["recorded_only"])
    assert comparison.results.equals(expected.results)
    other = compared(people, recorded.map(words), fair=fair.map(words), favourable="refused", methods=["recorded_only"])
    assert other.data_disparity["fair"] == pytest.approx(-expected.data_disparity["fair"])


def test_groups_that_a_program_names():
    people, recorded, fair = loans()
    people = people.assign(poor_area=people["poor_area"].map({1: "poor", 0: "rich"}))
    belief = p4f.ProgramBelief(PROGRAM, values={"poor_area": ("rich", "poor")})
    comparison = compared(people, recorded, belief, fair=fair, methods=[])
    assert comparison.levels == ("rich", "poor")
    assert comparison.methods == ["this model"]


def test_several_beliefs_with_names_and_a_program_as_text():
    people, recorded, fair = loans()
    comparison = compared(
        people, recorded, {"template": BELIEF, "program": PROGRAM}, fair=fair, methods=["threshold_optimizer"]
    )
    assert comparison.methods == ["template", "program", "threshold optimizer"]
    both = means(comparison)
    assert both.loc["template", "accuracy"] == pytest.approx(both.loc["program", "accuracy"], abs=0.03)


def test_a_group_with_one_label_leaves_methods_out():
    people, recorded, fair = loans()
    comparison = compared(
        people, recorded.where(people["poor_area"] == 0, 0), fair=fair, methods=["recorded_only", "threshold_optimizer"]
    )
    assert comparison.methods == ["this model", "trained on recorded labels"]
    assert comparison.left_out == {
        "threshold optimizer": "all training rows with poor_area = 1 have the label 0; one class is not enough, "
        "thresholds need both in each group (seed 0, fold 0)"
    }


def test_the_same_seed_gives_the_same_result():
    people, recorded, fair = loans()
    one, two = (compared(people, recorded, fair=fair, methods=["massaging"], seeds=[4]) for _ in range(2))
    assert one.results.equals(two.results)
    assert not one.results.equals(compared(people, recorded, fair=fair, methods=["massaging"], seeds=[5]).results)


def test_no_row_of_a_cell_is_no_warning():
    people, recorded, fair = loans(60)
    comparison = compared(people, recorded, fair=fair.where(np.arange(60) < 8), folds=4, methods=["recorded_only"])
    odds = comparison.results.query("labels == 'fair' and metric == 'equalized_odds'")["value"]
    assert odds.isna().any()


def test_nothing_is_printed(capfd):
    people, recorded, fair = loans()
    compared(people, recorded, fair=fair, methods=["recorded_only"])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("belief", "options", "message"),
    [
        (p4f.LabelBias("poor_area"), {}, "this model: .*p1"),
        (p4f.LabelBias("area", negative=0.1, positive=0.1), {}, "'area'"),
        (3, {}, "this model: a belief is a template such as LabelBias, a Program or its text, not int"),
        ({"recorded_only": BELIEF}, {}, "a belief cannot be called 'recorded_only'"),
        (BELIEF, {"methods": ["magic"]}, "there is no method 'magic'"),
        ({}, {}, "nothing to compare"),
        (p4f.NoBias(), {}, "which column is sensitive"),
        (
            p4f.ClassBias("poor_area", ["a", "b", "c"], 0.1),
            {},
            "'a', 'b', 'c'",
        ),
    ],
)
def test_bad_input_is_named_in_one_line(belief, options, message):
    people, recorded, _ = loans(60)
    with pytest.raises(P4FError, match=message) as error:
        compared(people, recorded, belief, **options)
    assert "\n" not in str(error.value)


def test_the_methods_say_what_they_are():
    people, recorded, fair = loans(60)
    comparison = compared(people, recorded, {"mine": BELIEF}, fair=fair, methods=["recorded_only", "without_sensitive"])
    assert list(comparison.kinds.values()) == ["belief", "recorded_only", "without_sensitive"]
    assert list(comparison.kinds) == comparison.methods
    assert list(comparison.about) == comparison.methods
    assert comparison.about["trained on recorded labels"] == "learns the recorded labels as they are"


def test_a_metric_without_an_interval_is_in_tables_without_one(monkeypatch):
    people, recorded, fair = loans()
    chosen = Metric("chosen", "share chosen", lambda judged: float(judged.decision.mean()), None, ("labels",))
    monkeypatch.setitem(METRICS, "chosen", chosen)
    comparison = compared(people, recorded, fair=fair, methods=["recorded_only"])
    table = comparison.table("fair")
    assert not table["chosen"].str.contains("±").any()
    assert table["accuracy"].str.contains("±").all()
    told = [row for row in comparison.to_dict()["audited_scores"] if row["metric"] == "chosen"]
    assert len(told) == 2
    assert all(row["mean"] is not None and row["low"] is None for row in told)
