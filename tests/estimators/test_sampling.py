"""Fair labels in training: how they were sampled, or a warning that nothing says it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.checks import CHECKS, read_case
from problog4fairness.estimators.training_table import training_rows
from problog4fairness.statistics import Parameter
from tests.estimators.data import loans

FRAME, AREA, FAIR, RECORDED = loans(400)
BELIEF = p4f.LabelBias("area", {1: 0.5}, False, affected=[1])
PEOPLE = FRAME.assign(area=AREA, granted=RECORDED, repaid=FAIR)
TABLE = PEOPLE.drop(columns="repaid")
COLUMNS = {"recorded": "granted", "fair": "repaid"}


def told(**options):
    """The audit warnings of a fit."""
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(FRAME, RECORDED, sensitive_features=AREA, **options)
    return [str(warning.message) for warning in caught if issubclass(warning.category, AuditWarning)]


def test_a_series_of_fair_labels_does_not_say_how_it_was_sampled():
    (message,) = told(fair=pd.Series(FAIR).where(np.arange(400) < 60))
    assert "sampling" in message
    assert "60 rows" in message
    assert told(fair=FAIR) == []  # all rows: nothing was sampled
    assert told(fair=p4f.Audit.of(PEOPLE.iloc[:60], fair="repaid", sampling="random", table=TABLE)) == []


def test_clusters_are_not_used_in_training_and_it_is_said():
    people = np.arange(60) // 2
    audit = p4f.Audit.of(PEOPLE.iloc[:60], fair="repaid", sampling="random", cluster=people, table=TABLE)
    (message,) = told(fair=audit)
    assert "cluster" in message


def test_a_table_and_its_audit_keep_their_clusters():
    audit = p4f.Audit.of(PEOPLE.iloc[:60], fair="repaid", sampling="random", cluster=np.arange(60) // 2, table=TABLE)
    known = training_rows(TABLE, BELIEF, audit=audit, favourable=1, **COLUMNS).known
    assert isinstance(known, p4f.Audit)
    np.testing.assert_array_equal(known.clusters, np.arange(60) // 2)
    assert (
        training_rows(TABLE, BELIEF, audit=audit.take(np.arange(3)), favourable=1, **COLUMNS).known.clusters.size == 3
    )


def test_rows_that_were_only_audited_count_for_all_that_they_stand_for():
    others = FRAME.assign(area=AREA, granted=RECORDED, repaid=FAIR, income=FRAME.iloc[:, 0] + 10)
    kinds = {(a, r): 100.0 * (1 + a + 2 * r) for a in (0, 1) for r in (0, 1)}
    table = TABLE.assign(income=FRAME.iloc[:, 0])
    both = pd.concat([PEOPLE.assign(income=FRAME.iloc[:, 0]).iloc[:40], others.iloc[40:80]])
    audit = p4f.Audit.of(both, fair="repaid", strata=["area", "granted"], population=kinds)
    found = training_rows(table, BELIEF, audit=audit, favourable=1, **COLUMNS)
    weights = found.sample_weight
    assert weights is not None
    assert (weights[:400] == 1).all()
    np.testing.assert_allclose(weights[400:], audit.weights[40:])
    # Calibration multiplies both, and each row counts once for what it stands for.
    assert isinstance(found.known, p4f.Audit)
    places = found.known.rows
    np.testing.assert_allclose(found.known.weights * weights[places], found.audit_weights.to_numpy()[places])
    known = p4f.Audit.of(PEOPLE[:60], fair="repaid", sampling="random")
    assert training_rows(TABLE, BELIEF, audit=known, favourable=1, **COLUMNS).sample_weight is None


def test_other_strata_than_group_and_recorded_label_are_not_tested_by_shuffled_labels():
    x = (FRAME.iloc[:, 0] > 0.5).astype(int)
    people, table = PEOPLE.assign(high=x), TABLE.assign(high=x)
    for strata, allowed in ((["area", "granted"], True), (["area", "granted", "high"], False)):
        rows = people.groupby(strata).head(20)
        audit = p4f.Audit.of(rows, fair="repaid", strata=strata, table=table)
        case = read_case(BELIEF, table, audit=audit, **COLUMNS)
        assert len(case.audited) == len(rows)
        conditional = next(check for check in CHECKS if check.name == "class-conditional")
        assert ("more than group and recorded label" in str(conditional.run(case))) != allowed


def test_numbers_count_each_row_once_and_say_it():
    rng = np.random.default_rng(0)
    fair = rng.normal(size=80)
    rows = pd.DataFrame({"area": np.arange(80) % 2, "score": fair + rng.normal(size=80) / 3, "true": fair})
    belief = p4f.NumericMeasurementBias(["score"], "area")
    columns = {"recorded": ["score"], "fair": ["true"]}
    by_group = p4f.Audit.of(rows, fair="true", strata="area", population={0: 900, 1: 100})
    with warnings.catch_warnings():
        warnings.simplefilter("error", AuditWarning)
        belief.estimate(by_group, **columns)
    by_row = p4f.Audit.of(rows, fair="true", inclusion=np.where(rows["score"] > 0, 0.5, 0.1))
    with pytest.warns(AuditWarning, match="sampling weights"):
        belief.estimate(by_row, **columns)


def test_one_rule_says_what_is_known_well_enough():
    known = Parameter("p1", "a fair 1 is recorded as 0", value=0.05, low=0.0, high=0.15, rows=50)
    assert not known.is_wide(0.1)
    assert known.is_wide(0.05)
    large = Parameter("p1", "a fair 1 is recorded as 0", value=0.8, low=0.45, high=1.0, rows=8)
    assert large.is_wide(0.1)
