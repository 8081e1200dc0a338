"""Ctrl-C ends a command with one line, and nothing is written by halves."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from tests.children import started

# Grounds for far longer than the test waits.
SLOW = "c(0). c(N) :- c(M), M < 3000000, N is M + 1. 0.5::a :- c(2999999). query(a)."


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a process alone")
def test_ctrl_c_says_one_line(tmp_path):
    (tmp_path / "slow.pl").write_text(SLOW)
    command = [sys.executable, "-m", "problog4fairness.app.cli", "lint", "slow.pl"]
    with started(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(6)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert error.splitlines() == ["interrupted; nothing was written by halves"]
    assert [path.name for path in tmp_path.iterdir()] == ["slow.pl"]
