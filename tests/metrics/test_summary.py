"""Means and standard errors against a table worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from problog4fairness.errors import P4FError
from problog4fairness.metrics.repetitions import summarise

# Seeds' averages: lower .6, .7, .8; upper .9, .9, .9.
RESULTS = pd.DataFrame(
    [
        ("upper", "accuracy", 0, 0, 0.85),
        ("upper", "accuracy", 0, 1, 0.95),
        ("upper", "accuracy", 1, 0, 0.9),
        ("upper", "accuracy", 1, 1, 0.9),
        ("upper", "accuracy", 2, 0, 1.0),
        ("upper", "accuracy", 2, 1, 0.8),
        ("lower", "accuracy", 0, 0, 0.5),
        ("lower", "accuracy", 0, 1, 0.7),
        ("lower", "accuracy", 1, 0, 0.7),
        ("lower", "accuracy", 1, 1, 0.7),
        ("lower", "accuracy", 2, 0, 0.7),
        ("lower", "accuracy", 2, 1, 0.9),
    ],
    columns=["method", "metric", "seed", "fold", "value"],
)


def test_folds_of_a_seed_are_averaged_first():
    summary = summarise(RESULTS, by=["method", "metric"])
    assert list(summary.columns) == ["method", "metric", "mean", "standard_error", "low", "high", "n"]
    assert list(summary["method"]) == ["upper", "lower"]
    assert list(summary["n"]) == [3, 3]
    assert list(summary["mean"]) == pytest.approx([0.9, 0.7])
    assert list(summary["standard_error"]) == pytest.approx([0, 0.1 / math.sqrt(3)], abs=1e-12)
    # Student's t with 2 degrees of freedom at .975 is 4.302653.
    assert summary["high"][1] == pytest.approx(0.7 + 4.302653 * 0.1 / math.sqrt(3), abs=1e-6)
    assert summary["low"][1] == pytest.approx(0.7 - 4.302653 * 0.1 / math.sqrt(3), abs=1e-6)


def test_every_row_as_a_repetition():
    lower = summarise(RESULTS, by=["method", "metric"], unit=None).set_index("method").loc["lower"]
    # .5 .7 .7 .7 .7 .9 around .7: variance .08 / 5
    assert lower["n"] == 6
    assert lower["standard_error"] == pytest.approx(math.sqrt(0.08 / 5 / 6))


def test_one_seed_has_no_standard_error():
    summary = summarise(RESULTS[RESULTS["seed"] == 0], by="method")
    assert list(summary["n"]) == [1, 1]
    assert summary[["standard_error", "low", "high"]].isna().all(axis=None)


def test_intervals_cover_where_folds_are_alike():
    random = np.random.default_rng(0)
    cells = pd.MultiIndex.from_product([range(1000), range(5), range(5)], names=["run", "seed", "fold"])
    frame = cells.to_frame(index=False)
    frame["value"] = np.repeat(random.normal(size=5000), 5) + 0.2 * random.normal(size=25000)

    def coverage(unit):
        summary = summarise(frame, by=["run"], unit=unit)
        return np.mean((summary["low"] <= 0) & (summary["high"] >= 0))

    assert 0.93 <= coverage("seed") <= 0.97
    assert coverage(None) < 0.75


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"by": ["nothing"]}, "no column 'nothing' in the results; there are method, metric"),
        ({}, {"by": []}, "by must name at least one column"),
        ({}, {"by": ["method"], "unit": "run"}, "no column 'run' .* unit=None counts every row"),
        ({}, {"by": ["method", "seed"]}, "'seed' is in by and is the unit"),
        ({}, {"by": ["method"], "confidence": 2}, "confidence 2 is not between 0 and 1"),
        ({"metric": ["accuracy", "f1"] * 6}, {"by": ["method"]}, "several metrics; name the column 'metric'"),
        ({"value": [float("nan")] * 2 + [1.0] * 10}, {"by": ["method"]}, "'value' has 2 missing values"),
        ({"value": "good"}, {"by": ["method"]}, "column 'value' has the value 'good'"),
        ({"n": 3}, {"by": ["n"]}, "'n' cannot be in by"),
    ],
)
def test_bad_input(change, arguments, message):
    with pytest.raises(P4FError, match=message):
        summarise(RESULTS.assign(**change), **arguments)


def test_bad_tables():
    with pytest.raises(P4FError, match="the results have no rows"):
        summarise(RESULTS[:0], by=["method"])
    with pytest.raises(P4FError, match="must be a pandas DataFrame, not list"):
        summarise([], by=["method"])
