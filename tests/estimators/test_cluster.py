"""Dask data frames: a real scheduler with two worker processes on loopback, and what needs one machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from problog4fairness import DebiasedClassifier, LabelBias, MeasurementBias
from problog4fairness.errors import P4FError
from problog4fairness.learners import Boosted
from tests.estimators.data import loans

pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
dd = pytest.importorskip("dask.dataframe", reason="the extra 'dask' is not installed")

ROOT = Path(__file__).parents[2]
BELIEF = LabelBias("area", {1: 0.5}, False, affected=[1])
MORE = {"weighted": Boosted(max_trees=100, leaves=31, validation=0)}
SCRIPT = """
import json, sys
import dask.dataframe as dd
import numpy as np
from distributed import Client, LocalCluster
from problog4fairness import DebiasedClassifier
from tests.estimators.data import loans
from problog4fairness.learners import Boosted
from tests.estimators.test_cluster import BELIEF, MORE

if __name__ == "__main__":
    frame, area, fair, recorded = loans(4000)
    known = np.where(np.arange(4000) < 400, fair, np.nan)
    frame.loc[::7, "job"] = None
    table = dd.from_pandas(frame.assign(area=area, recorded=recorded, known=known), npartitions=4)
    own = dict(dashboard_address=None, n_workers=2, threads_per_worker=1, processes=True)
    with LocalCluster(**own) as cluster, Client(cluster.scheduler_address):
        for name, learner in MORE.items():
            other = DebiasedClassifier(BELIEF, learner, random_state=0, class_weight="balanced")
            other.fit(table[list(frame)], table["recorded"], sensitive_features=table["area"],
                      sample_weight=table["area"] + 1)
            other.save(f"{sys.argv[1]}.{name}")
        kinds = DebiasedClassifier(None, Boosted(max_trees=20), random_state=0)
        kinds.fit(table[["q0", "q1", "q2", "income"]], table["job"].fillna("smith"))
        assert kinds.predict_proba(frame[["q0", "q1", "q2", "income"]]).shape == (4000, 3)
        kinds.save(f"{sys.argv[1]}.kinds")
        model = DebiasedClassifier(BELIEF, "boosted", random_state=0)
        model.fit(table[list(frame)], table["recorded"], sensitive_features=table["area"], fair=table["known"])
        spread = model.predict_proba(table[list(frame)]).compute()
        labels = model.predict(table[list(frame)]).compute()
    assert np.array_equal(spread, model.predict_proba(frame))
    assert np.array_equal(labels, model.predict(frame))
    model.save(sys.argv[1])
    assert np.array_equal(DebiasedClassifier.load(sys.argv[1]).predict_proba(frame), spread)
    with open(sys.argv[2], "w") as file:
        told = {"recorded": model.recorded_, "losses": model.history_["validation"], "audited": model.audited_}
        json.dump(told, file)
"""


def test_two_processes_end_within_noise_of_one(tmp_path):
    script = tmp_path / "cluster.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), str(tmp_path / "model.p4f"), str(tmp_path / "told.json")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["recorded"] == "recorded"
    assert told["audited"] == 400
    assert len(told["losses"]) > 30
    frame, area, fair, recorded = loans(4000)
    frame.loc[::7, "job"] = None
    known = np.where(np.arange(4000) < 400, fair, np.nan)
    one = DebiasedClassifier(BELIEF, "boosted", random_state=0)
    one.fit(frame, recorded, sensitive_features=area, fair=known)
    new, _, truth, _ = loans(4000, seed=1)
    scores = [float((model.predict(new) == truth).mean())
              for model in (one, DebiasedClassifier.load(tmp_path / "model.p4f"))]  # fmt: skip
    # Two standard errors of an accuracy on so many rows.
    assert scores[1] > scores[0] - 0.01
    assert scores[0] > 0.87
    for name, learner in MORE.items():
        there = DebiasedClassifier.load(tmp_path / f"model.p4f.{name}")
        here = DebiasedClassifier(BELIEF, learner, random_state=0, class_weight="balanced")
        here.fit(frame, recorded, sensitive_features=area, sample_weight=area + 1)
        chances = [model.predict_proba(new)[:, 1] for model in (there, here)]
        right = [float(((chance > 0.5) == truth).mean()) for chance in chances]
        assert right[0] > right[1] - 0.015, name
        # Weights move the probabilities of trees by twice as much.
        assert chances[0].mean() == pytest.approx(chances[1].mean(), abs=0.01), name


@pytest.fixture
def table():
    frame, area, _, recorded = loans(40)
    return dd.from_pandas(frame.assign(area=area, recorded=recorded), npartitions=2)


def refused(table, belief=BELIEF, learner="boosted", **options):
    names = ["q0", "q1", "q2", "income", "job", "area"]
    model = DebiasedClassifier(belief, learner, class_weight=options.pop("class_weight", None))
    with pytest.raises(P4FError) as error:
        model.fit(table[names], table["recorded"], **options)
    return str(error.value)


@pytest.mark.parametrize("learner", ["linear", "auto", "network"])
def test_other_learners_need_a_sample(table, learner):
    assert "learner='boosted'" in refused(table, learner=learner)


def test_several_variants_need_one_machine(table):
    assert "needs one machine: pass X.compute()" in refused(table, MeasurementBias("area", ["q0"], 0.1, 0.1))


def test_weights_below_0_are_one_line(table, monkeypatch):
    monkeypatch.setattr("problog4fairness.estimators.distributed.require_cluster", lambda _: None)
    assert refused(table, sample_weight=table["area"] - 1.0) == (
        "sample_weight has values that are missing or below 0; give each row a weight of 0 or more"
    )


def test_unknown_categories_are_one_line(table):
    table["job"] = table["job"].astype("category")
    assert refused(table) == "column 'job' has unknown categories; say which by X.categorize(columns=['job'])"


def test_without_a_cluster(table):
    assert refused(table).startswith("there is no cluster; connect to one first")


def test_what_is_beside_it_is_spread_too(table, monkeypatch):
    monkeypatch.setattr("problog4fairness.estimators.distributed.require_cluster", lambda _: None)
    with pytest.raises(P4FError, match="are columns of Dask data frames, too"):
        DebiasedClassifier(BELIEF, "boosted").fit(table[["income"]], pd.Series([0, 1] * 20))
