"""Methods are compared where labels are missing, or are the votes of several people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from tests.evaluation.data import table_of

ROWS = 900


@pytest.fixture(scope="module")
def people() -> tuple[pd.DataFrame, np.ndarray, pd.Series]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=ROWS), "z": rng.normal(size=ROWS), "area": rng.integers(0, 2, ROWS)})
    fair = (rng.random(ROWS) < 1 / (1 + np.exp(-3 * frame["x"] + frame["z"]))).astype(int)
    return frame, fair, pd.Series(fair, dtype=float).where(np.arange(ROWS) < 300)


def test_rows_without_a_label_are_learned_from_through_the_belief_alone(people):
    frame, fair, audited = people
    rng = np.random.default_rng(2)
    good, bad = {1: 0.5, 0: 0.9}, {1: 0.05, 0: 0.2}
    chance = np.where(fair == 1, frame["area"].map(good), frame["area"].map(bad))
    paid = np.where(rng.random(ROWS) < chance, fair, np.nan)
    belief = p4f.SelectiveLabels("area", good, bad)
    data, names = table_of(frame, paid, audited)
    comparison = p4f.compare(data, p4f.DebiasedClassifier(belief, "linear"), **names, seeds=2, folds=3)
    assert comparison.left_out == {}
    assert (comparison.rows, comparison.audited) == (int((~np.isnan(paid)).sum()), 300)
    accuracy = comparison.summary.query("labels == 'fair' and metric == 'accuracy'").set_index("method")["mean"]
    assert accuracy["this model"] > accuracy["trained on recorded labels"] + 0.03
    # Complete cases are what a user would fit: the same as without the other rows.
    known = ~np.isnan(paid)
    plain = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(frame[known], paid[known].astype(int))
    assert plain.predict_proba(frame)[:, 1].mean() > fair.mean() + 0.05


def test_votes_are_compared_with_what_most_say(people):
    frame, fair, audited = people
    rng = np.random.default_rng(3)
    errors = {"ann": 0.5, "bob": 0.6, "eve": 0.4}
    lost = {name: (fair == 1) & (frame["area"] == 1) & (rng.random(ROWS) < error) for name, error in errors.items()}
    votes = pd.DataFrame({name: np.where(mask | (rng.random(ROWS) < 0.02), 0.0, fair) for name, mask in lost.items()})
    votes = votes.where(rng.random(votes.shape) < 0.9)
    belief = p4f.Annotators(tuple(votes), "area").estimate(frame.join(votes), features=["x", "z"])
    data, model = frame.join(votes).assign(fair=audited), p4f.DebiasedClassifier(belief, "linear")
    options = {"fair": "fair", "features": ["x", "z"], "methods": ["recorded_only"], "seeds": 2, "folds": 3}
    comparison = p4f.compare(data, model, recorded="ann", **options)
    accuracy = comparison.summary.query("labels == 'fair' and metric == 'accuracy'").set_index("method")["mean"]
    assert accuracy["this model"] > accuracy["trained on recorded labels"] + 0.03
    assert comparison.rows < ROWS  # ties have no majority


def test_weights_of_classes_need_labels(people):
    frame, fair, _ = people
    data, names = table_of(frame, pd.Series(fair, dtype=float).where(np.arange(ROWS) > 10))
    model = p4f.DebiasedClassifier(p4f.SelectiveLabels("area", 0.9, 0.5), "linear", class_weight="balanced")
    with pytest.raises(P4FError, match="class_weight"):
        p4f.compare(data, model, **names)
