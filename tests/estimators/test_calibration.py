"""Audited rows put fair probabilities right where the belief does not hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.errors import LearningWarning
from problog4fairness.estimators.calibration import ENOUGH, MANY, AuditedFolds
from problog4fairness.estimators.fitting import task_through
from problog4fairness.learners import Calibrated, fit_tasks, named_learner
from tests.estimators.data import loans

# As often as they are wrong in all, but not always as often: who judged looked at one feature only.
BELIEF = p4f.LabelBias("area", 0.34, 0.33)


def depends_on_x(rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    """Features, group, fair label, and a recorded label that follows mostly from the first feature alone."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4))
    fair = (rng.random(rows) < 1 / (1 + np.exp(-x[:, 0] - x[:, 1]))).astype(int)
    judged = (x[:, 0] + 0.3 * rng.normal(size=rows) > 0).astype(int)
    recorded = np.where(rng.random(rows) < 0.9, judged, fair)
    return pd.DataFrame(x, columns=list("pqrs")), rng.integers(0, 2, rows), fair, recorded


def calibration_error(fair: np.ndarray, chance: np.ndarray, bins: int = 10) -> float:
    """The mean distance between what is said and what is there, over bins of equal size."""
    parts = np.array_split(np.argsort(chance), bins)
    return float(np.mean([abs(fair[part].mean() - chance[part].mean()) for part in parts]))


@pytest.mark.parametrize("learner", ["linear", "boosted"])
def test_calibration_error_falls_where_bias_depends_on_features(learner):
    frame, area, fair, recorded = depends_on_x(3000, 1)
    new, _, new_fair, _ = depends_on_x(20_000, 2)
    known = np.where(np.arange(3000) < 400, fair, np.nan)
    model = p4f.DebiasedClassifier(BELIEF, learner, random_state=0)
    with pytest.warns(LearningWarning, match="its fair probabilities disagree with the audited rows"):
        model.fit(frame, recorded, sensitive_features=area, fair=known)
    assert isinstance(model.fitted_, Calibrated)
    before = calibration_error(new_fair, model.fitted_.fitted.log_proba(new).exp()[:, 1].numpy())
    after = calibration_error(new_fair, model.predict_proba(new)[:, 1])
    # Without audited rows it is about 0.27 and 0.30; with them, about 0.13 and 0.18 before and 0.05 after.
    assert after < min(0.08, 0.5 * before), (before, after)


def test_a_belief_that_holds_is_left_alone_or_hardly_moved():
    frame, area, fair, recorded = loans(2000, negative=0.3)
    belief = p4f.LabelBias("area", {1: 0.3}, False, affected=[1])
    known = np.where(np.arange(2000) < 200, fair, np.nan)
    model = p4f.DebiasedClassifier(belief, "linear").fit(frame, recorded, sensitive_features=area, fair=known)
    uncalibrated = model.fitted_.fitted if isinstance(model.fitted_, Calibrated) else model.fitted_
    moved = np.abs(uncalibrated.log_proba(frame[model.columns_]).exp().numpy() - model.predict_proba(frame)).mean()
    assert moved < 0.03
    assert not any("they were calibrated" in sentence for sentence in model.training_warnings_)


def test_few_audited_rows_teach_but_do_not_calibrate():
    frame, area, fair, recorded = depends_on_x(1000, 1)
    known = np.where(np.arange(1000) < ENOUGH - 1, fair, np.nan)
    model = p4f.DebiasedClassifier(BELIEF, "linear").fit(frame, recorded, sensitive_features=area, fair=known)
    assert not isinstance(model.fitted_, Calibrated)
    assert model.audited_ == ENOUGH - 1


@pytest.mark.parametrize("learner", ["linear", "auto"])
def test_it_is_saved_as_numbers(tmp_path, learner):
    frame, area, fair, recorded = depends_on_x(1000, 1)
    known = np.where(np.arange(1000) < 300, fair, np.nan)
    model = p4f.DebiasedClassifier(BELIEF, learner, random_state=0)
    model.fit(frame, recorded, sensitive_features=area, fair=known).save(tmp_path / "model.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "model.p4f")
    assert isinstance(again.fitted_, Calibrated)
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert (again.training_warnings_, again.audited_) == (model.training_warnings_, 300)


def test_many_classes_and_distorted_features():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"q": rng.integers(0, 2, 1500), "z": rng.normal(size=1500), "area": rng.integers(0, 2, 1500)})
    fair = np.digitize(frame["z"] + rng.normal(scale=0.5, size=1500), [-0.5, 0.5])
    recorded = np.where((frame["z"] > 0) & (rng.random(1500) < 0.5), 0, fair)
    known = np.where(np.arange(1500) < 400, fair, np.nan)
    model = p4f.DebiasedClassifier(p4f.ClassBias("area", [0, 1, 2], 0.15), "linear").fit(frame, recorded, fair=known)
    assert isinstance(model.fitted_, Calibrated)
    np.testing.assert_allclose(model.predict_proba(frame).sum(1), 1)
    measured = p4f.MeasurementBias(["q"], "area", 0.2, 0.1)
    binary = np.where(np.isnan(known), np.nan, known > 0)
    model = p4f.DebiasedClassifier(measured, "linear").fit(frame, (fair > 0).astype(int), fair=binary)
    assert model.audited_ == 400


def test_a_group_that_was_audited_wholly_is_no_error():
    frame, area, fair, recorded = loans(800)
    belief = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])
    for learner in ("linear", "network"):
        model = p4f.DebiasedClassifier(belief, learner, random_state=0)
        model.fit(frame, recorded, sensitive_features=area, fair=np.where(area == 1, fair, np.nan))
        assert np.mean(model.predict(frame) == fair) > 0.85


@pytest.mark.parametrize("learner", ["linear", "boosted"])
def test_where_rows_are_many_quick_fits_say_of_audited_rows_what_whole_ones_say(learner):
    frame, area, fair, recorded = loans(MANY, negative=0.3)
    known = np.where(np.arange(MANY) < 200, fair, -1)
    belief = p4f.LabelBias("area", {1: 0.3}, False, affected=[1])
    rows = p4f.data.Rows(frame.assign(area=area), tuple(frame.columns), recorded=recorded, fair=known)
    task = task_through(belief, rows, 0)
    fitted = named_learner(learner).fit_many([task], progress=False)[0]
    folds = AuditedFolds.of(belief, rows, task)
    tasks = folds.tasks(fitted)
    assert all(fold.previous is fitted for fold in tasks)
    fewer = AuditedFolds.of(belief, rows.take(np.arange(MANY - 1)), task)
    assert all(fold.previous is None for fold in fewer.tasks(fitted))
    chances = []
    for near in (tasks, folds.tasks()):
        fits = fit_tasks(named_learner(learner), near, progress=False)
        chances.append(folds.calibrate(fitted, fits).held_out[known >= 0, 1])
    assert np.abs(chances[0] - chances[1]).mean() < 0.03
    assert np.corrcoef(*chances)[0, 1] > 0.97
