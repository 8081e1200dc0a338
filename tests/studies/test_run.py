from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from problog4fairness.experiments import METHODS, Method, assumption, dependent, run
from problog4fairness.experiments.store import key_of

from problog4fairness.errors import P4FError
from problog4fairness.rows import FileWarning
from tests.children import is_running, started, wait_for
from tests.experiments.studies import constant, deadly, failing, slow_study, tiny

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("study", [tiny(), tiny(dependent(betas=[0.3])), tiny(assumption(betas=[0.0, 0.3]))])
def test_a_tiny_study(tmp_path, study):
    outcome = run(study, tmp_path)
    assert not outcome.failures
    assert outcome.computed == len(study.stacks())
    results = outcome.results
    assert list(results.columns) == ["bias", "x", "method", "seed", "fold", "metric", "value"]
    assert len(results) == len(study.points) * len(study.methods) * 2 * 2 * 4
    assert not results.duplicated(["bias", "x", "method", "seed", "fold", "metric"]).any()
    again = run(study, tmp_path)
    assert (again.computed, again.read) == (0, len(study.stacks()))
    pd.testing.assert_frame_equal(results, again.results)


def test_processes_give_the_same_numbers(tmp_path):
    study = tiny(dependent(betas=[0.0, 0.3]), methods=METHODS[:3])
    one, two = run(study, tmp_path / "one"), run(study, tmp_path / "two", jobs=2)
    assert not two.failures
    pd.testing.assert_frame_equal(one.results, two.results)


def test_a_change_recomputes_only_what_it_touches(tmp_path):
    study = tiny(methods=(Method("one", constant), Method("two", constant)))
    run(study, tmp_path)
    points = (replace(study.points[0], settings=replace(study.points[0].settings, p_a=0.4)), *study.points[1:])
    assert run(replace(study, points=points), tmp_path).computed == 2
    assert run(replace(study, methods=(*study.methods, Method("three", constant))), tmp_path).computed == 6


def test_a_damaged_stack_is_computed_again(tmp_path):
    study = tiny(methods=(Method("one", constant),))
    before = run(study, tmp_path)
    file = tmp_path / f"{key_of(study.stacks()[2])}.json"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.warns(FileWarning, match="computed again") as warned:
        after = run(study, tmp_path)
    assert len(warned) == 1
    assert after.computed == 1
    pd.testing.assert_frame_equal(before.results, after.results)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_stack_does_not_stop_the_others(tmp_path, jobs):
    study = tiny(methods=(Method("bad", failing), Method("good", constant)))
    outcome = run(study, tmp_path, jobs=jobs)
    assert outcome.failures == dict.fromkeys(
        [f"bad at {bias} 0.6" for bias in ("label", "measurement", "historical")], "ValueError: no such thing"
    )
    assert outcome.computed == 9
    assert run(study, tmp_path).read == 9


def test_wrong_predictions_are_a_failure(tmp_path):
    study = tiny(methods=(Method("short", lambda stack: constant(stack)[:-1]),))
    outcome = run(study, tmp_path)
    assert set(outcome.failures.values()) == {"P4FError: short gave predictions for 3 of 4 cells"}
    assert not len(outcome.results)


def test_a_worker_that_dies_is_replaced(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    study = tiny(methods=(Method("deadly", partial(deadly, str(flag))),))
    outcome = run(study, tmp_path / "stacks", jobs=2)
    assert not flag.exists()
    assert not outcome.failures
    assert len(outcome.results) == 6 * 2 * 2 * 4


@pytest.mark.parametrize("jobs", [1, 2])
def test_going_on_after_a_kill(tmp_path, jobs):
    study, folder = slow_study(), tmp_path / "killed"
    command = [sys.executable, "-m", "tests.experiments.studies", str(folder), str(jobs)]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        limit = time.monotonic() + 120
        while len(list(folder.glob("*.json"))) < 4 and time.monotonic() < limit and process.poll() is None:
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    time.sleep(0.2)
    left = {file: file.stat().st_mtime_ns for file in folder.glob("*.json")}
    assert 4 <= len(left) < len(study.stacks())
    resumed = run(study, folder, jobs=jobs)
    assert (resumed.read, resumed.computed) == (len(left), len(study.stacks()) - len(left))
    assert {file: file.stat().st_mtime_ns for file in left} == left
    assert len(list(folder.glob("*.json"))) == len(study.stacks())
    pd.testing.assert_frame_equal(resumed.results, run(study, tmp_path / "unbroken").results)


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_study(tmp_path, way):
    command = [sys.executable, "-m", "tests.experiments.studies", str(tmp_path), "2", "endless"]
    with started(command, cwd=ROOT) as study:
        workers = wait_for(lambda: [int(file.stem) for file in tmp_path.glob("*.pid")], 2, 120)
        assert study.pid not in workers
        study.send_signal(way)
        study.wait()
        wait_for(lambda: [worker for worker in workers if not is_running(worker)], 2, 5)


def test_a_study_after_one_in_a_thread_that_ended(tmp_path):
    """With that thread, its idle workers ended."""
    study = tiny(methods=(Method("one", constant),))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(run, study, tmp_path / "one", jobs=2).result()
    pd.testing.assert_frame_equal(run(study, tmp_path / "two", jobs=2).results, first.results)


def test_errors(tmp_path, monkeypatch):
    study = tiny(methods=(Method("one", constant),))
    with pytest.raises(P4FError, match="a scheduler is for the backend 'dask'"):
        run(study, tmp_path, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(P4FError, match="jobs must be 1 or more"):
        run(study, tmp_path, jobs=0)
    with pytest.raises(P4FError, match="backend must be"):
        run(study, tmp_path, backend="threads")
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(P4FError, match=r"pip install 'problog4fairness\[dask\]'"):
        run(study, tmp_path, backend="dask")
