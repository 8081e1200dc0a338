"""A process that ends with the one that started it, however that one ended.

The parent starts it from :func:`in_lasting_thread`; the child calls :func:`end_with_parent` first of all.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int | None = None) -> None:
    """Let this process be killed when its parent ends: at once on Linux, elsewhere within a second or so.

    Linux watches the *thread* that started this process. Where that thread may end before the parent does, start the
    process by :func:`in_lasting_thread`, or call :func:`watch` here instead.

    Parameters
    ----------
    parent
        Process id of the parent, where the parent could tell it; by default that of the parent at this moment. In the
        process of that id itself, nothing happens.
    """
    if os.getpid() == parent:
        return
    parent = os.getppid() if parent is None else parent
    if not _ask_linux():
        watch(parent)
    elif os.getppid() != parent:  # it ended before Linux was asked
        os._exit(1)


def watch(parent: int, every: float = 1.0) -> None:
    """Let a thread end this process when ``parent`` is no longer its parent; C code can hold that up."""

    def look() -> None:
        never = threading.Event()
        while os.getppid() == parent:
            never.wait(every)
        os._exit(1)

    threading.Thread(target=look, name="ends with its parent", daemon=True).start()


def in_lasting_thread(start: Callable[[], Result]) -> Result:
    """The result of ``start()``, called in a thread that lives as long as this process."""
    if threading.current_thread() is threading.main_thread():
        return start()  # and no thread is left behind: from Python 3.12 on, a fork beside other threads is warned about
    future: Future[Result] = Future()
    _starters[-1].put((start, future))
    return future.result()


def _ask_linux() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)


class _Starter:
    """A thread that is started when it is first needed, and calls what it is given."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, task: tuple[Callable[[], Any], Future[Any]]) -> None:
        self._tasks.put(task)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="starts processes", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            start, future = self._tasks.get()
            try:
                future.set_result(start())
            except BaseException as error:
                future.set_exception(error)


# The last one is ours: the threads of a parent do not exist after a fork.
_starters = [_Starter()]
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _starters.append(_Starter()))
