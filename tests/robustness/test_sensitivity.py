"""What moves when a parameter is varied."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.learners import Network
from problog4fairness.robustness import sensitivity
from tests.estimators.data import QUICK, loans


def settings(**options):
    return {**QUICK, "learner": Network(hidden=(8,), learning_rate=3e-3, batch_size=64, **{"max_epochs": 6, **options})}


SETTINGS = settings()


@pytest.fixture(scope="module")
def data():
    return loans(600)


@pytest.fixture(scope="module")
def estimated(data):
    frame, area, fair, recorded = data
    belief = p4f.LabelBias("area", positive=False, affected=[1])
    audit = frame.assign(area=area, recorded=recorded, fair=fair)[:300]
    return belief.estimate(audit, recorded="recorded", fair="fair")


@pytest.fixture(scope="module")
def fitted(data, estimated):
    frame, area, _, recorded = data
    return p4f.DebiasedClassifier(estimated, **SETTINGS).fit(frame, recorded, sensitive_features=area)


def result_for(fitted, data, **options):
    frame, area, fair, recorded = data
    audit = (frame[:300], fair[:300])
    return sensitivity(fitted, frame, recorded, sensitive_features=area, audit=audit, progress=False, **options)


def test_base_is_the_classifier_itself(data, fitted):
    frame, area, fair, _ = data
    result = result_for(fitted, data)
    decided = fitted.predict(frame)
    gap = decided[area == 1].mean() - decided[area == 0].mean()
    assert result.base.loc["disparity", "estimate"] == pytest.approx(gap, abs=1e-5)
    assert result.base.loc["accuracy", "estimate"] == np.mean(fitted.predict(frame[:300]) == fair[:300])
    assert result.base.loc["changed", "estimate"] == 0


@pytest.mark.filterwarnings("ignore::problog4fairness.errors.LearningWarning")
def test_audited_rows_teach_and_calibrate_as_they_did_the_model(data):
    frame, area, fair, recorded = data
    known = np.where(np.arange(600) < 200, fair, np.nan)
    wrong = p4f.LabelBias("area", {1: 0.05}, False, affected=[1])
    model = p4f.DebiasedClassifier(wrong, "linear", random_state=0)
    model.fit(frame, recorded, sensitive_features=area, fair=known)
    assert model.fitted_.kind == "calibrated"
    decided = model.predict(frame)
    gap = decided[area == 1].mean() - decided[area == 0].mean()
    taught = sensitivity(model, frame, recorded, sensitive_features=area, fair=known, values=5, progress=False)
    assert taught.base.loc["disparity", "estimate"] == pytest.approx(gap, abs=1e-6)
    alone = sensitivity(model, frame, recorded, sensitive_features=area, values=5, progress=False)
    assert abs(alone.base.loc["disparity", "estimate"] - gap) > 0.01


def test_audited_rows_count_by_their_weights(data, fitted):
    frame, area, fair, recorded = data
    table = frame.assign(area=area, fair=fair)[:300]
    inclusion = np.where(table["area"] == 1, 0.9, 0.1)
    audit = p4f.Audit.of(table, fair="fair", inclusion=inclusion)
    result = sensitivity(
        fitted, frame, recorded, sensitive_features=area, audit=audit, values=5, draws=0, progress=False
    )
    right = fitted.predict(frame[:300]) == fair[:300]
    assert result.base.loc["accuracy", "estimate"] == pytest.approx(np.average(right, weights=1 / inclusion))
    assert abs(result.base.loc["accuracy", "estimate"] - right.mean()) > 1e-3


def test_values_span_the_interval_and_beyond(data, fitted, estimated):
    result = result_for(fitted, data, values=7, beyond=0.1)
    rate = estimated.parameters[0]
    values = result.frame.loc[result.frame["metric"] == "changed"].sort_values("value")
    assert len(values) == result.fits == 7
    assert values["value"].min() == pytest.approx(rate.low - 0.1)
    assert values["value"].max() == pytest.approx(rate.high + 0.1)
    assert values["inside"].tolist() == [False, False, True, True, True, False, False]
    assert values["value"].iloc[3] == rate.value


def test_each_value_is_the_fit_with_that_value(data, fitted, estimated):
    frame, area, _, recorded = data
    result = result_for(fitted, data, values=5)
    row = result.frame[result.frame["metric"] == "disparity"].iloc[0]
    alone = p4f.DebiasedClassifier(estimated.bind({"p1": row["value"]}), **SETTINGS)
    decided = alone.fit(frame, recorded, sensitive_features=area).predict(frame)
    assert row["estimate"] == pytest.approx(decided[area == 1].mean() - decided[area == 0].mean(), abs=1e-4)


def test_decisions_rise_with_the_assumed_bias(data, fitted):
    # The harder the group is believed to be treated, the more of its refusals must have been wrong.
    spans = result_for(fitted, data, values=5, beyond=0.3).table.set_index("metric")
    assert spans.loc["changed", "highest"] > 0
    assert spans.loc["changed", "low"] == 0


def test_bands_are_as_wide_as_those_of_the_classifier(data, fitted):
    frame, area, _, recorded = data
    result = result_for(fitted, data, values=5, draws=20)
    intervals = fitted.uncertainty(
        frame, recorded, sensitive_features=area, draws=20, random_state=fitted.seed_, progress=False
    )
    (interval,) = intervals["disparity"].to_dict("records")
    disparity = result.frame[result.frame["metric"] == "disparity"]
    assert (disparity["high"] - disparity["low"]).to_numpy() == pytest.approx(
        interval["high"] - interval["low"], abs=1e-3
    )
    accuracy = result.frame[result.frame["metric"] == "accuracy"]
    assert (accuracy["low"] < accuracy["estimate"]).all()
    none = result_for(fitted, data, values=5, draws=0)
    assert (none.frame["low"] == none.frame["high"]).all()


def test_values_stay_where_labels_say_something(data):
    frame, area, _, recorded = data
    belief = p4f.LabelBias("area", negative={1: 0.5, 0: 0.0}, positive={1: 0.4, 0: 0.0})
    model = p4f.DebiasedClassifier(belief, **SETTINGS).fit(frame, recorded, sensitive_features=area)
    result = sensitivity(
        model, frame, recorded, sensitive_features=area, beyond=0.5, values=5, parameters=["p1"], progress=False
    )
    assert result.frame["value"].max() == pytest.approx(0.55)
    wide = belief.bind({"p1": replace(belief.parameters[0], low=0.0, high=1.0, rows=9)})
    model.belief_ = wide
    result = sensitivity(model, frame, recorded, sensitive_features=area, values=5, parameters="p1", progress=False)
    assert "p1 was varied from 0.00 to 0.55 only" in result.notes[0]


def test_historical_bias_needs_no_fit(data):
    frame, area, _, recorded = data
    belief = p4f.HistoricalBias(["q0", "q1"], "area", negative={1: 0.2, 0: 0.0}, positive=False)
    known = frame.assign(area=area)
    model = p4f.DebiasedClassifier(belief, **SETTINGS).fit(known, recorded)
    result = sensitivity(model, known, recorded, values=5, progress=False, parameters=["p1(q0)"])
    assert result.fits == 0
    assert any("only predictions" in note for note in result.notes)
    disparity = result.frame[result.frame["metric"] == "disparity"].sort_values("value")["estimate"]
    assert disparity.is_monotonic_increasing


def test_measurement_chains_and_programs(data):
    frame, area, _, recorded = data
    known = frame.assign(area=area, other=1 - area)
    beliefs = [
        p4f.MeasurementBias("q0", "area", negative={1: 0.2, 0: 0.1}, positive=False),
        p4f.chain(p4f.LabelBias("area", negative=0.2, positive=False), p4f.LabelBias("other", negative=0.1)
                  .bind({"p3": 0.0, "p4": 0.0})),
        p4f.ProgramBelief(
            r"nn(h,X) :: y(X). nn(area,X) :: a(X). p :: b(X) :- a(X). z(X) :- y(X), \+b(X). ?- z(x)."
        ).bind({"p": 0.3}),
    ]  # fmt: skip
    expected = [{"disparity"}, {"disparity by area", "disparity by other"}, {"disparity"}]
    for belief, metrics in zip(beliefs, expected, strict=True):
        model = p4f.DebiasedClassifier(belief, **settings(max_epochs=2)).fit(known, recorded)
        first = belief.parameters[0].name
        result = sensitivity(model, known, recorded, values=5, progress=False, parameters=[first])
        assert set(result.metrics) == {*metrics, "changed"}
        assert result.fits == 5


def test_plot_has_a_panel_for_each_parameter_and_metric(data, fitted):
    figure = result_for(fitted, data, values=5).plot()
    assert len(figure.axes) == 3
    figure.canvas.draw()


def test_errors(data, fitted):
    frame, area, _, recorded = data
    with pytest.raises(p4f.errors.UnknownNameError, match="no parameter 'p9'; it has p1"):
        result_for(fitted, data, parameters=["p9"])
    with pytest.raises(p4f.errors.P4FError, match="more than 400"):
        result_for(fitted, data, values=999)
    with pytest.raises(p4f.errors.P4FError, match="audit is"):
        sensitivity(fitted, frame, recorded, sensitive_features=area, audit=frame)
    with pytest.raises(p4f.errors.P4FError, match="values must be 5 or more"):
        result_for(fitted, data, values=1)
    plain = p4f.DebiasedClassifier(**SETTINGS).fit(frame, recorded)
    with pytest.raises(p4f.errors.P4FError, match="no parameter to vary"):
        sensitivity(plain, frame, recorded)


class Watched(Network):
    """A learner that notes what it is asked to fit."""

    asked = ()

    def fit_many(self, tasks, progress=None):
        Watched.asked = tasks
        return [super(Watched, self).fit_many([task], progress)[0] for task in tasks]


def test_any_learner_is_asked_once_about_inputs_that_all_values_share(data, estimated):
    frame, area, _, recorded = data
    learner = Watched(hidden=(4,), max_epochs=1)
    model = p4f.DebiasedClassifier(estimated, learner, class_weight="balanced", random_state=0)
    model.fit(frame, recorded, sensitive_features=area)
    result = sensitivity(model, frame, recorded, sensitive_features=area, values=5)
    assert result.fits == len(Watched.asked) == 5
    assert len({id(task.observation.table) for task in Watched.asked}) == 1
    assert all(task.weights is not None for task in Watched.asked)


def test_only_values_that_change_the_likelihood_are_fitted(data):
    frame, area, _, recorded = data
    belief = p4f.LabelBias("area", negative={1: 0.3, 0: 0.2}, positive=False)
    model = p4f.DebiasedClassifier(belief, Network(hidden=(4,), max_epochs=1), random_state=0)
    model.fit(frame, recorded, sensitive_features=area)
    others = area == 0
    result = sensitivity(model, frame[others], recorded[others], sensitive_features=area[others], values=5)
    # Nobody here is in group 1, so the record does not depend on p1.
    assert result.fits == 1 + 4
    assert result.table.set_index(["parameter", "metric"]).loc[("p1", "changed"), "highest"] == 0
