from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.children import is_running, started, wait_for

PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], str(os.getpid())])
print(child.pid, flush=True)
child.wait()
"""
CHILD = """
import sys
from problog4fairness import lifeline
{before}
lifeline.end_with_parent(int(sys.argv[1]))
open({ready!r}, "w").close()
{work}
"""


@pytest.mark.parametrize(
    ("before", "work"),
    [
        ("", "while True: pass"),
        ("", "sum(range(10**15))"),  # one call of compiled code: no thread of Python can end it
        ("lifeline._end_by_signal = lambda: None", "while True: pass"),
    ],
    ids=["busy", "in compiled code", "without the signal"],
)
@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_a_busy_child_ends_with_its_parent(tmp_path, way, before, work):
    if "range" in work and sys.platform != "linux":
        pytest.skip("only Linux ends a process in compiled code")
    ready = tmp_path / "ready"
    child = CHILD.format(before=before, ready=str(ready), work=work)
    command = [sys.executable, "-c", PARENT, child]
    with started(command, stdout=subprocess.PIPE, text=True) as parent:
        number = int(parent.stdout.readline())
        wait_for(lambda: [number] if ready.exists() else [], 1, 60)
        assert is_running(number)
        parent.send_signal(way)
        parent.wait()
        wait_for(lambda: [] if is_running(number) else [number], 1, 5)
        parent.stdout.close()


def test_a_child_whose_parent_is_gone_already_ends_at_once():
    code = "import os; from problog4fairness.lifeline import end_with_parent; end_with_parent(2**22 + 1); print('on')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (1, "")


def test_the_parent_itself_goes_on():
    code = "import os; from problog4fairness.lifeline import end_with_parent; end_with_parent(os.getpid()); print('on')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "on\n"
