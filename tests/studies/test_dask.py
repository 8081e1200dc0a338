"""A real scheduler with two worker processes on loopback, one of which is killed in mid-study."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from studies.engine.run import run
from tests.studies.stacks import held_sums

pytest.importorskip("distributed", reason="the extra 'dask' is not installed")

ROOT = Path(__file__).parents[2]
SCRIPT = """
import os, signal, sys, threading, time
from pathlib import Path
from distributed import LocalCluster
from studies.engine.run import run
from tests.studies.stacks import held_sums

def kill(cluster, folder):
    while len(list(folder.glob("*.json"))) < 3:
        time.sleep(0.02)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    print("killed", flush=True)
    Path(os.environ["HELD"]).touch()

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        threading.Thread(target=kill, args=(cluster, folder), daemon=True).start()
        outcome = run(held_sums(), folder, backend="dask", scheduler=cluster.scheduler_address)
    outcome.results.to_csv(sys.argv[2], index=False)
    print("failures", outcome.failures, "computed", outcome.computed, flush=True)
"""


def test_a_cluster_that_loses_a_worker(tmp_path):
    script = tmp_path / "cluster.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "HELD": str(tmp_path / "killed")}
    command = [sys.executable, str(script), str(tmp_path / "stacks"), str(tmp_path / "results.csv")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "killed" in done.stdout
    assert f"failures {{}} computed {len(held_sums().stacks())}" in done.stdout
    unbroken = run(held_sums(), tmp_path / "unbroken").results
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "results.csv"), unbroken)
