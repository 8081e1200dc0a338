"""Reading, grounding and compiling in another process, with a limit of time and of memory.

A ProbLog program can recurse for ever or fill the memory, and may come from a stranger. So problog never runs in the
caller's process: one worker process is started when it is first needed, kept for the next program (starting it costs a
quarter of a second, a small program a few milliseconds), and replaced when a program drives it to a limit. It can open
nothing (see :mod:`.wall`), and ends when the caller does.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from problog4fairness import errors
from problog4fairness.errors import LimitError, P4FError
from problog4fairness.program.sandbox.lifetime import in_lasting_thread

MEBIBYTE = 1024 * 1024
# What comes back is read in the caller's process, which has no limit; the worker refuses to send more.
MAX_ANSWER = 32 * MEBIBYTE
# Seconds; the system counts the milliseconds of one wait in 32 bits.
LONGEST_WAIT = 86_400.0


@dataclass(frozen=True)
class Limits:
    """How long grounding and compiling may take, and how much memory they may use.

    Parameters
    ----------
    seconds
        Wall-clock time for one program.
    memory
        Bytes of address space of the worker process (enforced on Linux).

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> limits = p4f.program.Limits(seconds=5, memory=2**30)
    >>> p4f.Program("0.5 :: a. ?- a.", limits=limits).probability()["a"].item()
    0.5
    """

    seconds: float = 60.0
    memory: int = 2048 * MEBIBYTE

    def __post_init__(self) -> None:
        if type(self.seconds) not in (int, float) or not self.seconds > 0:
            raise P4FError(f"the time limit must be a number of seconds above 0, not {self.seconds!r}")
        if type(self.memory) is not int or self.memory <= 0:
            raise P4FError(f"the memory limit must be a whole number of bytes above 0, not {self.memory!r}")


class _WorkerGoneError(Exception):
    """A worker that had served before ended without an answer."""


class Worker:
    """One worker process, and the lock that lets threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None

    def run(self, task: str, text: str, limits: Limits) -> Any:
        """The result of ``task`` on ``text``, or the error that the program earned."""
        with self._lock:
            request = {
                "task": task, "text": text, "memory": limits.memory, "seconds": limits.seconds, "most": MAX_ANSWER - 1,
            }  # fmt: skip
            try:
                reply = self._ask(request, limits)
            except _WorkerGoneError:
                # It served others before, so perhaps somebody else ended it: a new one gets a chance.
                reply = self._ask(request, limits)
        if "result" in reply:
            return reply["result"]
        kind = getattr(errors, reply["error"])
        raise kind(reply["message"], line=reply["line"], column=reply["column"])

    def stop(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._complaints):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    def _ask(self, request: dict[str, Any], limits: Limits) -> Any:
        served = self._process is not None
        process = self._running()
        line: bytes | None = b""
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(request).encode() + b"\n")  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
                line = _line_within(limits.seconds, process)
        except BaseException:
            self.stop()
            raise
        if line is None:
            self.stop()
            raise LimitError(
                f"the program was stopped at the time limit of {limits.seconds:g} s; "
                "look for a recursion without end, or raise the limit"
            )
        reply = json.loads(line) if line.endswith(b"\n") else {}
        if "result" in reply or "error" in reply:
            return reply
        problem = self._last_words()
        self.stop()
        if "memory" not in reply and problem:
            raise RuntimeError(f"the worker process failed: {problem}")
        if "memory" not in reply and served:
            raise _WorkerGoneError
        raise LimitError(
            f"the program was stopped at the memory limit of {limits.memory / MEBIBYTE:g} MiB; "
            "make it smaller, or raise the limit"
        )

    def _last_words(self) -> str:
        """What a worker said when it ended by a Python error that has nothing to do with memory."""
        if self._process is None or self._complaints is None:
            return ""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        if self._process.returncode != 1:
            return ""
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        out_of_memory = ("MemoryError", "alloc failed", "Cannot allocate memory")
        return "" if not lines or any(words in lines[-1] for words in out_of_memory) else lines[-1]

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.stop()
        if self._process is None:
            self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed in stop()
            self._process = in_lasting_thread(self._start)
            # Its start is not counted against the time of a program.
            if not self._process.stdout.readline():  # type: ignore[union-attr]
                problem = self._last_words() or "it did not start"
                self.stop()
                raise RuntimeError(f"the worker process failed: {problem}")
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        package_root = str(Path(__file__).resolve().parents[3])
        paths = [package_root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "problog4fairness.program.sandbox.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )


def _line_within(seconds: float, process: subprocess.Popen[bytes]) -> bytes | None:
    """The next line of the process, short where it ended; None where the time was over first.

    No thread watches the time where the system can wait for a pipe: the last moments of a thread outlive its ``join``,
    and from Python 3.12 on a fork beside them is warned about.
    """
    if not hasattr(select, "poll"):
        return _line_beside_a_timer(seconds, process)
    stream = process.stdout.fileno()  # type: ignore[union-attr]
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    deadline = time.monotonic() + seconds
    line = bytearray()
    while len(line) < MAX_ANSWER and not line.endswith(b"\n"):
        left = min(max(deadline - time.monotonic(), 0), LONGEST_WAIT)
        if not poll.poll(1000 * left):
            if left < LONGEST_WAIT:
                return None
            continue
        piece = os.read(stream, MEBIBYTE)
        if not piece:
            break
        line += piece
    return bytes(line)


def _line_beside_a_timer(seconds: float, process: subprocess.Popen[bytes]) -> bytes | None:
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), end)
    timer.daemon = True
    timer.start()
    try:
        line = process.stdout.readline(MAX_ANSWER)  # type: ignore[union-attr]
    finally:
        timer.cancel()
    return None if late.is_set() else line


# The last one is ours. After a fork the earlier ones, and perhaps their locks, belong to the parent process.
_workers = [Worker()]


def _forget() -> None:
    _workers.append(Worker())


def _stop() -> None:
    _workers[-1].stop()


atexit.register(_stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def run(task: str, text: str, limits: Limits | None = None) -> Any:
    """Run a task in the shared worker; raises the named error that the program earned."""
    return _workers[-1].run(task, text, limits or Limits())
