"""Fair labels that an audit knows of some rows are learned from together with the recorded ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.errors import InconsistentEvidenceError, P4FError
from tests.estimators.data import loans, quick

FRAME, AREA, FAIR, RECORDED = loans(1000)
BELIEF = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])
NOTHING = p4f.LabelBias("area", 0.5, 0.5)
AUDITED = np.where(np.arange(1000) % 2, FAIR, np.nan)


def trained(belief=BELIEF, label=RECORDED, **options):
    model = p4f.DebiasedClassifier(belief, **quick(max_epochs=15))
    return model.fit(FRAME, label, sensitive_features=AREA, **options)


def test_they_are_all_that_counts_where_recorded_labels_say_nothing():
    # 0.5 and 0.5: whatever is fair, either label is recorded as often.
    unaudited = AUDITED != FAIR
    found = trained(NOTHING, fair=AUDITED).predict(FRAME)
    assert np.mean((found == FAIR)[unaudited]) > 0.85
    without = trained(NOTHING).predict(FRAME)
    assert np.mean(without == FAIR) < 0.7


@pytest.mark.parametrize(
    "audited",
    [
        pd.Series(AUDITED).astype("Int64"),
        [None if np.isnan(label) else int(label) for label in AUDITED],
        pd.Series(AUDITED, index=np.arange(1000)[::-1]),
    ],
    ids=["Int64", "list", "index"],
)
def test_any_form_gives_the_same(audited):
    expected = trained(fair=AUDITED).predict_proba(FRAME)
    assert not np.array_equal(expected, trained().predict_proba(FRAME))
    np.testing.assert_array_equal(trained(fair=audited).predict_proba(FRAME), expected)


def test_labels_are_told_by_their_value_not_their_order():
    words = {0: "refused", 1: "granted"}
    model = p4f.DebiasedClassifier(BELIEF, favourable="granted", **quick(max_epochs=15))
    label, audited = pd.Series(RECORDED).map(words), pd.Series(AUDITED).map(words)
    model.fit(FRAME, label, sensitive_features=AREA, fair=audited)
    np.testing.assert_array_equal(model.predict_proba(FRAME), trained(fair=AUDITED).predict_proba(FRAME))


@pytest.mark.parametrize("nothing", [np.full(1000, np.nan), [None] * 1000, pd.Series([pd.NA] * 1000)])
def test_none_known_is_the_same_as_none_passed(nothing):
    np.testing.assert_array_equal(trained(fair=nothing).predict_proba(FRAME), trained().predict_proba(FRAME))


@pytest.mark.parametrize("belief", [BELIEF, p4f.MeasurementBias(["q0"], "area", 0.2, 0.1)])
def test_rows_with_unknown_fair_labels_are_those_without(belief):
    rows = p4f.data.Rows(FRAME.assign(area=AREA), ("q0", "q1"), recorded=RECORDED)
    unknown = p4f.data.Rows(rows.frame, rows.features, recorded=RECORDED, fair=np.full(1000, -1))
    observation = belief.observe(rows)
    logits = torch.linspace(-2, 2, len(observation.table), dtype=torch.float64).unsqueeze(1)
    torch.testing.assert_close(
        belief.observe(unknown).log_likelihood(logits), observation.log_likelihood(logits), rtol=0, atol=0
    )


def test_what_does_not_fit_is_one_line():
    with pytest.raises(P4FError, match="1000 rows and 2 fair labels"):
        trained(fair=[0, 1])
    with pytest.raises(P4FError, match="label 2, which is not among 0, 1"):
        trained(fair=np.full(1000, 2))
    # Nobody who is unfit is recorded as fit.
    impossible = np.where(np.arange(1000) == np.flatnonzero(RECORDED)[0], 0, np.nan)
    with pytest.raises(InconsistentEvidenceError) as found:
        trained(fair=impossible)
    assert "\n" not in str(found.value)
