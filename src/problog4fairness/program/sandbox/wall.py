"""The first wall around a stranger's program: a process that cannot open, import, run or connect to anything.

:func:`close` is called once, when all that the worker needs is in memory. From then on

- Python refuses every event that touches the outside, by an audit hook, which nothing can remove;
- nothing can be imported: there is no path to search and no finder to search with;
- the operating system gives this process no new file, socket or process (``RLIMIT_NOFILE``, and Landlock on Linux);
- its working directory does not exist any more.

The streams that are already open go on working: that is how answers leave.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from contextlib import suppress
from typing import Any

with suppress(ImportError):  # not on Windows
    import resource  # noqa: F401 - in memory before files are out of reach: limits are set later, here and in the worker

# Events of Python that stay inside this process. Whatever is not here is refused, what a later Python adds included.
HARMLESS_EVENTS = frozenset(
    {
        "builtins.id",
        "cpython._PySys_ClearAuditHooks",
        "cpython.PyInterpreterState_Clear",
        "gc.get_objects",
        "object.__delattr__",
        "object.__getattr__",
        "object.__setattr__",
        "resource.setrlimit",
        "sys._getframe",
        "sys._getframemodulename",
        "sys.excepthook",
        "sys.unraisablehook",
    }
)

_CREATE_RULESET, _RESTRICT_SELF, _VERSION_FLAG = 444, 446, 1
_PR_SET_NO_NEW_PRIVS = 38


def close() -> None:
    """Shut this process off; there is no way back."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
    restrict_files()
    limit_files()
    close_python()


def restrict_files() -> bool:
    """Let Linux refuse every access to files and to the network; False where it cannot (Landlock, Linux 5.13)."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    if version < 1:
        return False
    # Every right that this version knows is handled, and no rule grants one: to files, to ports, to other processes.
    files = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    network, others = (2 if version >= 4 else 0), (2 if version >= 6 else 0)
    rights = (ctypes.c_uint64 * 3)(*((1 << bits) - 1 for bits in (files, network, others)))
    size = 8 * (1 + (version >= 4) + (version >= 6))
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(rights), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if rules < 0:
        return False
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    refused = libc.syscall(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)
    return bool(refused == 0)


def limit_files() -> None:
    """Allow no more open files, processes or dumps than there are now."""
    try:
        import resource
    except ImportError:
        return
    for name in ("RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_CORE"):
        with suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (0, 0))


def close_python() -> None:
    """Let Python import nothing more, and refuse every event that is not known to be harmless."""
    for places in (sys.path, sys.meta_path, sys.path_hooks):
        places.clear()
    sys.path_importer_cache.clear()
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in HARMLESS_EVENTS:
        return
    if event == "import":
        raise ModuleNotFoundError(f"a program cannot import {arguments[0]}")
    raise PermissionError(f"a program cannot cause the event {event}")
