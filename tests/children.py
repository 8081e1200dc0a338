"""Processes that tests start, and look at from outside."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen
from typing import Any


@contextmanager
def started(command: list[str], **options: Any) -> Iterator[Popen]:
    """Start a process; neither it nor its children are left behind, however the test ends."""
    process = Popen(command, start_new_session=True, **options)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def is_running(number: int) -> bool:
    """Whether there is such a process that has not ended; one that nobody has waited for has."""
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
    return state not in ("Z", "X")


def wait_for(found: Callable[[], list[int]], count: int, seconds: float) -> list[int]:
    """What is found once there are so many; fails where it takes longer."""
    end = time.monotonic() + seconds
    while len(now := found()) < count:
        assert time.monotonic() < end, f"after {seconds} s there are only {now}"
        time.sleep(0.05)
    return now
