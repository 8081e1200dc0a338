"""The engine: in parallel, resumed after a kill, with workers that fail, die, or outlive nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from problog4fairness.data import FileWarning
from problog4fairness.errors import P4FError
from studies.engine.archive import Archive
from studies.engine.bar import Reporter, StudyBar
from studies.engine.run import identity_of, run
from tests.children import is_running, started, wait_for
from tests.studies.stacks import Deadly, Failing, Resumed, Shared, Short, Sum, Sums, held_sums

ROOT = Path(__file__).parents[2]


def test_a_study_is_computed_once(tmp_path):
    study = Sums()
    outcome = run(study, tmp_path)
    assert (outcome.computed, outcome.read, outcome.failures) == (4, 0, {})
    assert list(outcome.results.columns) == list(study.columns)
    assert len(outcome.results) == 4 * 2
    again = run(study, tmp_path)
    assert (again.computed, again.read) == (0, 4)
    pd.testing.assert_frame_equal(outcome.results, again.results)


def test_processes_give_the_same_numbers_in_the_same_order(tmp_path):
    one, two = run(held_sums(), tmp_path / "one"), run(held_sums(), tmp_path / "two", jobs=2)
    assert not two.failures
    pd.testing.assert_frame_equal(one.results, two.results)


def test_stacks_that_share_work_are_computed_by_one_process(tmp_path):
    results = run(Sums(Shared()), tmp_path, jobs=2).results
    assert results["value"].nunique() == 1


def test_a_change_recomputes_only_what_it_touches(tmp_path):
    run(Sums(), tmp_path)
    assert run(Sums(places=(0, 1, 2, 9)), tmp_path).computed == 1
    assert run(Sums(Sum(seeds=(0, 2))), tmp_path).computed == 4
    assert run(Sums(Failing(), (0, 1)), tmp_path).computed == 2  # another kind of stack with the same settings


def test_a_damaged_stack_is_computed_again(tmp_path):
    before = run(Sums(), tmp_path)
    file = Archive(tmp_path).file(identity_of(Sums().stacks()[2]))
    file.write_bytes(file.read_bytes()[:100])
    with pytest.warns(FileWarning, match="computed again") as warned:
        after = run(Sums(), tmp_path)
    assert len(warned) == 1
    assert after.computed == 1
    pd.testing.assert_frame_equal(before.results, after.results)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_stack_does_not_stop_the_others(tmp_path, jobs):
    outcome = run(Sums(Failing()), tmp_path, jobs=jobs)
    assert outcome.failures == dict.fromkeys(["failing at 2", "failing at 3"], "ValueError: no such thing")
    assert outcome.computed == 2
    assert run(Sums(Failing()), tmp_path).read == 2


def test_other_rows_than_promised_are_a_failure(tmp_path):
    outcome = run(Sums(Short()), tmp_path)
    reason = "P4FError: short at 0 gave other rows than a number for each of its 2 keys"
    assert outcome.failures["short at 0"] == reason
    assert not len(outcome.results)
    assert not list(tmp_path.iterdir())


def test_a_worker_that_dies_is_replaced(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    outcome = run(Sums(Deadly(flag=str(flag))), tmp_path / "stacks", jobs=2)
    assert not flag.exists()
    assert not outcome.failures
    assert len(outcome.results) == 4 * 2


def test_going_on_after_a_kill(tmp_path):
    study, folder = held_sums(), tmp_path / "killed"
    command = [sys.executable, "-m", "tests.studies.stacks", str(folder), "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HELD": str(tmp_path / "never there")}
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, env=environment)
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
    resumed = run(study, folder, jobs=2)
    assert (resumed.read, resumed.computed) == (len(left), len(study.stacks()) - len(left))
    assert {file: file.stat().st_mtime_ns for file in left} == left
    assert len(list(folder.glob("*.json"))) == len(study.stacks())
    pd.testing.assert_frame_equal(resumed.results, run(study, tmp_path / "unbroken").results)


def test_workers_end_with_the_study(tmp_path):
    command = [sys.executable, "-m", "tests.studies.stacks", str(tmp_path), "2", "endless"]
    with started(command, cwd=ROOT) as study:
        workers = wait_for(lambda: [int(file.stem) for file in tmp_path.glob("*.pid")], 2, 120)
        assert study.pid not in workers
        study.send_signal(signal.SIGKILL)
        study.wait()
        wait_for(lambda: [worker for worker in workers if not is_running(worker)], 2, 60)


def test_a_study_after_one_in_a_thread_that_ended(tmp_path):
    """With that thread, its idle workers ended."""
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(run, Sums(), tmp_path / "one", jobs=2).result()
    pd.testing.assert_frame_equal(run(Sums(), tmp_path / "two", jobs=2).results, first.results)


def test_checkpoints_are_there_until_a_stack_is_stored(tmp_path):
    study = Sums(Resumed(), (0, 1))
    archive = Archive(tmp_path)
    good, bad = (archive.file(identity_of(stack), ".safetensors") for stack in study.stacks())
    good.write_text("whole")
    bad.write_text("half")
    with pytest.warns(FileWarning, match=f"{bad.name}: damaged; resumed at 1 was computed from its beginning"):
        outcome = run(study, tmp_path)
    assert not outcome.failures
    assert not list(tmp_path.glob("*.safetensors"))
    good.write_text("left behind by a kill after storing")
    assert run(study, tmp_path).read == 2
    assert not good.exists()


def test_the_bar_adds_up_what_workers_report(tmp_path, capsys):
    Reporter(tmp_path / "0")(0.5)
    (tmp_path / "1").write_text("half")
    with StudyBar([10, 10, 5], tmp_path, True) as bar:
        bar.finished(2)
        bar.failed("ours, seed 1", "too [large]")
        end = time.monotonic() + 60
        while bar._progress.tasks[0].completed != 10:
            assert time.monotonic() < end, "what was reported is not in the bar"
            time.sleep(0.05)
    shown = capsys.readouterr().err
    assert "5/25 cells" in shown
    assert "too [large]" in shown


def test_errors(tmp_path, monkeypatch):
    with pytest.raises(P4FError, match="a scheduler is for the backend 'dask'"):
        run(Sums(), tmp_path, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(P4FError, match="jobs must be 1 or more"):
        run(Sums(), tmp_path, jobs=0)
    with pytest.raises(P4FError, match="backend must be"):
        run(Sums(), tmp_path, backend="threads")
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(P4FError, match=r"pip install 'problog4fairness\[dask\]'"):
        run(Sums(), tmp_path, backend="dask")
