"""What a model has learned from is judged by classifiers that have not: kept with the model, found by a report."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.estimators.calibration import held_out_proba
from problog4fairness.estimators.fitting import new_rows, with_known
from problog4fairness.estimators.prediction import fair_proba

DATA = p4f.datasets.loans(rows=300, audited=100, new=60, seed=3)
FEATURES = [*DATA.features]
BELIEF = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=0.05, affected=[1])


def fitted(audited=100, **options):
    table = pd.concat([DATA.loans, DATA.audit.iloc[:audited]], ignore_index=True)
    model = p4f.DebiasedClassifier(BELIEF, "boosted", random_state=0, **options)
    return model.fit(table[FEATURES], table["granted"], sensitive_features=table["poor_area"], fair=table.get("repaid"))


def judged(model, frame):
    rows = with_known(new_rows(model, frame[FEATURES], frame["poor_area"]), frame["repaid"])
    return (*held_out_proba(model, rows, fair_proba(model, rows)), rows)


def test_rows_that_were_learned_from_are_predicted_out_of_fold_and_others_by_the_model():
    model = fitted()
    both = pd.concat([DATA.new, DATA.audit.iloc[::-1]], ignore_index=True)
    chances, learned, rows = judged(model, both)
    assert learned.tolist() == [False] * 60 + [True] * 100
    np.testing.assert_array_equal(chances[:60], fair_proba(model, rows)[:60])
    in_sample = fair_proba(model, rows)[60:]
    truth = both["repaid"].to_numpy()[60:].astype(int)
    inside, outside = (np.mean(part.argmax(axis=1) == truth) for part in (in_sample, chances[60:]))
    assert inside > outside  # what the model itself says of them flatters it
    assert not np.isnan(chances).any()


def test_the_predictions_are_saved_with_the_model_and_types_of_columns_do_not_matter(tmp_path):
    model = fitted()
    model.save(tmp_path / "model.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "model.p4f")
    frame = DATA.audit.assign(**{name: DATA.audit[name].astype(object) for name in FEATURES[:1]})
    found, learned, _ = judged(again, frame)
    assert learned.all()
    np.testing.assert_allclose(found, judged(model, DATA.audit)[0], atol=1e-12)


def test_too_few_audited_rows_are_known_but_not_predicted(tmp_path):
    model = fitted(audited=20)
    model.save(tmp_path / "model.p4f")
    for classifier in (model, p4f.DebiasedClassifier.load(tmp_path / "model.p4f")):
        chances, learned, _ = judged(classifier, DATA.audit)
        assert learned.sum() == 20
        assert np.isnan(chances[:20]).all()
        assert not np.isnan(chances[20:]).any()


def test_equal_rows_are_found_once_each():
    frame = pd.concat([DATA.audit.iloc[:60], DATA.audit.iloc[:30]], ignore_index=True)
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0)
    model.fit(frame[FEATURES], frame["granted"], sensitive_features=frame["poor_area"], fair=frame["repaid"])
    more = pd.concat([frame, frame.iloc[:5]], ignore_index=True)
    assert judged(model, more)[1].tolist() == [True] * 90 + [False] * 5


@pytest.mark.parametrize("fair", [None, "none known"])
def test_without_fair_labels_everything_is_predicted_by_the_model(fair):
    table = DATA.loans
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0)
    known = None if fair is None else [None] * len(table)
    model.fit(table[FEATURES], table["granted"], sensitive_features=table["poor_area"], fair=known)
    assert model.out_of_fold_ is None
    assert not judged(model, DATA.audit)[1].any()
