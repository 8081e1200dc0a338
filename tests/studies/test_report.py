from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from problog4fairness.experiments import Outcome, run, write_report
from problog4fairness.experiments.claims import claims
from problog4fairness.experiments.figures import ROWS, draw
from problog4fairness.experiments.report import summary_of

from tests.experiments.studies import tiny


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    study = tiny()
    return study, run(study, tmp_path_factory.mktemp("stacks"))


def test_the_figure_shows_the_summary(finished):
    study, outcome = finished
    summary = summary_of(outcome.results)
    axes = draw(study, summary).axes
    assert len(axes) == 6
    grid = np.array(axes).reshape(2, 3)
    for row, (metric, _) in enumerate(ROWS):
        for column, bias in enumerate(study.biases):
            lines = {line.get_label(): line for line in grid[row, column].lines}
            assert set(lines) == {"limit", *(method.name for method in study.methods)}
            for method in study.methods:
                own = summary[
                    (summary["bias"] == bias) & (summary["metric"] == metric) & (summary["method"] == method.name)
                ]
                np.testing.assert_array_equal(lines[method.name].get_xdata(), own["x"])
                np.testing.assert_array_equal(lines[method.name].get_ydata(), own["mean"])
            bands = grid[row, column].collections
            assert len(bands) == len(study.methods)
            first = summary[(summary["bias"] == bias) & (summary["metric"] == metric) & (summary["method"] == "ours")]
            seen = bands[0].get_paths()[0].vertices[:, 1]
            assert seen.max() == pytest.approx((first["mean"] + first["standard_error"]).max())


def test_files(finished, tmp_path):
    study, outcome = finished
    found = write_report(study, outcome, tmp_path / "out")
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {"results.csv", "summary.csv", "figure.pdf", "figure.png", "claims.md"}
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "results.csv"), outcome.results)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "summary.csv"), summary_of(outcome.results))
    text = (tmp_path / "out" / "claims.md").read_text()
    assert len(found) == 10
    assert all(claim.text in text and claim.measured in text for claim in found)


def test_a_study_in_which_everything_failed_has_a_report(tmp_path):
    study = tiny()
    empty = Outcome(pd.DataFrame(columns=["bias"]), {"ours at label 0": "ValueError: no"}, 0, 0)
    assert write_report(study, empty, tmp_path) == []
    assert "ours at label 0: ValueError: no" in (tmp_path / "claims.md").read_text()


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


def test_claims_on_assumptions_by_hand():
    values = {}
    for beta, accuracy, disparity in ((0.0, 0.6, -0.3), (0.2, 0.688, -0.2), (0.3, 0.70, -0.17), (0.4, 0.695, -0.16)):
        values["label", beta, "ours", "accuracy"] = accuracy
        values["label", beta, "ours", "disparity"] = disparity
        values["label", beta, "upper", "accuracy"] = 0.7
        values["label", beta, "upper", "disparity"] = -0.17
    best, nearest, loss = claims("assumption", table(values))
    assert (best.holds, nearest.holds, loss.holds) == (True, True, False)
    assert "-0.0120" in loss.measured
    assert claims("my own", table(values)) == []
