"""The same population, audited at random and by a plan: what is computed from audited rows agrees in expectation."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.checks import read_case
from problog4fairness.data import Rows
from problog4fairness.estimators import AuditedFolds, task_through, with_known
from problog4fairness.learners import Calibrated, Linear

ROWS, EACH, REPEATED = 3000, 60, 30
COLUMNS = {"recorded": "recorded", "fair": "fair"}
BELIEF = p4f.LabelBias("group", negative={1: 0.35, 0: 0.05}, positive=0.05)


def population_of(rows, seed):
    """Groups of 30% and 70%, of which the record loses 35% and 5% of favourable labels."""
    rng = np.random.default_rng(seed)
    group, x = (rng.random(rows) < 0.3).astype(int), rng.normal(size=rows)
    fair = (rng.random(rows) < 1 / (1 + np.exp(-1.5 * x - 0.4))).astype(int)
    flipped = rng.random(rows) < np.where(fair == 1, np.where(group == 1, 0.35, 0.05), 0.05)
    return pd.DataFrame({"group": group, "x": x, "recorded": np.where(flipped, 1 - fair, fair), "fair": fair})


PEOPLE = population_of(ROWS, 5)
TABLE = PEOPLE.drop(columns="fair")
KINDS = [np.flatnonzero((PEOPLE["group"] == g) & (PEOPLE["recorded"] == r)) for g in (0, 1) for r in (0, 1)]


def planned(rng):
    """As many rows of each group and recorded label, as a plan draws them first."""
    rows = PEOPLE.iloc[np.concatenate([rng.choice(own, EACH, replace=False) for own in KINDS])]
    return p4f.Audit.of(rows, fair="fair", strata=["group", "recorded"], table=TABLE)


def random(rng):
    """A random sample of as many rows."""
    rows = PEOPLE.iloc[rng.choice(ROWS, len(KINDS) * EACH, replace=False)]
    return p4f.Audit.of(rows, fair="fair", sampling="random", table=TABLE)


def quantities(audit):
    """What is computed from audited rows, by name."""
    rows = audit.frame
    right, decided = rows["fair"] == rows["recorded"], rows["x"] > -0.3
    found = {
        "right": audit.mean(right).value,
        "model right": audit.mean(decided == rows["fair"]).value,
        "brier": audit.mean((1 / (1 + np.exp(-rows["x"])) - rows["fair"]) ** 2).value,
    }
    rates = [audit.mean(rows["fair"], rows["group"] == group).value for group in (0, 1)]
    found |= {"rate 0": rates[0], "rate 1": rates[1], "disparity": rates[1] - rates[0]}
    found["model right, selected"] = audit.mean(rows["fair"], decided).value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        estimated = p4f.LabelBias("group").estimate(audit, **COLUMNS)
    found |= {own.name: own.value for own in estimated.parameters}
    case = read_case(BELIEF, TABLE, audit=audit, **COLUMNS)
    groups = case.rows.frame["group"].to_numpy()[case.audited]
    for group in (0, 1):
        found[f"check, fair {group}"] = case.average(case.fair, groups == group)
    found["check, wrong"] = case.average(case.fair != case.recorded[case.audited], np.ones(len(audit), dtype=bool))
    return found


def test_what_is_computed_agrees_in_expectation_and_with_the_population():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AuditWarning)
        both = [[quantities(draw(rng)) for _ in range(REPEATED)] for draw in (random, planned)]
    first, second = (pd.DataFrame(own) for own in both)
    scores = (first.mean() - second.mean()) / np.sqrt((first.var() + second.var()) / REPEATED)
    assert len(scores) >= 14
    # The largest of so many normal numbers is above 3.6 once in 200 times.
    assert scores.abs().max() < 3.6, scores
    truth = PEOPLE.loc[PEOPLE["group"] == 1, "fair"].mean()
    assert second["rate 1"].mean() == pytest.approx(truth, abs=4 * second["rate 1"].sem())
    audits = [draw.frame for draw in map(planned, [rng] * 20)]
    unweighted = np.mean([rows.loc[rows["group"] == 1, "fair"].mean() for rows in audits])
    assert abs(unweighted - truth) > 0.05


def calibrated_mean(audit):
    """The mean fair probability of the whole table, after calibration on the audited rows of a wrong belief's model."""
    rows = with_known(Rows(TABLE, ("x",), recorded=TABLE["recorded"].to_numpy()), audit)
    belief = p4f.LabelBias("group", negative=0.4, positive=0.02)
    task = task_through(belief, rows, 0)
    folds = AuditedFolds.of(belief, rows, task)
    fitted, *fits = Linear(penalty=1.0).fit_many([task, *folds.tasks()], progress=False)
    found = folds.calibrate(fitted, fits).fitted
    return float(found.log_proba(TABLE[["x"]]).exp()[:, 1].mean())


def test_calibration_on_planned_rows_is_that_on_random_ones():
    rng = np.random.default_rng(1)
    means = np.array([[calibrated_mean(draw(rng)) for draw in (random, planned)] for _ in range(5)])
    truth = PEOPLE["fair"].mean()
    assert abs(means[:, 1].mean() - truth) < 0.04
    assert abs(means[:, 0].mean() - means[:, 1].mean()) < 0.04


def test_a_planned_audit_neither_shifts_nor_spoils_a_right_model():
    new = population_of(7000, 6)
    fits = {}
    for name, audit in (("none", None), ("planned", planned(np.random.default_rng(3)))):
        model = p4f.DebiasedClassifier(BELIEF, "linear", use_sensitive=False, random_state=0)
        model.fit(TABLE[["x"]], TABLE["recorded"], sensitive_features=TABLE[["group"]], fair=audit)
        fits[name] = model.predict_proba(new[["x"]])[:, 1]
    right = {name: np.mean((chance > 0.5) == new["fair"]) for name, chance in fits.items()}
    assert right["planned"] > right["none"] - 0.01
    assert abs(fits["planned"].mean() - new["fair"].mean()) < 0.03


def test_the_calibrated_fit_has_the_mean_of_its_calibrated_folds():
    # The whole fit has learned from more audited rows than the fits that the correction is learned from.
    audit = planned(np.random.default_rng(4))
    rows = with_known(Rows(TABLE, ("x",), recorded=TABLE["recorded"].to_numpy()), audit)
    belief = p4f.LabelBias("group", negative=0.4, positive=0.02)
    task = task_through(belief, rows, 0)
    folds = AuditedFolds.of(belief, rows, task)
    fitted, *fits = Linear(penalty=1.0).fit_many([task, *folds.tasks()], progress=False)
    found = folds.calibrate(fitted, fits).fitted
    assert isinstance(found, Calibrated)
    new = TABLE.iloc[np.flatnonzero(rows.fair < 0)][["x"]]
    mean = float(found.log_proba(new).exp()[:, 1].mean())
    # With the shifts of the folds on the whole fit, the mean probability of audited people is below their fair rate.
    assert mean == pytest.approx(audit.mean(audit.frame["fair"]).value, abs=0.004)
