"""Whether a model uses the group: stated, or chosen by audited rows, and said in one line."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.data import GroupUseNote, Rows
from problog4fairness.errors import LearningWarning, P4FError
from problog4fairness.estimators.diagnostics import learner_words, stand_ins
from problog4fairness.estimators.group_use import GroupUse
from problog4fairness.estimators.training_table import train_on_table

BELIEF = p4f.LabelBias("area", negative={1: 0.4, 0: 0.1}, positive=0.05).bind({}, favourable=1)


def people(effect: float, rows: int = 3000, audited: int = 600, seed: int = 0) -> pd.DataFrame:
    """People whose fair label depends on the group by ``effect`` in log-odds; some are audited."""
    rng = np.random.default_rng(seed)
    area, x = rng.integers(0, 2, rows), rng.normal(size=rows)
    fair = (rng.random(rows) < 1 / (1 + np.exp(-x - effect * (area - 0.5)))).astype(int)
    recorded = np.where(rng.random(rows) < np.where(fair == 1, np.where(area == 1, 0.4, 0.1), 0.05), 1 - fair, fair)
    known = np.where(np.arange(rows) < audited, fair, np.nan)
    return pd.DataFrame({"x": x, "area": area, "granted": recorded, "repaid": known})


def fitted(table: pd.DataFrame, **options: object) -> p4f.DebiasedClassifier:
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0, **options)
    return model.fit(table[["x", "area"]], table["granted"], fair=table["repaid"])


@pytest.mark.parametrize(("effect", "used"), [(1.5, True), (-1.5, True), (0.0, False)])
def test_audited_rows_choose(effect, used):
    with pytest.warns(GroupUseNote, match="600 audited rows"):
        model = fitted(people(effect))
    assert model.group_use_.used is used
    assert model.group_use_.decided_by == "audited rows"
    assert ("area" in model.columns_) is used


def test_without_audited_rows_it_is_group_free_and_says_so():
    with pytest.warns(GroupUseNote, match="Group-free.*area.*use_sensitive=True"):
        model = fitted(people(1.5, audited=0))
    assert model.columns_ == ["x"]


@pytest.mark.parametrize("used", [True, False])
def test_what_is_stated_is_done_without_a_note(used):
    with warnings.catch_warnings():
        warnings.simplefilter("error", GroupUseNote)
        model = fitted(people(0), use_sensitive=used)
    assert model.group_use_ == GroupUse(used, ("area",), "statement")
    assert ("area" in model.columns_) is used


def test_where_x_has_no_sensitive_column_there_is_nothing_to_choose():
    table = people(1.5)
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GroupUseNote)
        model.fit(table[["x"]], table["granted"], sensitive_features=table["area"], fair=table["repaid"])
    assert str(model.group_use_) == ""


def test_a_group_free_model_of_a_table_does_not_ask_new_rows_for_the_group():
    model, rows = train_on_table(people(0.0), BELIEF, recorded="granted", fair="repaid", learner="linear")
    assert list(rows.features) == ["x"]
    assert model.predict_proba(pd.DataFrame({"x": [0.0]})).shape == (1, 2)
    assert any("Group-free" in sentence for sentence in learner_words(model))
    model, rows = train_on_table(people(1.5), BELIEF, recorded="granted", fair="repaid", learner="linear")
    assert list(rows.features) == ["x", "area"]
    assert any("Uses the group" in sentence for sentence in learner_words(model))


def test_it_is_saved_with_the_model(tmp_path):
    model = fitted(people(0.0))
    model.save(tmp_path / "model.p4f")
    assert p4f.DebiasedClassifier.load(tmp_path / "model.p4f").group_use_ == model.group_use_


def test_a_feature_that_determines_the_group_is_a_warning_where_the_group_is_hidden():
    table = people(0.0, audited=0).assign(race=lambda t: np.where(t["area"] == 1, "b", np.where(t["x"] > 0, "w", "o")))
    model = p4f.DebiasedClassifier(BELIEF, "linear", random_state=0, use_sensitive=False)
    with pytest.warns(LearningWarning, match="'race' determines area"):
        model.fit(table[["x", "race", "area"]], table["granted"])
    model.set_params(use_sensitive=True)
    model.fit(table[["x", "race", "area"]], table["granted"])
    assert not any("race" in sentence for sentence in model.training_warnings_)


def test_a_comparison_chooses_as_a_fit_does():
    table = people(1.5)
    options = {"recorded": "granted", "fair": "repaid", "methods": [], "seeds": 1, "folds": 2}
    with pytest.warns(GroupUseNote, match="Uses the group"):
        found = p4f.compare(table, p4f.DebiasedClassifier(BELIEF, "linear"), **options)
    free = p4f.compare(table, p4f.DebiasedClassifier(BELIEF, "linear", use_sensitive=False), **options)
    accuracy = [comparison.table("fair").loc["this model", "accuracy"] for comparison in (found, free)]
    assert accuracy[0] > accuracy[1]


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_anything_else_is_an_error(wrong):
    with pytest.raises(P4FError, match="use_sensitive"):
        fitted(people(0.0, rows=200, audited=0), use_sensitive=wrong)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_stand_ins_are_looked_for_among_rows_whose_group_is_known():
    rng = np.random.default_rng(0)
    group, code = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    frame = pd.DataFrame({"x": rng.normal(size=600), "code": code, "race": np.where(group == 1, "B", "W")})
    frame["group"] = np.where(np.arange(600) < 300, group, np.nan)
    belief = p4f.UnknownGroup("group", {"code": (0, 1)}, {0: 0.4, 1: 0.6})
    rows = Rows(frame, ("x", "code", "race"), (0, 1), rng.integers(0, 2, 600))
    assert stand_ins(belief, rows) == ["race"]
    assert stand_ins(belief, replace(rows, frame=frame.assign(group=np.nan))) == []
