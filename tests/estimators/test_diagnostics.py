"""Training diagnostics tell what changes what a user does, and nothing of a model whose belief is right."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.errors import LearningWarning

TRUE = ((0.15, 0.4), (0.1, 0.05))


def table(seed=0, rows=3000, *, noise=False):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    frame = pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd"))
    strength = np.zeros(rows) if noise else 1.2 * frame["a"] + 0.8 * frame["b"] + 0.3 * group * 0
    fair = (rng.random(rows) < 1 / (1 + np.exp(-strength))).astype(int)
    negative, positive = np.array(TRUE[0])[group], np.array(TRUE[1])[group]
    recorded = np.where(rng.random(rows) < np.where(fair == 1, negative, positive), 1 - fair, fair)
    return frame, pd.Series(group, name="group"), fair, recorded


def training_warnings(frame, group, recorded, strengths=TRUE, fair=None):
    belief = p4f.LabelBias("group", *(dict(enumerate(strength)) for strength in strengths))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LearningWarning)
        return (
            p4f.DebiasedClassifier(belief, "linear")
            .fit(frame, recorded, sensitive_features=group, fair=fair)
            .training_warnings_
        )


@pytest.mark.parametrize("audited", [0, 300])
def test_nothing_is_said_of_right_beliefs(audited):
    """Among them those whose record is right more often than any model can be."""
    for seed in range(6):
        frame, group, fair, recorded = table(seed)
        known = np.where(np.arange(len(fair)) < audited, fair, np.nan) if audited else None
        assert training_warnings(frame, group, recorded, fair=known) == []


@pytest.mark.parametrize("strengths", [((0, 0), (0, 0)), ((0.4, 0.15), (0.05, 0.1))], ids=["none", "opposite"])
def test_wrong_beliefs_are_told_by_the_record_alone(strengths):
    for seed in range(4):
        frame, group, _, recorded = table(seed)
        assert any(
            "the model expects" in sentence and "group = " in sentence
            for sentence in training_warnings(frame, group, recorded, strengths)
        )


def test_a_record_that_the_belief_does_not_allow():
    frame, group, _, _ = table()
    ones = np.where(np.arange(len(frame)) < 30, 0, 1)
    found = training_warnings(frame, group, ones, ((0.5, 0.5), (0.1, 0.1)))
    assert any("recorded" in sentence and "at most 50.0%" in sentence for sentence in found), found


def test_features_that_are_noise():
    frame, group, _, recorded = table(noise=True)
    assert any("none of the 4 features" in sentence for sentence in training_warnings(frame, group, recorded))


@pytest.mark.parametrize("hidden", [lambda y: y, lambda y: 10.0 * y + np.linspace(0, 5, len(y))], ids=["copy", "score"])
def test_features_that_are_the_record(hidden):
    frame, group, _, recorded = table()
    assert any(
        "'again'" in sentence and "drop" in sentence
        for sentence in training_warnings(frame.assign(again=hidden(recorded)), group, recorded)
    )


def votes(copied):
    rng = np.random.default_rng(1)
    frame, _, fair, _ = table()
    each = {f"v{k}": np.where(rng.random(len(fair)) < 0.2, 1 - fair, fair) for k in range(6)}
    if copied:
        each["v5"] = each["v2"]
    return frame, pd.DataFrame(each)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
@pytest.mark.parametrize("copied", [True, False])
def test_annotators_who_copy(copied):
    frame, each = votes(copied)
    belief = p4f.Annotators(list(each)).estimate(each)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LearningWarning)
        found = p4f.DebiasedClassifier(belief, "linear").fit(frame, each).training_warnings_
    assert any("'v2' and 'v5'" in sentence for sentence in found) is copied
