"""Methods trained in stacks against the same methods trained alone."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from problog4fairness.classifier.columns import make_encoder, prepared
from problog4fairness.comparison.learner import Encoders, Learner
from problog4fairness.comparison.methods import predict

import problog4fairness as p4f
from problog4fairness.baselines import LowerBaseline, Massaging, ParityThresholds, Unawareness
from problog4fairness.comparison import Table, TableMethod, cells, stacked
from problog4fairness.errors import P4FError
from problog4fairness.learners import fit_many
from tests.comparison.data import BELIEF, QUICK, binary, loans

PROGRAM = r"""
nn(h,X) :: y_h(X).
nn(a,X) :: a(X).
0.3 :: distorted(X) :- a(X).
y_(X) :- y_h(X), \+distorted(X).
?- y_(x).
"""


def loan_table(rows=240, **options):
    people, recorded, fair = loans(rows)
    return Table.of(people, recorded, sensitive_features="poor_area", **{"fair": fair, **options})


def found(table, *methods, seeds=2, folds=2):
    parts = cells(table, seeds, folds)
    return parts, predict(table, methods, parts, QUICK, progress=False)


def alone(kind, cell, **options):
    return kind(random_state=cell.random_state, **asdict(QUICK), **options)


def check_against(table, method, make, fit_options=None):
    parts, predictions = found(table, method)
    assert not predictions.left_out
    for cell, chance in zip(parts, predictions.chances[method.name], strict=True):
        frame, y = table.frame.iloc[cell.train], table.recorded[cell.train]
        model = make(cell).fit(frame, y, **(fit_options(cell) if fit_options else {}))
        np.testing.assert_allclose(chance, model.predict_proba(table.frame.iloc[cell.test])[:, 1], atol=1e-4)


@pytest.mark.parametrize("independent", [True, False])
def test_label_bias_is_what_the_classifier_does_alone(independent):
    method = TableMethod("ours", belief=BELIEF, independent=independent)
    check_against(
        loan_table(),
        method,
        lambda cell: alone(p4f.DebiasedClassifier, cell, belief=BELIEF, independent=independent),
    )


@pytest.mark.parametrize(
    "belief",
    [
        p4f.MeasurementBias("q", "a", negative=0.4, positive=0.1),
        p4f.HistoricalBias("q", "a", negative=0.4, positive=0.1),
        p4f.HistoricalBias(
            "q", "a", negative=0.4, positive=0.1, label=p4f.LabelBias("a", negative=0.1, positive=False)
        ),
        p4f.ProgramBelief(PROGRAM),
    ],
    ids=["measurement", "historical", "historical with label", "program"],
)
def test_other_beliefs_are_what_the_classifier_does_alone(belief):
    people, recorded, fair = binary(240)
    table = Table.of(people, recorded, sensitive_features="a", fair=fair)
    method = TableMethod("ours", belief=belief)
    check_against(table, method, lambda cell: alone(p4f.DebiasedClassifier, cell, belief=belief))


@pytest.mark.parametrize(
    ("kind", "baseline"),
    [("lower", LowerBaseline), ("unawareness", Unawareness), ("massaging", Massaging), ("parity", ParityThresholds)],
)
def test_baselines_are_what_the_estimators_do_alone(kind, baseline):
    check_against(loan_table(), TableMethod(kind, kind), lambda cell: alone(baseline, cell, sensitive="poor_area"))


def test_upper_and_audit_only_learn_fair_labels():
    partly = loan_table(fair=loans(240)[2].where(np.arange(240) % 2 == 0))
    for table, kind in ((loan_table(), "upper"), (partly, "audit only")):
        parts, predictions = found(table, TableMethod(kind, kind))
        for cell, chance in zip(parts, predictions.chances[kind], strict=True):
            rows = cell.train[table.known[cell.train]]
            model = alone(p4f.DebiasedClassifier, cell).fit(table.frame.iloc[rows], table.fair[rows])
            np.testing.assert_allclose(chance, model.predict_proba(table.frame.iloc[cell.test])[:, 1], atol=1e-4)


def test_a_category_that_training_did_not_see_says_nothing():
    people, recorded, fair = loans(240)
    people = people.assign(
        job=people["job"].where(people.index != 7, "pilot"), income=people["income"].where(people.index != 9)
    )
    table = Table.of(people, recorded, sensitive_features="poor_area", fair=fair)
    parts, predictions = found(table, TableMethod("ours", belief=BELIEF), seeds=1)
    cell = next(part for part in parts if 7 in part.test)
    model = Learner(BELIEF, random_state=cell.random_state, **asdict(QUICK))
    job = model.prepare(table.frame.iloc[cell.train], table.recorded[cell.train], Encoders(table.frame), "train")
    model.finish(fit_many([job], QUICK, progress=False)[0])
    test = table.frame.iloc[cell.test]
    np.testing.assert_allclose(model.chance(test), predictions.chances["ours"][cell.fold], atol=1e-4)
    unheard_of = test.assign(job=test["job"].replace("pilot", "astronaut"))
    np.testing.assert_allclose(model.chance(unheard_of), model.chance(test), atol=1e-6)


def test_all_folds_have_inputs_of_one_width():
    people, recorded, fair = loans(240)
    people = people.assign(
        job=people["job"].where(people.index != 7, "pilot"), income=people["income"].where(people.index != 9)
    )
    encoders = Encoders(people)
    widths = {Learner().prepare(people.iloc[rows], recorded.iloc[rows].to_numpy(), encoders, number).inputs.shape[1]
              for number, rows in enumerate([range(120), range(100, 240)])}  # fmt: skip
    # Income, savings, children, poor area, whether the income is missing, and five jobs.
    assert widths == {10}


def test_a_belief_may_differ_between_cells():
    other = BELIEF.bind({"p1": 0.1})
    table = loan_table()
    varying = TableMethod("varying", belief=lambda cell: BELIEF if cell.seed == 0 else other)
    _, predictions = found(table, varying, TableMethod("first", belief=BELIEF), TableMethod("second", belief=other))
    chances = predictions.chances
    for number in range(4):
        expected = chances["first" if number < 2 else "second"][number]
        np.testing.assert_allclose(chances["varying"][number], expected, atol=1e-4)
    assert np.abs(chances["first"][3] - chances["second"][3]).max() > 0.01


def test_one_method_at_a_time_gives_the_same_results():
    table, methods = loan_table(), [TableMethod("ours", belief=BELIEF), TableMethod("parity", "parity")]
    together = stacked(table, methods, 2, 2, QUICK, progress=False)
    for method in methods:
        own = stacked(table, [method], 2, 2, QUICK, progress=False)
        expected = together[together["method"] == method.name].reset_index(drop=True)
        assert own.drop(columns="value").equals(expected.drop(columns="value"))
        np.testing.assert_allclose(own["value"], expected["value"], atol=1e-4)


def test_scores_on_fair_labels_are_those_of_the_audited_rows():
    table = loan_table(fair=loans(240)[2].where(np.arange(240) % 2 == 0))
    parts, predictions = found(table, TableMethod("lower", "lower"))
    results = stacked(table, [TableMethod("lower", "lower")], 2, 2, QUICK, progress=False)
    for cell, chance in zip(parts, predictions.chances["lower"], strict=True):
        own = results.query("seed == @cell.seed and fold == @cell.fold").set_index(["labels", "metric"])["value"]
        rows, decision = table.known[cell.test], (chance > 0.5).astype(int)
        expected = p4f.metrics.accuracy(table.fair[cell.test][rows], decision[rows])
        assert own["fair", "accuracy"] == pytest.approx(expected)
        assert own["recorded", "accuracy"] == pytest.approx(p4f.metrics.accuracy(table.recorded[cell.test], decision))
        groups = table.groups[cell.test]
        disparity = p4f.metrics.statistical_disparity(chance[rows], sensitive_features=groups[rows])
        assert own["fair", "disparity"] == pytest.approx(disparity)


def test_many_networks_are_fitted_in_portions(monkeypatch):
    method = TableMethod("ours", belief=BELIEF)
    whole = stacked(loan_table(), [method], 2, 2, QUICK, progress=False)
    monkeypatch.setattr("problog4fairness.comparison.methods._AT_ONCE", 1)
    portions = stacked(loan_table(), [method], 2, 2, QUICK, progress=False)
    np.testing.assert_allclose(portions["value"], whole["value"], atol=1e-4)


def test_what_cannot_run_is_an_error_of_one_line():
    with pytest.raises(P4FError, match="upper: needs the fair label of every row; none is known"):
        stacked(loan_table(fair=None), [TableMethod("upper", "upper")], 1, 2, QUICK)
    with pytest.raises(P4FError, match="two methods have the name 'lower'"):
        stacked(loan_table(), [TableMethod("lower", "lower")] * 2, 1, 2, QUICK)
    with pytest.raises(P4FError, match="there is no method 'middle'"):
        TableMethod("middle", "middle")
    with pytest.raises(P4FError, match="'ours' of the kind 'belief' needs a belief"):
        TableMethod("ours")
    with pytest.raises(P4FError, match="'lower' of the kind 'lower' takes no belief"):
        TableMethod("lower", "lower", BELIEF)


def cities(rows, count, seed=0):
    """A column of many categories, of which each part of the rows has other ones, beside the loans."""
    people, recorded, _ = loans(rows)
    numbers = np.random.default_rng(seed).integers(0, count, rows)
    return people.assign(city=[f"city {number}" for number in numbers]), recorded


@pytest.mark.parametrize("count", [200, 300, 600])
def test_folds_may_differ_in_which_of_many_categories_are_rare(count):
    people, recorded = cities(900, count)
    table = Table.of(people, recorded, sensitive_features="poor_area")
    methods = [TableMethod("ours", belief=BELIEF), TableMethod("lower", "lower")]
    parts, predictions = found(table, *methods, seeds=1, folds=3)
    assert not predictions.left_out
    for cell, chance in zip(parts, predictions.chances["ours"], strict=True):
        assert len(chance) == len(cell.test)
        assert np.isfinite(chance).all()


@pytest.mark.parametrize("count", [200, 300, 600])
def test_a_wider_encoder_loses_nothing(count):
    people, recorded = cities(900, count)
    encoders, part = Encoders(people), people[:600].reset_index(drop=True)
    learner = Learner(random_state=0)
    wide = learner.prepare(part, recorded[:600].to_numpy(), encoders, "part").inputs.numpy()
    narrow = make_encoder(prepared(part)).transform(prepared(part)).astype(np.float32)
    widest = make_encoder(prepared(people)).transform(prepared(people)).shape[1]
    assert wide.shape == (600, widest)
    kept = pd.DataFrame(wide).loc[:, np.abs(wide).sum(axis=0) > 0]
    assert sorted(map(tuple, kept.to_numpy().T)) == sorted(map(tuple, narrow.T))
