"""Training through a belief, and what the estimator accepts and gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import problog4fairness as p4f
from problog4fairness.errors import MissingValueError, P4FError
from tests.estimators.data import QUICK, loans

BELIEF = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])


@pytest.fixture(scope="module")
def fitted():
    frame, area, fair, recorded = loans()
    belief = p4f.DebiasedClassifier(BELIEF, **QUICK).fit(frame, recorded, sensitive_features=area)
    lower = p4f.DebiasedClassifier(**QUICK).fit(frame.assign(area=area), recorded)
    return frame, area, fair, recorded, belief, lower


def test_it_learns_the_fair_label_from_recorded_ones(fitted):
    frame, area, fair, _, belief, lower = fitted
    test, test_area, test_fair, _ = loans(seed=1)
    ours = belief.predict_proba(test)[:, 1]
    theirs = lower.predict_proba(test.assign(area=test_area))[:, 1]

    def disparity(p):
        return p[test_area == 1].mean() - p[test_area == 0].mean()

    assert np.mean((ours > 0.5) == test_fair) > np.mean((theirs > 0.5) == test_fair) + 0.05
    assert abs(disparity(ours)) < 0.05
    assert disparity(theirs) < -0.15


def test_recorded_probabilities_follow_the_belief(fitted):
    frame, area, _, recorded, belief, _ = fitted
    fair = belief.predict_proba(frame)[:, 1]
    expected = fair * np.where(area == 1, 0.5, 1.0)
    found = belief.predict_recorded_proba(frame, sensitive_features=area)
    np.testing.assert_allclose(found[:, 1], expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


def test_distorted_rows_are_those_that_were_turned_down(fitted):
    frame, area, fair, recorded, belief, _ = fitted
    distorted = belief.distortion_proba(frame, recorded, sensitive_features=area)
    p = belief.predict_proba(frame)[:, 1]
    expected = np.where((recorded == 0) & (area == 1), 0.5 * p / (1 - 0.5 * p), 0)
    np.testing.assert_allclose(distorted, expected, atol=1e-9)
    truly = fair != recorded
    assert distorted[truly].mean() > distorted[~truly].mean() + 0.3


def test_same_seed_same_result(fitted):
    frame, area, _, recorded, belief, _ = fitted
    again = clone(belief).fit(frame, recorded, sensitive_features=area)
    np.testing.assert_array_equal(belief.predict_proba(frame), again.predict_proba(frame))


def test_sensitive_columns_are_left_out_of_a_group_free_model(fitted):
    frame, area, _, recorded, belief, _ = fitted
    together = frame.assign(area=area)
    inside = clone(belief).fit(together, recorded)
    assert inside.columns_ == list(frame.columns)
    np.testing.assert_allclose(inside.predict_proba(together), belief.predict_proba(frame))
    kept = clone(belief).set_params(use_sensitive=True, learner__max_epochs=2).fit(together, recorded)
    assert kept.columns_ == list(together.columns)


@pytest.mark.parametrize("kind", [np.asarray, pd.Series, lambda a: pd.DataFrame({"area": a}), lambda a: {"area": a}])
def test_sensitive_features_in_any_form(fitted, kind):
    frame, area, _, recorded, belief, _ = fitted
    again = clone(belief).fit(frame, recorded, sensitive_features=kind(area))
    np.testing.assert_array_equal(belief.predict_proba(frame), again.predict_proba(frame))


def test_soft_groups_near_certainty_give_nearly_the_same(fitted):
    frame, area, _, recorded, belief, _ = fitted
    soft = clone(belief).fit(frame, recorded, sensitive_features=np.where(area == 1, 1 - 1e-9, 1e-9))
    assert np.abs(soft.predict_proba(frame) - belief.predict_proba(frame)).max() < 0.05


def test_any_label_type_and_a_favourable_label(fitted):
    frame, area, _, recorded, belief, _ = fitted
    words = np.where(recorded == 1, "granted", "refused")
    named = clone(belief).set_params(favourable="granted").fit(frame, words, sensitive_features=area)
    assert named.classes_.tolist() == ["refused", "granted"]
    np.testing.assert_allclose(named.predict_proba(frame), belief.predict_proba(frame))
    assert set(named.predict(frame)) == {"granted", "refused"}
    boolean = clone(belief).fit(frame, recorded.astype(bool), sensitive_features=area)
    assert boolean.predict(frame).dtype == bool


def test_missing_values_and_unseen_categories(fitted):
    frame, area, _, recorded, belief, _ = fitted
    holes = frame.copy()
    holes.loc[::7, "income"] = np.nan
    holes.loc[::11, "job"] = None
    model = clone(belief).set_params(learner__max_epochs=3).fit(holes, recorded, sensitive_features=area)
    new = frame.head(3).assign(job="astronaut", income=np.nan)
    assert np.isfinite(model.predict_proba(new)).all()


def test_polars_frames(fitted):
    polars = pytest.importorskip("polars")
    frame, area, _, recorded, belief, _ = fitted
    other = polars.DataFrame({name: frame[name].to_list() for name in frame})
    model = clone(belief).fit(other, recorded, sensitive_features=area)
    np.testing.assert_allclose(model.predict_proba(other), belief.predict_proba(frame))


def test_a_program_is_a_belief_too(fitted):
    frame, area, _, recorded, belief, _ = fitted
    program = p4f.Program(
        "nn(h,X) :: y(X). nn(area,X) :: area(X). p :: turned_down(X) :- area(X)."
        " granted(X) :- y(X), \\+turned_down(X). ?- granted(x)."
    ).bind({"p": 0.5})
    model = p4f.DebiasedClassifier(program, **QUICK).fit(frame, recorded, sensitive_features=area)
    np.testing.assert_allclose(model.predict_proba(frame), belief.predict_proba(frame), atol=0.02)
    np.testing.assert_allclose(
        model.predict_recorded_proba(frame, sensitive_features=area)[:, 1],
        model.predict_proba(frame)[:, 1] * np.where(area == 1, 0.5, 1),
        atol=1e-9,
    )


def test_three_classes_through_transitions():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 2))
    fair = np.digitize(x[:, 0], [-0.5, 0.5])
    area = rng.integers(0, 2, 3000)
    recorded = np.where((area == 1) & (fair == 2) & (rng.random(3000) < 0.8), 0, fair)
    transitions = {(1, f, r): 0.8 if (f, r) == (2, 0) else 0.0 for f in range(3) for r in range(3)}
    belief = p4f.ClassBias("area", (0, 1, 2), transitions, affected=[1])
    ours = p4f.DebiasedClassifier(belief, **QUICK).fit(x, recorded, sensitive_features=area)
    plain = p4f.DebiasedClassifier(**QUICK).fit(x, recorded)
    high = x[:, 0] > 1
    assert ours.predict_proba(x)[high, 2].mean() > 0.9
    assert plain.predict_proba(x)[high, 2].mean() < 0.7
    np.testing.assert_allclose(ours.predict_recorded_proba(x, sensitive_features=area).sum(1), 1, atol=1e-9)


def test_measurement_bias_learns_from_fair_vectors():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (6000, 3)), columns=["u", "v", "w"])
    area = rng.integers(0, 2, 6000)
    label = (frame.sum(axis=1) + rng.normal(scale=0.5, size=6000) > 1.5).astype(int).to_numpy()
    seen = frame.where((area == 0)[:, None] | (rng.random(frame.shape) > 0.6), 0)
    audit = pd.concat([seen.add_suffix(" seen"), frame], axis=1).assign(area=area)
    belief = p4f.MeasurementBias(["u", "v", "w"], "area", positive=False, affected=[1]).estimate(
        audit, recorded={c: f"{c} seen" for c in frame}, fair={c: c for c in frame}
    )
    ours = p4f.DebiasedClassifier(belief, **QUICK).fit(seen, label, sensitive_features=area)
    plain = p4f.DebiasedClassifier(**QUICK).fit(seen, label)
    upper = p4f.DebiasedClassifier(**QUICK).fit(frame, label).predict_proba(frame)
    assert np.abs(ours.predict_proba(frame) - upper).mean() < 0.05
    assert np.abs(plain.predict_proba(frame) - upper).mean() > 0.08
    together = seen.assign(area=area)
    biased = p4f.DebiasedClassifier(belief, test_features="biased", **QUICK).fit(together, label)
    fair_tables = belief.feature_tables()
    row = together.iloc[:1]
    by_hand = 0.0
    for u in (0, 1):
        for v in (0, 1):
            for w in (0, 1):
                fair = pd.DataFrame({"u": [u], "v": [v], "w": [w], "area": row["area"].to_numpy()})
                group = int(row["area"].iloc[0])
                weight = np.prod([fair_tables[c][group, int(row[c].iloc[0]), int(fair[c].iloc[0])] for c in frame])
                by_hand += weight * biased.set_params(test_features="fair").predict_proba(fair)[0, 1]
    assert biased.set_params(test_features="biased").predict_proba(row)[0, 1] == pytest.approx(by_hand, abs=1e-6)
    odds = ours.feature_distortion_proba(seen, sensitive_features=area)
    assert (odds.loc[area == 0] == 0).all(axis=None)
    assert odds["u"][(area == 1) & (seen["u"] == 0)].to_numpy() == pytest.approx(belief.parameters[0].value)


def test_historical_bias_acts_when_predicting():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (2000, 2)), columns=["u", "v"]).assign(area=rng.integers(0, 2, 2000))
    label = (frame["u"] + frame["v"] > 0).astype(int)
    belief = p4f.HistoricalBias(["u", "v"], "area", negative={1: 0.5}, positive=False, affected=[1])
    model = p4f.DebiasedClassifier(belief, **QUICK).fit(frame, label)
    plain = p4f.DebiasedClassifier(sensitive="area", **QUICK).fit(frame, label)
    poor = pd.DataFrame({"u": [0, 0], "v": [0, 0], "area": [0, 1]})
    assert model.predict_proba(poor)[0, 1] == pytest.approx(plain.predict_proba(poor)[0, 1], abs=1e-6)
    assert model.predict_proba(poor)[1, 1] > 0.5


def test_pipelines_cross_validation_and_grid_search(fitted):
    frame, area, _, recorded, belief, _ = fitted
    numbers = frame[["q0", "q1", "q2", "income"]]
    quick = clone(belief).set_params(learner__max_epochs=3)
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_validate(quick, numbers, recorded, params={"sensitive_features": area}, cv=3)
        assert len(scores["test_score"]) == 3
        pipeline = make_pipeline(StandardScaler(), quick)
        pipeline.fit(numbers, recorded, sensitive_features=area)
        grid = {"belief": [p4f.LabelBias("area", {1: b}, False, affected=[1]) for b in (0.0, 0.5)]}
        search = GridSearchCV(quick, grid, cv=2).fit(numbers, recorded, sensitive_features=area)
        assert search.best_params_["belief"] in grid["belief"]
    assert cross_val_score(quick, numbers.assign(area=area), recorded, cv=2).shape == (2,)


def test_weights_and_losses(fitted):
    frame, area, _, recorded, belief, _ = fitted
    favoured = clone(belief).set_params(class_weight={0: 1.0, 1: 20.0}, learner__max_epochs=10)
    favoured.fit(frame, recorded, sensitive_features=area)
    assert favoured.predict(frame).mean() > belief.predict(frame).mean() + 0.05
    focal = clone(belief).set_params(learner__loss="focal").fit(frame, recorded, sensitive_features=area)
    assert np.mean(focal.predict(frame) == belief.predict(frame)) > 0.9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"belief": p4f.LabelBias("nowhere", 0.1, 0.1)}, "the belief needs the column 'nowhere'"),
        ({"belief": p4f.LabelBias("area")}, "estimate from audited rows"),
        ({"belief": p4f.MeasurementBias(["income"], "area", 0.1, 0.1)}, "must be binary or categorical"),
        ({"belief": p4f.LabelBias("area", 0.1, 0.1, groups=(0, 1, 2))}, "no row has area = 2"),
        ({"belief": p4f.ClassBias("area", (0, 1, 2), 0.1)}, r"for 3 classes, \[0, 1, 2\]; y has 2"),
        ({"belief": 3}, "a template such as LabelBias, a Program or its text, not int"),
        ({"sensitive": "nowhere"}, "no column 'nowhere' for sensitive"),
        ({"test_features": "both"}, "test_features must be"),
        ({"favourable": 7}, "favourable=7 is not one of two labels"),
        ({"learner__dropout": 1.5}, "dropout"),
    ],
)
def test_bad_options_are_named(fitted, change, message):
    frame, area, _, recorded, belief, _ = fitted
    with pytest.raises(P4FError, match=message):
        clone(belief).set_params(**change).fit(frame.assign(area=area), recorded)


@pytest.mark.parametrize(
    ("sensitive", "message"),
    [
        ([0, 1], "sensitive_features have 2 rows"),
        (np.full(3000, np.nan), r"column 'area' has 3000 missing values; drop those rows, or pass P\(A=1\)"),
        (np.full(3000, 2), "has the value 2, which is not between 0 and 1"),
        (np.zeros((3000, 2)), r"must have 1 column \(area\), not the shape"),
        (np.zeros(3000), "no row has area = 1"),
    ],
)
def test_bad_sensitive_features_are_named(fitted, sensitive, message):
    frame, _, _, recorded, belief, _ = fitted
    with pytest.raises(P4FError, match=message):
        clone(belief).fit(frame, recorded, sensitive_features=sensitive)


def test_bad_labels_and_columns_are_named(fitted):
    frame, area, _, recorded, belief, _ = fitted
    with pytest.raises(P4FError, match="one class only"):
        clone(belief).fit(frame, np.zeros(3000), sensitive_features=area)
    with pytest.raises(P4FError, match="X has 3000 rows, y has 2"):
        clone(belief).fit(frame, [0, 1], sensitive_features=area)
    with pytest.raises(P4FError, match="occurs more than once"):
        clone(belief).fit(pd.concat([frame, frame[["job"]]], axis=1), recorded, sensitive_features=area)
    with pytest.raises(P4FError, match="no column is left"):
        clone(belief).fit(pd.DataFrame({"area": area}), recorded)
    with pytest.raises(MissingValueError, match="unknown"):
        p4f.DebiasedClassifier(p4f.LabelBias("area")).fit(frame, recorded, sensitive_features=area)
    with pytest.raises(P4FError, match="needs the column 'area'"):
        p4f.DebiasedClassifier(BELIEF).fit(frame.to_numpy()[:, :4].astype(float), recorded)
    with pytest.raises(P4FError, match="y has the label 9"):
        belief.distortion_proba(frame.head(1), [9], sensitive_features=[1])
    biased = p4f.HistoricalBias(["q0"], "area", 0.1, 0.1)
    model = p4f.DebiasedClassifier(biased, p4f.learners.Network(max_epochs=1)).fit(
        frame, recorded, sensitive_features=area
    )
    with pytest.raises(P4FError, match="predicting from biased features needs the column 'area' in X"):
        model.predict(frame)


def test_impossible_recordings_are_named(fitted):
    frame, area, fair, _, _, _ = fitted
    sure = p4f.LabelBias("area", {1: 1.0}, False, affected=[1])
    with pytest.raises(P4FError, match="recorded labels have probability 0 whatever the classifier says"):
        p4f.DebiasedClassifier(sure).fit(frame, fair, sensitive_features=area)
