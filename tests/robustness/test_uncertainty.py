"""Bands: what an audit and the rows leave open reaches to every person and to the disparity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import problog4fairness as p4f
from problog4fairness.learners import Boosted, Network
from tests.estimators.data import loans

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")


def data(rows=600):
    frame, area, fair, recorded = loans(rows)
    return frame.assign(income=frame["income"] - 0.6 * area, area=area), fair, recorded


def belief(audited, rows=600, **options):
    frame, fair, recorded = data(rows)
    start = p4f.LabelBias("area", positive=False, affected=[1], **options)
    audit = frame.assign(recorded=recorded, fair=fair)[:audited]
    return start.estimate(audit, recorded="recorded", fair="fair")


@pytest.fixture(scope="module")
def fitted():
    frame, _, recorded = data()
    return p4f.DebiasedClassifier(belief(150), "linear", random_state=0).fit(frame, recorded, draws=30)


def test_every_person_has_a_band_around_what_the_model_says(fitted):
    frame, _, _ = data()
    new = frame[:80].set_index(np.arange(100, 180))
    intervals = fitted.uncertainty(new)
    people = intervals.people
    assert people.index.tolist() == list(range(100, 180))
    assert people["fair_probability"].to_numpy() == pytest.approx(fitted.predict_proba(new)[:, 1])
    assert (people["low"] <= people["fair_probability"]).all()
    assert (people["fair_probability"] <= people["high"]).all()
    assert (people["label"] == fitted.predict(new)).all()
    held = (people["low"] < 0.5) & (people["high"] >= 0.5)
    assert (people.loc[held, "decision"] == "uncertain").all()
    # Boosted trees decide otherwise about some of the others.
    rival = fitted.draws_.rival.log_proba(frame[:80].reset_index(drop=True)[list(fitted.columns_)]).argmax(1).numpy()
    assert (people["decision"] == np.where(held | (rival != people["label"]), "uncertain", "stable")).all()
    assert 0 < held.sum() <= intervals.uncertain < 80


def test_the_disparity_the_rates_and_the_accuracy_have_bands(fitted):
    frame, fair, _ = data()
    intervals = fitted.uncertainty(frame, fair=np.where(np.arange(600) < 200, fair, np.nan))
    chance, area = fitted.predict_proba(frame)[:, 1], frame["area"] == 1
    (row,) = intervals["disparity"].to_dict("records")
    assert row["value"] == pytest.approx((chance[area] >= 0.5).mean() - (chance[~area] >= 0.5).mean())
    assert row["low"] < row["value"] < row["high"] < row["low"] + 0.4
    rates = intervals["selection rate"].set_index("group")["value"]
    assert rates["area = 1"] == pytest.approx((chance[area] >= 0.5).mean())
    (row,) = intervals["accuracy"].to_dict("records")
    assert row["value"] == pytest.approx((fitted.predict(frame[:200]) == fair[:200]).mean())
    assert row["low"] < row["value"] < row["high"]


def test_a_larger_audit_gives_narrower_bands():
    frame, _, recorded = data(2000)
    widths = []
    for audited in (60, 2000):
        model = p4f.DebiasedClassifier(belief(audited, 2000), "linear", use_sensitive=True, random_state=0)
        model.fit(frame, recorded)
        intervals = model.uncertainty(frame, recorded, draws=40)
        group = intervals["mean fair probability"].set_index("group").loc["area = 1"]
        widths.append(group["high"] - group["low"])
    assert widths[1] < 0.75 * widths[0]


def test_stated_numbers_leave_only_what_the_rows_leave_open():
    frame, _, recorded = data()
    stated = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])
    model = p4f.DebiasedClassifier(stated, "linear", random_state=0).fit(frame, recorded)
    intervals = model.uncertainty(frame, recorded, draws=10)
    assert "stated" in intervals.notes[0]
    assert (intervals.people["low"] < intervals.people["high"]).all()


def test_the_same_seed_gives_the_same_bands_and_another_one_others(fitted):
    frame, _, recorded = data()
    first, again, other = (fitted.uncertainty(frame, recorded, draws=10, random_state=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first.people, again.people)
    pd.testing.assert_frame_equal(first.table, again.table)
    assert not first.table.equals(other.table)


@pytest.mark.parametrize(
    "learner",
    [
        Network(hidden=(8,), max_epochs=5, networks=2),
        Boosted(max_trees=20),
        RandomForestClassifier(5, max_depth=4),
        "auto",
    ],
    ids=["network", "boosted", "estimator", "auto"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_learner_is_fitted_again(learner):
    frame, _, recorded = data(300)
    model = p4f.DebiasedClassifier(belief(150), learner, random_state=0).fit(frame, recorded)
    intervals = model.uncertainty(frame, recorded, draws=10)
    assert intervals.draws == 10
    assert (intervals.people["high"] - intervals.people["low"]).mean() > 0.01


def test_features_that_are_distorted_and_several_classes():
    frame, fair, recorded = data(300)
    measured = p4f.MeasurementBias("q0", "area", {1: 0.2, 0: 0.1}, False).with_priors(
        {"p1(q0)": p4f.statistics.Beta(20, 80)}
    )
    model = p4f.DebiasedClassifier(measured, "linear", random_state=0, test_features="biased").fit(frame, recorded)
    assert len(model.uncertainty(frame, recorded, draws=10)["disparity"]) == 1
    three = np.array(["no", "maybe", "yes"])[recorded + (frame["income"] > 1)]
    kinds = p4f.ClassBias("area", ["no", "maybe", "yes"], {1: {("yes", "no"): 0.1}})
    kinds = kinds.bind({parameter.name: 0.05 for parameter in kinds.parameters if parameter.value is None})
    model = p4f.DebiasedClassifier(kinds, "linear", random_state=0).fit(frame, three)
    intervals = model.uncertainty(frame, three, draws=10, fair=three)
    rates, means = ["selection rate"] * 2, ["mean fair probability"] * 2
    assert intervals.table["quantity"].tolist() == ["disparity", *rates, *means, "accuracy"]
    chosen = (model.predict(frame) == "yes")[frame["area"] == 1].mean()
    assert intervals["selection rate"].set_index("group")["value"]["area = 1"] == pytest.approx(chosen)
    assert set(intervals.people["decision"]) == {"stable", "uncertain"}


def test_the_summary_is_saved_with_the_model_and_the_draws_are_not(fitted, tmp_path):
    frame, _, recorded = data()
    fitted.save(tmp_path / "loans.p4f")
    back = p4f.DebiasedClassifier.load(tmp_path / "loans.p4f")
    pd.testing.assert_frame_equal(back.uncertainty_, fitted.uncertainty_)
    with pytest.raises(p4f.errors.P4FError, match=r"there are no draws; fit with draws=50, or pass recorded labels y"):
        back.uncertainty(frame)
    assert back.uncertainty(frame, recorded, draws=10).draws == 10
    assert fitted.fit(frame, recorded, draws=10).uncertainty_ is not None
    assert p4f.DebiasedClassifier(belief(150), "linear").fit(frame, recorded).uncertainty_ is None


def test_it_shows_itself(fitted):
    frame, _, _ = data()
    intervals = fitted.fit(*data()[::2], draws=10).uncertainty(frame)
    assert "<table" in intervals._repr_html_()
    assert "95% intervals from 10 posterior draws" in str(intervals)
    figure = intervals.plot()
    figure.canvas.draw()
    assert figure.axes[1].get_legend().get_texts()[0].get_text().startswith("stable: ")


def test_draws_by_which_labels_say_nothing_are_left_out_and_said():
    frame, fair, recorded = data()
    audit = frame.assign(recorded=recorded, fair=fair)[:14]
    few = p4f.LabelBias("area").estimate(audit, recorded="recorded", fair="fair")
    model = p4f.DebiasedClassifier(few, "linear", random_state=0).fit(frame, recorded)
    intervals = model.uncertainty(frame, recorded, draws=50)
    assert any("posterior draws were left out" in note for note in intervals.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 3}, "draws=3 is not a whole number from 10"),
        ({"draws": "many"}, "draws='many' is not a whole number"),
        ({"threshold": 1.5}, "threshold 1.5 is not between 0 and 1"),
        ({"confidence": 95}, "confidence 95 is not between 0 and 1"),
        ({"random_state": "x"}, "random_state='x' is not a seed"),
        ({"fair": [1, 0]}, "2 fair labels"),
    ],
)
def test_bad_input(fitted, options, message):
    frame, _, recorded = data()
    with pytest.raises(p4f.errors.P4FError, match=message):
        fitted.uncertainty(frame, recorded, **{"draws": 10, **options})
    with pytest.raises(p4f.errors.P4FError, match="draws=True"):
        p4f.DebiasedClassifier(belief(150), "linear").fit(frame, recorded, draws=True)
