"""A child ends with its parent, where Linux sees to it and where a thread does."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from problog4fairness.program.sandbox import lifetime

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")

CHILD = "import time; from problog4fairness import lifetime; {}; print(1, flush=True)\nwhile True: time.sleep(0.01)"
PARENT = """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("call", ["lifetime.end_with_parent()", "import os; lifetime.watch(os.getppid(), every=0.2)"])
def test_a_child_ends_when_its_parent_is_killed(call):
    script = PARENT.format(CHILD.format(call))
    parent = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=240, text=True)
    deadline = time.monotonic() + 60
    while runs(int(parent.stdout)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not runs(int(parent.stdout))


def test_a_child_whose_parent_was_gone_before_it_asked():
    code = "from problog4fairness import lifetime; lifetime.end_with_parent(parent=1); import time; time.sleep(600)"
    assert subprocess.run([sys.executable, "-c", code], timeout=240).returncode == 1


def test_the_lasting_thread_gives_results_and_errors():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lifetime.in_lasting_thread, lambda: 7).result() == 7
        name = pool.submit(lifetime.in_lasting_thread, lambda: threading.current_thread().name).result()
        assert name == "starts processes"
        with pytest.raises(ZeroDivisionError):
            pool.submit(lifetime.in_lasting_thread, lambda: 1 // 0).result()
    assert lifetime.in_lasting_thread(threading.current_thread) is threading.main_thread()


def test_the_parent_itself_goes_on():
    code = "import os; from problog4fairness.program import end_with_parent; end_with_parent(os.getpid()); print('on')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert run.stdout == "on\n"
