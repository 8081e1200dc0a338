"""What was compiled once, kept on disk.

One JSON file for each task and text, named by a hash of both and of the versions that made it, in
``$P4F_CACHE`` or the user's cache folder. A file that is damaged, foreign or unreadable is as good as none: the program
is compiled again and the file replaced. A folder that cannot be written is no error either.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from problog4fairness.errors import P4FError

# What is stored depends on these modules; a change in one of them makes what is stored stale.
_MAKERS = ("syntax.py", "safety.py", "libraries.py", "ground.py", "causal.py", "data.py", "terms.py")


def folder() -> Path:
    """Where compiled programs are kept."""
    chosen = os.environ.get("P4F_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "problog4fairness"


def load(task: str, text: str) -> Any | None:
    """The stored result of ``task`` on ``text``, or None."""
    try:
        stored = json.loads(_path(task, text).read_bytes())
        payload = stored["payload"]
        return json.loads(payload) if _digest(payload) == stored["digest"] else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def store(task: str, text: str, result: Any) -> None:
    """Keep a result; written whole or not at all."""
    from problog4fairness.rows.writing import write_whole

    payload = json.dumps(result)
    path = _path(task, text)
    with suppress(OSError, P4FError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps({"digest": _digest(payload), "payload": payload}))


@functools.cache
def _versions() -> str:
    makers = b"".join((Path(__file__).parent / name).read_bytes() for name in _MAKERS)
    return "/".join([hashlib.sha256(makers).hexdigest(), *(version(name) for name in ("problog", "PySDD"))])


def _path(task: str, text: str) -> Path:
    return folder() / f"{_digest(json.dumps([task, text, _versions()]))}.json"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
