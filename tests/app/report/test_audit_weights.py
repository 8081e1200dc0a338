"""Numbers from audited rows are about the people that these were sampled from, and about rows not learned from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.app.report.changes import audited_quality
from problog4fairness.app.report.facts import collect
from problog4fairness.app.report.groups import calibration, confusion
from problog4fairness.app.report.review import checked_queue
from problog4fairness.data import Grouping, Rows
from problog4fairness.evaluation import Gain
from problog4fairness.metrics import decide, scores

N = 4000
BELIEF = p4f.LabelBias("poor_area", negative={1: 0.4, 0: 0.05}, positive=0.02)


def population(seed=0):
    """People with a fair label, a record that loses it more often in poor areas, and a model's probabilities."""
    rng = np.random.default_rng(seed)
    group = (rng.random(N) < 0.35).astype(int)
    x = rng.normal(size=N) - 0.5 * group
    fair = (rng.random(N) < 1 / (1 + np.exp(-1.5 * x - 0.8))).astype(int)
    recorded = np.where(rng.random(N) < np.where(group == 1, 0.4, 0.05), 0, fair)
    return pd.DataFrame({"x": x, "poor_area": group, "granted": recorded, "repaid": fair})


PEOPLE = population()


def audited(rng, planned, rows=240):
    """As many rows of each group and recorded label, or a random sample."""
    if not planned:
        chosen = rng.choice(N, rows, replace=False)
        return chosen, p4f.Audit.of(PEOPLE.iloc[chosen], fair="repaid", sampling="random")
    parts = PEOPLE.groupby(["poor_area", "granted"]).indices.values()
    chosen = np.concatenate([rng.choice(part, rows // 4, replace=False) for part in parts])
    columns = ["poor_area", "granted"]
    return chosen, p4f.Audit.of(PEOPLE.iloc[chosen], fair="repaid", strata=columns, table=PEOPLE)


def printed(chosen, sample, chance):
    """What a report and a comparison print from these rows, by name."""
    frame = PEOPLE.iloc[chosen].reset_index(drop=True)
    rows = Rows(frame, ("x",), recorded=frame["granted"].to_numpy(), fair=frame["repaid"].to_numpy())
    grouping = Grouping("poor_area", ("0", "1"), np.eye(2)[frame["poor_area"]])
    own, group = chance[chosen], frame["poor_area"].to_numpy()
    decided = decide(own)
    found = {}
    for name, row in audited_quality(grouping, rows, decided, sample).iterrows():
        found |= {(name, kind): row[kind] for kind in row.index if not kind.endswith(("rows", "judged", "low", "high"))}
    table = confusion(grouping, rows, decided, sample)
    found |= {(name, kind): share for name, row in table.iterrows() for kind, share in (row / row.sum()).items()}
    found |= {("labels", "disparity"): scores(rows.fair, rows.fair, group, audit=sample)["disparity"]}
    found |= {("model", kind): value for kind, value in scores(rows.fair, own, group, audit=sample).items()}
    gain = Gain.of(rows.fair, decided, rows.recorded, sample)
    found |= {("gain", kind): getattr(gain, kind) for kind in ("accuracy", "reached", "wrongly")}
    queued = own > 0.6
    found |= {("queue", "right"): sample.mean(rows.recorded != rows.fair, queued).value}
    # The largest of several differences is too large on average in any sample, however it was drawn.
    return {name: value for name, value in found.items() if name != ("model", "equalized_odds")}


def test_random_and_planned_audits_agree_about_every_number_that_is_printed():
    rng = np.random.default_rng(1)
    chance = 1 / (1 + np.exp(-1.2 * PEOPLE["x"].to_numpy() - 0.5))
    everybody = p4f.Audit.of(PEOPLE, fair="repaid", sampling="random")
    truth = pd.Series(printed(np.arange(N), everybody, chance))
    for planned in (True, False):
        found = pd.DataFrame([printed(*audited(rng, planned), chance) for _ in range(120)])
        error = found.std() / np.sqrt(len(found))
        away = ((found.mean() - truth) / error).abs()
        # Ratios of weighted sums are off by less than a hundredth of a point more than chance.
        assert (away[(found.mean() - truth).abs() > 0.004] < 4).all()
        assert (away < 4).mean() > 0.97


def test_a_planned_audit_without_its_weights_is_far_off():
    rng = np.random.default_rng(2)
    chosen, sample = audited(rng, True, rows=1200)
    grouping = Grouping("poor_area", ("0", "1"), np.eye(2)[PEOPLE["poor_area"].iloc[chosen]])
    frame = PEOPLE.iloc[chosen]
    rows = Rows(
        frame.reset_index(drop=True), ("x",), recorded=frame["granted"].to_numpy(), fair=frame["repaid"].to_numpy()
    )
    right = float((PEOPLE["granted"] == PEOPLE["repaid"]).mean())
    found = audited_quality(grouping, rows, rows.recorded, sample).loc["all"]
    assert found["record_right"] == pytest.approx(right, abs=0.02)
    poor = PEOPLE["poor_area"] == 1
    fair = audited_quality(grouping, rows, rows.recorded, sample).loc["1", "fair"]
    assert fair == pytest.approx(PEOPLE["repaid"][poor].mean(), abs=0.05)
    gap = PEOPLE.groupby("poor_area")["repaid"].mean()
    labels = scores(rows.fair, rows.fair, frame["poor_area"].to_numpy(), audit=sample)["disparity"]
    alone = scores(rows.fair, rows.fair, frame["poor_area"].to_numpy())["disparity"]
    assert labels == pytest.approx(gap[1] - gap[0], abs=0.05)
    assert abs(alone - (gap[1] - gap[0])) > 0.08


def test_a_comparison_is_weighted_by_the_design_of_its_audit():
    chosen, _ = audited(np.random.default_rng(3), True, rows=400)
    some = np.sort(np.concatenate([chosen, np.setdiff1d(np.arange(N), chosen)[:400]]))
    table = PEOPLE.iloc[some].reset_index(drop=True)
    known = np.isin(some, chosen)
    data = table.assign(repaid=table["repaid"].astype(object).where(known, None))
    sizes = PEOPLE.groupby(["poor_area", "granted"]).size().to_dict()
    audit = p4f.Audit.of(table[known], fair="repaid", strata=["poor_area", "granted"], population=sizes, table=table)
    options = {"methods": ["without_sensitive"], "seeds": 1, "folds": 2, "recorded": "granted", "fair": "repaid"}
    model = p4f.DebiasedClassifier(BELIEF, "linear")
    found = p4f.compare(table.drop(columns="repaid"), model, audit=audit, **options)
    gap = PEOPLE.groupby("poor_area")["repaid"].mean()
    assert found.data_disparity["fair"] == pytest.approx(gap[1] - gap[0], abs=0.1)
    plain = p4f.compare(data, model, **options)
    assert abs(plain.data_disparity["fair"] - (gap[1] - gap[0])) > 0.1
    assert "400 rows, stratified by poor_area and granted, weighted" in found.intervals("fair")
    assert "sampling unknown" in plain.intervals("fair")


def test_what_a_model_has_learned_from_does_not_judge_it():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(900, 6)), columns=list("abcdef"))
    frame["poor_area"] = (rng.random(900) < 0.5).astype(int)
    frame["repaid"] = (rng.random(900) < 0.5).astype(int)  # nothing says who should have it
    frame["granted"] = np.where(rng.random(900) < 0.1, 1 - frame["repaid"], frame["repaid"])
    known = frame["repaid"].astype(object).where(np.arange(900) < 300, None)
    belief = p4f.LabelBias("poor_area", negative=0.1, positive=0.1)
    features = frame[list("abcdef")]
    estimator = p4f.learners.Reweighted(_deep_trees())
    model = p4f.DebiasedClassifier(belief, estimator, random_state=0)
    model.fit(features, frame["granted"], sensitive_features=frame["poor_area"], fair=known)
    facts = collect(model, frame.drop(columns="repaid"), frame.iloc[:300], "repaid", None)
    inside = float((model.predict(features.iloc[:300]) == frame["repaid"].iloc[:300]).mean())
    shown = facts.divisions[0].audited.loc["all"]
    assert inside > 0.7
    assert shown["accuracy_low"] <= 0.5 <= shown["accuracy_high"]
    assert (facts.audit.learned, facts.audit.judged) == (300, 300)


def _deep_trees():
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(20, random_state=0)


def test_calibration_is_weighted():
    chosen, sample = audited(np.random.default_rng(5), True, rows=1200)
    frame = PEOPLE.iloc[chosen].reset_index(drop=True)
    rows = Rows(frame, ("x",), fair=frame["repaid"].to_numpy())
    grouping = Grouping("all", ("all",), np.ones((len(frame), 1)))
    chance = 1 / (1 + np.exp(-1.5 * frame["x"].to_numpy() - 0.8))  # as the labels were drawn
    found = calibration(grouping, rows, chance, sample)
    assert ((found["low"] <= found["predicted"]) & (found["predicted"] <= found["high"])).sum() >= 4


def test_the_review_list_is_judged_by_rows_that_were_not_learned_from():
    data = p4f.datasets.loans(rows=400, audited=120, new=1)
    table = pd.concat([data.loans, data.audit], ignore_index=True)
    known = pd.Series([None] * 400 + data.audit["repaid"].tolist(), dtype=object)
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0)
    model.fit(table[list(data.features)], table["granted"], sensitive_features=table["poor_area"], fair=known)
    facts = collect(model, table.drop(columns="repaid", errors="ignore"), data.audit, "repaid", None)
    audit = facts.audit
    assert audit.queue.queued + audit.queue.others == 120
    # The same list where the model had learned nothing from these rows is much the same: labels are linear here.
    again = checked_queue(model, audit.rows, audit.proba, np.zeros(120, dtype=bool), audit.sample)
    assert abs(again.queued - audit.queue.queued) <= 12
