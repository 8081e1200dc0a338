"""A process that was started to help another one does not outlive it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import cache

# Seconds between two looks at the parent, where the system does not tell of its end.
PAUSE = 1.0
_PR_SET_PDEATHSIG = 1


@cache
def end_with_parent(parent: int) -> None:
    """End this process when the one that started it ends, however that ends.

    On Linux the system does it at once, also while this process is busy in compiled code. It does so as well when only
    the *thread* that started this process ends: start helpers from a thread that stays, or be ready to start them
    again. Everywhere a thread looks each second whether the parent is still there.

    Parameters
    ----------
    parent
        The number of the process that started this one, as ``os.getpid()`` gives it there: asked for here, it may be
        gone already. In the process of that number itself, nothing happens.
    """
    if os.getpid() == parent:
        return
    if sys.platform == "linux":
        _end_by_signal()
    if os.getppid() != parent:
        os._exit(1)
    threading.Thread(target=_watch, args=(parent,), name="lifeline", daemon=True).start()


def _end_by_signal() -> None:
    import ctypes

    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)
