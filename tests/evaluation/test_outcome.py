from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from problog4fairness.errors import P4FError
from problog4fairness.evaluation.methods import METHODS as KNOWN
from problog4fairness.evaluation.result import FREE, Comparison, styles
from problog4fairness.metrics import METRICS

METHODS = ("this model", "trained on recorded labels", "a belief", "another belief")
KINDS = dict(zip(METHODS, ("belief", "recorded_only", "belief", "belief"), strict=True))


def made(seeds=5, labels=("fair", "recorded"), **options):
    rng = np.random.default_rng(0)
    rows = [
        (method, seed, fold, kind, metric, rng.normal(0.1 * number + 0.5, 0.02))
        for number, method in enumerate(METHODS)
        for seed in range(seeds)
        for fold in range(2)
        for kind in labels
        for metric in METRICS
    ]
    results = pd.DataFrame(rows, columns=["method", "seed", "fold", "labels", "metric", "value"])
    disparity = {kind: {"fair": 0.01, "recorded": -0.3}[kind] for kind in labels}
    return Comparison(results, disparity, {"massaging": "three groups"}, kinds=KINDS, **options)


def test_the_summary_is_over_seeds():
    found = made()
    row = found.summary.query("method == 'this model' and labels == 'fair' and metric == 'f1'").iloc[0]
    averages = (
        found.results.query("method == 'this model' and labels == 'fair' and metric == 'f1'")
        .groupby("seed")["value"]
        .mean()
    )
    assert row["mean"] == pytest.approx(averages.mean())
    assert row["standard_error"] == pytest.approx(averages.std() / np.sqrt(5))
    assert row["n"] == 5


def test_the_table_has_a_row_per_method_and_a_column_per_metric():
    found = made()
    table = found.table("recorded")
    assert table.index.tolist() == list(METHODS)
    assert table.columns.tolist() == list(METRICS)
    row = found.summary.query(
        "method == 'trained on recorded labels' and labels == 'recorded' and metric == 'accuracy'"
    ).iloc[0]
    assert table.loc["trained on recorded labels", "accuracy"] == f"{row['mean']:.3f} ± {row['high'] - row['mean']:.3f}"
    assert found.table().equals(found.table("fair"))
    for few in (1, 2):  # intervals from so few are none
        assert re.fullmatch(r"0\.\d{3}", made(seeds=few).table().loc["this model", "f1"])
        assert str(few) in made(seeds=few).intervals("fair")
    assert "5 splits" in found.intervals("recorded")
    assert "on fair labels" in str(found)
    assert "\n" not in repr(found)


def test_a_metric_that_is_nowhere_known_is_missing_in_the_table():
    found = made()
    values = found.results["value"].where(
        found.results["method"].ne("trained on recorded labels") | found.results["metric"].ne("f1")
    )
    found = Comparison(found.results.assign(value=values), found.data_disparity)
    assert pd.isna(found.table().loc["trained on recorded labels", "f1"])
    assert found.table().loc["trained on recorded labels", "accuracy"]


def markers(axes):
    return {line.get_label(): line for line in axes.get_lines() if line.get_linestyle() == "None"}


@pytest.mark.parametrize("x", ["disparity", "equalized_odds"])
@pytest.mark.parametrize("y", ["accuracy", "f1"])
def test_the_figure_has_the_intervals_of_the_table(x, y):
    found = made()
    figure = found.plot("fair", x=x, y=y)
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    drawn = markers(axes)
    assert list(drawn) == list(METHODS)
    for method, line in drawn.items():
        of_method = found.results[(found.results["method"] == method) & (found.results["labels"] == "fair")]
        seeds = of_method.groupby(["metric", "seed"])["value"].mean()
        assert line.get_xdata()[0] == pytest.approx(seeds[x].mean())
        assert line.get_ydata()[0] == pytest.approx(seeds[y].mean())
        for place, metric in enumerate((x, y)):
            row = found.summary.query(f"method == {method!r} and labels == 'fair' and metric == {metric!r}").iloc[0]
            ends = [collection.get_segments()[0][:, place] for collection in axes.collections]
            assert any(segment.tolist() == pytest.approx([row["low"], row["high"]]) for segment in ends)
    lines = [line for line in axes.get_lines() if line.get_label() == "disparity of the labels"]
    assert [list(line.get_xdata()) for line in lines] == ([[0.01, 0.01]] if x == "disparity" else [])


def test_the_figure_has_a_panel_for_each_kind_of_labels():
    figure = made().plot()
    assert [axes.get_title() for axes in figure.axes] == ["tested on fair labels", "tested on recorded labels"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*METHODS, "disparity of the labels"]
    assert len(made(labels=("recorded",)).plot().axes) == 1


def test_few_seeds_have_markers_alone_and_three_groups_another_axis():
    (axes,) = made(seeds=3, levels=("a", "b", "c")).plot("fair").axes
    assert len(markers(axes)) == 4
    assert axes.get_xlabel() == "largest disparity between groups"


def test_unknown_axes_are_named():
    with pytest.raises(P4FError, match="x='accuracy' is not one of disparity, equalized_odds"):
        made().plot(x="accuracy")
    with pytest.raises(P4FError, match="no scores on 'biased' labels"):
        made().plot("biased")


def test_files_are_whole(tmp_path):
    found = made()
    found.to_csv(tmp_path / "results.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "results.csv"), found.results)
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


def test_json_has_no_number_that_is_not_one():
    content = json.loads(json.dumps(made(seeds=1).to_dict(), allow_nan=False))
    assert content["data_disparity"] == {"fair": 0.01, "recorded": -0.3}
    assert content["left_out"] == {"massaging": "three groups"}
    assert content["kinds"] == KINDS
    assert content["summary"][0]["standard_error"] is None
    assert len(content["summary"]) == 4 * 2 * 5


def test_every_method_has_a_look_of_its_own():
    found = styles({name: name for name in (*KNOWN, *(f"belief {number}" for number in range(20)))})
    assert len(set(found.values())) == len(found)
    assert {found[name] for name in KNOWN} == {method.style for method in KNOWN.values()}


def test_a_method_looks_like_its_kind():
    found = styles(KINDS)
    assert found["this model"] == ("#D55E00", "o")
    assert found["trained on recorded labels"] == KNOWN["recorded_only"].style
    assert len(set(found.values())) == len(METHODS)
    assert found["a belief"] in FREE
