"""Scoring a table piece by piece."""

import numpy as np
import pandas as pd

import problog4fairness as p4f
from problog4fairness.estimators.prediction import Scorer, score_rows


def test_probabilities_are_rounded_for_people_and_labels_are_not_made_of_the_rounded_ones():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "a": rng.integers(0, 2, 300)})
    label = pd.Series((frame["x"] > 0).astype(int), name="y")
    model = p4f.DebiasedClassifier(p4f.LabelBias("a", {1: 0.3, 0: 0.0}, 0.0), "linear").fit(frame, label)
    whole = score_rows(model, frame.assign(y=label))
    threshold = float(np.sort(whole["fair_probability"])[150])
    scorer = Scorer(model, threshold=threshold, digits=2)
    (shown,) = scorer.through([frame.assign(y=label)])
    for name in ("fair_probability", "recorded_probability", "distorted_probability"):
        assert (shown[name] == whole[name].round(2)).all()
        assert (whole[name] != whole[name].round(2)).any()
    assert (shown["fair_label"] == (whole["fair_probability"] >= threshold)).all()
    assert scorer.favourable == shown["fair_label"].sum() == 150
